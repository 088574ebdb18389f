// Some of the caller's rows, copied.
#pragma once
#include <vector>
#include "types.hpp"

namespace contree {
// So many rows, evenly spaced, as a table of its own.
class TableSample {
public:
    // `rows` is at most what the whole has.
    TableSample(const Table& whole, std::size_t rows) {
        const std::size_t step = whole.rows / rows;
        const auto copy = [&]<class T>(const T* from, std::vector<T>& to) {
            for (std::size_t r = 0; from != nullptr && r < rows; ++r) to.push_back(from[r * step]);
            return from != nullptr ? to.data() : nullptr;
        };
        values_.reserve(rows * whole.features);
        for (std::size_t f = 0; f < whole.features; ++f) copy(whole.values + f * whole.rows, values_);
        table = whole;
        table.values = values_.data();
        table.rows = rows;
        table.labels = copy(whole.labels, labels_);
        table.weights = copy(whole.weights, weights_);
        table.targets = copy(whole.targets, targets_);
    }
    TableSample(const TableSample&) = delete;

    Table table;
private:
    std::vector<double> values_;
    std::vector<std::int32_t> labels_;
    std::vector<Score> weights_;
    std::vector<std::int64_t> targets_;
};
}  // namespace contree
