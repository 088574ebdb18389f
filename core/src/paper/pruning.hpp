// The paper's three pruning techniques, one function per theorem.
//
// An interval [i..j] holds threshold indices of one feature that may still get below `ub` (an incumbent, less
// the allowed gap).  z(i) is what the rows left of a threshold weigh: a row moved changes a score by its own.
#pragma once
#include <algorithm>
#include <map>
#include <vector>
#include "types.hpp"

namespace contree::paper {
using SplitIndex = std::int64_t;  // signed: an interval may shrink below zero

struct Interval {
    SplitIndex i, j;
    bool empty() const { return i > j; }
    std::int64_t size() const { return empty() ? 0 : j - i + 1; }
};

// What is known of an evaluated split: lower bounds, exact unless the right side was cut off.
struct Evaluated {
    Score left, right;
    Score theta() const { return left + right; }
};

using EvaluatedSplits = std::map<SplitIndex, Evaluated>;  // the paper's V

// B(interval, V): the nearest evaluated splits outside; V's ends where there is none.
struct Outside {
    EvaluatedSplits::const_iterator u, v;
};
inline Outside nearest_outside(const Interval& interval, const EvaluatedSplits& evaluated) {
    const auto from = evaluated.lower_bound(interval.i);
    return {from == evaluated.begin() ? evaluated.end() : std::prev(from), evaluated.upper_bound(interval.j)};
}

// Corollary 1.  A split that moves r rows against one of score theta has at least theta - r errors (Eq. 3),
// so only splits that move at least theta - ub + 1 rows can be better, and at least one row moves anyway.
inline Score rows_to_move(Score theta, Score ub) { return std::max<Score>(1, theta - ub + 1); }

// The paper's A with a bar below: the largest index whose threshold lies at least `delta` rows left of z(u).
inline SplitIndex last_left_of(const std::vector<Score>& z, SplitIndex u, Score delta) {
    return std::upper_bound(z.begin(), z.end(), z[static_cast<std::size_t>(u)] - delta) - z.begin() - 1;
}
// A with a bar above: the smallest index at least `delta` rows right of z(u).
inline SplitIndex first_right_of(const std::vector<Score>& z, SplitIndex u, Score delta) {
    return std::lower_bound(z.begin(), z.end(), z[static_cast<std::size_t>(u)] + delta) - z.begin();
}

// Neighbourhood pruning: what is left of [i..j] on both sides of the evaluated split w.
struct Halves {
    Interval left, right;
};
inline Halves prune_neighbourhood(
    const Interval& interval, const std::vector<Score>& z, SplitIndex w, Score delta) {
    return {{interval.i, std::min(interval.j, last_left_of(z, w, delta))},
        {std::max(interval.i, first_right_of(z, w, delta)), interval.j}};
}

// Interval shrinking: Corollary 1 for both neighbours, with the ub of now, and Theorem 2: left of a split
// without errors on its left side (right of one without errors on its right) nothing is better than it.
inline Interval shrink_interval(Interval interval, const std::vector<Score>& z,
    const EvaluatedSplits& evaluated, const Outside& outside, Score ub, SplitIndex lowest_useful,
    SplitIndex highest_useful) {
    const auto& [u, v] = outside;
    const auto delta = [&](const Evaluated& split) { return rows_to_move(split.theta(), ub); };
    interval = {std::max(interval.i, lowest_useful), std::min(interval.j, highest_useful)};
    if (u != evaluated.end())
        interval.i = std::max(interval.i, first_right_of(z, u->first, delta(u->second)));
    if (v != evaluated.end()) interval.j = std::min(interval.j, last_left_of(z, v->first, delta(v->second)));
    return interval;
}

// Theorem 3.  A split inside has at least u's errors on the left and v's on the right.  Reaching `ub`, the
// score to get below, is enough.
inline bool prune_subinterval(const EvaluatedSplits& evaluated, const Outside& outside, Score ub) {
    const Score left = outside.u == evaluated.end() ? 0 : outside.u->second.left;
    const Score right = outside.v == evaluated.end() ? 0 : outside.v->second.right;
    return left + right >= ub;
}
}  // namespace contree::paper
