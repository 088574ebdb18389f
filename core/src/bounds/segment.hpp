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
// Weights.  Read |.| as mass and z as the mass left of a threshold: a row moved changes a score by at most
// what it weighs, and the proofs are the same.  So points are placed by mass, and only a run has positions.
//
// Minimal leaf size.  Write theta(S | T) for the least errors on S of a tree whose leaves are large enough on
// T, S inside T; what counts is theta(S | S).  A leaf is always allowed.
// - Shrinking: theta(S' | S') >= theta(S | S) - |S \ S'| for S' inside S.  The best tree for S' has leaves at
//   least as large on S, and B0's proof goes through.  So similarity takes the numbers of the leaf size that
//   counts.
// - Growing: a row more may make a split allowed, so "more rows never mean fewer errors" fails.  But for S
//   inside Z inside T, theta(Z | Z) >= theta(S | T): the best tree for Z has leaves at least as large on T,
//   and errs on S no more than on Z.  So for thresholds z from u to v, L(z) >= theta(L(u) | L(v)) and
//   R(z) >= theta(R(v) | R(u)): errors of the rows that certainly lie on a side, sizes of all that may
//   (switch `wide_leaves`).  With leaves of any size, theta(S | T) is what it is without a leaf size, and the
//   bound is weaker.
// An evaluated threshold w thus has two numbers for each side.  `own` is theta(L(w) | L(w)); `near` is
// theta(L(w) | L(v)) with v the last threshold of its live run, and for the right side theta(R(w) | R(u))
// with u the first.  As the left end of a segment w has left sides that grow from it (near) and right sides
// that shrink (own); as the right end the other way round.  So an end still has two numbers, and B1 is what
// it was.  Above depth two `near` is solved later, for the run that needs it (search/leaf_sizes.cpp): T may
// be any set that holds the sides of all thresholds that the number is used for.  `near` says nothing of
// thresholds that were trimmed off the run: these are closed by what was known before (`trimmed_bound`).
// A split with a side too small is evaluated all the same: it makes no tree, but others are bounded by it.
//
// Costs.  Where errors cost more than one (Objective::error), so does a moved row.  A split's own cost is
// part of a segment's bound.  The best tree for S, used on a part of S, has as many splits or, without those
// that part nothing there, fewer; so all of the above holds for the objective as it does for errors.
#pragma once

#include <algorithm>

#include "data/subproblem.hpp"

