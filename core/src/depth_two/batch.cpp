#include "depth_two/batch.hpp"

#include <algorithm>

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
    steps_ = sub.rows <= kernel_.kept_steps ? arena.take<std::int8_t>(std::size_t{side_count} * sub.rows) : nullptr;
    second_orders_ = static_cast<std::uint32_t>(std::count_if(sub.feature, sub.feature + sub.features, [&](FeatureId f) { return sub.missing[f] == Missing::first; }));
    pairs_.clear();
    if constexpr (may_be_general)
        if (sub.weighted() || limited()) start_general();
    if (sub.classes == 2) {
        pairs_.push_back({0, 1, sub.rows, {}});
        prepare(pairs_[0]);
        return;
    }
    if (sub.classes > most_paired_classes) {
        class_of_ = classes_of_rows(sub);
        return;
    }
    for (std::uint32_t b = 1; b < sub.classes; ++b)
        for (std::uint32_t a = 0; a < b; ++a) pairs_.push_back({a, b, sub.class_size(a) + sub.class_size(b), {}});
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) {
        return x.rows != y.rows ? x.rows > y.rows : std::pair(x.a, x.b) < std::pair(y.a, y.b);
    });
    class_totals_.resize(sub.classes);
    potential_.resize(pairs_.size() + 1);
}

template <class Entry>
bool Batch<Entry>::evaluate(Score ub) {
    if (halt_()) return false;   // perhaps before the orders were there
    ++statistics_->depth_two_batches;
    statistics_->d2split_calls += static_cast<std::int64_t>(lanes.size());
    if constexpr (may_be_general)
        if (limited()) place_sizes();
    if (sub_->classes > most_paired_classes) {
        evaluate_one_by_one();
        return !halt_();
    }
    write_words(*sub_, words_, [&](std::size_t t) { return std::pair(lanes[t].f, lanes[t].z); });
    side_sizes();
    evaluate_lanes(ub);
    if (with_leaves) find_leaves();
    return !halt_();
}

// Classes are weighed anyway where there are more than two.
template <class Entry>
void Batch<Entry>::find_leaves() {
    if (sub_->classes == 2) {
        class_totals_.resize(2);
        potential_.resize(2);
        weigh_classes();
    }
    const BySide right = leaves();
    for (std::size_t s = 0; s < side_count; ++s) leaf_[s] = size_[s] - right[s];
}

template <class Entry>
void Batch<Entry>::evaluate_lanes(Score ub) {
    if constexpr (may_be_general) {
        if (limited()) return evaluate_allowed(ub);
        if (sub_->weighted()) return evaluate_weighted(ub);
    }
    if (sub_->classes == 2) evaluate_two_classes();
    else evaluate_classes(ub);
}

// The kernel over all features.
//
// Where values are missing, the two orders of a feature list the other rows alike.  So behind each of these rows, W of the second order,
// which begins with the missing rows M, is W of the first one plus W(M), and one pass over the other rows gives the extremes of
// both: high + max(0, W(M)) and low + min(0, W(M)).  Behind M alone W is W(M), which is among them as high is at least and low at
// most zero.  Behind all rows it is what a leaf has, which counts anyway.
template <class Entry>
void Batch<Entry>::sweep(const Sweep<Entry>& all) {
    const std::uint32_t seconds = second_orders_;
    statistics_->row_visits += std::int64_t{all.rows} * (all.features - seconds);
    if (seconds == 0) return sweep_features(all, sums_);
    const auto is_second = [&](std::uint32_t f) { return f < all.features && sub_->missing[sub_->feature[f]] == Missing::first; };
    const auto part_of = [&](std::uint32_t f, std::uint32_t features, Row begin, Row rows) {
        Sweep<Entry> part = all;
        part.entries += f * all.stride + begin;
        part.takes += f * all.stride + begin;
        part.ties += f;
        part.features = features;
        part.rows = rows;
        part.kept = f > 0;   // those before have been over all rows
        return part;
    };
    SideSums part, missing;
    const auto take = [&] {
        for (std::size_t s = 0; s < side_count; ++s) {
            sums_.high[s] = std::max(sums_.high[s], part.high[s] + std::max(0, missing.end[s]));
            sums_.low[s] = std::min(sums_.low[s], part.low[s] + std::min(0, missing.end[s]));
            sums_.end[s] = part.end[s] + missing.end[s];
        }
    };
    std::fill_n(sums_.high, side_count, 0);
    std::fill_n(sums_.low, side_count, 0);
    for (std::uint32_t f = 0, next; f < all.features && !halt_(); f = next) {
        next = f + 1;
        std::fill_n(missing.end, side_count, 0);
        if (is_second(next)) {
            using P = Packed<Entry>;
            const Entry* const order = all.entries + f * all.stride;
            const Rank none = P::rank(sub_->order(f)[sub_->rows - 1]);   // the missing rows are the last
            const auto lack = static_cast<Row>(order + all.rows - std::lower_bound(order, order + all.rows, P::make(none, 0)));
            part = {};
            if (lack > 0) sweep_features(part_of(f, 1, all.rows - lack, lack), missing);
            if (lack < all.rows) sweep_features(part_of(f, 1, 0, all.rows - lack), part);
            ++next;
        } else {
            while (next < all.features && !is_second(next + 1)) ++next;
            sweep_features(part_of(f, next - f, 0, all.rows), part);
        }
        take();
    }
}

