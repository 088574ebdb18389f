// Batches of the general case: rows that weigh more than one, leaves that must be of some size.
#include <algorithm>

#include "depth_two/batch.hpp"
#include "depth_two/d2split.hpp"
#include "tree/stump.hpp"

namespace contree {

// Steps are as narrow as the weights allow.  Where they need 64 bits, steps cut off to 32 come first.
template <class Entry>
void Batch<Entry>::start_general() {
    const Subproblem<Entry>& sub = *sub_;
    const Score largest = sub.weighted() ? *std::max_element(sub.weight, sub.weight + sub.rows) : 1;
    const auto chunk = [&](Score greatest) { return static_cast<Row>(std::min<Score>(sub.rows, greatest / largest)); };
    if (largest <= largest_step<std::int16_t>) step_bits_ = 16, chunk_rows_ = chunk(std::numeric_limits<std::int16_t>::max() - 1);
    else if (largest <= largest_step<std::int32_t>) step_bits_ = 32, chunk_rows_ = chunk(std::numeric_limits<std::int32_t>::max() - 1);
    else step_bits_ = 64, chunk_rows_ = sub.rows;
    coarse_shift_ = 0;
    while (step_bits_ == 64 && largest >> coarse_shift_ > largest_step<std::int32_t>) ++coarse_shift_;
    ends_ = nullptr;
    class_of_.clear();
    class_totals_.resize(2);
    potential_.resize(2);
}

// Coarse steps close most lanes: only those below ub by them are evaluated in full.
template <class Entry>
void Batch<Entry>::evaluate_weighted(Score ub) {
    if (sub_->classes > 2) weigh_classes();
    std::uint32_t meant = lanes_in_use();
    if (coarse_shift_ > 0) {
        evaluate_weighted(ub, meant, true);
        for (std::size_t t = 0; t < lane_count; ++t)
            if (proved(t) >= ub) meant &= ~(std::uint32_t{1} << t);
    }
    if (meant != 0) evaluate_weighted(ub, meant, false);
}

// With coarse steps the sums are so much too good that what follows from them is proved; it is not reached then.
template <class Entry>
void Batch<Entry>::evaluate_weighted(Score ub, std::uint32_t lanes_meant, bool coarse) {
    const auto meant = [&](std::size_t s) { return (lanes_meant >> s % lane_count & 1) != 0; };
    if (sub_->classes == 2) {
        sweep_weighted(pairs_[0], lanes_meant, coarse);
        for (std::size_t s = 0; s < side_count; ++s) {
            if (!meant(s)) continue;
            const Score positive = (size_[s] + extremes_.end[s]) / 2, negative = size_[s] - positive;
            reached_[s] = proved_[s] = static_cast<Sum>(std::min(positive - extremes_.high[s], negative + extremes_.low[s]));
        }
        return;
    }
    BySide right = leaves();
    Deaths death;
    sweep_pairs(ub, lanes_meant, right, death, [&](Pair& pair) {
        sweep_weighted(pair, lanes_meant, coarse);
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        for (std::size_t s = 0; s < side_count; ++s)
            if (meant(s)) right[s] = static_cast<Sum>(std::max<Score>({right[s], b[s] + extremes_.high[s], a[s] - extremes_.low[s]}));
    });
    for (std::size_t s = 0; s < side_count; ++s) {
        if (!meant(s)) continue;
        reached_[s] = size_[s] - right[s];
        proved_[s] = size_[s] - std::max(right[s], potential_[death[s % lane_count]][s]);
    }
}

// Stumps with leaves large enough, for the lanes that lie below ub without that: the others do not with it.
template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub) {
    near_ = relaxed_ = proved_;
    std::uint32_t meant = 0;
    for (std::size_t t = 0; t < lane_count; ++t)
        if ((lanes_in_use() >> t & 1) != 0 && proved(t) < ub) meant |= std::uint32_t{1} << t;
    if (meant == 0) return;
    if (sub_->leaf.mass > 0) return evaluate_by_mass(meant);
    if (sub_->classes == 2) weigh_classes();
    BySide right = leaves(), near_right = right;
    Deaths death;
    sweep_pairs(ub, meant, right, death, [&](Pair& pair) {
        sweep_limited(pair, meant);
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        for (std::size_t s = 0; s < side_count; ++s) {
            if ((meant >> s % lane_count & 1) == 0) continue;
            right[s] = std::max<Sum>({right[s], static_cast<Sum>(b[s] + extremes_.allowed_high[s]), static_cast<Sum>(a[s] - extremes_.allowed_low[s])});
            near_right[s] = std::max<Sum>({near_right[s], static_cast<Sum>(b[s] + extremes_.high[s]), static_cast<Sum>(a[s] - extremes_.low[s])});
        }
    });
    for (std::size_t t = 0; t < lane_count; ++t) {
        if ((meant >> t & 1) == 0) continue;
        for (const std::size_t s : {left_side(t), right_side(t)}) {
            reached_[s] = size_[s] - right[s];
            proved_[s] = std::max(proved_[s], size_[s] - std::max(right[s], potential_[death[t]][s]));
            near_[s] = std::max(near_[s], size_[s] - std::max(near_right[s], potential_[death[t]][s]));
        }
    }
}

