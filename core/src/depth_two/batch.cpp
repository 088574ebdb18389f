#include "depth_two/batch.hpp"

#include "bounds/class_count.hpp"
#include "depth_two/d2split.hpp"
#include "tree/stump.hpp"

namespace contree {

template <class Entry>
void Batch<Entry>::start(const Subproblem<Entry>& sub, Arena& arena, Statistics& statistics) {
    sub_ = &sub;
    arena_ = &arena;
    statistics_ = &statistics;
    words_ = arena.take<std::uint64_t>(sub.rows);
    pairs_.clear();
    class_of_.clear();
    if (sub.classes <= most_paired_classes) {
        for (std::uint32_t b = 1; b < sub.classes; ++b)
            for (std::uint32_t a = 0; a < b; ++a)
                pairs_.push_back({a, b, sub.class_size(a) + sub.class_size(b)});
        std::sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) {
            return x.rows != y.rows ? x.rows > y.rows : std::pair(x.a, x.b) < std::pair(y.a, y.b);
        });
        class_totals_.resize(sub.classes);
        potential_.resize(pairs_.size() + 1);
    }
    begin();
}

template <class Entry>
bool Batch<Entry>::evaluate(Score ub) {
    if (halt_()) return false;   // perhaps before the orders were there
    ++statistics_->depth_two_batches;
    statistics_->d2split_calls += static_cast<std::int64_t>(lanes.size());
    allowed_ = lanes_allowed();
    if (sub_->classes > most_paired_classes) {
        near_.fill(0);
        evaluate_one_by_one(lanes_in_use());
        return !halt_();
    }
    write_words(*sub_, lanes.size(), with_whole, halt_, words_,
                [&](std::size_t t) { return std::pair(lanes[t].f, lanes[t].z); });
    side_sizes();
    sweep_lanes(ub);
    if (with_leaves) find_leaves();
    return !halt_();
}

template <class Entry>
void Batch<Entry>::side_sizes() {
    size_.fill(0);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const Score left = sub_->mass_at(lanes[t].f, lanes[t].z);
        size_[left_side(t)] = static_cast<Sum>(left);
        size_[right_side(t)] = static_cast<Sum>(sub_->mass - left);
    }
    if (with_whole) size_[left_side(whole_lane)] = static_cast<Sum>(sub_->mass);
}

// Classes are weighed anyway where there are more than two.
template <class Entry>
void Batch<Entry>::find_leaves() {
    if (sub_->classes == 2) weigh_classes();
    const BySide right = leaves();
    for (std::size_t s = 0; s < side_count; ++s) leaf_[s] = size_[s] - right[s];
}

// What the classes weigh on all sides, and so what pairs of them get right at the most.
template <class Entry>
void Batch<Entry>::weigh_classes() {
    const Subproblem<Entry>& sub = *sub_;
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        const std::uint64_t* const words = words_ + sub.class_begin[c];
        if constexpr (Subproblem<Entry>::may_be_general) {
            if (sub.weighted()) {
                kernel_.weigh_sides(words, sub.weight + sub.class_begin[c], sub.class_size(c),
                                    class_totals_[c].data());
                continue;
            }
        }
        std::array<std::int32_t, side_count> counts;
        kernel_.count_sides(words, sub.class_size(c), counts.data());
        std::copy(counts.begin(), counts.end(), class_totals_[c].begin());
    }
    potential_[pairs_.size()].fill(0);
    for (std::size_t i = pairs_.size(); i-- > 0;)
        for (std::size_t s = 0; s < side_count; ++s)
            potential_[i][s] = std::max(potential_[i + 1][s], most_of(i, s));
}

// What a leaf gets right on each side.
template <class Entry>
auto Batch<Entry>::leaves() const -> BySide {
    BySide right{};
    for (std::uint32_t c = 0; c < sub_->classes; ++c)
        for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max(right[s], class_totals_[c][s]);
    return right;
}

// What follows from the pairs that were swept.
template <class Entry>
void Batch<Entry>::conclude(const BySide& right, const Deaths& death) {
    for (std::size_t s = 0; s < side_count; ++s) {
        reached_[s] = size_[s] - right[s];
        proved_[s] = size_[s] - std::max(right[s], potential_[death[s % lane_count]][s]);
    }
}

// With a leaf size, leaves of any size bound what holds beside a lane.
template <class Entry>
void Batch<Entry>::evaluate_one_by_one(std::uint32_t lanes_meant) {
    if (class_of_.empty()) class_of_ = classes_of_rows(*sub_);
    const auto found = [&](std::size_t s, Score errors, Score relaxed, Score leaf) {
        reached_[s] = proved_[s] = static_cast<Sum>(errors);
        near_[s] = std::max(near_[s], static_cast<Sum>(relaxed));
        leaf_[s] = static_cast<Sum>(leaf);
    };
    for (std::size_t t = 0; t < lanes.size() && !halt_(); ++t) {
        if ((lanes_meant >> t & 1) == 0) continue;
        const SplitErrors errors = d2split(*sub_, class_of_, lanes[t].f, lanes[t].z);
        found(left_side(t), errors.left, errors.relaxed_left, errors.leaf_left);
        found(right_side(t), errors.right, errors.relaxed_right, errors.leaf_right);
        statistics_->row_visits += std::int64_t{sub_->rows} * sub_->features;
    }
    if (!with_whole || (lanes_meant >> whole_lane & 1) == 0) return;
    const Stump stump = best_stump(*sub_);
    found(left_side(whole_lane), stump.errors, stump.relaxed, leaf_errors(*sub_));
    found(right_side(whole_lane), 0, 0, 0);
}

// The pair's rows in every order, with the places where W is taken; unfinished after a halt.  Plain sweeps
// look neither at orders with missing values first nor at `takes` without ties.
template <class Entry>
void Batch<Entry>::prepare(Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    const EntryMovers<Entry>& movers = kernel_.movers->of<Entry>();
    const bool all = pair.rows == sub.rows;
    pair.stride = all ? sub.stride : pair.rows + mover_padding;
    Entry* const entries = all ? sub.entries : arena_->take<Entry>(pair.stride * sub.features);
    auto* const takes = arena_->take<std::uint8_t>(pair.stride * sub.features);
    auto* const ties = arena_->take<Ties>(sub.features);
    pair.entries = entries, pair.takes = takes, pair.ties = ties;
    Arena::Frame frame(*arena_);
    auto* const own_cuts = arena_->take<std::uint64_t>(sub.words);
    for (std::uint32_t f = 0; f < sub.features && !halt_(); ++f) {
        ties[f] = Ties::none;
        if (!sub.weighted() && sub.missing[sub.feature[f]] == Missing::first) continue;
        Entry* const order = entries + f * pair.stride;
        if (!all) {
            movers.filter(sub.order(f), sub.rows, sub.class_begin[pair.a], sub.class_size(pair.a),
                          sub.class_begin[pair.b], sub.class_size(pair.b), order);
            order[pair.rows] = Packed<Entry>::sentinel();
        }
        if (!sub.weighted() && sub.cuts(f).everywhere()) continue;
        if (!all) movers.mark_cuts(order, pair.rows, own_cuts);
        const Row tied = spread_cuts(all ? sub.cuts(f).bits : own_cuts, pair.rows, takes + f * pair.stride);
        ties[f] = kind_of_ties(pair.rows, tied);
    }
}

template class Batch<NarrowEntry>;
template class Batch<WideEntry>;

}  // namespace contree
