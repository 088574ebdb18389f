#include "depth_two/plain_batch.hpp"

namespace contree {

namespace {

// Some features, and some rows of their orders.
template <class Entry>
Sweep<Entry> part_of(const Sweep<Entry>& all, std::uint32_t f, std::uint32_t features, Row begin, Row rows) {
    Sweep<Entry> part = all;
    part.entries += f * all.stride + begin;
    part.takes += f * all.stride + begin;
    part.ties += f;
    part.features = features;
    part.rows = rows;
    return part;
}

}  // namespace

template <class Entry>
void PlainBatch<Entry>::begin() {
    steps_ = sub_->rows <= kernel_.kept_steps
                 ? arena_->template take<std::int8_t>(std::size_t{side_count} * sub_->rows)
                 : nullptr;
    has_second_orders_ = std::any_of(sub_->feature, sub_->feature + sub_->features,
                                     [&](FeatureId f) { return sub_->missing[f] == Missing::first; });
}

// Two classes: see kernel.hpp.  More classes: a stump that says a left and b right is right tot_b + W times,
// with W = pre_a - pre_b over the rows of classes a and b alone, so
//     rows - errors = max over pairs {a, b} of max(tot_b + max W, tot_a - min W),
// and a pair is a two-class sweep over its own rows.
template <class Entry>
void PlainBatch<Entry>::sweep_lanes(Score ub) {
    if (sub_->classes == 2) {
        sweep_pair(pairs_[0]);
        for (std::size_t s = 0; s < side_count; ++s) {
            const Sum positive = (size_[s] + sums_.end[s]) / 2, negative = size_[s] - positive;
            reached_[s] = proved_[s] = std::min<Sum>(positive - sums_.high[s], negative + sums_.low[s]);
        }
        return;
    }
    this->weigh_classes();
    BySide right = this->leaves();   // what the best stump so far gets right
    const auto death = this->sweep_pairs(ub, this->lanes_in_use(), right, [&](std::size_t i) {
        sweep_pair(pairs_[i]);
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for (std::size_t s = 0; s < side_count; ++s)
            right[s] = std::max<Sum>({right[s], b[s] + sums_.high[s], a[s] - sums_.low[s]});
    });
    this->conclude(right, death);
}

template <class Entry>
void PlainBatch<Entry>::sweep_pair(Pair& pair) {
    if (pair.entries == nullptr) this->prepare(pair);
    if (halt_()) return;
    sweep({pair.entries, pair.stride, pair.takes, pair.ties, sub_->features, pair.rows, words_,
           sub_->class_begin[pair.b], steps_});
}

// The kernel over all features.
//
// Where values are missing, the two orders of a feature list the other rows alike.  So behind each of these
// rows, W of the second order, which begins with the missing rows M, is W of the first one plus W(M), and one
// pass over the other rows gives the extremes of both: high + max(0, W(M)) and low + min(0, W(M)).  Behind M
// alone W is W(M), which is among them as high is at least and low at most zero.  Behind all rows it is what
// a leaf has, which counts anyway.
template <class Entry>
void PlainBatch<Entry>::sweep(const Sweep<Entry>& all) {
    if (!has_second_orders_) {
        statistics_->row_visits += std::int64_t{all.rows} * all.features;
        return sweep_features(all, sums_);
    }
    const auto is_second = [&](std::uint32_t f) {
        return f < all.features && sub_->missing[sub_->feature[f]] == Missing::first;
    };
    SideSums part, missing;
    std::fill_n(sums_.high, side_count, 0);
    std::fill_n(sums_.low, side_count, 0);
    for (std::uint32_t f = 0, next; f < all.features && !halt_(); f = next) {
        const bool two_orders = is_second(f + 1);
        next = f + 1;
        while (!two_orders && next < all.features && !is_second(next + 1)) ++next;
        Row lack = 0;   // rows without a value, which are the last
        if (two_orders) {
            using P = Packed<Entry>;
            const Entry* const order = all.entries + f * all.stride;
            const Rank none = P::rank(sub_->order(f)[sub_->rows - 1]);
            lack = static_cast<Row>(order + all.rows -
                                    std::lower_bound(order, order + all.rows, P::make(none, 0)));
        }
        const auto sweep_rows = [&](Row begin, Row rows, SideSums& sums) {
            sums = {};
            if (rows == 0) return;
            Sweep<Entry> some = part_of(all, f, next - f, begin, rows);
            some.kept = f > 0;   // those before have been over all rows
            sweep_features(some, sums);
        };
        sweep_rows(all.rows - lack, lack, missing);
        sweep_rows(0, all.rows - lack, part);
        statistics_->row_visits += std::int64_t{all.rows} * (next - f);
        for (std::size_t s = 0; s < side_count; ++s) {
            sums_.high[s] = std::max(sums_.high[s], part.high[s] + std::max(0, missing.end[s]));
            sums_.low[s] = std::min(sums_.low[s], part.low[s] + std::min(0, missing.end[s]));
            sums_.end[s] = part.end[s] + missing.end[s];
        }
        next += two_orders;
    }
}

// A few features at a time where there are many rows, so that a stop does not wait for long.
template <class Entry>
void PlainBatch<Entry>::sweep_features(const Sweep<Entry>& all, SideSums& sums) {
    if (all.rows > most_rows) return sweep_in_parts(all, sums);
    if (std::uint64_t{all.rows} * all.features <= most_cells) return kernel_.sweep(all, sums);
    const std::uint32_t step = std::max(1u, most_cells / all.rows);
    SideSums part;
    for (std::uint32_t f = 0; f < all.features && !halt_(); f += step) {
        Sweep<Entry> some = part_of(all, f, std::min(step, all.features - f), 0, all.rows);
        some.kept = all.kept || f > 0;
        kernel_.sweep(some, f == 0 ? sums : part);
        if (f == 0) continue;
        for (std::size_t s = 0; s < side_count; ++s) {
            sums.high[s] = std::max(sums.high[s], part.high[s]);
            sums.low[s] = std::min(sums.low[s], part.low[s]);
        }
    }
}

// Each feature in parts, because rows that lie apart in memory take long.  In every part W begins anew, as 0,
// which its extremes count: so a part begins where a threshold can stand.
template <class Entry>
void PlainBatch<Entry>::sweep_in_parts(const Sweep<Entry>& all, SideSums& sums) {
    std::fill_n(sums.high, side_count, 0);
    std::fill_n(sums.low, side_count, 0);
    SideSums part;
    for (std::uint32_t f = 0; f < all.features && !halt_(); ++f) {
        const std::uint8_t* const takes = all.takes + f * all.stride;
        std::fill_n(sums.end, side_count, 0);
        for (Row begin = 0, end; begin < all.rows && !halt_(); begin = end) {
            end = std::min(all.rows, begin + most_rows / 4);
            while (end < all.rows && all.ties[f] != Ties::none && takes[end - 1] == 0) ++end;
            kernel_.sweep(part_of(all, f, 1, begin, end - begin), part);
            for (std::size_t s = 0; s < side_count; ++s) {
                sums.high[s] = std::max(sums.high[s], sums.end[s] + part.high[s]);
                sums.low[s] = std::min(sums.low[s], sums.end[s] + part.low[s]);
                sums.end[s] += part.end[s];
            }
        }
    }
}

template class PlainBatch<NarrowEntry>;
template class PlainBatch<WideEntry>;

}  // namespace contree
