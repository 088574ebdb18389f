// Nodes of a lattice as intervals of a frontier (bounds/subset.hpp).
#pragma once
#include <optional>
#include "bounds/subset.hpp"

namespace contree {
// A set of ranks in as many words as the table's sets have.
inline SubsetWords of_width(const RowSet& root, const std::vector<std::uint64_t>& subset) {
    SubsetWords words = subset;
    words.resize(root.categories->words, 0);
    return words;
}

// Is it a node of the feature's lattice?
inline bool is_subset_of_lattice(const RowSet& root, const Frontier::Interval& interval, std::uint32_t f) {
    const Lattice lattice(ranks_of(root, f));
    const SubsetWords left = of_width(root, interval.subset);
    const auto count = static_cast<Score>(lattice.ranks.size());
    if (interval.u.z < 1 || interval.u.z > count || interval.v.z != count) return false;
    if (!(lattice.on_left(left, 0) && !lattice.is_all(left))) return false;
    SubsetWords others = left;
    for (std::size_t i = 0; i < static_cast<std::size_t>(interval.u.z); ++i)
        others[lattice.ranks[i] / 64] &= ~(std::uint64_t{1} << (lattice.ranks[i] % 64));
    return others == root.categories->none();
}

// The two nodes of the lattice that decide one category more; the second may be none.
inline std::pair<Frontier::Interval, std::optional<Frontier::Interval>> children_of(
    const RowSet& root, const Frontier::Interval& whole, std::uint32_t f) {
    const Lattice lattice(ranks_of(root, f));
    Frontier::Interval right = whole;
    ++right.u.z;
    Frontier::Interval left = right;
    left.subset = of_width(root, left.subset);
    insert(left.subset.data(), lattice.ranks[static_cast<std::size_t>(whole.u.z)]);
    if (lattice.is_all(left.subset)) return {right, {}};
    return {right, left};
}
}  // namespace contree
