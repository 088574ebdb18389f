// What a cost of splits proves.
#pragma once
#include <algorithm>
#include "types.hpp"

namespace contree {
// C1.  Every tree but a leaf costs at least one split: if a leaf costs no more, it is optimal.
inline bool leaf_is_best(Score leaf, const Costs& costs) { return leaf <= costs.split; }

// C2.  A tree below `target` has so few splits that they alone cost less, whatever its loss.
inline std::int64_t affordable_splits(Score target, const Costs& costs) {
    return costs.split == 0 ? unreached : (target - 1) / costs.split;
}

// What is lost at the least where a tree of at most so many leaves costs `lower`, without its splits.
inline Score without_splits(Score lower, Leaves leaves, const Costs& costs) {
    if (costs.split == 0) return lower;
    const Score splits = Score{leaves} - 1;
    return splits > lower / costs.split ? 0 : lower - splits * costs.split;
}

// What the best tree of one leaf, or of at most two, costs, by the losses of a leaf and of the best stump.
inline Score small_tree(Score stump, Score leaf, Leaves leaves, const Costs& costs) {
    return leaves == 1 ? costs.of(leaf, 0) : std::min(costs.of(leaf, 0), costs.of(stump, 1));
}
}  // namespace contree
