// A good tree at once: every split above the last two levels is the root of a nearly best tree of depth two,
// and such trees are the last two levels.  Far better than greedy, for less than `depth` such solves.
#pragma once
#include "heuristics/context.hpp"
#include "tree/outcome.hpp"

namespace contree {
inline Outcome rollout_tree(HeuristicContext& context, const RowSet& set, std::int64_t depth) {
    depth = std::min(depth, deepest_first_tree);
    const Outcome leaf = context.leaf(set);
    if (leaf.upper == 0 || depth == 0 || set.columns() == 0 || context.stopped()) return leaf;
    if (depth == 1) return context.plain(set, {Step{Step::stump, 0}});
    const Outcome two = context.rough_two(set);
    if (depth == 2 || two.upper == 0 || context.stopped()) return two;
    const Split at = locate(context.objective, set, two.plan.front());
    if (at.z == 0) return two;
    const Outcome tree = context.tree_at(
        set, at, [&](const RowSet& side, bool) { return rollout_tree(context, side, depth - 1); });
    return tree.upper < two.upper ? tree : two;
}
}  // namespace contree
