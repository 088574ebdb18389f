// What the squared error of some rows depends on, and its loss as an integer.
//
// Let W, S and Q be the sums of w, w y and w y^2 over a leaf's rows.  Its squared error is E = (W Q - S^2) /
// W, and its loss is floor(2^shift * E): an integer, so no comparison needs an epsilon.  A stump of
// categories has one floor for both of its leaves: target_table.hpp says why.
//
// Overflow: |S| and W are below 2^53, and 2^shift * E is below 2^60 for all rows (squared_error.hpp).
#pragma once
#include "types.hpp"

namespace contree {
using Wide = unsigned __int128;

struct Moments {
    std::int64_t weight = 0, sum = 0;
    Wide squares = 0;

    void add(std::int64_t w, std::int64_t y) {
        weight += w;
        sum += w * y;
        squares += static_cast<Wide>(static_cast<__int128>(w * y) * y);
    }
    void add(const Moments& more) {
        weight += more.weight;
        sum += more.sum;
        squares += more.squares;
    }
    Moments without(const Moments& part) const {
        return {weight - part.weight, sum - part.sum, squares - part.squares};
    }
    // W Q - S^2, W times the squared error.
    Wide spread() const {
        return static_cast<Wide>(weight) * squares - static_cast<Wide>(static_cast<__int128>(sum) * sum);
    }
    // In a double, that has 106 bits rounded to 53 and a division.
    double squared_error() const { return static_cast<double>(spread()) / static_cast<double>(weight); }
    // Is the mean less than another's?  In integers.
    bool has_lower_mean(const Moments& other) const {
        return static_cast<__int128>(sum) * other.weight < static_cast<__int128>(other.sum) * weight;
    }
};

struct SquaredLoss {
    int shift;

    Score of_leaf(const Moments& leaf) const {
        const Wide spread = leaf.spread();
        if (spread == 0) return 0;
        const auto weight = static_cast<Wide>(leaf.weight);
        if (shift >= 0) return static_cast<Score>((spread << shift) / weight);
        return shift < -127 ? 0 : static_cast<Score>(spread / weight >> -shift);
    }
    // floor(2^shift * (the squared errors of both)).  The fractions that two floors take off may make one
    // more together.
    Score of_stump(const Moments& left, const Moments& right) const {
        if (left.weight == 0 || right.weight == 0) return of_leaf(left.weight == 0 ? right : left);
        if (shift < -127) return 0;
        const int up = shift > 0 ? shift : 0;
        const auto n = static_cast<Wide>(left.weight), m = static_cast<Wide>(right.weight);
        const Wide a = left.spread() == 0 ? 0 : left.spread() << up,
                   b = right.spread() == 0 ? 0 : right.spread() << up;
        const Wide whole = a / n + b / m + (a % n * m + b % m * n >= n * m ? 1 : 0);
        return static_cast<Score>(shift < 0 ? whole >> -shift : whole);
    }
};
}  // namespace contree
