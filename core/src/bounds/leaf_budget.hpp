// How many leaves a tree may have, and how a split shares them out.
//
// theta(S, d, l) is the least objective of a tree for S of depth at most d with at most l leaves.  A split
// gives its sides l_L and l_R leaves, l_L + l_R = l, so
//     theta(S, d, l) = min(a leaf, min over splits, budgets: cost + theta(L, d-1, l_L) + theta(R, d-1, l_R)).
// The tree that a proof of segment.hpp takes from one row set to another has no more leaves there.  So all of
// segment.hpp holds for one LeafBudget, and a search with a limit has every feature's segments once for each.
// As theta falls in the number of leaves, what was proved for more leaves holds for fewer.
#pragma once
#include <algorithm>
#include <vector>
#include "tree/outcome.hpp"

namespace contree {
struct LeafBudget {
    Leaves left = any_leaves, right = any_leaves;
    bool operator==(const LeafBudget&) const = default;
    bool within(const LeafBudget& other) const { return left <= other.left && right <= other.right; }
};

// The leaves of a tree of that depth, at most.
inline Leaves most_leaves(std::int64_t depth) { return depth < 31 ? Leaves{1} << depth : any_leaves; }

// A depth and a number of leaves that one another and the rows allow.  So equal limits have equal names.
struct TreeSize {
    std::int64_t depth;
    Leaves leaves;
    TreeSize(std::int64_t most_depth, Leaves most, Row rows)
        : depth(std::min({most_depth, deepest_tree, std::max<std::int64_t>(rows, 1) - 1})),
          leaves(most >= rows ? any_leaves : most) {
        if (leaves != any_leaves) depth = std::min<std::int64_t>(depth, leaves - 1);
        leaves = std::min(leaves, most_leaves(depth));
    }
    // Must leaves be counted, because the depth alone allows more?
    bool counts_leaves() const { return leaves < most_leaves(depth); }
};

// The budgets of a split, none of which lies within another.
inline std::vector<LeafBudget> leaf_budgets(const TreeSize& size) {
    const Leaves side = most_leaves(size.depth - 1);
    if (!size.counts_leaves()) return {{side, side}};
    std::vector<LeafBudget> budgets;
    const Leaves least = size.leaves > side ? size.leaves - side : 1, most = std::min(size.leaves - 1, side);
    for (Leaves left = least; left <= most; ++left) budgets.push_back({left, size.leaves - left});
    return budgets;
}
}  // namespace contree
