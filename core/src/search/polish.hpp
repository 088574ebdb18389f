// Betters a given tree without changing its shape (after TAO: Carreira-Perpinan and Tavallali, 2018).
#pragma once

#include "search/bench.hpp"

namespace contree {

// One pass from the top down.  At an inner node both subtrees are kept as they are, and the split is moved to where
// they make the fewest errors together; the last two levels are exact, and with a larger `bottom` so are as many, as
// far as Bench::exact or better_three gets.  Never worse than `plan`, which must be plain, unless a stop cuts it short.
template <class Entry>
Outcome polish_once(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Step* plan, std::int64_t bottom = 2);

// Passes until one changes nothing.
template <class Entry>
Outcome polish(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree, std::int64_t bottom = 2);


// Where else the first node of a plan might split, subtrees as they are: the best place of each feature, best first.  In
// the present feature at least `distance` rows from the present place.
template <class Entry>
std::vector<Split> other_places(Bench<Entry>& bench, const Subproblem<Entry>& sub, const Step* plan, Row distance);

// The tree with its first split moved there, and its two subtrees polished once for the rows that they now get.
template <class Entry>
Outcome polish_below(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Split& at, const Plan& plan);

}  // namespace contree
