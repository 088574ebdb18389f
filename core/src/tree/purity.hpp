// The threshold of a feature that leaves least Gini impurity: CART's measure.
#pragma once

#include <vector>

#include "data/subproblem.hpp"

namespace contree {

struct Purest {
    double purity = 0;   // sum over both sides of (sum of squared class counts) / rows: larger is purer
    Position z = 0;
};

template <class Entry>
Purest purest_threshold(const Subproblem<Entry>& sub, std::uint32_t f, const std::vector<std::uint32_t>& class_of) {
    Purest best;
    std::vector<double> left(sub.classes, 0), right(sub.classes, 0);
    double squares_left = 0, squares_right = 0;
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        right[c] = sub.class_size(c);
        squares_right += right[c] * right[c];
    }
    const Entry* const order = sub.order(f);
    for (Row k = 0; k + 1 < sub.rows; ++k) {
        const std::uint32_t c = class_of[Packed<Entry>::row(order[k])];
        squares_left += 2 * left[c]++ + 1;
        squares_right -= 2 * right[c]-- - 1;
        if (Packed<Entry>::rank(order[k]) == Packed<Entry>::rank(order[k + 1])) continue;
        const double purity = squares_left / (k + 1.0) + squares_right / (sub.rows - k - 1.0);
        if (purity > best.purity) best = {purity, k + 1};
    }
    return best;
}

}  // namespace contree
