// Trees that look ahead: many splits are scored by the exact stumps on both sides, the best are rolled out.
#pragma once

#include "search/bench.hpp"

namespace contree {

// Scores splits of `sub` by the errors of the best stumps on both sides, 32 in one sweep, and returns those wanted,
// best first.
struct Scored {
    Score errors;
    Split at;
};
template <class Entry>
std::vector<Scored> score_splits(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::vector<Split> splits);

// Splits worth a closer look: thresholds at quantiles of each feature and the purest one are scored, and the best are returned, best first:
// so many in all and of each feature at most.
template <class Entry>
std::vector<Split> promising_splits(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::size_t most = 12, int of_each = 3);

// The same splits, scored by trees of depth two on both sides that are nearly the best, best first.
template <class Entry>
std::vector<Scored> score_deeper(Bench<Entry>& bench, const Subproblem<Entry>& sub, const std::vector<Split>& splits);

// At every node above the last two levels: the promising splits, or the best half where that would cost much, are rolled out,
// the best of these is taken, and both of its sides are looked into in the same way.  Ends early, with a tree, when `work_end` row visits are reached.
template <class Entry>
Outcome look_ahead_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, std::int64_t work_end);

}  // namespace contree