// A leaf's mass is no count of rows: one by one.  What bounds other thresholds stays what it is for any leaf.
template <class Entry>
void Batch<Entry>::evaluate_by_mass(std::uint32_t lanes_meant) {
    if (class_of_.empty()) class_of_ = classes_of_rows(*sub_);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        if ((lanes_meant >> t & 1) == 0) continue;
        const SplitErrors errors = d2split(*sub_, class_of_, lanes[t].f, lanes[t].z);
        reached_[left_side(t)] = proved_[left_side(t)] = static_cast<Sum>(errors.left);
        reached_[right_side(t)] = proved_[right_side(t)] = static_cast<Sum>(errors.right);
    }
    if ((lanes_meant >> whole_lane & 1) != 0 && with_whole)
        reached_[left_side(whole_lane)] = proved_[left_side(whole_lane)] = static_cast<Sum>(best_stump(*sub_).errors);
}

// Leaves of any size: the pair's own rows are enough.
//
// A coarse step is its weight without the last `coarse_shift_` bits, so each of W's prefixes, and the end, is off by
// less than `slack` = rows << coarse_shift_ in all.  Making the maximum greater and the minimum smaller by twice that
// leaves what follows from them, pos - max W and neg + min W with pos and neg off by half of it, no greater than it is.
template <class Entry>
void Batch<Entry>::sweep_weighted(Pair& pair, std::uint32_t lanes_meant, bool coarse) {
    if (pair.sweep.entries == nullptr) prepare(pair);
    statistics_->row_visits += std::int64_t{pair.rows} * sub_->features;
    const auto fill = [&](auto& input) {
        input.entries = pair.sweep.entries;
        input.stride = pair.sweep.stride;
        input.takes = pair.sweep.takes;
        input.rows = pair.rows;
        input.used = lanes_meant | std::uint64_t{lanes_meant} << lane_count;
    };
    if (!coarse) return sweep_general(pair, fill);
    if (pair.coarse_steps == nullptr) pair.coarse_steps = steps_of<std::int32_t>(pair, coarse_shift_);
    WeightedSweep<std::int32_t> input{};
    input.features = sub_->features;
    input.words = words_;
    input.steps = pair.coarse_steps;
    input.chunk_rows = 127;
    fill(input);
    kernel_.sweep(input, extremes_);
    const Score slack = Score{pair.rows} << coarse_shift_;
    for (std::size_t s = 0; s < side_count; ++s) {
        extremes_.high[s] = (extremes_.high[s] << coarse_shift_) + 2 * slack;
        extremes_.low[s] = extremes_.low[s] * (Score{1} << coarse_shift_) - 2 * slack;
        extremes_.end[s] = extremes_.end[s] * (Score{1} << coarse_shift_);
    }
}

