// The threshold of a feature that leaves least Gini impurity: CART's measure.
#pragma once

#include <vector>

#include "data/subproblem.hpp"

namespace contree {

inline constexpr double but_for_rounding = 1 - 1e-12;   // purities that differ by less are equal

struct Purest {
    double purity = 0;   // sum over both sides of (sum of squared class masses) / mass: larger is purer
    Position z = 0;      // 0: no threshold leaves rows enough for a leaf
    bool tied = false;   // is another threshold as pure?
};

// Calls visit(purity, z) for every threshold of the feature that leaves rows enough for a leaf on both sides, up to a halt.
template <class Entry, class Visit>
void visit_purities(const Subproblem<Entry>& sub, std::uint32_t f, const std::vector<std::uint32_t>& class_of, const Halt& halt, const Visit& visit) {
    std::vector<double> left(sub.classes, 0), right(sub.classes, 0);
    double mass_left = 0, squares_left = 0, squares_right = 0;
    const auto mass = static_cast<double>(sub.mass);
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        right[c] = static_cast<double>(sub.class_mass(c));
        squares_right += right[c] * right[c];
    }
    const Entry* const order = sub.order(f);
    in_stretches(sub.rows - 1, halt, [&](Row begin, Row end) {
        for (Row k = begin; k < end; ++k) {
            const Row row = Packed<Entry>::row(order[k]);
            const std::uint32_t c = class_of[row];
            const auto weight = static_cast<double>(sub.weight_of(row));
            squares_left += weight * (2 * left[c] + weight);
            squares_right -= weight * (2 * right[c] - weight);
            left[c] += weight;
            right[c] -= weight;
            mass_left += weight;
            if (!sub.cut_behind(f, k) || !sub.allows(f, k + 1)) continue;
            visit(squares_left / mass_left + squares_right / (mass - mass_left), k + 1);
        }
    });
}

template <class Entry>
Purest purest_threshold(const Subproblem<Entry>& sub, std::uint32_t f, const std::vector<std::uint32_t>& class_of, const Halt& halt = {}) {
    Purest best;
    double equal = 0;   // what is as pure as the best
    visit_purities(sub, f, class_of, halt, [&](double purity, Position z) {
        if (purity < equal) return;
        if (purity > best.purity) {
            best = {purity, z, best.purity >= purity * but_for_rounding};
            equal = purity * but_for_rounding;
        } else {
            best.tied = true;
        }
    });
    return best;
}

}  // namespace contree
