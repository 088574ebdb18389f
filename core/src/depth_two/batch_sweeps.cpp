// The sweeps of the general case: their steps and sizes.
#include <algorithm>

#include "depth_two/batch.hpp"

namespace contree {

// Leaves of any size: the pair's own rows are enough.
template <class Entry>
void Batch<Entry>::sweep_weighted(Pair& pair, std::uint64_t sides) {
    statistics_->row_visits += std::int64_t{pair.rows} * sub_->features;
    if (pair.sweep.entries == nullptr) prepare(pair);
    if (halt_()) return;
    sweep_general(pair.steps, sides, [&]<class Step>(WeightedSweep<Step>& input) {
        if (input.steps == nullptr) input.steps = steps_of<Step>(pair);
        input.entries = pair.sweep.entries;
        input.stride = pair.sweep.stride;
        input.takes = pair.sweep.takes;
        input.rows = pair.rows;
        input.features = sub_->features;
        input.words = words_;
    });
}

// Every row counts towards the size of a leaf, whatever its class.
template <class Entry>
void Batch<Entry>::sweep_limited(Pair& pair, std::uint64_t sides) {
    const Subproblem<Entry>& all = *sized_;
    statistics_->row_visits += std::int64_t{all.rows} * sub_->features;
    if (ends_ == nullptr) mark_ends();
    sweep_general(pair.sized_steps, sides, [&]<class Step>(WeightedSweep<Step>& input) {
        if (input.steps == nullptr) input.steps = sized_steps_of<Step>(pair);
        input.entries = all.entries;
        input.stride = all.stride;
        input.takes = ends_;
        input.rows = all.rows;
        input.features = all.features;
        input.words = sized_words_;
        input.near_words = near_words_;
        input.sizes = sizes_.data();
        input.near_sizes = near_sizes_.data();
        input.min_leaf = sized_by_mass_ ? sub_->leaf.mass : Score{sub_->leaf.rows};
        if (sized_by_mass_) input.row_sizes = row_sizes<Step>();
    });
}

// What the rows that count for sizes weigh.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::row_sizes() {
    if (row_sizes_ == nullptr) {
        auto* const sizes = arena_->take<Step>(sized_->rows);
        std::copy_n(sized_->weight, sized_->rows, sizes);
        row_sizes_ = sizes;
    }
    return static_cast<const Step*>(row_sizes_);
}

// `steps` remembers those that `fill` has found.
template <class Entry>
template <class Fill>
void Batch<Entry>::sweep_general(const void*& steps, std::uint64_t sides, const Fill& fill) {
    const auto with = [&]<class Step>(Step) {
        WeightedSweep<Step> input{};
        input.steps = static_cast<const Step*>(steps);
        input.chunk_rows = chunk_rows_;
        fill(input);
        steps = input.steps;
        input.used = sides;
        input.halt = halt_;
        kernel_.sweep(input, extremes_);
    };
    if (step_bits_ == 8) with(std::int8_t{});
    else if (step_bits_ == 16) with(std::int16_t{});
    else if (step_bits_ == 32) with(std::int32_t{});
    else with(std::int64_t{});
}

// What a row adds to W: its weight, with the sign of its class, and nothing where it is of a third one.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::steps_of(const Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    auto* const steps = arena_->take<Step>(sub.rows);
    std::fill_n(steps, sub.rows, Step{0});
    for (const std::uint32_t c : {pair.a, pair.b}) {
        for (Row r = sub.class_begin[c]; r < sub.class_begin[c + 1]; ++r) {
            const auto step = static_cast<Step>(sub.weight_of(r));
            steps[r] = c == pair.a ? step : static_cast<Step>(-step);
        }
    }
    return steps;
}

// The same by the rows that count for sizes; those that are not the subproblem's own add nothing.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::sized_steps_of(const Pair& pair) {
    const Step* const own = steps_of<Step>(pair);
    if (twin_ == nullptr) return own;
    auto* const steps = arena_->take<Step>(sized_->rows);
    for (Row r = 0; r < sized_->rows; ++r) steps[r] = twin_[r] == no_twin ? Step{0} : own[twin_[r]];
    return steps;
}

// Where thresholds can stand, in all orders of the rows that count for sizes.
template <class Entry>
void Batch<Entry>::mark_ends() {
    auto* const takes = arena_->take<std::uint8_t>(sized_->stride * sized_->features);
    for (std::uint32_t f = 0; f < sized_->features && !halt_(); ++f) spread_cuts(sized_->cuts(f).bits, sized_->rows, takes + f * sized_->stride);
    ends_ = takes;
}

#define CONTREE_GENERAL(Entry)                                                                           \
    template void Batch<Entry>::sweep_weighted(Pair&, std::uint64_t);                             \
    template void Batch<Entry>::sweep_limited(Pair&, std::uint64_t);                               \
    template void Batch<Entry>::mark_ends();
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
