// Betters a given tree without changing its shape (after TAO: Carreira-Perpinan and Tavallali, 2018).
#pragma once
#include "heuristics/context.hpp"

namespace contree {
// One pass from the top down.  An inner node's split moves to where its subtrees, as they are, lose least.
// The last two levels are exact; so are the last `bottom`, as far as HeuristicContext::exact gets.  Never
// worse than `plan`, which must be plain, unless a stop cuts it short.
Outcome polish_once(HeuristicContext& context, const RowSet& set, std::int64_t depth, const Step* plan,
    std::int64_t bottom = 2);
// Passes until one changes nothing.
Outcome polish(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, Outcome tree, std::int64_t bottom = 2);

// Where else the first node might split, subtrees as they are: the best place of each feature, best first,
// and in the present feature at least `distance` rows away.
std::vector<Split> other_places(HeuristicContext& context, const RowSet& set, const Step* plan, Row distance);

// The tree with its first split moved there, and its two subtrees polished once for their new rows.
Outcome polish_below(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, const Split& at, const Plan& plan);
}  // namespace contree
