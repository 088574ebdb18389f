// One batch: up to 32 splits ("lanes") of a subproblem, with the best stumps on both sides of each.
//
// Here is what all batches share: the lanes, the rows' words, what sides and classes weigh, and which pairs
// of classes are swept.  plain_batch.hpp sweeps rows of weight one for leaves of any size; general_batch.hpp
// knows weights and leaf sizes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "depth_two/kernel.hpp"
#include "search/statistics.hpp"

namespace contree {

// Pairs of classes grow with the square of their number; beyond this, lanes are evaluated one by one.
inline constexpr std::uint32_t most_paired_classes = 48;

// A split to evaluate.  `owner` is for whoever asked.
struct Lane {
    std::uint32_t f;
    Position z;
    std::uint32_t owner;
    // The first and last threshold that its `near` bounds are for: see segment.hpp.
    Position before = 0, behind = 0;
};

template <class Entry>
class Batch {
public:
    Batch(const Kernel& kernel, const Halt& halt) : kernel_(kernel), halt_(halt) {}
    Batch(const Batch&) = delete;
    virtual ~Batch() = default;

    // From here on splits of `sub`; memory for it is taken from `arena`.
    void start(const Subproblem<Entry>& sub, Arena& arena, Statistics& statistics);

    // The lanes of the next evaluation, to be filled by the caller and sorted by feature and position.
    std::vector<Lane> lanes;
    // Is all of the subproblem the left side of one more, the last lane?  Then there is room for one fewer.
    bool with_whole = false;
    static constexpr std::size_t whole_lane = lane_count - 1;
    // Are the errors of a leaf on each side wanted too?
    bool with_leaves = false;

    // Scores that are not below `ub` need not be exact.  False where it was halted: then there are no scores.
    bool evaluate(Score ub);

    // Have both sides of lane t rows enough for a leaf?
    bool allows(std::size_t t) const { return (allowed_ >> t & 1) != 0; }

    // Errors of the best stumps found on the sides of lane t, and what no stump can get below; the same
    // unless their sum does not lie below `ub`.
    Score reached(std::size_t t) const { return Score{reached_[left_side(t)]} + reached_[right_side(t)]; }
    Score reached_left(std::size_t t) const { return reached_[left_side(t)]; }
    Score reached_right(std::size_t t) const { return reached_[right_side(t)]; }
    Score leaf_left(std::size_t t) const { return leaf_[left_side(t)]; }   // with_leaves alone
    Score leaf_right(std::size_t t) const { return leaf_[right_side(t)]; }
    Score proved_left(std::size_t t) const { return proved_[left_side(t)]; }
    Score proved_right(std::size_t t) const { return proved_[right_side(t)]; }
    Score proved(std::size_t t) const { return proved_left(t) + proved_right(t); }
    // With a leaf size: what no stump can get below on the same rows for any of the thresholds from `before`
    // to `behind`.
    Score near_left(std::size_t t) const { return near_[left_side(t)]; }
    Score near_right(std::size_t t) const { return near_[right_side(t)]; }

protected:
    using Sum = std::conditional_t<Subproblem<Entry>::may_be_general, Score, std::int32_t>;
    using BySide = std::array<Sum, side_count>;

    // Rows of two classes in every feature's order.
    struct Pair {
        std::uint32_t a, b;   // a < b
        Row rows;
        const Entry* entries = nullptr;   // null until first used, like the rest
        std::size_t stride = 0;
        const std::uint8_t* takes = nullptr;
        const Ties* ties = nullptr;
    };
    // By lane: the first pair that was left out since the lane died.
    using Deaths = std::array<std::size_t, lane_count>;

    virtual void begin() = 0;                                             // the rest of `start`
    virtual void sweep_lanes(Score ub) = 0;                               // finds what is reached and proved
    virtual std::uint32_t lanes_allowed() { return ~std::uint32_t{0}; }   // bit t: see `allows`

    std::uint32_t lanes_in_use() const {
        const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << lanes.size()) - 1);
        return used | (with_whole ? std::uint32_t{1} << whole_lane : 0);
    }
    void prepare(Pair& pair);
    void weigh_classes();
    BySide leaves() const;
    // What stumps of a pair get right at the most.
    Sum most_of(std::size_t pair, std::size_t side) const {
        return class_totals_[pairs_[pair].a][side] + class_totals_[pairs_[pair].b][side];
    }
    template <class SweepThis>
    Deaths sweep_pairs(Score ub, std::uint32_t lanes_meant, const BySide& right, const SweepThis& sweep_this);
    void conclude(const BySide& right, const Deaths& death);
    void evaluate_one_by_one(std::uint32_t lanes_meant);

    const Kernel& kernel_;
    const Halt halt_;
    const Subproblem<Entry>* sub_ = nullptr;
    Arena* arena_ = nullptr;
    Statistics* statistics_ = nullptr;
    std::uint64_t* words_ = nullptr;
    std::vector<Pair> pairs_;   // the most rows first
    std::uint32_t allowed_ = 0;
    alignas(64) BySide size_, reached_, proved_, near_{}, leaf_{};   // masses
    std::vector<BySide> class_totals_;
    std::vector<BySide> potential_;   // by pair: what it and all that follow get right at the most

