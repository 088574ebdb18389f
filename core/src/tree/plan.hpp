// A tree as the search knows it: splits by (feature, rank), stumps at the bottom left open.
#pragma once

#include <vector>

#include "types.hpp"

namespace contree {

// One node of a plan.  Rows with rank <= `rank` in `feature` go left.
struct Step {
    static constexpr std::int32_t leaf = -1;
    static constexpr std::int32_t stump = -2;   // the best tree of depth one, whatever it is

    std::int32_t feature;
    Rank rank;

    bool operator==(const Step&) const = default;
};

// Nodes in preorder.  Empty: no tree.
using Plan = std::vector<Step>;

// Where the subtree that begins at `step` ends.
inline const Step* end_of(const Step* step) {
    if (step->feature == Step::leaf || step->feature == Step::stump) return step + 1;
    return end_of(end_of(step + 1));
}

// The leaves of a plan's tree, at most: a stump may turn out to be one.
inline Leaves leaves_of(const Plan& plan) {
    Leaves leaves = 0;
    for (const Step& step : plan) leaves += step.feature == Step::leaf ? 1 : step.feature == Step::stump ? 2 : 0;
    return leaves;
}

inline Plan join(Step split, const Plan& left, const Plan& right) {
    Plan plan;
    plan.reserve(1 + left.size() + right.size());
    plan.push_back(split);
    plan.insert(plan.end(), left.begin(), left.end());
    plan.insert(plan.end(), right.begin(), right.end());
    return plan;
}

}  // namespace contree
