// The words of the search.
#pragma once
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include "contree/contree.hpp"

namespace contree {
using Row = std::uint32_t;        // a row; inside a set of rows 0..rows-1, in the objective's row order
using FeatureId = std::uint32_t;  // a column of the ranked table: a feature, or one of the two orders of one
using Rank = std::uint32_t;       // index of a value in U^f, the sorted unique values of a feature
using Position = std::uint32_t;   // z: how many rows of a feature's order lie left of a threshold

// What a leaf must have.
struct LeafSize {
    Row rows = 1;
    Score mass = 0;
    bool any() const { return rows <= 1 && mass == 0; }  // nothing in particular
};

// What is minimised: `loss` for every unit of loss (for errors: of mass that a tree gets wrong), and `split`
// for each split.  A tree has one leaf more than splits, so a cost of leaves is this and a constant.
struct Costs {
    Score loss = 1;
    Score split = 0;
    bool plain() const { return loss == 1 && split == 0; }
    Score of(Score losses, std::int64_t splits) const { return loss * losses + split * splits; }
};
inline Costs costs_of(const Options& options) { return {options.error_cost, options.leaf_cost}; }

// How many leaves a tree may have.
using Leaves = std::uint32_t;
inline constexpr Leaves any_leaves = std::numeric_limits<Leaves>::max();
inline Leaves leaves_of(const Options& options) {
    const bool any = options.max_leaves == 0 || options.max_leaves >= any_leaves;
    return any ? any_leaves : static_cast<Leaves>(options.max_leaves);
}

// splitmix64's finaliser: numbers that differ look unrelated.
inline std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}
inline constexpr std::uint64_t mixed_step = 0x9e3779b97f4a7c15ULL;  // between numbers to be mixed

// No tree known, or no bound needed.  Small enough that two of them add up without overflow.
inline constexpr Score unreached = std::numeric_limits<Score>::max() / 4;
}  // namespace contree
