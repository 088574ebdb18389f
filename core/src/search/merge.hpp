// Good trees merged: the upper splits of all that local search has met are put together anew.
#pragma once

#include "search/bench.hpp"

namespace contree {

// The splits above the last two levels of trees that were met, each with the fewest errors of a tree that had it.  Of splits
// that lie close together in one feature it keeps the best.
class SplitPool {
public:
    // Every upper split of a plan of that depth, part of a tree for all rows that makes so many errors.
    template <class Entry>
    void note(const Subproblem<Entry>& root, const Plan& plan, std::int64_t depth, Score errors);
    // The best few.
    std::vector<Step> best();

private:
    struct Met {
        Step split;
        Position z;      // among all rows
        Score errors;
    };
    std::vector<Met> met_;
};

// `tree` with better subtrees of depth four, or `tree` itself: the splits of their upper two levels are among `splits`, the trees of depth
// two below are exact.  With eight splits or fewer, six for a tree of depth three, it is the best of all such trees.  Ends early when `work_end` row visits are reached.
template <class Entry>
Outcome merged_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Outcome& tree, const std::vector<Step>& splits,
                    std::int64_t work_end);

}  // namespace contree
