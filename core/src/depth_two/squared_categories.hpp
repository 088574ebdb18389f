// Stumps of categories for the lanes of a batch of squared error, in doubles.
#pragma once
#include <algorithm>
#include <array>
#include <vector>
#include "depth_two/squared_kernel.hpp"

namespace contree {
class SquaredCategories {
public:
    // `rows` by number, of a set that stays.
    void start(const RowSet& set, const SquaredRow* rows) {
        set_ = &set;
        features_.resize(set.categorical);
        for (std::uint32_t i = 0; i < set.categorical; ++i) gather(set.features + i, rows, features_[i]);
    }

    // Raises the best gains of the lanes' sides by those of every feature's prefixes.  The words of `rows`
    // say where these lie; of the lanes from `own_sides` on, only left sides count.
    void sweep(const SquaredKernel& kernel, const SquaredRow* rows, unsigned lanes, unsigned own_sides,
        SquaredSides& left, SquaredSides& right) {
        for (std::uint32_t i = 0; i < set_->categorical; ++i) {
            Feature& feature = features_[i];
            const Order order = set_->order(set_->features + i);
            for (Row k = 0; k < set_->rows; ++k) feature.rows[k].word = rows[order.row(k)].word;
            const std::size_t count = feature.end.size();
            sums_.resize(count);
            weights_.resize(count);
            for (std::size_t c = 0; c < count; ++c) {
                const Row begin = c == 0 ? 0 : feature.end[c - 1];
                SquaredSweep part{};
                part.row = feature.rows.data() + begin;
                part.rows = feature.end[c] - begin;
                part.lanes = lanes;
                kernel.weigh(part, sums_[c].data(), weights_[c].data());
            }
            for (unsigned t = 0; t < lanes; ++t) {
                take(t, left, [&](std::size_t c) { return at(c, t); });
                if (t < own_sides)
                    take(t, right, [&](std::size_t c) {
                        const Part part = at(c, t);
                        return Part{feature.all[c].sum - part.sum, feature.all[c].weight - part.weight};
                    });
            }
        }
    }
private:
    struct Part {
        double sum, weight, mean = 0;
    };
    struct Feature {
        std::vector<SquaredRow> rows;  // in its order, with the weight in place of w y^2
        std::vector<Row> end;          // by category
        std::vector<Part> all;
    };

    Part at(std::size_t c, unsigned t) const { return {sums_[c][t], weights_[c][t]}; }

    void gather(std::uint32_t f, const SquaredRow* rows, Feature& feature) const {
        const Order order = set_->order(f);
        feature.rows.resize(set_->rows);
        feature.end.clear();
        feature.all.clear();
        set_->for_categories(f, [&](Rank, Position begin, Position end) {
            Part all{0, 0};
            for (Position k = begin; k < end; ++k) {
                const SquaredRow& row = rows[order.row(k)];
                feature.rows[k] = {row.sum, row.weight, row.weight, 0};
                all.sum += row.sum, all.weight += row.weight;
            }
            feature.end.push_back(end);
            feature.all.push_back(all);
        });
    }

    // The best prefix of the categories that a side has.
    template <class PartOf> void take(unsigned t, SquaredSides& sides, const PartOf& part_of) {
        parts_.clear();
        for (std::size_t c = 0; c < sums_.size(); ++c) {
            const Part part = part_of(c);
            if (part.weight > 0) parts_.push_back({part.sum, part.weight, part.sum / part.weight});
        }
        std::ranges::sort(parts_, {}, &Part::mean);
        double sum = 0, weight = 0;
        for (const Part& part : parts_) {
            sum += part.sum, weight += part.weight;
            const double distance = sum - sides.mean[t] * weight,
                         product = weight * (sides.weight[t] - weight);
            const double square = distance * distance;
            if (square > sides.best[t] * product + sides.guard[t]) sides.best[t] = square / product;
        }
    }

    const RowSet* set_ = nullptr;
    std::vector<Feature> features_;
    struct alignas(64) ByLane : std::array<double, side_count> {};
    std::vector<ByLane> sums_, weights_;  // by category
    std::vector<Part> parts_;
};
}  // namespace contree
