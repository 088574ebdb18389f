// Batches of the general case: weights cut off to 16 bits, and which lanes and features are out of the question by them.
#include <algorithm>
#include <bit>
#include <functional>

#include "depth_two/batch.hpp"

namespace contree {

// With weights that are all cut off to whole units no tree errs more than by its own, and it errs less by no more than what is cut off of all rows.
template <class Entry>
void Batch<Entry>::evaluate_crude(Score ub) {
    if (crude_weights_ == nullptr) cut_weights();
    const BySide size = size_;
    weigh_crudely();
    ++crude_round_;
    evaluate_weighted(ub / crude_unit_ + (ub % crude_unit_ != 0), lanes_in_use(), Sight::crude);
    find_cutoffs(ub);
    crude_totals_.swap(class_totals_);
    class_totals_.resize(sub_->classes);
    size_ = size;
}

// Units such that the least weight is a whole number of them, where it is one at all.
template <class Entry>
void Batch<Entry>::cut_weights() {
    const Subproblem<Entry>& sub = *sub_;
    auto* const crude = arena_->take<std::int16_t>(sub.rows);
    const Score least = *std::min_element(sub.weight, sub.weight + sub.rows);
    if (least >= crude_unit_) crude_unit_ = least / (least / crude_unit_);
    crude_masses_.assign(sub.classes + 1, 0);
    crude_off_ = 0;
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        for (Row r = sub.class_begin[c]; r < sub.class_begin[c + 1]; ++r) {
            const Score units = sub.weight[r] / crude_unit_;
            crude[r] = static_cast<std::int16_t>(units);
            crude_masses_[c] += units;
            crude_off_ += sub.weight[r] - units * crude_unit_;
        }
    }
    crude_weights_ = crude;
}

// The steps of a pair's rows, and room for what each feature gives.
template <class Entry>
void Batch<Entry>::start_crude(Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    const bool fits = sub.rows <= std::numeric_limits<std::int32_t>::max() / crude_units;
    if (fits && pairs_.size() * sub.features <= most_crude_extremes) pair.crude_extremes = arena_->take<FeatureExtremes>(sub.features);
    auto* const steps = arena_->take<std::int16_t>(sub.rows);
    const Row *const begin = sub.class_begin, *const end = begin + 1;
    std::copy(crude_weights_ + begin[pair.a], crude_weights_ + end[pair.a], steps + begin[pair.a]);
    std::transform(crude_weights_ + begin[pair.b], crude_weights_ + end[pair.b], steps + begin[pair.b], std::negate<std::int16_t>());
    pair.crude_steps = steps;
}

// In units so far, from here on as scores.  A feature whose stumps on a side err by `cutoff_` or more even by crude weights does not matter to it: that is more than
// what the best stump errs, or so much that with what the other side errs at the least the lane is not below ub.  So the stumps of the other features tell the
// least errors, or that they are not below the cutoff (`with_left_out`); and a lane for which that is said is not below ub.
template <class Entry>
void Batch<Entry>::find_cutoffs(Score ub) {
    const std::uint64_t sides = both_sides(lanes_in_use());
    for (std::uint64_t left = sides; left != 0; left &= left - 1) {
        const auto s = static_cast<std::size_t>(std::countr_zero(left));
        proved_[s] *= static_cast<Sum>(crude_unit_);
        reached_[s] *= static_cast<Sum>(crude_unit_);
    }
    for (std::uint64_t left = sides; left != 0; left &= left - 1) {
        const auto s = static_cast<std::size_t>(std::countr_zero(left)), other = s ^ lane_count;
        const Score cutoff = std::min(ub - proved_[other], reached_[s] + crude_off_ + 1);
        cutoff_[s] = static_cast<Sum>(cutoff);
        crude_needed_[s] = static_cast<Sum>(size_[s] - (cutoff + crude_unit_ - 1) / crude_unit_);
    }
    crude_proved_ = proved_;
    has_cutoffs_ = true;
}

// The features whose stumps of a pair may matter to some sides; null: all may.
template <class Entry>
const std::uint32_t* Batch<Entry>::choose_features(const Pair& pair, std::uint64_t sides, std::uint32_t& count) {
    count = sub_->features;
    if (!has_cutoffs_ || pair.crude_extremes == nullptr || pair.crude_round != crude_round_) return nullptr;
    chosen_.resize(sub_->features);
    const auto &a = crude_totals_[pair.a], &b = crude_totals_[pair.b];
    count = 0;
    for (std::uint32_t f = 0; f < sub_->features; ++f) {
        const FeatureExtremes& extremes = pair.crude_extremes[f];
        for (std::uint64_t left = sides; left != 0; left &= left - 1) {
            const auto s = static_cast<std::size_t>(std::countr_zero(left));
            if (b[s] + extremes.high[s] <= crude_needed_[s] && a[s] - extremes.low[s] <= crude_needed_[s]) continue;
            chosen_[count++] = f;
            break;
        }
    }
    return chosen_.data();
}

#define CONTREE_GENERAL(Entry)                                                                               \
    template void Batch<Entry>::evaluate_crude(Score);                                                       \
    template void Batch<Entry>::cut_weights();                                                               \
    template void Batch<Entry>::start_crude(Pair&);                                                          \
    template void Batch<Entry>::find_cutoffs(Score);                                                         \
    template const std::uint32_t* Batch<Entry>::choose_features(const Pair&, std::uint64_t, std::uint32_t&);
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
