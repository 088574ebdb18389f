// What is known of the thresholds between two evaluated ones: the bounds B0 and B1.
//
// theta(S) is the least loss of a tree of some fixed depth for the rows S; L(z) and R(z) are theta of the
// left and the right side of a split at position z.
//
// B0. theta(S') >= theta(S) - |S \ S'| for any row sets, where an objective is `similar` (the paper's Eq. 3).
// Proof: the best tree for S' loses on S what it loses on S', and at most one on each row of S \ S'.
//
// B1. For evaluated u < v and a position z between them
//     L(z) >= max(L_u, L_v - (z_v - z)),   R(z) >= max(R_v, R_u - (z - z_u)).
// Each first part says that more rows never lose less, which holds for every objective; each second part is
// B0.  The sum holds the paper's three prunings and a fourth combination, L_v + R_u - (z_v - z_u).  L_u, L_v,
// R_u and R_v may be any proved lower bounds.
//
// Weights.  With |.| as mass and z as the mass left of a threshold, the proofs are the same.  So points are
// placed by mass, and only a run has positions.
//
// Minimal leaf size.  Write theta(S | T) for the least loss on S of a tree whose leaves are large enough on
// T, S inside T; what counts is theta(S | S).  A leaf is always allowed.
// - Shrinking: theta(S' | S') >= theta(S | S) - |S \ S'| for S' inside S.  The best tree for S' has leaves at
//   least as large on S, and B0's proof goes through.
// - Growing: a row more may make a split allowed, so "more rows never lose less" fails.  But for S inside Z
//   inside T, theta(Z | Z) >= theta(S | T): the best tree for Z has leaves at least as large on T, and loses
//   on S no more than on Z.  So for z from u to v, L(z) >= theta(L(u) | L(v)) and R(z) >= theta(R(v) | R(u)).
// So an evaluated threshold w has two numbers for each side.  `own` is theta(L(w) | L(w)); `near` is
// theta(L(w) | L(v)), or theta(R(w) | R(u)), with u and v the first and last threshold of its live run.  From
// the left end of a segment left sides grow (near) and right sides shrink (own); from the right end the other
// way round.  So an end still has two numbers, and B1 is what it was.  `near` says nothing of thresholds
// trimmed off the run: what was known before closes these (`trimmed_bound`).  A split with a side too small
// makes no tree, but is evaluated: it bounds others.
//
// Costs.  A moved row is worth Costs::loss, and a segment's bound includes its split's cost.  The best tree
// for S, used on a part of S, needs no more splits there, so all of this holds for the objective too.
#pragma once
#include "objective/objective.hpp"

namespace contree {
// Two numbers, of the left and of the right side of a split.
struct Sides {
    Score left, right;
};

// A threshold of which something is proved, or an end: z = 0 has nothing left, z = mass of all nothing right.
struct Point {
    Score z;                    // the mass on its left
    Score left, right;          // proved lower bounds of L(z), R(z)
    bool open = false;          // not evaluated itself: the segment to its right holds it as a candidate
    std::int32_t profile = -1;  // where a Node keeps what the two sides' solves learnt
};

// What the bounds rest on.
struct Rules {
    bool similarity = true;
    Costs costs = {};

