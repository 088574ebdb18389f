// The words of the search.  Layers point one way: types <- data <- tree <- bounds <- depth_two <- search.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "contree/contree.hpp"

namespace contree {

using Row = std::uint32_t;         // a row; inside a subproblem 0..rows-1, ordered by class
using FeatureId = std::uint32_t;   // a column of the ranked table: a feature, or one of the two orders of one
using Rank = std::uint32_t;        // index of a value in U^f, the sorted unique values of a feature
using Position = std::uint32_t;    // z: how many rows of a feature's order lie left of a threshold

// What a leaf must have.
struct LeafSize {
    Row rows = 1;
    Score mass = 0;
    bool any() const { return rows <= 1 && mass == 0; }   // nothing in particular
};

// No tree known, or no bound needed.  Small enough that two of them add up without overflow.
inline constexpr Score unreached = std::numeric_limits<Score>::max() / 4;

}  // namespace contree
