// How many leaves a tree may have, and how a split shares them out.
//
// theta(S, d, l) is the least objective of a tree for S of depth at most d with at most l leaves.  A split gives its
// sides l_L and l_R leaves, l_L + l_R = l, and theta falls in both numbers, so
//     theta(S, d, l) = min(a leaf, min over splits and shares of split cost + theta(L, d-1, l_L) + theta(R, d-1, l_R)).
// For one share, a Shape, both sides are subproblems of their own, and all that segment.hpp proves of L and R holds:
// the tree that a proof takes from one row set to another keeps its depth and has no more leaves there.  So a
// search with a limit has the segments of every feature once for each shape.
//
// What was proved of sides that may have more leaves holds for fewer: theta falls in the number of leaves.
#pragma once

#include <algorithm>
#include <vector>

#include "types.hpp"

namespace contree {

struct Shape {
    Leaves left = any_leaves, right = any_leaves;
    bool operator==(const Shape&) const = default;
    bool within(const Shape& other) const { return left <= other.left && right <= other.right; }
};

// The leaves of a tree of that depth, at most.
inline Leaves most_leaves(std::int64_t depth) { return depth < 31 ? Leaves{1} << depth : any_leaves; }

// Deeper trees are not looked for: the search takes some kilobytes of its stack for each level.
inline constexpr std::int64_t deepest_tree = 1000;

// A depth and a number of leaves that one another allow: a tree of l leaves has a depth of at most l - 1, one of depth d
// at most 2^d leaves, and no tree has more leaves than rows.  So equal limits have equal names.
struct TreeSize {
    std::int64_t depth;
    Leaves leaves;
    TreeSize(std::int64_t most_depth, Leaves most, Row rows)
        : depth(std::min({most_depth, deepest_tree, std::max(std::int64_t{rows} - 1, std::int64_t{0})})), leaves(most >= rows ? any_leaves : most) {
        if (leaves != any_leaves) depth = std::min<std::int64_t>(depth, leaves - 1);
        leaves = std::min(leaves, most_leaves(depth));
    }
    bool limited() const { return leaves < most_leaves(depth); }
};

// The shapes of a split, none of which lies within another.
inline std::vector<Shape> shapes_of(const TreeSize& size) {
    const Leaves side = most_leaves(size.depth - 1);
    if (!size.limited()) return {{side, side}};
    std::vector<Shape> shapes;
    for (Leaves left = size.leaves > side ? size.leaves - side : 1; left <= std::min(size.leaves - 1, side); ++left)
        shapes.push_back({left, size.leaves - left});
    return shapes;
}

}  // namespace contree
