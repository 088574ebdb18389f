// Batches where rows weigh more than one, leaves must be of some size, or both.
//
// The rows of `RowSet::sized` count for the size of a leaf: on a side those of the lane itself, and `near`
// those of any threshold from its `before` to its `behind`.  Rows that are not the set's own count on both
// sides where they may lie on either.
#pragma once
#include <bit>
#include "depth_two/error_batch.hpp"

namespace contree {
class GeneralBatch final : public ErrorBatch {
public:
    using ErrorBatch::ErrorBatch;
private:
    struct Ends {  // where a lane's sides end, in the order of its feature
        std::uint32_t f;
        Position left, right, near_left, near_right;
        RowSet::Strays stray;
        std::size_t stray_side;
    };
    static constexpr Row none = ~Row{0};  // a row that is not the set's own

    // Calls action(s) for every side in `sides`.
    template <class Action> static void for_sides(std::uint64_t sides, const Action& action) {
        for (; sides != 0; sides &= sides - 1) action(static_cast<std::size_t>(std::countr_zero(sides)));
    }

    // Steps are as narrow as the weights allow; chunks no longer than a halt may wait for.  Both sets of rows
    // list the table's rows in ascending order.
    void begin() override {
        const RowSet& set = *set_;
        const RowSet& all = set.sized();
        const Score largest = all.weighted() ? *std::max_element(all.weight, all.weight + all.rows) : 1;
        step_bits_ = all.weighted() ? 16 : 8;
        if (largest > largest_step<std::int16_t>) step_bits_ = 32;
        if (largest > largest_step<std::int32_t>) step_bits_ = 64;
        const Score most = std::numeric_limits<std::int64_t>::max() >> (64 - step_bits_);
        chunk_rows_ = static_cast<Row>(std::min<Score>({all.rows, (most - 1) / largest, 1 << 15}));
        steps_.assign(pairs_.size(), nullptr);
        mask_ = nullptr, row_sizes_ = nullptr, own_row_ = nullptr;
        if (!set.has_leaf_size()) return;
        near_words_ = arena_->take<std::uint64_t>(all.rows);
        sized_words_ = words_;
        if (set.leaf_size_rows == nullptr) return;
        sized_words_ = arena_->take<std::uint64_t>(all.rows);
        own_row_ = arena_->take<Row>(all.rows);
        for (Row r = 0, own = 0; r < all.rows; ++r)
            own_row_[r] = own < set.rows && set.origin[own] == all.origin[r] ? own++ : none;
    }

    // With leaf sizes of rows and of mass, a sweep by rows closes some lanes, then one by masses, and those
    // that neither closes go one by one.
    void sweep_lanes(Score ub) override {
        const std::uint32_t subsets = subset_lanes();
        std::uint32_t meant = lanes_in_use();
        if (!set_->has_leaf_size())
            return sweep_any_leaves(ub, extremes_, [&](std::size_t i) { sweep_pair(i, both_sides(meant)); });
        meant &= ~subsets;
        proved_.fill(0);
        near_.fill(0);
        place_ends();
        write_sized_words();
        weigh_classes();
        const bool by_rows = set_->leaf.rows > 1, by_mass = set_->leaf.mass > 0;
        for (const bool mass : {false, true}) {
            if (meant == 0 || !(mass ? by_mass : by_rows)) continue;
            by_mass_ = mass;
            weigh_sized_sides();
            sweep_leaf_size(ub, meant);
            if (by_rows && by_mass) meant = below(ub, meant);
        }
        if (by_rows && by_mass && own_row_ == nullptr) evaluate_one_by_one(meant);
        evaluate_one_by_one(subsets);
    }

