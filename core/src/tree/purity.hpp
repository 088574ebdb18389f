// The threshold of a feature that leaves least Gini impurity: CART's measure.
#pragma once

#include <vector>

#include "data/subproblem.hpp"

namespace contree {

struct Purest {
    double purity = 0;   // sum over both sides of (sum of squared class masses) / mass: larger is purer
    Position z = 0;      // 0: no threshold leaves rows enough for a leaf
};

template <class Entry>
Purest purest_threshold(const Subproblem<Entry>& sub, std::uint32_t f, const std::vector<std::uint32_t>& class_of) {
    Purest best;
    std::vector<double> left(sub.classes, 0), right(sub.classes, 0);
    double mass_left = 0, squares_left = 0, squares_right = 0;
    const auto mass = static_cast<double>(sub.mass);
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        right[c] = static_cast<double>(sub.class_mass(c));
        squares_right += right[c] * right[c];
    }
    const Entry* const order = sub.order(f);
    for (Row k = 0; k + 1 < sub.rows; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
        const std::uint32_t c = class_of[row];
        const auto weight = static_cast<double>(sub.weight_of(row));
        squares_left += weight * (2 * left[c] + weight);
        squares_right -= weight * (2 * right[c] - weight);
        left[c] += weight;
        right[c] -= weight;
        mass_left += weight;
        if (!sub.cut_behind(f, k) || !sub.allows(f, k + 1)) continue;
        const double purity = squares_left / mass_left + squares_right / (mass - mass_left);
        if (purity > best.purity) best = {purity, k + 1};
    }
    return best;
}

}  // namespace contree