// A few features at a time where there are many rows, so that a stop does not wait for long.
template <class Entry>
void Batch<Entry>::sweep_features(const Sweep<Entry>& all, SideSums& sums) {
    constexpr std::uint32_t most_cells = 1'000'000;
    if (all.rows > most_rows) return sweep_in_parts(all, sums);
    if (std::uint64_t{all.rows} * all.features <= most_cells) return kernel_.sweep(all, sums);
    const std::uint32_t step = std::max(1u, most_cells / all.rows);
    SideSums part;
    for (std::uint32_t f = 0; f < all.features && !halt_(); f += step) {
        Sweep<Entry> some = all;
        some.entries += f * all.stride;
        some.takes += f * all.stride;
        some.ties += f;
        some.features = std::min(step, all.features - f);
        some.kept = all.kept || f > 0;
        kernel_.sweep(some, f == 0 ? sums : part);
        if (f == 0) continue;
        for (std::size_t s = 0; s < side_count; ++s) {
            sums.high[s] = std::max(sums.high[s], part.high[s]);
            sums.low[s] = std::min(sums.low[s], part.low[s]);
        }
    }
}

// Each feature in parts, because rows that lie apart in memory take long.  In every part W begins anew, as 0, which its extremes count: so a part
// begins where a threshold can stand.
template <class Entry>
void Batch<Entry>::sweep_in_parts(const Sweep<Entry>& all, SideSums& sums) {
    std::fill_n(sums.high, side_count, 0);
    std::fill_n(sums.low, side_count, 0);
    SideSums part;
    for (std::uint32_t f = 0; f < all.features && !halt_(); ++f) {
        const std::uint8_t* const takes = all.takes + f * all.stride;
        std::fill_n(sums.end, side_count, 0);
        for (Row begin = 0, end; begin < all.rows && !halt_(); begin = end) {
            end = std::min(all.rows, begin + most_rows / 4);
            while (end < all.rows && all.ties[f] != Ties::none && takes[end - 1] == 0) ++end;
            Sweep<Entry> some = all;
            some.entries += f * all.stride + begin;
            some.takes = takes + begin;
            some.ties += f;
            some.features = 1;
            some.rows = end - begin;
            kernel_.sweep(some, part);
            for (std::size_t s = 0; s < side_count; ++s) {
                sums.high[s] = std::max(sums.high[s], sums.end[s] + part.high[s]);
                sums.low[s] = std::min(sums.low[s], sums.end[s] + part.low[s]);
                sums.end[s] += part.end[s];
            }
        }
    }
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

template <class Entry>
std::uint32_t Batch<Entry>::lanes_in_use() const {
    const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << lanes.size()) - 1);
    return used | (with_whole ? std::uint32_t{1} << whole_lane : 0);
}