    // What a split at a point costs at the least, in all.
    Score total(const Point& point) const { return point.left + point.right + costs.split; }
    // What so much mass can change, and the least mass that can change so much.
    Score worth(Score mass) const { return costs.loss * mass; }
    Score mass_of(Score change) const {
        return costs.loss == 1 ? change : (change + costs.loss - 1) / costs.loss;
    }
    // What is left of a bound when so much mass leaves the rows that it was proved of: nothing without B0.
    Score kept(Score bound, Score mass) const { return similarity || mass == 0 ? bound - worth(mass) : 0; }
};
inline Rules rules_of(const Objective& objective, const Switches& switches) {
    return {objective.similar && switches.similarity != 0, objective.costs};
}

// An open part of a feature: the thresholds between two points; or the sets of categories that begin as
// `subset` does, where u.z categories are decided of v.z, and u has what is proved of both sides
// (subset.hpp).
struct Segment {
    Score bound;               // no split inside has a smaller objective
    Point u, v;                // its neighbours; u itself belongs to it while u is open
    std::uint32_t f;           // the feature, as the row set numbers it
    std::uint32_t budget = 0;  // which of the ways to share leaves out a split of it has
    SubsetId subset = no_subset;
    Score length() const { return v.z - u.z; }
};

// B1 for the left and the right side of a threshold with mass z on its left.
inline Score left_bound(const Segment& s, Score z, const Rules& rules) {
    return rules.similarity ? std::max(s.u.left, s.v.left - rules.worth(s.v.z - z)) : s.u.left;
}
inline Score right_bound(const Segment& s, Score z, const Rules& rules) {
    return rules.similarity ? std::max(s.v.right, s.u.right - rules.worth(z - s.u.z)) : s.v.right;
}

// The least of B1 over the segment, and the split's cost.  As z grows the left part is first flat, then rises
// by one a row; the right part first falls by one a row, then is flat.  So the sum falls, stays level, and
// rises again: the bend of the left part, with `rise` still before it, has the least value.
inline Score segment_bound(const Segment& s, const Rules& rules) {
    if (!rules.similarity) return rules.costs.split + s.u.left + s.v.right;
    const Score whole = rules.worth(s.length()), rise = std::clamp<Score>(s.v.left - s.u.left, 0, whole);
    return rules.costs.split + std::max(s.u.left, s.v.left - rise) +
           std::max(s.v.right, s.u.right - (whole - rise));
}

inline Segment make_segment(
    std::uint32_t f, std::uint32_t budget, const Point& u, const Point& v, const Rules& rules) {
    return {segment_bound({0, u, v, f}, rules), u, v, f, budget};
}

// What an evaluation found of a threshold: see above.  Without a leaf size `near` and `own` are the same.
struct Evaluated {
    Point near, own;
    Point as_left_end() const { return {near.z, near.left, own.right, near.open, near.profile}; }
    Point as_right_end() const { return {near.z, own.left, near.right, near.open, near.profile}; }
};

// The same with what the segment around it tells.  With leaf sizes B1's similarity holds for `own` alone.
inline Evaluated within(const Segment& s, Evaluated w, bool leaf_size, const Rules& rules) {
    const Score left = left_bound(s, w.own.z, rules), right = right_bound(s, w.own.z, rules);
    w.near.left = std::max(w.near.left, leaf_size ? s.u.left : left);
    w.near.right = std::max(w.near.right, leaf_size ? s.v.right : right);
    if (!leaf_size) return {w.near, w.near};
    w.own.left = std::max({w.own.left, w.near.left, left});
    w.own.right = std::max({w.own.right, w.near.right, right});
    return w;
}

// The part of `whole` between two points, of which at least one is new; the bound of the whole holds for it.
inline Segment part_of(const Segment& whole, const Point& u, const Point& v, const Rules& rules) {
    Segment s = make_segment(whole.f, whole.budget, u, v, rules);
    s.bound = std::max(s.bound, whole.bound);
    return s;
}

// The thresholds of a segment that may still beat `ub`.
struct Run {
    std::uint32_t first, last;  // among the feature's cuts
    Position low, high;         // positions of `first` and `last` are within
    bool empty() const { return first > last || last == ~std::uint32_t{0}; }
    std::uint32_t size() const { return empty() ? 0 : last - first + 1; }
};

// A threshold near u keeps at least total(u) - (worth of the mass moved), so that must be at least total(u) -
// ub + 1; the same near v (Corollary 1, with the paper's slip mended: both sides alike).
inline std::pair<Score, Score> mass_to_move(const Segment& s, Score ub, const Rules& rules) {
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
    Score least = unreached;
    if (from_u > (s.u.open ? 0 : 1)) least = make_segment(s.f, s.budget, s.u, at(last_u), rules).bound;
    if (from_v > 1) least = std::min(least, make_segment(s.f, s.budget, at(last_v), s.v, rules).bound);
    return std::max(ub, least);
}

inline Run live_run(const Segment& s, const RowSet& set, Score ub, const Rules& rules) {
    const auto [from_u, from_v] = mass_to_move(s, ub, rules);
    if (s.u.z + from_u > s.v.z - from_v) return {1, 0, 0, 0};
    const Position low = set.position_of(s.f, s.u.z + from_u);
    const Position behind = set.position_of(s.f, s.v.z - from_v + 1);  // at most rows: v lies further right
    const Cuts cuts = set.cuts(s.f);
    return {cuts.below(low), cuts.below(behind) - 1, low, behind - 1};
}
}  // namespace contree
