// Batches of the general case: rows that weigh more than one, leaves that must be of some size.  Which lanes are evaluated, and how
// exactly; the sweeps themselves are in batch_sweeps.cpp.
#include <algorithm>
#include <bit>

#include "depth_two/batch.hpp"
#include "depth_two/d2split.hpp"
#include "tree/stump.hpp"

namespace contree {

// Steps are as narrow as the weights allow.
template <class Entry>
void Batch<Entry>::start_general() {
    sized_ = &sub_->sized();
    const Subproblem<Entry>& sub = *sized_;
    const Score largest = sub.weighted() ? *std::max_element(sub.weight, sub.weight + sub.rows) : 1;
    const auto chunk = [&](Score greatest) { return static_cast<Row>(std::min<Score>(sub.rows, greatest / largest)); };
    if (!sub.weighted()) step_bits_ = 8, chunk_rows_ = chunk(std::numeric_limits<std::int8_t>::max() - 1);
    else if (largest <= largest_step<std::int16_t>) step_bits_ = 16, chunk_rows_ = chunk(std::numeric_limits<std::int16_t>::max() - 1);
    else if (largest <= largest_step<std::int32_t>) step_bits_ = 32, chunk_rows_ = chunk(std::numeric_limits<std::int32_t>::max() - 1);
    else step_bits_ = 64, chunk_rows_ = std::min(sub.rows, Row{1} << 15);   // no more, so that a halt does not wait for long
    ends_ = nullptr;
    row_sizes_ = nullptr;
    class_of_.clear();
    own_classes_.of_row.clear();
    if (limited()) {
        near_words_ = arena_->take<std::uint64_t>(sub.rows);
        sized_words_ = sub_->wide == nullptr ? words_ : arena_->take<std::uint64_t>(sub.rows);
        find_twins();
    }
    class_totals_.resize(2);
    potential_.resize(2);
}

// The lanes that may be below ub; the others have reached nothing.
template <class Entry>
std::uint32_t Batch<Entry>::below(Score ub) {
    std::uint32_t lanes_below = 0;
    for (std::size_t t = 0; t < lane_count; ++t) {
        if ((lanes_in_use() >> t & 1) != 0 && proved(t) < ub) lanes_below |= std::uint32_t{1} << t;
        else reached_[left_side(t)] = reached_[right_side(t)] = unreached;
    }
    return lanes_below;
}

template <class Entry>
void Batch<Entry>::evaluate_weighted(Score ub) {
    const std::uint32_t meant = lanes_in_use();
    if (sub_->classes == 2) {
        sweep_weighted(pairs_[0], both_sides(meant));
        for (std::size_t s = 0; s < side_count; ++s) {
            const Score positive = (size_[s] + extremes_.end[s]) / 2, negative = size_[s] - positive;
            reached_[s] = proved_[s] = static_cast<Sum>(std::min(positive - extremes_.high[s], negative + extremes_.low[s]));
        }
        return;
    }
    weigh_classes();
    BySide right = leaves();
    Deaths death;
    sweep_pairs(ub, meant, right, death, [&](Pair& pair) {
        sweep_weighted(pair, both_sides(meant));
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        for (std::size_t s = 0; s < side_count; ++s)
            if ((both_sides(meant) >> s & 1) != 0)
                right[s] = std::max<Sum>({right[s], b[s] + extremes_.high[s], a[s] - extremes_.low[s]});
    });
    for (std::size_t s = 0; s < side_count; ++s) {
        reached_[s] = size_[s] - right[s];
        proved_[s] = size_[s] - std::max(right[s], potential_[death[s % lane_count]][s]);
    }
}

// Stumps with leaves large enough.  Where rows and masses both count, a sweep by rows closes some lanes, then one by masses, and those that neither
// closes go one by one.
template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub) {
    proved_.fill(0);
    near_.fill(0);
    std::uint32_t meant = lanes_in_use();
    write_sizes();
    weigh_classes();
    const bool both = sub_->leaf.rows > 1 && sub_->leaf.mass > 0;
    for (const bool by_mass : {false, true}) {
        if (meant == 0 || (by_mass ? sub_->leaf.mass == 0 : sub_->leaf.rows <= 1)) continue;
        size_sides(by_mass);
        evaluate_allowed(ub, meant);
        if (both) meant = below(ub);
    }
    if (both && sub_->wide == nullptr) evaluate_by_mass(meant);
}