template <class Entry>
void Batch<Entry>::evaluate_two_classes() {
    sweep(pairs_[0].sweep);
    for (std::size_t s = 0; s < side_count; ++s) {
        const Sum positive = (size_[s] + sums_.end[s]) / 2, negative = size_[s] - positive;
        reached_[s] = proved_[s] = std::min<Sum>(positive - sums_.high[s], negative + sums_.low[s]);
    }
}

// More classes: a stump that says a left and b right is right tot_b + W times, with W = pre_a - pre_b over
// the rows of classes a and b alone, so
//     rows - errors = max over pairs {a, b} of max(tot_b + max W, tot_a - min W),
// and a pair is a two-class sweep over its own rows.
template <class Entry>
void Batch<Entry>::evaluate_classes(Score ub) {
    weigh_classes();
    BySide right = leaves();   // what the best stump so far gets right
    Deaths death;
    sweep_pairs(ub, lanes_in_use(), right, death, [&](Pair& pair) { sweep_pair(pair, right); });
    for (std::size_t t = 0; t < lane_count; ++t) {
        for (const std::size_t s : {left_side(t), right_side(t)}) {
            reached_[s] = size_[s] - right[s];
            proved_[s] = size_[s] - std::max(right[s], potential_[death[t]][s]);
        }
    }
}

// The classes' masses on all sides.
template <class Entry>
void Batch<Entry>::weigh_classes() {
    const Subproblem<Entry>& sub = *sub_;
    if constexpr (may_be_general)
        if (sub.weighted()) weigh_classes_by_order();
    for (std::uint32_t c = 0; c < sub.classes && !sub.weighted(); ++c) {
        const std::uint64_t* const words = words_ + sub.class_begin[c];
        if constexpr (may_be_general) {
            std::array<std::int32_t, side_count> counts;
            kernel_.count_sides(words, sub.class_size(c), counts.data());
            std::copy(counts.begin(), counts.end(), class_totals_[c].begin());
        } else {
            kernel_.count_sides(words, sub.class_size(c), class_totals_[c].data());
        }
    }
    find_potentials();
}

// Since no stump on {a, b} is right more than tot_a + tot_b times, `potential_[i]` is the most that pairs i, i+1, .. can give.
template <class Entry>
void Batch<Entry>::find_potentials() {
    potential_[pairs_.size()].fill(0);
    for (std::size_t i = pairs_.size(); i-- > 0;)
        for (std::size_t s = 0; s < side_count; ++s) potential_[i][s] = std::max(potential_[i + 1][s], most_of(i, s));
}

// What a leaf gets right on each side.
template <class Entry>
typename Batch<Entry>::BySide Batch<Entry>::leaves() const {
    BySide right{};
    for (std::uint32_t c = 0; c < sub_->classes; ++c)
        for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max(right[s], class_totals_[c][s]);
    return right;
}

// A lane whose two sides cannot get below ub even with all that is left is dead, and a pair that can help no side of
// a live lane is left out.  (Testing one side alone would be wrong: left and right may use different pairs.)
// `death[t]` is the first pair that was left out since lane t died; its bound counts all from there.
template <class Entry>
void Batch<Entry>::sweep_pairs(Score ub, std::uint32_t lanes_meant, const BySide& right, Deaths& death,
                               const std::function<void(Pair&)>& sweep_this) {
    death.fill(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        bool any_live = false, helps = false;
        for (std::size_t t = 0; t < lane_count; ++t) {
            if ((lanes_meant >> t & 1) == 0) continue;
            const std::size_t l = left_side(t), r = right_side(t);
            const Sum best_left = std::max(right[l], potential_[i][l]), best_right = std::max(right[r], potential_[i][r]);
            const bool live = size_[l] + size_[r] - best_left - best_right < ub;
            any_live |= live;
            if (!live) death[t] = std::min(death[t], i);
            helps |= live && (most_of(i, l) > right[l] || most_of(i, r) > right[r]);
        }
        if (!any_live || halt_()) break;
        if (!helps) continue;
        sweep_this(pairs_[i]);
        if (switches_.late_pairs != 0) std::replace(death.begin(), death.end(), i, i + 1);   // what lanes that died here may get of it, `right` has now
    }
}

