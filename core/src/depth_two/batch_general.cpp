// Batches of the general case: rows that weigh more than one, leaves that must be of some size.
#include <algorithm>

#include "depth_two/batch.hpp"

namespace contree {

// Steps are as narrow as the weights allow.
template <class Entry>
void Batch<Entry>::start_general() {
    const Subproblem<Entry>& sub = *sub_;
    const Score largest = sub.weighted() ? *std::max_element(sub.weight, sub.weight + sub.rows) : 1;
    const auto chunk = [&](Score greatest) { return static_cast<Row>(std::min<Score>(sub.rows, greatest / largest)); };
    if (largest <= largest_step<std::int16_t>) step_bits_ = 16, chunk_rows_ = chunk(std::numeric_limits<std::int16_t>::max() - 1);
    else if (largest <= largest_step<std::int32_t>) step_bits_ = 32, chunk_rows_ = chunk(std::numeric_limits<std::int32_t>::max() - 1);
    else step_bits_ = 64, chunk_rows_ = sub.rows;
    ends_ = nullptr;
    class_totals_.resize(2);
    potential_.resize(2);
}

// Stumps with leaves large enough, for the lanes that lie below ub without that: the others do not with it.
template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub) {
    near_ = relaxed_ = proved_;
    std::uint32_t meant = 0;
    for (std::size_t t = 0; t < lane_count; ++t)
        if ((lanes_in_use() >> t & 1) != 0 && proved(t) < ub) meant |= std::uint32_t{1} << t;
    if (meant == 0) return;
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

// Leaves of any size: the pair's own rows are enough.
template <class Entry>
void Batch<Entry>::sweep_weighted(Pair& pair, std::uint32_t lanes_meant) {
    statistics_->row_visits += std::int64_t{pair.rows} * sub_->features;
    const std::uint64_t used = lanes_meant | std::uint64_t{lanes_meant} << lane_count;
    sweep_general(pair, [&](auto& input) {
        input.entries = pair.sweep.entries;
        input.stride = pair.sweep.stride;
        input.takes = pair.sweep.takes;
        input.rows = pair.rows;
        input.used = used;
    });
}

// Every row counts towards the size of a leaf, whatever its class.
template <class Entry>
void Batch<Entry>::sweep_limited(Pair& pair, std::uint32_t lanes_meant) {
    const Subproblem<Entry>& sub = *sub_;
    statistics_->row_visits += std::int64_t{sub.rows} * sub.features;
    if (ends_ == nullptr) ends_ = mark_ends(sub.entries, sub.stride, sub.rows);
    std::array<std::int32_t, side_count> sizes{}, near_leaf;
    near_leaf.fill(static_cast<std::int32_t>(sub.min_leaf()));   // of all rows: a number that bounds no larger set
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
        input.min_leaf = sub.min_leaf();
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
        input.steps = steps_of<Step>(pair);
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
const Step* Batch<Entry>::steps_of(Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    if (pair.steps == nullptr) {
        auto* const steps = arena_->take<Step>(sub.rows);
        std::fill_n(steps, sub.rows, Step{0});
        for (Row r = sub.class_begin[pair.a]; r < sub.class_begin[pair.a + 1]; ++r) steps[r] = static_cast<Step>(sub.weight_of(r));
        for (Row r = sub.class_begin[pair.b]; r < sub.class_begin[pair.b + 1]; ++r) steps[r] = static_cast<Step>(-sub.weight_of(r));
        pair.steps = steps;
    }
    return static_cast<const Step*>(pair.steps);
}

template <class Entry>
const std::uint8_t* Batch<Entry>::mark_ends(const Entry* entries, std::size_t stride, Row rows) {
    auto* const takes = arena_->take<std::uint8_t>(stride * sub_->features);
    for (std::uint32_t f = 0; f < sub_->features; ++f)
        kernel_.movers->of<Entry>().mark_ends(entries + f * stride, rows, takes + f * stride);
    return takes;
}

template void Batch<WideEntry>::start_general();
template void Batch<WideEntry>::evaluate_allowed(Score);
template void Batch<WideEntry>::sweep_weighted(Pair&, std::uint32_t);
template void Batch<WideEntry>::sweep_limited(Pair&, std::uint32_t);
template const std::uint8_t* Batch<WideEntry>::mark_ends(const WideEntry*, std::size_t, Row);

}  // namespace contree
