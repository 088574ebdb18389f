// What a cost of splits proves.
#pragma once

#include <algorithm>

#include "types.hpp"

namespace contree {

// C1.  Every tree but a leaf has a split, so its objective is at least the split's cost: where a leaf's is no more, the
// leaf is optimal.
inline bool leaf_is_best(Score leaf, const Objective& objective) { return leaf <= objective.split; }

// C2.  A tree below `target` has so few splits that they alone cost less, whatever its errors.
inline std::int64_t affordable_splits(Score target, const Objective& objective) {
    return objective.split == 0 ? unreached : (target - 1) / objective.split;
}

// What the best tree of one leaf, or of at most two, costs, by the errors of a leaf and of the best stump.
inline Score small_tree(Score stump, Score leaf, Leaves leaves, const Objective& objective) {
    const Score alone = objective.error * leaf;
    return leaves == 1 ? alone : std::min(alone, objective.error * stump + objective.split);
}

}  // namespace contree
