// A tree as the search knows it, and what a subproblem returns.
#pragma once
#include <vector>
#include "data/arena.hpp"

namespace contree {
// One node of a plan.  Rows with rank <= `rank` in `feature` go left; in a categorical column `rank` is the
// number of the set of ranks that go left (Categories::id_of).
struct Step {
    static constexpr std::int32_t leaf = -1;
    static constexpr std::int32_t stump = -2;  // the best tree of depth one, left open

    std::int32_t feature;
    Rank rank;
    bool operator==(const Step&) const = default;
};

// Nodes in preorder.  Empty: no tree.
using Plan = std::vector<Step>;

// Where the subtree that begins at `step` ends.
inline const Step* end_of(const Step* step) {
    return step->feature < 0 ? step + 1 : end_of(end_of(step + 1));
}

// The leaves of a plan's tree, at most: a stump may turn out to be one.
inline Leaves leaves_of(const Plan& plan) {
    Leaves leaves = 0;
    for (const Step& step : plan)
        leaves += step.feature == Step::leaf ? 1 : step.feature == Step::stump ? 2 : 0;
    return leaves;
}

inline Plan join(Step split, const Plan& left, const Plan& right) {
    Plan plan{split};
    plan.reserve(1 + left.size() + right.size());
    plan.insert(plan.end(), left.begin(), left.end());
    plan.insert(plan.end(), right.begin(), right.end());
    return plan;
}

// `plan` reaches `upper`; `lower` is proved.  Only where they meet is the subproblem solved.
struct Outcome {
    Score lower = 0;          // no allowed tree has a smaller objective
    Score upper = unreached;  // the objective of `plan`
    Plan plan;                // empty: no tree below the target was found
    bool proved() const { return lower >= upper; }
};

// How deep trees may get.
inline constexpr std::int64_t deepest_tree = 1000;      // the search takes kilobytes of stack for each level
inline constexpr std::int64_t deepest_first_tree = 64;  // for heuristics

// May CART's or a given tree split below so many levels?  Each level of a chain of splits takes up to as much
// memory as all rows do, so a deep tree ends where memory is much.
inline bool room_below(std::int64_t level, const Arena& arena) {
    return level < deepest_first_tree || (level < deepest_tree && arena.bytes() < std::size_t{1} << 30);
}
}  // namespace contree
