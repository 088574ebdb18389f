// B2. A tree of depth k has at most 2^k leaves, and each leaf is right on rows of one class only.  So
// theta_k(S) >= |S| - (the sum of the 2^k largest class sizes), and a leaf errs |S| - (the largest) times; with
// weights, sizes are masses.
//
// Where splits cost something, a tree of l leaves that is right on the l largest classes c_1 >= c_2 >= ... has at least
// the objective error * (|S| - c_1 - ... - c_l) + split * (l - 1), and another leaf pays while error * c_l exceeds
// split.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "bounds/shape.hpp"
#include "data/subproblem.hpp"

namespace contree {

// `sizes` gives the size of class c for c < classes, `total` is their sum.
template <class Size, class Sizes>
Score class_count_bound(Size total, std::uint32_t classes, std::int64_t depth, const Sizes& sizes) {
    if (depth >= 32 || classes <= (std::uint64_t{1} << depth)) return 0;
    if (depth == 0) {
        Size largest = 0;
        for (std::uint32_t c = 0; c < classes; ++c) largest = std::max<Size>(largest, sizes(c));
        return Score{total} - Score{largest};
    }
    // The largest sizes so far, ascending: few leaves, so insertion is enough.
    std::array<Size, 64> kept{};
    const std::size_t leaves = std::size_t{1} << depth;
    if (leaves > kept.size()) return 0;
    for (std::uint32_t c = 0; c < classes; ++c) {
        Size size = sizes(c);
        for (std::size_t i = leaves; i-- > 0 && size > 0;)
            if (size > kept[i]) std::swap(size, kept[i]);
    }
    Score right = 0;
    for (std::size_t i = 0; i < leaves; ++i) right += kept[i];
    return Score{total} - right;
}

template <class Entry>
Score class_count_bound(const Subproblem<Entry>& sub, std::int64_t depth) {
    if (sub.weighted())
        return class_count_bound(sub.mass, sub.classes, depth, [&](std::uint32_t c) { return sub.mass_of_class[c]; });
    return class_count_bound(sub.rows, sub.classes, depth, [&](std::uint32_t c) { return sub.class_size(c); });
}

// The same for the objective, and for trees of at most so many leaves.
template <class Entry>
Score class_count_bound(const Subproblem<Entry>& sub, const TreeSize& size, const Objective& objective) {
    if (objective.plain() && !size.limited()) return class_count_bound(sub, size.depth);
    std::vector<Score> masses(sub.classes);
    for (std::uint32_t c = 0; c < sub.classes; ++c) masses[c] = sub.class_mass(c);
    std::sort(masses.begin(), masses.end(), std::greater<>());
    Score bound = objective.error * (sub.mass - masses[0]);
    const auto right = static_cast<std::uint32_t>(std::min<std::uint64_t>(size.leaves, sub.classes));
    for (std::uint32_t c = 1; c < right; ++c) bound -= std::max<Score>(0, objective.error * masses[c] - objective.split);
    return bound;
}

template <class Entry>
Score leaf_errors(const Subproblem<Entry>& sub) {
    return class_count_bound(sub, 0);
}

// What a leaf costs.
template <class Entry>
Score leaf_score(const Subproblem<Entry>& sub, const Objective& objective) {
    return objective.error * leaf_errors(sub);
}

}  // namespace contree