template <class Entry>
void Batch<Entry>::sweep_pair(Pair& pair, BySide& right) {
    if (pair.sweep.entries == nullptr) prepare(pair);
    if (halt_()) return;
    const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
    sweep(pair.sweep);
    for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max<Sum>({right[s], b[s] + sums_.high[s], a[s] - sums_.low[s]});
}

template <class Entry>
void Batch<Entry>::evaluate_one_by_one() {
    for (std::size_t t = 0; t < lanes.size() && !halt_(); ++t) {
        const SplitErrors errors = d2split(*sub_, class_of_, lanes[t].f, lanes[t].z);
        reached_[left_side(t)] = static_cast<Sum>(errors.left);
        reached_[right_side(t)] = static_cast<Sum>(errors.right);
        leaf_[left_side(t)] = static_cast<Sum>(errors.leaf_left);
        leaf_[right_side(t)] = static_cast<Sum>(errors.leaf_right);
        near_[left_side(t)] = static_cast<Sum>(errors.relaxed_left);
        near_[right_side(t)] = static_cast<Sum>(errors.relaxed_right);
    }
    if (with_whole) {
        const Stump stump = best_stump(*sub_);
        reached_[left_side(whole_lane)] = static_cast<Sum>(stump.errors);
        leaf_[left_side(whole_lane)] = static_cast<Sum>(leaf_errors(*sub_));
        near_[left_side(whole_lane)] = static_cast<Sum>(stump.relaxed);
        reached_[right_side(whole_lane)] = near_[right_side(whole_lane)] = 0;
    }
    proved_ = reached_;
    statistics_->row_visits += static_cast<std::int64_t>(lanes.size()) * sub_->rows * sub_->features;
}

// The pair's rows in every order, with the places where W is taken; unfinished after a halt.
template <class Entry>
void Batch<Entry>::prepare(Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    pair.sweep = {sub.entries, sub.stride, nullptr, nullptr, sub.features, pair.rows, words_, sub.class_begin[pair.b], steps_};
    if (pair.rows < sub.rows) {
        const std::size_t stride = pair.rows + mover_padding;
        Entry* const entries = arena_->take<Entry>(stride * sub.features);
        const bool all_swept = sub.weighted() || sub.limited();   // else the second orders are not
        for (std::uint32_t f = 0; f < sub.features && !halt_(); ++f) {
            if (!all_swept && sub.missing[sub.feature[f]] == Missing::first) continue;
            Entry* const to = entries + f * stride;
            kernel_.movers->of<Entry>().filter(sub.order(f), sub.rows, sub.class_begin[pair.a], sub.class_size(pair.a),
                                               sub.class_begin[pair.b], sub.class_size(pair.b), to);
            to[pair.rows] = Packed<Entry>::sentinel();
        }
        pair.sweep.entries = entries;
        pair.sweep.stride = stride;
    }
    mark_takes(pair.sweep);
}

// A second order is not swept where all rows weigh one.
template <class Entry>
void Batch<Entry>::mark_takes(Sweep<Entry>& sweep) {
    const Subproblem<Entry>& sub = *sub_;
    auto* const takes = arena_->take<std::uint8_t>(sweep.stride * sweep.features);
    auto* const ties = arena_->take<Ties>(sweep.features);
    Arena::Frame frame(*arena_);
    auto* const own = arena_->take<std::uint64_t>(sub.words);
    for (std::uint32_t f = 0; f < sweep.features && !halt_(); ++f) {
        ties[f] = Ties::none;
        if (!sub.weighted() && (sub.cuts(f).everywhere() || sub.missing[sub.feature[f]] == Missing::first)) continue;
        const bool all = sweep.rows == sub.rows;
        if (!all) kernel_.movers->of<Entry>().mark_cuts(sweep.entries + f * sweep.stride, sweep.rows, own);
        ties[f] = kind_of_ties(sweep.rows, spread_cuts(all ? sub.cuts(f).bits : own, sweep.rows, takes + f * sweep.stride));
    }
    sweep.takes = takes;
    sweep.ties = ties;
}

template class Batch<NarrowEntry>;
template class Batch<WideEntry>;

}  // namespace contree
