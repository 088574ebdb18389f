// B6. What the rows between two thresholds cost by themselves.
//
// For disjoint row sets theta(A + B) >= theta(A) + theta(B): the best tree for both errs on each at least as often as
// the best tree of that set alone.  A strip is a range of rows in a feature's order, with a proved bound of its
// own theta, at the depth that the sides of a split have.  With the strips that lie between two positions added up,
// for u <= z <= v
//     L(z) >= L_u + strips(u, z),   R(z) >= R_v + strips(z, v),
// so that L + R >= L_u + R_v + strips(u, v) - (the largest that z can cut through), as it cuts through one at most.
//
// Near u, with two classes: let M be the rows from u to z.  The best tree for R(z) errs e times on M, so
// R_u <= R(z) + e; with its labels exchanged it errs on the other |M| - e, so strips(u, z) <= |M| - e.  Hence
//     L(z) + R(z) >= L_u + R_u - |M| + 2 strips(u, z),
// where B1 has no more than L_u + R_u - |M|.  Near v the same.
//
// All of it needs trees of any leaf size; so strips are not for problems with a minimal one.
#pragma once

#include <algorithm>
#include <vector>

#include "types.hpp"

namespace contree {

// The strips of one feature: disjoint, ascending.
class Strips {
public:
    struct Strip {
        Position begin, end;   // in the feature's order
        Score errors;          // no tree has fewer on these rows
    };

    bool empty() const { return strips_.empty(); }
    const std::vector<Strip>& all() const { return strips_; }
    void add(const Strip& strip) { strips_.push_back(strip); }

    // Errors of all strips between two positions.
    Score between(Position from, Position to) const {
        Score sum = 0;
        for (auto strip = first_from(from); strip != strips_.end() && strip->end <= to; ++strip) sum += strip->errors;
        return sum;
    }

    // The same for a threshold somewhere from `low` to `high`: the least that is left and right of it.
    Score around(Position from, Position low, Position high, Position to) const {
        Score sum = 0, largest = 0;
        for (auto strip = first_from(from); strip != strips_.end() && strip->end <= to; ++strip) {
            sum += strip->errors;
            if (strip->begin < high && strip->end > low) largest = std::max(largest, strip->errors);
        }
        return sum - largest;
    }

private:
    std::vector<Strip>::const_iterator first_from(Position from) const {
        return std::lower_bound(strips_.begin(), strips_.end(), from, [](const Strip& strip, Position z) { return strip.begin < z; });
    }

    std::vector<Strip> strips_;
};

}  // namespace contree
