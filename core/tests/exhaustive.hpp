// The oracle: every tree there is, on the raw values.  No pruning, no ranks, no cleverness.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "instance.hpp"

namespace check {

using contree::Score;
using RowList = std::vector<std::size_t>;

inline RowList all_rows(const Instance& data) {
    RowList rows(data.rows);
    for (std::size_t r = 0; r < data.rows; ++r) rows[r] = r;
    return rows;
}

inline Score leaf_errors(const Instance& data, const RowList& rows) {
    std::vector<Score> counts(static_cast<std::size_t>(data.classes), 0);
    for (const std::size_t r : rows) ++counts[static_cast<std::size_t>(data.labels[r])];
    return static_cast<Score>(rows.size()) - *std::max_element(counts.begin(), counts.end());
}

inline std::pair<RowList, RowList> parted(const Instance& data, const RowList& rows, std::size_t f, double threshold) {
    std::pair<RowList, RowList> sides;
    for (const std::size_t r : rows) (data.value(r, f) <= threshold ? sides.first : sides.second).push_back(r);
    return sides;
}

// The least errors of any tree of at most that depth.
inline Score least_errors(const Instance& data, const RowList& rows, std::int64_t depth) {
    Score least = leaf_errors(data, rows);
    if (depth == 0) return least;
    for (std::size_t f = 0; f < data.features; ++f) {
        std::set<double> values;
        for (const std::size_t r : rows) values.insert(data.value(r, f));
        for (const double threshold : values) {
            const auto [left, right] = parted(data, rows, f, threshold);
            if (right.empty()) continue;
            least = std::min(least, least_errors(data, left, depth - 1) + least_errors(data, right, depth - 1));
        }
    }
    return least;
}

inline Score least_errors(const Instance& data, std::int64_t depth) {
    return least_errors(data, all_rows(data), depth);
}

// The same for larger sets: stumps by one pass over each sorted column.  Checked against the above.
class Swept {
public:
    explicit Swept(const Instance& data) : data_(data) {
        for (std::size_t f = 0; f < data.features; ++f) {
            orders_.push_back(all_rows(data));
            std::sort(orders_.back().begin(), orders_.back().end(),
                      [&](std::size_t a, std::size_t b) { return data.value(a, f) < data.value(b, f); });
        }
    }

    Score least_errors(std::int64_t depth) const { return least_errors(std::vector<char>(data_.rows, 1), depth); }

private:
    using Members = std::vector<char>;   // by row

    Score least_errors(const Members& in, std::int64_t depth) const {
        const auto classes = static_cast<std::size_t>(data_.classes);
        std::vector<Score> total(classes, 0);
        Score size = 0;
        for (std::size_t r = 0; r < data_.rows; ++r)
            if (in[r]) ++total[static_cast<std::size_t>(data_.labels[r])], ++size;
        Score least = size - *std::max_element(total.begin(), total.end());
        if (depth == 0) return least;
        for (std::size_t f = 0; f < data_.features; ++f) {
            std::vector<std::size_t> order;
            for (const std::size_t r : orders_[f])
                if (in[r]) order.push_back(r);
            std::vector<Score> left(classes, 0), right = total;
            Members left_in(data_.rows, 0), right_in = in;
            for (std::size_t k = 0; k + 1 < order.size(); ++k) {
                const std::size_t r = order[k];
                ++left[static_cast<std::size_t>(data_.labels[r])];
                --right[static_cast<std::size_t>(data_.labels[r])];
                left_in[r] = 1;
                right_in[r] = 0;
                if (data_.value(r, f) == data_.value(order[k + 1], f)) continue;
                const Score errors = depth == 1 ? size - *std::max_element(left.begin(), left.end()) -
                                                      *std::max_element(right.begin(), right.end())
                                                : least_errors(left_in, depth - 1) + least_errors(right_in, depth - 1);
                least = std::min(least, errors);
            }
        }
        return least;
    }

    const Instance& data_;
    std::vector<RowList> orders_;
};

}  // namespace check
