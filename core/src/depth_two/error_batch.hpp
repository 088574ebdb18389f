// Batches of errors: what plain and general ones share.
//
// Stumps say two classes, so the kernel (kernel.hpp) sweeps rows of two classes at a time; here is which
// pairs of classes, and what follows.
#pragma once
#include "depth_two/batch.hpp"

namespace contree {
// Pairs of classes grow with the square of their number; beyond this, lanes are evaluated one by one.
inline constexpr std::uint32_t most_paired_classes = 48;

class ErrorBatch : public Batch {
public:
    ErrorBatch(const Objective& objective, const Kernel& kernel, const Halt& halt)
        : Batch(objective, halt), kernel_(kernel) {}

    void start(const RowSet& set, Arena& arena, Statistics& statistics) final;
protected:
    // Rows of two classes in every feature's order.
    struct Pair {
        std::uint32_t a, b;  // a < b
        Row rows;
        const std::byte* entries = nullptr;  // null until first used, like the rest
        std::size_t stride = 0;
        const std::uint8_t* threshold_mask = nullptr;
        const Ties* ties = nullptr;
    };
    // By lane: the first pair that was left out since the lane died.
    using Deaths = std::array<std::size_t, lane_count>;

    virtual void begin() = 0;                // the rest of `start`
    virtual void sweep_lanes(Score ub) = 0;  // finds what is reached and proved

    // error_subsets.cpp
    void weigh_categories(std::uint32_t f);
    Position end_of_group(std::uint32_t f, std::uint32_t group, Position begin, Position end) const;
    void take_subset_stumps(BySide& allowed, BySide& relaxed);
    Score allowed_stump(std::uint32_t f, std::size_t side, Score least) const;

    void prepare(Pair& pair);
    void weigh_classes();
    BySide leaves() const;
    // What stumps of a pair get right at the most.
    Score most_of(std::size_t pair, std::size_t side) const {
        return class_totals_[pairs_[pair].a][side] + class_totals_[pairs_[pair].b][side];
    }
    template <class SweepThis>
    Deaths sweep_pairs(Score ub, std::uint32_t lanes_meant, const BySide& right, const SweepThis& sweep_this);
    template <class Sums, class SweepThis>
    void sweep_any_leaves(Score ub, const Sums& sums, const SweepThis& sweep_this);

    const Kernel& kernel_;
    std::uint64_t* words_ = nullptr;
    std::vector<Pair> pairs_;    // the most rows first
    alignas(64) BySide size_{};  // masses
    std::vector<BySide> class_totals_;
    std::vector<BySide> category_totals_;        // of one feature: category by category, by class
    std::vector<std::uint64_t> gathered_words_;  // in the feature's order
    std::vector<Score> gathered_weights_;
    std::vector<BySide> potential_;  // by pair: what it and all that follow get right at the most
private:
    void evaluate_lanes(Score ub) final;
};

// Sweeps pair after pair, by sweep_this(index), which raises `right`, what the best stump so far gets right.
// No stump on {a, b} is right more than tot_a + tot_b times, so `potential_[i]` bounds what pairs i, i + 1,
// .. can give.  A lane that cannot get below ub even with that is dead, and a pair that can help no side of a
// live lane is left out.  `right` has what a dead lane gets of a pair that is swept for others; so its bound
// counts the pairs from its first one left out.
template <class SweepThis> auto ErrorBatch::sweep_pairs(
    Score ub, std::uint32_t lanes_meant, const BySide& right, const SweepThis& sweep_this) -> Deaths {
    Deaths death;
    death.fill(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        bool any_live = false, helps = false;
        for (std::size_t t = 0; t < lane_count; ++t) {
            if ((lanes_meant >> t & 1) == 0) continue;
            const std::size_t l = left_side(t), r = right_side(t);
            const auto least = [&](std::size_t s) { return size_[s] - std::max(right[s], potential_[i][s]); };
            const bool live = least(l) + least(r) < ub;
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

// For leaves of any size.  sweep_this(index) leaves the extremes of a pair in `sums`.  Two classes: see
// kernel.hpp.  More: a stump that says a left and b right is right tot_b + W times, with W over the rows of a
// and b alone, so mass - errors = max over pairs {a, b} of max(tot_b + max W, tot_a - min W).
template <class Sums, class SweepThis>
void ErrorBatch::sweep_any_leaves(Score ub, const Sums& sums, const SweepThis& sweep_this) {
    if (set_->groups == 2 && set_->categorical == 0) {
        sweep_this(0);
        for (std::size_t s = 0; s < side_count; ++s) {
            const Score positive = (size_[s] + sums.end[s]) / 2, negative = size_[s] - positive;
            reached_[s] = proved_[s] = std::min<Score>(positive - sums.high[s], negative + sums.low[s]);
        }
        return;
    }
    weigh_classes();
    BySide right = leaves();  // what the best stump so far gets right
    take_subset_stumps(right, right);
    const Deaths death = sweep_pairs(ub, lanes_in_use(), right, [&](std::size_t i) {
        sweep_this(i);
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for (std::size_t s = 0; s < side_count; ++s)
            right[s] = std::max<Score>({right[s], b[s] + sums.high[s], a[s] - sums.low[s]});
    });
    for (std::size_t s = 0; s < side_count; ++s) {
        reached_[s] = size_[s] - right[s];
        proved_[s] = size_[s] - std::max(right[s], potential_[death[s % lane_count]][s]);
    }
}
}  // namespace contree
