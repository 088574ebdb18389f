// Good trees at once, before anything is proved.
#pragma once

#include "bounds/outcome.hpp"
#include "depth_two/depth_two.hpp"

namespace contree {

// CART's tree: every split is the one of least Gini impurity.  Nothing stops it: it is the least that a fit does.
template <class Entry>
Outcome greedy_tree(const Subproblem<Entry>& sub, std::int64_t depth, const Movers& movers, Arena& arena);

// Every split above the last two levels is the root of the exact tree of depth two for its rows, and the last two
// levels are exact.  `two` is that tree for `sub`.  Far better than greedy, for about `depth` solves of depth two.
template <class Entry>
Outcome rollout_tree(DepthTwo<Entry>& depth_two, const Subproblem<Entry>& sub, std::int64_t depth, Outcome two,
                     const Movers& movers, Arena& arena, Statistics& statistics);

}  // namespace contree
