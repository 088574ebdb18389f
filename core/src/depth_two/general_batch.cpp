#include "depth_two/general_batch.hpp"

#include <bit>

namespace contree {

namespace {

// Calls action(s) for every side in `sides`.
template <class Action>
void for_sides(std::uint64_t sides, const Action& action) {
    for (; sides != 0; sides &= sides - 1) action(static_cast<std::size_t>(std::countr_zero(sides)));
}

}  // namespace

// Steps are as narrow as the weights allow.  Chunks are no longer than a halt may wait for.
void GeneralBatch::begin() {
    const Subproblem<WideEntry>& all = sub_->sized();
    const Score largest = all.weighted() ? *std::max_element(all.weight, all.weight + all.rows) : 1;
    step_bits_ = !all.weighted()                         ? 8
                 : largest <= largest_step<std::int16_t> ? 16
                 : largest <= largest_step<std::int32_t> ? 32
                                                         : 64;
    const Score most = std::numeric_limits<std::int64_t>::max() >> (64 - step_bits_);
    chunk_rows_ = static_cast<Row>(std::min<Score>({all.rows, (most - 1) / largest, 1 << 15}));
    steps_.assign(pairs_.size(), nullptr);
    takes_ = nullptr;
    row_sizes_ = nullptr;
    if (sub_->limited()) leaf_sides_.start(*sub_, *arena_);
}

void GeneralBatch::sweep_lanes(Score ub) {
    if (sub_->limited()) sweep_leaf_sizes(ub);
    else sweep_weights(ub);
}

// As in plain_batch.cpp, with masses for rows.
void GeneralBatch::sweep_weights(Score ub) {
    const std::uint64_t sides = both_sides(lanes_in_use());
    if (sub_->classes == 2) {
        sweep_pair(0, sides);
        for_sides(sides, [&](std::size_t s) {
            const Score positive = (size_[s] + extremes_.end[s]) / 2, negative = size_[s] - positive;
            reached_[s] = proved_[s] = std::min(positive - extremes_.high[s], negative + extremes_.low[s]);
        });
        return;
    }
    weigh_classes();
    BySide right = leaves();
    const Deaths death = sweep_pairs(ub, lanes_in_use(), right, [&](std::size_t i) {
        sweep_pair(i, sides);
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for_sides(sides, [&](std::size_t s) {
            right[s] = std::max({right[s], b[s] + extremes_.high[s], a[s] - extremes_.low[s]});
        });
    });
    conclude(right, death);
}

// Where rows and masses both count, a sweep by rows closes some lanes, then one by masses, and those that
// neither closes go one by one.
void GeneralBatch::sweep_leaf_sizes(Score ub) {
    proved_.fill(0);
    near_.fill(0);
    leaf_sides_.write(words_, with_whole, halt_);
    weigh_classes();
    const bool both = sub_->leaf.rows > 1 && sub_->leaf.mass > 0;
    std::uint32_t meant = lanes_in_use();
    for (const bool by_mass : {false, true}) {
        if (meant == 0 || (by_mass ? sub_->leaf.mass == 0 : sub_->leaf.rows <= 1)) continue;
        by_mass_ = by_mass;
        leaf_sides_.weigh(by_mass, with_whole);
        sweep_leaf_size(ub, meant);
        if (both) meant = below(ub, meant);
    }
    if (both && sub_->wide == nullptr) evaluate_one_by_one(meant);
}

void GeneralBatch::sweep_leaf_size(Score ub, std::uint32_t lanes_meant) {
    BySide right = leaves(), near_right = right;
    const Deaths death = sweep_pairs(ub, lanes_meant, right, [&](std::size_t i) {
        const std::uint64_t sides = sides_to_gain(i, lanes_meant, right);
        if (sides == 0) return;
        sweep_pair(i, sides);
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for_sides(sides, [&](std::size_t s) {
            right[s] =
                std::max({right[s], b[s] + extremes_.allowed_high[s], a[s] - extremes_.allowed_low[s]});
            near_right[s] = std::max({near_right[s], b[s] + extremes_.high[s], a[s] - extremes_.low[s]});
        });
    });
    for_sides(both_sides(lanes_meant), [&](std::size_t s) {
        const Score potential = potential_[death[s % lane_count]][s];
        reached_[s] = size_[s] - right[s];
        proved_[s] = std::max(proved_[s], size_[s] - std::max(right[s], potential));
        near_[s] = std::max(near_[s], size_[s] - std::max(near_right[s], potential));
    });
}

// The lanes that may be below ub; the others have reached nothing.
std::uint32_t GeneralBatch::below(Score ub, std::uint32_t lanes_meant) {
    std::uint32_t lanes_below = 0;
    for (std::size_t t = 0; t < lane_count; ++t) {
        if ((lanes_meant >> t & 1) == 0) continue;
        if (proved(t) < ub) lanes_below |= std::uint32_t{1} << t;
        else reached_[left_side(t)] = reached_[right_side(t)] = unreached;
    }
    return lanes_below;
}

// The sides that a pair's sweep may tell something new of.  Where the rows that count beside the lane, which
// are no fewer than its own, are too few for two leaves, the sweep would give a leaf's number, which is
// known.  And where all that the pair can give at the most was found with another one, it would change
// nothing.
std::uint64_t GeneralBatch::sides_to_gain(std::size_t pair, std::uint32_t lanes_meant,
                                          const BySide& right) const {
    std::uint64_t sides = 0;
    for (std::size_t s = 0; s < side_count; ++s) {
        const bool gains = leaf_sides_.near_sizes()[s] >= 2 * least_size() && most_of(pair, s) > right[s];
        sides |= std::uint64_t{gains} << s;
    }
    return sides & both_sides(lanes_meant);
}

void GeneralBatch::sweep_pair(std::size_t i, std::uint64_t sides) {
    switch (step_bits_) {
        case 8: return sweep_steps<std::int8_t>(i, sides);
        case 16: return sweep_steps<std::int16_t>(i, sides);
        case 32: return sweep_steps<std::int32_t>(i, sides);
        default: return sweep_steps<std::int64_t>(i, sides);
    }
}

// For leaves of any size the pair's own rows are enough.  Every row counts towards the size of a leaf,
// whatever its class.
template <class Step>
void GeneralBatch::sweep_steps(std::size_t i, std::uint64_t sides) {
    Pair& pair = pairs_[i];
    WeightedSweep<Step> input{};
    if (sub_->limited()) {
        const Subproblem<WideEntry>& all = leaf_sides_.rows();
        if (takes_ == nullptr) mark_thresholds();
        if (by_mass_ && row_sizes_ == nullptr) {
            auto* const sizes = arena_->take<Step>(all.rows);
            std::copy_n(all.weight, all.rows, sizes);
            row_sizes_ = sizes;
        }
        input.entries = all.entries, input.stride = all.stride, input.takes = takes_;
        input.features = all.features, input.rows = all.rows;
        input.words = leaf_sides_.words(), input.near_words = leaf_sides_.near_words();
        input.min_leaf = least_size();
        input.row_sizes = by_mass_ ? static_cast<const Step*>(row_sizes_) : nullptr;
        input.sizes = leaf_sides_.sizes().data(), input.near_sizes = leaf_sides_.near_sizes().data();
    } else {
        if (pair.entries == nullptr) prepare(pair);
        input.entries = pair.entries, input.stride = pair.stride, input.takes = pair.takes;
        input.features = sub_->features, input.rows = pair.rows;
        input.words = words_;
    }
    if (steps_[i] == nullptr) steps_[i] = steps_of<Step>(pair);
    if (halt_()) return;
    statistics_->row_visits += std::int64_t{input.rows} * input.features;
    input.steps = static_cast<const Step*>(steps_[i]);
    input.chunk_rows = chunk_rows_;
    input.used = sides;
    input.halt = halt_;
    kernel_.sweep(input, extremes_);
}

// What a row adds to W: its weight, with the sign of its class.  Rows of a third class, and those that count
// for sizes but are not the subproblem's own, add nothing.
template <class Step>
const Step* GeneralBatch::steps_of(const Pair& pair) {
    const Subproblem<WideEntry>& sub = *sub_;
    const Row rows = sub.sized().rows;
    auto* const steps = arena_->take<Step>(rows);
    for (Row r = 0; r < rows; ++r) {
        const Row own = sub.limited() ? leaf_sides_.own_row(r) : r;
        const auto is = [&](std::uint32_t c) {
            return own >= sub.class_begin[c] && own < sub.class_begin[c + 1];
        };
        steps[r] = static_cast<Step>(is(pair.a) ? sub.weight_of(own) : is(pair.b) ? -sub.weight_of(own) : 0);
    }
    return steps;
}

void GeneralBatch::mark_thresholds() {
    const Subproblem<WideEntry>& all = leaf_sides_.rows();
    auto* const takes = arena_->take<std::uint8_t>(all.stride * all.features);
    for (std::uint32_t f = 0; f < all.features && !halt_(); ++f)
        spread_cuts(all.cuts(f).bits, all.rows, takes + f * all.stride);
    takes_ = takes;
}

}  // namespace contree
