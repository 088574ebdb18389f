// The contract of the kernels of squared error.
//
// A lane is a split, and its two sides part the rows.  In the order of a feature a side has a prefix of
// weight k and sum A.  With n, S and E the weight, the sum and the squared error of the whole side, the stump
// there has the squared error
//     E - n D^2 / (k (n - k)),   D = A - k S / n.
// The kernel finds best = max D^2 / (k (n - k)) over all thresholds of all features, in doubles: an order's
// rows pass once, and a division is made only where D^2 > best k (n - k) + guard.  `guard` is (4 u S)^2, with
// u = 2^-53: behind the last row of a side D is only rounded, not 0, and must not count.
//
// How far off is n best?  Sums and weights are exact (squared_error.hpp); fused or not, let a = |S| k / n, so
// that the computed D is off by at most u |D| + 2.01 u a.  With Q the sum of w y^2, Q = E + S^2 / n:
// - n |D| a / (k (n - k)) = |S| |D| / (n - k) <= |S| sqrt(E k / (n (n - k))) <= |S| sqrt(E) <= sqrt(n) Q / 2,
//   as D^2 n / (k (n - k)) <= E and weights are at least 1.  The square of the second part adds 4 u Q or
//   less.
// - Relative errors of D, D^2, k (n - k), the comparison, the quotient and n best: 16 u Q or less.
// - What the guard hides is at most n guard / (k (n - k)) <= 2 (4 u S)^2 <= 32 u Q, as n < 2^53.
// So n best is above the truth less (2.01 sqrt(n) + 52) u Q, and a stump's loss is above the computed one
// less that: `SquaredBatch` takes u (64 + 4 sqrt(n)) Q, with room for rounding E itself.
//
// Categories pass in the order of their means instead, as computed (squared_categories.hpp).  That is the
// order of means x' with |x' - x| <= u |x|, and the square root of a stump's gain changes by at most u
// sqrt(Q) where means do so: a gain is the squared length of a projection.  So the best prefix of that order
// is above the best of all by less than 4.1 u Q, which the same margin covers.
//
// The scalar kernel is the meaning.  A vector kernel may fuse and so differ in the last bits; no decision
// depends on them, as what lies within the margin is counted again in integers.
#pragma once
#include "depth_two/kernel.hpp"

namespace contree {
// What a row adds to sums: w y, w and w y^2; and where it lies.  Half a cache line.
struct alignas(32) SquaredRow {
    double sum, weight, squares;
    std::uint64_t word;  // bit t: left in lane t
};

// One side of each lane.  There are twice as many lanes as a batch has: in a lane of categories rows may lie
// on neither side, so its right side is the left one of a lane of its own.
struct SquaredSides {
    alignas(64) double mean[side_count], weight[side_count], guard[side_count];  // S / n, n, see above
    alignas(64) double best[side_count];                                         // is raised
};

struct SquaredSweep {
    const std::byte* entries;  // by feature, `stride` entries apart
    Width width;
    std::size_t stride;
    const std::uint8_t* threshold_mask;  // like entries: 0 where no threshold can stand behind
    std::uint32_t features;
    Row rows;
    const SquaredRow* row;  // by number
    unsigned lanes;         // of others nothing is said

    Order order(std::uint32_t f) const {
        return {entries + f * stride * static_cast<std::size_t>(width), width};
    }
};

struct SquaredKernel {
    // The sums of w y and of w y^2 over the rows that lie left in a lane, for the first so many lanes.
    void (*weigh)(const SquaredSweep& input, double* sums, double* squares);
    void (*sweep)(const SquaredSweep& input, SquaredSides& left, SquaredSides& right);
};
}  // namespace contree