private:
    void side_sizes();
    void find_leaves();

    std::vector<std::uint32_t> class_of_;   // by row, where lanes go one by one
};

// The words of a set of rows, for `count` lanes; `place` gives a lane's feature and position there.  The
// thresholds z_1 < .. < z_m of one feature part its order into m + 1 buckets, and all rows of a bucket have
// the same bits in the feature's lanes.  The largest bucket gets its bits by default.
template <class Entry, class Place>
void write_words(const Subproblem<Entry>& sub, std::size_t count, bool with_whole, const Halt& halt,
                 std::uint64_t* words, const Place& place) {
    struct Bucket {
        std::uint32_t f;
        Position begin, end;
        std::uint64_t flip;
    };
    std::array<Bucket, 2 * lane_count> buckets;
    std::size_t bucket_count = 0;
    std::uint64_t common = with_whole ? std::uint64_t{1} << Batch<Entry>::whole_lane : 0;
    for (std::size_t t = 0; t < count;) {
        const std::uint32_t f = place(t).first;
        std::size_t m = 1;
        while (t + m < count && place(t + m).first == f) ++m;
        const auto bits = [&](std::size_t b) {
            const std::uint64_t passed = (std::uint64_t{1} << b) - 1, all = (std::uint64_t{1} << m) - 1;
            return (all & ~passed) << t | passed << (lane_count + t);
        };
        const auto begin = [&](std::size_t b) { return b == 0 ? 0 : place(t + b - 1).second; };
        const auto end = [&](std::size_t b) { return b == m ? sub.rows : place(t + b).second; };
        std::size_t largest = 0;
        for (std::size_t b = 1; b <= m; ++b)
            if (end(b) - begin(b) > end(largest) - begin(largest)) largest = b;
        common |= bits(largest);
        for (std::size_t b = 0; b <= m; ++b)
            if (b != largest) buckets[bucket_count++] = {f, begin(b), end(b), bits(b) ^ bits(largest)};
        t += m;
    }
    std::fill_n(words, sub.rows, common);
    for (std::size_t i = 0; i < bucket_count; ++i) {
        const Bucket& bucket = buckets[i];
        const Entry* const order = sub.order(bucket.f) + bucket.begin;
        in_stretches(bucket.end - bucket.begin, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) words[Packed<Entry>::row(order[k])] ^= bucket.flip;
        });
    }
}

// Sweeps pair after pair, by sweep_this(index), which raises `right`, what the best stump so far gets right.
//
// No stump on {a, b} is right more than tot_a + tot_b times, so `potential_[i]` bounds what pairs i, i + 1,
// .. can give.  A lane whose two sides cannot get below ub even with that is dead, and a pair that can help
// no side of a live lane is left out.  (Testing one side alone would be wrong: left and right may use
// different pairs.)  What a dead lane may get of a pair that is swept for others, `right` has then; so its
// bound counts the pairs from its first one that was left out.
template <class Entry>
template <class SweepThis>
auto Batch<Entry>::sweep_pairs(Score ub, std::uint32_t lanes_meant, const BySide& right,
                               const SweepThis& sweep_this) -> Deaths {
    Deaths death;
    death.fill(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        bool any_live = false, helps = false;
        for (std::size_t t = 0; t < lane_count; ++t) {
            if ((lanes_meant >> t & 1) == 0) continue;
            const std::size_t l = left_side(t), r = right_side(t);
            const Sum best_left = std::max(right[l], potential_[i][l]),
                      best_right = std::max(right[r], potential_[i][r]);
            const bool live = size_[l] + size_[r] - best_left - best_right < ub;
            any_live |= live;
            if (!live) death[t] = std::min(death[t], i);
            helps |= live && (most_of(i, l) > right[l] || most_of(i, r) > right[r]);
        }
        if (!any_live || halt_()) break;
        if (!helps) continue;
        sweep_this(i);
        std::replace(death.begin(), death.end(), i, i + 1);
    }
    return death;
}

}  // namespace contree
