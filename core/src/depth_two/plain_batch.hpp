// Batches where every row weighs one and leaves may have any size.
#pragma once
#include "depth_two/error_batch.hpp"

namespace contree {
class PlainBatch final : public ErrorBatch {
public:
    using ErrorBatch::ErrorBatch;
private:
    void begin() override {
        const bool keeps = set_->rows <= kernel_.kept_steps;
        steps_ = keeps ? arena_->take<std::int8_t>(std::size_t{side_count} * set_->rows) : nullptr;
        has_second_orders_ = std::any_of(set_->feature, set_->feature + set_->features,
            [&](FeatureId f) { return set_->missing[f] == Missing::first; });
    }

    void sweep_lanes(Score ub) override {
        sweep_any_leaves(ub, sums_, [&](std::size_t i) {
            Pair& pair = pairs_[i];
            if (pair.entries == nullptr) prepare(pair);
            if (halt_()) return;
            sweep({pair.entries, set_->width, pair.stride, pair.threshold_mask, pair.ties, set_->features,
                pair.rows, words_, set_->group_begin[pair.b], steps_});
        });
    }

    // Some features, and some rows of their orders.
    static Sweep part_of(const Sweep& all, std::uint32_t f, std::uint32_t features, Row begin, Row rows) {
        Sweep part = all;
        part.entries += (f * all.stride + begin) * static_cast<std::size_t>(all.width);
        part.threshold_mask += f * all.stride + begin;
        part.ties += f;
        part.features = features;
        part.rows = rows;
        return part;
    }

    // The kernel over all features.
    // Where values are missing, the two orders of a feature list the other rows alike.  Behind each of these,
    // W of the second order, which begins with the missing rows M, is W of the first one plus W(M).  So one
    // pass over them gives the extremes of both: high + max(0, W(M)) and low + min(0, W(M)).  W(M) itself is
    // among them, as high >= 0 >= low.  Behind all rows W is what a leaf has, which counts anyway.
    void sweep(const Sweep& all) {
        if (!has_second_orders_) return sweep_features(all, sums_);
        const auto is_second = [&](std::uint32_t f) {
            return f < all.features && set_->missing[set_->feature[f]] == Missing::first;
        };
        sums_ = {};
        for (std::uint32_t f = 0, next; f < all.features && !halt_(); f = next) {
            const bool two_orders = is_second(f + 1);
            next = f + 1;
            while (!two_orders && next < all.features && !is_second(next + 1)) ++next;
            Row full = all.rows;  // those behind have no value
            if (two_orders) full = all.order(f).first_from(set_->order(f).rank(set_->rows - 1), 0, full);
            const auto sums_of = [&](Row begin, Row rows) {
                SideSums sums{};
                Sweep some = part_of(all, f, next - f, begin, rows);
                some.kept = f > 0;  // those before have been over all rows
                if (rows > 0) sweep_features(some, sums);
                return sums;
            };
            const SideSums missing = sums_of(full, all.rows - full), part = sums_of(0, full);
            for (std::size_t s = 0; s < side_count; ++s) {
                sums_.high[s] = std::max(sums_.high[s], part.high[s] + std::max(0, missing.end[s]));
                sums_.low[s] = std::min(sums_.low[s], part.low[s] + std::min(0, missing.end[s]));
                sums_.end[s] = part.end[s] + missing.end[s];
            }
            next += two_orders;
        }
    }

    // A few features at a time where there are many rows, so that a stop does not wait for long; in parts
    // where there are very many, because rows that lie apart in memory take long.  In every part W begins
    // anew, as 0, which its extremes count: so a part begins where a threshold can stand.
    void sweep_features(const Sweep& all, SideSums& sums) {
        constexpr Row most_rows = Row{1} << 18;
        constexpr std::uint32_t most_cells = 1'000'000;
        statistics_->row_visits += std::int64_t{all.rows} * all.features;
        const bool in_parts = all.rows > most_rows;
        if (!in_parts && std::uint64_t{all.rows} * all.features <= most_cells)
            return kernel_.sweep(all, sums);
        const std::uint32_t step = in_parts ? 1 : std::max(1u, most_cells / all.rows);
        sums = {};
        SideSums part;
        for (std::uint32_t f = 0; f < all.features && !halt_(); f += step) {
            const std::uint8_t* const mask = all.threshold_mask + f * all.stride;
            std::fill_n(sums.end, side_count, 0);
            for (Row begin = 0, end; begin < all.rows && !halt_(); begin = end) {
                end = in_parts ? std::min(all.rows, begin + most_rows / 4) : all.rows;
                while (end < all.rows && all.ties[f] != Ties::none && mask[end - 1] == 0) ++end;
                Sweep some = part_of(all, f, std::min(step, all.features - f), begin, end - begin);
                some.kept |= f > 0;
                kernel_.sweep(some, part);
                for (std::size_t s = 0; s < side_count; ++s) {
                    sums.high[s] = std::max(sums.high[s], sums.end[s] + part.high[s]);
                    sums.low[s] = std::min(sums.low[s], sums.end[s] + part.low[s]);
                    sums.end[s] += part.end[s];
                }
            }
        }
    }

    std::int8_t* steps_ = nullptr;    // room for the kernel's own
    bool has_second_orders_ = false;  // those with missing values first
    SideSums sums_;
};
}  // namespace contree
