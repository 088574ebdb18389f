// A split of categories in the tree that is returned.
#pragma once
#include <cmath>
#include <span>
#include "data/ranks.hpp"

namespace contree {
// Writes it into a node that has these rows, of `count` categories, and returns the categories that go left.
// Those that no row of the node has go with the most rows.
inline const std::uint64_t* write_categories(Tree& tree, std::size_t node, const Column& column,
    std::size_t count, const std::uint64_t* ranks_left, std::span<const double> values,
    std::span<const Row> rows) {
    std::vector<std::uint8_t> is_here(count + 1, 0), goes_left(count + 1, 0);  // missing ones last
    const auto code = [&](double value) {
        return std::isnan(value) ? count : static_cast<std::size_t>(value);
    };
    for (Rank rank = 0; rank < column.values.lowest.size(); ++rank)
        goes_left[code(column.values.lowest[rank])] = contains(ranks_left, rank);
    std::size_t lefts = 0, missing = 0;
    for (const Row row : rows) {
        is_here[code(values[row])] = 1;
        lefts += goes_left[code(values[row])];
        missing += std::isnan(values[row]);
    }
    const bool most_left = lefts > rows.size() - lefts;
    tree.category_offset[node] = static_cast<std::int64_t>(tree.category_words.size());
    tree.category_words.resize(tree.category_words.size() + (count + 63) / 64, 0);
    std::uint64_t* const words = tree.category_words.data() + tree.category_offset[node];
    for (std::size_t c = 0; c <= count; ++c) {
        if (is_here[c] == 0) goes_left[c] = most_left;
        if (c < count && goes_left[c] != 0) insert(words, static_cast<Rank>(c));
    }
    tree.feature[node] = column.feature;
    tree.threshold[node] = tree.gap_below[node] = tree.gap_above[node] = std::nan("");
    tree.missing_count[node] = static_cast<std::int64_t>(missing);
    tree.missing_left[node] = goes_left[count];
    return words;
}
}  // namespace contree
