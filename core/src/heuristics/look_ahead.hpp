// Trees that look ahead: many splits are scored by the exact stumps on both sides, the best are rolled out.
#pragma once
#include "heuristics/context.hpp"

namespace contree {
// Splits by the loss of the best stumps on both sides, best first; those that are not allowed are left out.
std::vector<Scored> score_splits(HeuristicContext& context, const RowSet& set, std::vector<Split> splits);

// The best of the features' quantiles and purest thresholds, best first: so many in all and of each at most.
std::vector<Split> promising_splits(
    HeuristicContext& context, const RowSet& set, std::size_t most = 12, int of_each = 3);

// At every node above the last two levels the promising splits, or the best half where that costs much, are
// rolled out and the best is taken.  Ends early, with a tree, when `work_end` row visits are reached.
Outcome look_ahead_tree(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, std::int64_t work_end);
}  // namespace contree
