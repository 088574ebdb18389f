// Columns of categories, and splits that send some of them left.
#include "data/categories.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include "data/row_set.hpp"

namespace contree {
Column rank_categories(const Table& table, std::size_t f, const RankedTable& ranked) {
    const auto count = static_cast<std::size_t>(table.categories[f]);
    const double* const values = table.values + f * table.rows;
    std::vector<std::vector<Row>> rows_of(count + 1);  // the last is of missing values
    for (Row r = 0; r < ranked.rows; ++r) {
        const double value = values[ranked.original[r]];
        if (!std::isnan(value) &&
            !(value >= 0 && value < static_cast<double>(count) && std::trunc(value) == value))
            throw std::invalid_argument(
                "feature " + std::to_string(f) + " has a category outside 0.." + std::to_string(count - 1));
        rows_of[std::isnan(value) ? count : static_cast<std::size_t>(value)].push_back(r);
    }
    std::vector<std::size_t> by_size(count + 1);
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::ranges::stable_sort(by_size, std::greater(), [&](std::size_t c) { return rows_of[c].size(); });
    Column column{};
    column.feature = static_cast<std::int32_t>(f);
    for (const std::size_t c : by_size) {
        if (rows_of[c].empty()) break;
        column.order.insert(column.order.end(), rows_of[c].begin(), rows_of[c].end());
        column.ranks.resize(column.order.size(), static_cast<Rank>(column.values.lowest.size()));
        column.values.lowest.push_back(c == count ? std::nan("") : static_cast<double>(c));
    }
    return column;
}

SubsetWords RowSet::ranks_of_categories(std::uint32_t f, const std::vector<std::uint8_t>& chosen) const {
    if (chosen.empty()) return {};
    SubsetWords subset = categories->none();
    std::size_t category = 0;
    for_categories(f, [&](Rank rank, Position, Position) {
        if (chosen[category++] != 0) insert(subset.data(), rank);
    });
    return subset;
}

Split RowSet::split_of(std::uint32_t f, const SubsetWords& left) const {
    Split at{f, 0, categories->id_of(left)};
    for_categories(f, [&](Rank rank, Position begin, Position end) {
        if (contains(left.data(), rank)) at.z += end - begin;
    });
    return at;
}

Score RowSet::mass_left(const Split& at) const {
    if (at.subset == no_subset) return mass_at(at.f, at.z);
    Score left = 0;
    for_left(at, [&](Position k) { left += weight_of(order(at.f).row(k)); });
    return left;
}

// Where a larger set counts for sizes, its rows of other categories may go to any side: so any are enough.
bool RowSet::allows(const Split& at) const {
    if (at.subset == no_subset) return allows(at.f, at.z);
    if (!has_leaf_size() || leaf_size_rows != nullptr) return true;
    const Score left = mass_left(at);
    return at.z >= leaf.rows && rows - at.z >= leaf.rows && left >= leaf.mass && mass - left >= leaf.mass;
}
}  // namespace contree
