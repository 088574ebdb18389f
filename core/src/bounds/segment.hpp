// What is known of the thresholds between two evaluated ones: the bounds B0 and B1.
//
// Let L(z) and R(z) be the least errors of the left and the right side of a split at position z, for trees
// of some fixed depth.
//
// B0. theta(S') >= theta(S) - |S \ S'| for any row sets.  Proof: take the best tree for S'; on S it errs on
// S' as before and on the rows of S \ S' at most once each, so theta(S) <= theta(S') + |S \ S'|.
// Hence, moving a threshold right, L never falls and rises by at most one for each row that joins, and R
// never rises and falls by at most one for each row that leaves.  (Eq. 3 of the paper.)
//
// B1. For evaluated u < v and a position z between them
//     L(z) >= max(L_u, L_v - (z_v - z)),   R(z) >= max(R_v, R_u - (z - z_u)).
// Each part is B0 for one neighbour.  The sum holds the paper's sub-interval pruning (L_u + R_v), its
// neighbourhood pruning and interval shrinking (L_u + R_u - moved, L_v + R_v - moved), and a fourth
// combination, L_v + R_u - (z_v - z_u).  L_*, R_* may be any proved lower bounds.
//
// Weights.  Read |.| as mass and z as the mass left of a threshold: a row moved changes a score by at most what it
// weighs, and the proofs are the same.  So points are placed by mass, and only a run has positions.
//
// Minimal leaf size m.  B0 holds for S' inside S: the best tree for S' has leaves at least as large on S.  But a row
// more may make a split allowed, so L and R need not grow with their rows.  What holds is this: a tree whose leaves
// have m rows of S has leaves of at least m - k rows of S' if S' lacks k rows of S, so
//     theta(S, m) >= theta(S', m - k).
// Hence numbers that are carried to larger sets, up to k rows away, are those of leaves of m - k rows (at least one).
// A threshold is evaluated with the leaf size that its distance to the ends of its segment asks for (`near_leaf`): one
// row while segments are long, m itself when nothing lies beside it.  The numbers then hold all over the segment,
// and over every part of it.  What makes a tree is evaluated with m.  A split with fewer than m rows on a side is
// evaluated all the same: it makes no tree, but others are bounded by it.
//
// Costs.  Where errors cost more than one (Objective::error), so does a moved row.  A split's own cost is part of a
// segment's bound.  The best tree for S, used on a part of S, has as many splits or, without those that part
// nothing there, fewer; so all of the above holds for the objective as it does for errors.
#pragma once

#include <algorithm>

#include "data/subproblem.hpp"

namespace contree {

// A threshold of which something is proved, or an end: z = 0 has nothing left, z = mass of all nothing right.
struct Point {
    Score z;                  // the mass on its left
    Score left, right;        // proved lower bounds of L(z), R(z)
    bool open = false;        // not evaluated itself: the segment to its right holds it as a candidate
    Row leaf = 1;             // the leaf size that the bounds are for
    std::int32_t memory = -1; // where a Node keeps what the two sides' solves learnt
};

// The rules of B1 that are on, and what is minimised.
struct Rules {
    bool monotone;
    bool similarity;
    Objective objective = {};

    // What a split at a point costs at the least, in all.
    Score total(const Point& point) const { return point.left + point.right + objective.split; }
    // What so much mass can change.
    Score worth(Score mass) const { return objective.error * mass; }
    // The least mass that can change so much.
    Score mass_of(Score worth) const { return objective.error == 1 ? worth : (worth + objective.error - 1) / objective.error; }
};

struct Segment {
    Score bound;       // no split inside has a smaller objective
    Point u, v;        // its neighbours; u itself belongs to it while u is open
    std::uint32_t f;   // the feature, as the subproblem numbers it
    std::uint32_t shape = 0;   // which of the shapes a split may have
    Score length() const { return v.z - u.z; }
};

// B1 for the left and the right side of a threshold with mass z on its left.
inline Score left_bound(const Segment& s, Score z, const Rules& rules) {
    return std::max(rules.monotone ? s.u.left : 0, rules.similarity ? s.v.left - rules.worth(s.v.z - z) : 0);
}
inline Score right_bound(const Segment& s, Score z, const Rules& rules) {
    return std::max(rules.monotone ? s.v.right : 0, rules.similarity ? s.u.right - rules.worth(z - s.u.z) : 0);
}

// The least of B1 over the segment, and the split's cost.  As z grows the left part is first flat, then rises by one
// error a row; the right part first falls by one error a row, then is flat.  So the sum falls, stays level, and rises
// again, and every z between the two bends has the least value: one bend is enough.  It lies where the left part
// has `rise` still before it.
inline Score segment_bound(const Segment& s, const Rules& rules) {
    const Score least_left = rules.monotone ? s.u.left : 0, least_right = rules.monotone ? s.v.right : 0;
    if (!rules.similarity) return rules.objective.split + least_left + least_right;
    const Score whole = rules.worth(s.length()), rise = std::clamp<Score>(s.v.left - least_left, 0, whole);
    return rules.objective.split + std::max(least_left, s.v.left - rise) + std::max(least_right, s.u.right - (whole - rise));
}

inline Segment make_segment(std::uint32_t f, std::uint32_t shape, const Point& u, const Point& v, const Rules& rules) {
    Segment s{0, u, v, f, shape};
    s.bound = segment_bound(s, rules);
    return s;
}

// The part of `whole` between two points, u and v, of which at least one is new; what holds for the whole holds
// for it too.
inline Segment part_of(const Segment& whole, const Point& u, const Point& v, const Rules& rules) {
    Segment s = make_segment(whole.f, whole.shape, u, v, rules);
    s.bound = std::max(s.bound, whole.bound);
    return s;
}

// The leaf size for evaluating a threshold that has thresholds up to `distance` rows away beside it.
inline Row near_leaf(Row min_leaf, Position distance) { return min_leaf < distance ? 1 : std::max<Row>(1, min_leaf - distance + 1); }

// The thresholds of a segment that may still beat `ub`: indices [first, last] among the feature's cuts, at
// positions [low, high].  A threshold near u keeps at least total(u) - (worth of the mass moved), so that must
// be at least total(u) - ub + 1; the same near v (Corollary 1, with the paper's slip mended: both sides alike).
struct Run {
    std::uint32_t first, last;
    Position low, high;   // positions of `first` and `last` are within
    bool empty() const { return first > last || last == ~std::uint32_t{0}; }
    std::uint32_t size() const { return empty() ? 0 : last - first + 1; }
};

template <class Entry>
Run live_run(const Segment& s, const Subproblem<Entry>& sub, Score ub, const Rules& rules) {
    constexpr Run none{1, 0, 0, 0};
    const Score nearest = s.u.open ? 0 : 1;
    const Score from_u = rules.similarity ? std::max(nearest, rules.mass_of(rules.total(s.u) - ub + 1)) : nearest;
    const Score from_v = rules.similarity ? std::max<Score>(1, rules.mass_of(rules.total(s.v) - ub + 1)) : 1;
    if (s.u.z + from_u > s.v.z - from_v) return none;
    const Position low = sub.position_of(s.f, s.u.z + from_u), behind = sub.position_of(s.f, s.v.z - from_v + 1);
    const Cuts cuts = sub.cuts(s.f);
    return {cuts.below(low), cuts.below(behind) - 1, low, behind - 1};   // behind <= rows, as v lies further right
}

}  // namespace contree