namespace contree {

// A threshold of which something is proved, or an end: z = 0 has nothing left, z = mass of all nothing right.
struct Point {
    Score z;                    // the mass on its left
    Score left, right;          // proved lower bounds of L(z), R(z)
    bool open = false;          // not evaluated itself: the segment to its right holds it as a candidate
    std::int32_t memory = -1;   // where a Node keeps what the two sides' solves learnt
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
    Score mass_of(Score worth) const {
        return objective.error == 1 ? worth : (worth + objective.error - 1) / objective.error;
    }
};
inline Rules rules_of(const Switches& s, const Objective& objective = {}) {
    return {s.monotone != 0, s.similarity != 0, objective};
}

struct Segment {
    Score bound;               // no split inside has a smaller objective
    Point u, v;                // its neighbours; u itself belongs to it while u is open
    std::uint32_t f;           // the feature, as the subproblem numbers it
    std::uint32_t shape = 0;   // which of the shapes a split may have
    Score length() const { return v.z - u.z; }
};

// B1 for the left and the right side of a threshold with mass z on its left.
inline Score left_bound(const Segment& s, Score z, const Rules& rules) {
    return std::max(rules.monotone ? s.u.left : 0, rules.similarity ? s.v.left - rules.worth(s.v.z - z) : 0);
}
inline Score right_bound(const Segment& s, Score z, const Rules& rules) {
    return std::max(rules.monotone ? s.v.right : 0,
                    rules.similarity ? s.u.right - rules.worth(z - s.u.z) : 0);
}

// The least of B1 over the segment, and the split's cost.  As z grows the left part is first flat, then rises
// by one error a row; the right part first falls by one error a row, then is flat.  So the sum falls, stays
// level, and rises again, and every z between the two bends has the least value: one bend is enough.  It lies
// where the left part has `rise` still before it.
inline Score segment_bound(const Segment& s, const Rules& rules) {
    const Score least_left = rules.monotone ? s.u.left : 0, least_right = rules.monotone ? s.v.right : 0;
    if (!rules.similarity) return rules.objective.split + least_left + least_right;
    const Score whole = rules.worth(s.length()), rise = std::clamp<Score>(s.v.left - least_left, 0, whole);
    return rules.objective.split + std::max(least_left, s.v.left - rise) +
           std::max(least_right, s.u.right - (whole - rise));
}

inline Segment make_segment(std::uint32_t f, std::uint32_t shape, const Point& u, const Point& v,
                            const Rules& rules) {
    Segment s{0, u, v, f, shape};
    s.bound = segment_bound(s, rules);
    return s;
}

// What an evaluation found of a threshold: see above.  Without a leaf size `near` and `own` are the same.
struct Evaluated {
    Point near, own;
    // The left end of what lies right of it: left sides grow from here, right sides shrink.
    Point as_left_end() const {
        Point end = near;
        end.right = own.right;
        return end;
    }
    Point as_right_end() const {
        Point end = near;
        end.left = own.left;
        return end;
    }
};

// The same with what the segment around it tells.  Without leaf sizes all of B1 counts for both; with them
// its similarity holds for `own` alone.
inline Evaluated within(const Segment& s, Evaluated w, bool limited, const Rules& rules) {
    const Score left = left_bound(s, w.own.z, rules), right = right_bound(s, w.own.z, rules);
    if (!limited) {
        w.near.left = std::max(w.near.left, left);
        w.near.right = std::max(w.near.right, right);
        return {w.near, w.near};
    }
    if (rules.monotone) {
        w.near.left = std::max(w.near.left, s.u.left);
        w.near.right = std::max(w.near.right, s.v.right);
    }
    w.own.left = std::max({w.own.left, w.near.left, left});
    w.own.right = std::max({w.own.right, w.near.right, right});
    return w;
}

// The part of `whole` between two points, u and v, of which at least one is new; what holds for the whole
// holds for it too.
inline Segment part_of(const Segment& whole, const Point& u, const Point& v, const Rules& rules) {
    Segment s = make_segment(whole.f, whole.shape, u, v, rules);
    s.bound = std::max(s.bound, whole.bound);
    return s;
}

// The thresholds of a segment that may still beat `ub`: indices [first, last] among the feature's cuts, at
// positions [low, high].  A threshold near u keeps at least total(u) - (worth of the mass moved), so that
// must be at least total(u) - ub + 1; the same near v (Corollary 1, with the paper's slip mended: both sides
// alike).
struct Run {
    std::uint32_t first, last;
    Position low, high;   // positions of `first` and `last` are within
    bool empty() const { return first > last || last == ~std::uint32_t{0}; }
    std::uint32_t size() const { return empty() ? 0 : last - first + 1; }
};

struct Moves {
    Score from_u, from_v;
};
inline Moves mass_to_move(const Segment& s, Score ub, const Rules& rules) {
    const Score nearest = s.u.open ? 0 : 1;
    if (!rules.similarity) return {nearest, 1};
    return {std::max(nearest, rules.mass_of(rules.total(s.u) - ub + 1)),
            std::max<Score>(1, rules.mass_of(rules.total(s.v) - ub + 1))};
}

// No threshold of the segment outside its live run is below this.
inline Score trimmed_bound(const Segment& s, Score ub, const Rules& rules) {
    const auto [from_u, from_v] = mass_to_move(s, ub, rules);
    const auto at = [&](Score z) { return Point{z, left_bound(s, z, rules), right_bound(s, z, rules)}; };
    const Score last_u = std::min(s.u.z + from_u - 1, s.v.z), last_v = std::max(s.v.z - from_v + 1, s.u.z);
    const Score beside_u =
        from_u > (s.u.open ? 0 : 1) ? make_segment(s.f, s.shape, s.u, at(last_u), rules).bound : unreached;
    const Score beside_v = from_v > 1 ? make_segment(s.f, s.shape, at(last_v), s.v, rules).bound : unreached;
    return std::max(ub, std::min(beside_u, beside_v));
}

template <class Entry>
Run live_run(const Segment& s, const Subproblem<Entry>& sub, Score ub, const Rules& rules) {
    constexpr Run none{1, 0, 0, 0};
    const auto [from_u, from_v] = mass_to_move(s, ub, rules);
    if (s.u.z + from_u > s.v.z - from_v) return none;
    const Position low = sub.position_of(s.f, s.u.z + from_u),
                   behind = sub.position_of(s.f, s.v.z - from_v + 1);
    const Cuts cuts = sub.cuts(s.f);
    // behind <= rows, as v lies further right
    return {cuts.below(low), cuts.below(behind) - 1, low, behind - 1};
}

}  // namespace contree