template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub, std::uint32_t meant) {
    BySide right = leaves(), near_right = right;
    Deaths death;
    sweep_pairs(ub, meant, right, death, [&](Pair& pair) {
        const auto index = static_cast<std::size_t>(&pair - pairs_.data());
        const std::uint64_t sides = sides_to_gain(index, meant, right);
        if (sides == 0) return;
        sweep_limited(pair, sides);
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        for (std::size_t s = 0; s < side_count; ++s) {
            if ((sides >> s & 1) == 0) continue;
            right[s] = std::max<Sum>(right[s], std::max(b[s] + extremes_.allowed_high[s], a[s] - extremes_.allowed_low[s]));
            near_right[s] = std::max<Sum>(near_right[s], std::max(b[s] + extremes_.high[s], a[s] - extremes_.low[s]));
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

// The sides that a pair's sweep may tell something new of.  Where both leaves of no stump can be large enough, by the rows that count beside the lane, which
// are no fewer than its own, the sweep would give a leaf's number, which is known; and where all that the pair can give at the most was found with another
// one, it would change nothing.
template <class Entry>
std::uint64_t Batch<Entry>::sides_to_gain(std::size_t pair, std::uint32_t lanes_meant, const BySide& right) const {
    const Score two_leaves = 2 * (sized_by_mass_ ? sub_->leaf.mass : Score{sub_->leaf.rows});
    std::uint64_t sides = 0;
    for (std::size_t s = 0; s < side_count; ++s)
        sides |= std::uint64_t{near_sizes_[s] >= two_leaves && most_of(pair, s) > right[s]} << s;
    return sides & both_sides(lanes_meant);
}

// The rows that count for sizes and are the subproblem's own.  Both list the table's rows in ascending order.
template <class Entry>
void Batch<Entry>::find_twins() {
    twin_ = nullptr;
    if (sub_->wide == nullptr) return;
    auto* const twin = arena_->take<Row>(sized_->rows);
    for (Row r = 0, own = 0; r < sized_->rows; ++r)
        twin[r] = own < sub_->rows && sub_->origin[own] == sized_->origin[r] ? own++ : no_twin;
    twin_ = twin;
}

// Where the lanes' sides end among the rows that count for sizes.
template <class Entry>
void Batch<Entry>::place_sizes() {
    const Subproblem<Entry>& sub = *sub_;
    allowed_ = 0;
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const Lane& lane = lanes[t];
        SizeEnds& e = size_ends_[t];
        const bool again = t > 0 && lanes[t - 1].f == lane.f;
        e.f = again ? size_ends_[t - 1].f : sub.sized_feature(lane.f);
        e.stray = again ? size_ends_[t - 1].stray : sub.strays(lane.f);
        e.left = sub.sized_left(lane.f, lane.z, e.f);
        e.right = sub.sized_right(lane.f, lane.z, e.f);
        e.near_left = lane.behind == lane.z ? e.left : sub.sized_left(lane.f, lane.behind, e.f);
        e.near_right = lane.before == lane.z ? e.right : sub.sized_right(lane.f, lane.before, e.f);
        if (sub.enough_left(e.f, e.left, e.stray) && sub.enough_right(e.f, e.right, e.stray)) allowed_ |= std::uint32_t{1} << t;
    }
}

// The sides on which rows count for the sizes of leaves: those of a lane itself, and those of any threshold from its
// `before` to its `behind`.  Rows that are not the subproblem's own count on both sides where they may lie on either.
template <class Entry>
void Batch<Entry>::write_sizes() {
    const Subproblem<Entry>& sub = *sub_;
    const Subproblem<Entry>& all = *sized_;
    if (sub.wide != nullptr)
        write_words(all, sized_words_, [&](std::size_t t) { return std::pair(size_ends_[t].f, size_ends_[t].right); });
    const auto add = [&](std::uint64_t* words, std::uint32_t f, Position begin, Position end, std::size_t side) {
        const Entry* const order = all.order(f) + begin;
        in_stretches(begin < end ? end - begin : 0, halt_, [&](Row first, Row last) {
            for (Row k = first; k < last; ++k) words[Packed<Entry>::row(order[k])] |= std::uint64_t{1} << side;
        });
    };
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const SizeEnds& e = size_ends_[t];
        add(sized_words_, e.f, e.right, e.left, left_side(t));
        add(sized_words_, e.f, e.stray.begin, e.stray.end, e.stray.left ? left_side(t) : right_side(t));
    }
    std::copy_n(sized_words_, all.rows, near_words_);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const SizeEnds& e = size_ends_[t];
        add(near_words_, e.f, e.left, e.near_left, left_side(t));
        add(near_words_, e.f, e.near_right, e.right, right_side(t));
    }
}

// What those rows are or weigh, on all sides.
template <class Entry>
void Batch<Entry>::size_sides(bool by_mass) {
    const Subproblem<Entry>& all = *sized_;
    const auto size_before = [&](std::uint32_t f, Position z) { return by_mass ? all.mass_at(f, z) : Score{z}; };
    const Score whole = by_mass ? all.mass : Score{all.rows};
    sized_by_mass_ = by_mass;
    sizes_.fill(0);
    near_sizes_.fill(0);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const SizeEnds& e = size_ends_[t];
        sizes_[left_side(t)] = size_before(e.f, e.left);
        sizes_[right_side(t)] = whole - size_before(e.f, e.right);
        near_sizes_[left_side(t)] = size_before(e.f, e.near_left);
        near_sizes_[right_side(t)] = whole - size_before(e.f, e.near_right);
        const std::size_t strayed = e.stray.left ? left_side(t) : right_side(t);
        for (BySide* const sizes : {&sizes_, &near_sizes_}) (*sizes)[strayed] += static_cast<Sum>(size_before(e.f, e.stray.end) - size_before(e.f, e.stray.begin));
    }
    if (with_whole) sizes_[left_side(whole_lane)] = near_sizes_[left_side(whole_lane)] = whole;
}

// Leaves that must have rows and weigh something: one by one.
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

#define CONTREE_GENERAL(Entry)                                                 \
    template void Batch<Entry>::start_general();                               \
    template void Batch<Entry>::evaluate_weighted(Score);                      \
    template std::uint32_t Batch<Entry>::below(Score);                         \
    template void Batch<Entry>::evaluate_allowed(Score);                \
    template void Batch<Entry>::evaluate_allowed(Score, std::uint32_t);  \
    template std::uint64_t Batch<Entry>::sides_to_gain(std::size_t, std::uint32_t, const BySide&) const; \
    template void Batch<Entry>::evaluate_by_mass(std::uint32_t);               \
    template void Batch<Entry>::find_twins();                                  \
    template void Batch<Entry>::place_sizes();                                 \
    template void Batch<Entry>::write_sizes();                                 \
    template void Batch<Entry>::size_sides(bool);
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