// Every row counts towards the size of a leaf, whatever its class.
template <class Entry>
void Batch<Entry>::sweep_limited(Pair& pair, std::uint32_t lanes_meant) {
    const Subproblem<Entry>& sub = *sub_;
    statistics_->row_visits += std::int64_t{sub.rows} * sub.features;
    if (ends_ == nullptr) ends_ = mark_ends(sub.entries, sub.stride, sub.rows);
    std::array<std::int32_t, side_count> sizes{}, near_leaf;
    near_leaf.fill(static_cast<std::int32_t>(sub.leaf.rows));   // of all rows: a number that bounds no larger set
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        sizes[left_side(t)] = static_cast<std::int32_t>(lanes[t].z);
        sizes[right_side(t)] = static_cast<std::int32_t>(sub.rows - lanes[t].z);
        near_leaf[left_side(t)] = near_leaf[right_side(t)] = static_cast<std::int32_t>(lanes[t].leaf);
    }
    if (with_whole) sizes[left_side(whole_lane)] = static_cast<std::int32_t>(sub.rows);
    const std::uint64_t used = lanes_meant | std::uint64_t{lanes_meant} << lane_count;
    sweep_general(pair, [&](auto& input) {
        input.entries = sub.entries;
        input.stride = sub.stride;
        input.takes = ends_;
        input.rows = sub.rows;
        input.used = used;
        input.sizes = sizes.data();
        input.min_leaf = sub.leaf.rows;
        input.near_leaf = near_leaf.data();
    });
}

template <class Entry>
template <class Fill>
void Batch<Entry>::sweep_general(Pair& pair, const Fill& fill) {
    const auto with = [&]<class Step>(Step) {
        WeightedSweep<Step> input{};
        input.features = sub_->features;
        input.words = words_;
        if (pair.steps == nullptr) pair.steps = steps_of<Step>(pair, 0);
        input.steps = static_cast<const Step*>(pair.steps);
        input.chunk_rows = chunk_rows_;
        fill(input);
        kernel_.sweep(input, extremes_);
    };
    if (step_bits_ == 16) with(std::int16_t{});
    else if (step_bits_ == 32) with(std::int32_t{});
    else with(std::int64_t{});
}

// What a row adds to W: its weight, with the sign of its class, and nothing where it is of a third one.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::steps_of(const Pair& pair, unsigned shift) {
    const Subproblem<Entry>& sub = *sub_;
    auto* const steps = arena_->take<Step>(sub.rows);
    std::fill_n(steps, sub.rows, Step{0});
    for (const std::uint32_t c : {pair.a, pair.b}) {
        for (Row r = sub.class_begin[c]; r < sub.class_begin[c + 1]; ++r) {
            const auto step = static_cast<Step>(sub.weight_of(r) >> shift);
            steps[r] = c == pair.a ? step : static_cast<Step>(-step);
        }
    }
    return steps;
}

template <class Entry>
const std::uint8_t* Batch<Entry>::mark_ends(const Entry* entries, std::size_t stride, Row rows) {
    auto* const takes = arena_->take<std::uint8_t>(stride * sub_->features);
    for (std::uint32_t f = 0; f < sub_->features; ++f)
        kernel_.movers->of<Entry>().mark_ends(entries + f * stride, rows, takes + f * stride);
    return takes;
}

#define CONTREE_GENERAL(Entry)                                                                     \
    template void Batch<Entry>::start_general();                                                   \
    template void Batch<Entry>::evaluate_weighted(Score);                                          \
    template void Batch<Entry>::evaluate_weighted(Score, std::uint32_t, bool);                     \
    template void Batch<Entry>::evaluate_allowed(Score);                                           \
    template void Batch<Entry>::evaluate_by_mass(std::uint32_t);                                   \
    template void Batch<Entry>::sweep_weighted(Pair&, std::uint32_t, bool);                        \
    template void Batch<Entry>::sweep_limited(Pair&, std::uint32_t);                               \
    template const std::uint8_t* Batch<Entry>::mark_ends(const Entry*, std::size_t, Row);
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