    void sweep_leaf_size(Score ub, std::uint32_t lanes_meant) {
        BySide right = leaves(), near_right = right;
        take_subset_stumps(right, near_right);
        const Deaths death = sweep_pairs(ub, lanes_meant, right, [&](std::size_t i) {
            const std::uint64_t sides = sides_to_gain(i, lanes_meant, right);
            if (sides == 0) return;
            sweep_pair(i, sides);
            const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
            const SideExtremes& x = extremes_;
            for_sides(sides, [&](std::size_t s) {
                right[s] = std::max({right[s], b[s] + x.allowed_high[s], a[s] - x.allowed_low[s]});
                near_right[s] = std::max({near_right[s], b[s] + x.high[s], a[s] - x.low[s]});
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
    std::uint32_t below(Score ub, std::uint32_t lanes_meant) {
        for (std::size_t t = 0; t < lane_count; ++t) {
            if ((lanes_meant >> t & 1) == 0 || proved(t) < ub) continue;
            lanes_meant ^= std::uint32_t{1} << t;
            reached_[left_side(t)] = reached_[right_side(t)] = unreached;
        }
        return lanes_meant;
    }

    // The sides that a pair's sweep may tell something new of: not those with too few rows for two leaves,
    // where it would give a leaf's number, nor those where another pair has given all that this one can.
    std::uint64_t sides_to_gain(std::size_t pair, std::uint32_t lanes_meant, const BySide& right) const {
        std::uint64_t sides = 0;
        for (std::size_t s = 0; s < side_count; ++s)
            sides |= std::uint64_t{near_sides_[s] >= 2 * least_size() && most_of(pair, s) > right[s]} << s;
        return sides & both_sides(lanes_meant);
    }

    void sweep_pair(std::size_t i, std::uint64_t sides) {
        step_bits_ == 8    ? sweep_steps<std::int8_t>(i, sides)
        : step_bits_ == 16 ? sweep_steps<std::int16_t>(i, sides)
        : step_bits_ == 32 ? sweep_steps<std::int32_t>(i, sides)
                           : sweep_steps<std::int64_t>(i, sides);
    }

    // For leaves of any size the pair's own rows are enough.
    template <class Step> void sweep_steps(std::size_t i, std::uint64_t sides) {
        Pair& pair = pairs_[i];
        WeightedSweep<Step> input{};
        if (set_->has_leaf_size()) {
            sized_input(input);
        } else {
            if (pair.entries == nullptr) prepare(pair);
            input = {reinterpret_cast<const WideEntry*>(pair.entries), pair.stride, pair.threshold_mask,
                set_->features, pair.rows, words_};
        }
        if (steps_[i] == nullptr) steps_[i] = steps_of<Step>(pair);
        if (halt_()) return;
        statistics_->row_visits += std::int64_t{input.rows} * input.features;
        input.steps = static_cast<const Step*>(steps_[i]);
        input.chunk_rows = chunk_rows_;
        input.used = sides;
        input.halt = halt_;
        kernel_.sweep_weighted(input, extremes_);
    }

    // Every row counts towards the size of a leaf, whatever its class.
    template <class Step> void sized_input(WeightedSweep<Step>& input) {
        const RowSet& all = set_->sized();
        if (mask_ == nullptr) {
            mask_ = arena_->take<std::uint8_t>(all.stride * all.features);
            for (std::uint32_t f = 0; f < all.features && !halt_(); ++f)
                spread_cuts(all.cuts(f).bits, all.rows, mask_ + f * all.stride);
        }
        if (by_mass_ && row_sizes_ == nullptr) {
            row_sizes_ = arena_->take<Step>(all.rows);
            std::copy_n(all.weight, all.rows, static_cast<Step*>(row_sizes_));
        }
        input = {all.order(0).as<WideEntry>(), all.stride, mask_, all.features, all.rows, sized_words_,
            least_size(), near_words_, by_mass_ ? static_cast<Step*>(row_sizes_) : nullptr,
            sized_sides_.data(), near_sides_.data()};
    }

    // What a row adds to W: its weight, with the sign of its class.  Rows of a third class, and those that
    // only count for sizes, add nothing.
    template <class Step> const Step* steps_of(const Pair& pair) {
        const RowSet& set = *set_;
        const Row rows = set.sized().rows;
        auto* const steps = arena_->take<Step>(rows);
        for (Row r = 0; r < rows; ++r) {
            const Row own = own_row_ == nullptr ? r : own_row_[r];
            const auto is = [&](std::uint32_t c) { return own - set.group_begin[c] < set.group_size(c); };
            const int sign = is(pair.a) - is(pair.b);
            steps[r] = sign == 0 ? Step{0} : static_cast<Step>(set.weight_of(own) * sign);
        }
        return steps;
    }

    // Also finds the lanes whose sides are both large enough for a leaf.
    void place_ends() {
        const RowSet& set = *set_;
        allowed_ = 0;
        ends_.resize(lanes.size());
        places_.clear();
        for (std::size_t t = 0; t < lanes.size(); ++t) {
            const Lane& lane = lanes[t];
            Ends& e = ends_[t];
            if (lane.left != nullptr) {
                e = {};
                places_.push_back(lane);
                allowed_ |= std::uint32_t{allows_lane(lane)} << t;
                continue;
            }
            if (t > 0 && lanes[t - 1].f == lane.f) e = ends_[t - 1];
            else e.f = set.sized_feature(lane.f), e.stray = set.strays(lane.f);
            e.stray_side = e.stray.left ? left_side(t) : right_side(t);
            e.left = set.sized_left(lane.f, lane.z, e.f);
            e.right = set.sized_right(lane.f, lane.z, e.f);
            e.near_left = lane.behind == lane.z ? e.left : set.sized_left(lane.f, lane.behind, e.f);
            e.near_right = lane.before == lane.z ? e.right : set.sized_right(lane.f, lane.before, e.f);
            places_.push_back({e.f, e.right, 0});
            const bool enough =
                set.enough_left(e.f, e.left, e.stray) && set.enough_right(e.f, e.right, e.stray);
            allowed_ |= std::uint32_t{enough} << t;
        }
    }

    void write_sized_words() {
        const RowSet& all = set_->sized();
        if (own_row_ != nullptr) write_words(all, places_, sized_words_);
        const auto add = [&](std::uint64_t* words, std::uint32_t f, Row begin, Row end, std::size_t side) {
            const Order order = all.order(f);
            in_chunks(begin < end ? end - begin : 0, halt_, [&](Row from, Row to) {
                for (Row k = from; k < to; ++k) words[order.row(begin + k)] |= std::uint64_t{1} << side;
            });
        };
        std::fill_n(near_words_, all.rows, 0);
        for (std::size_t t = 0; t < ends_.size(); ++t) {
            const Ends& e = ends_[t];
            add(sized_words_, e.f, e.right, e.left, left_side(t));
            add(sized_words_, e.f, e.stray.begin, e.stray.end, e.stray_side);
            add(near_words_, e.f, e.left, e.near_left, left_side(t));
            add(near_words_, e.f, e.near_right, e.right, right_side(t));
        }
        for (Row r = 0; r < all.rows; ++r) near_words_[r] |= sized_words_[r];
    }

    void weigh_sized_sides() {
        const RowSet& all = set_->sized();
        const Score whole = by_mass_ ? all.mass : Score{all.rows};
        sized_sides_.fill(0);
        near_sides_.fill(0);
        for (std::size_t t = 0; t < ends_.size(); ++t) {
            const Ends& e = ends_[t];
            const auto before = [&](Position z) { return by_mass_ ? all.mass_at(e.f, z) : Score{z}; };
            sized_sides_[left_side(t)] = before(e.left);
            sized_sides_[right_side(t)] = whole - before(e.right);
            near_sides_[left_side(t)] = before(e.near_left);
            near_sides_[right_side(t)] = whole - before(e.near_right);
            const Score strays = before(e.stray.end) - before(e.stray.begin);
            sized_sides_[e.stray_side] += strays;
            near_sides_[e.stray_side] += strays;
        }
        if (with_whole) sized_sides_[left_side(whole_lane)] = near_sides_[left_side(whole_lane)] = whole;
    }

    Score least_size() const { return by_mass_ ? set_->leaf.mass : Score{set_->leaf.rows}; }

    unsigned step_bits_ = 0;
    Row chunk_rows_ = 0;              // see WeightedSweep
    std::vector<const void*> steps_;  // by pair, as `step_bits_` says; null until first used
    SideExtremes extremes_{};
    // Of leaf sizes.
    bool by_mass_ = false;          // is the size of a leaf what it weighs?
    std::uint8_t* mask_ = nullptr;  // of the rows that count for sizes; null until first used,
    void* row_sizes_ = nullptr;     // like their weights, as steps
    Row* own_row_ = nullptr;  // the set's number of a row that counts, or none; null where all are its own
    std::uint64_t *sized_words_ = nullptr, *near_words_ = nullptr;
    std::vector<Ends> ends_;           // by lane
    std::vector<Lane> places_;         // where the right sides begin
    BySide sized_sides_, near_sides_;  // how many rows count on a side, or what they weigh
};
}  // namespace contree
