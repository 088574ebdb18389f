// What targets tell of categories.
#include "objective/squared_error.hpp"

namespace contree {
// Rows of other sides count for none.
std::vector<TargetTable> SquaredError::targets_by_category(
    const RowSet& set, std::uint32_t f, const std::vector<std::uint8_t>& side_of, std::size_t sides) const {
    std::vector<TargetTable> tables(sides, TargetTable(set.cuts(f).count + std::size_t{1}, loss_));
    std::size_t category = 0;
    set.for_categories(f, [&](Rank, Position begin, Position end) {
        for (Position k = begin; k < end; ++k) {
            const Row row = set.order(f).row(k);
            if (side_of[row] >= sides) continue;
            Moments own;
            own.add(set.weight_of(row), target(set, row));
            tables[side_of[row]].add(category, own);
        }
        ++category;
    });
    return tables;
}

BestSubset SquaredError::best_subset(const RowSet& set, std::uint32_t f, Score limit) const {
    TargetTable table = targets_by_category(set, f, std::vector<std::uint8_t>(set.rows, 0), 1)[0];
    const TargetTable::Best best = table.best(subset_leaf_size(set), limit);
    return {best.loss, set.ranks_of_categories(f, best.left), best.relaxed};
}

PurestSubset SquaredError::purest_subset(const RowSet& set, std::uint32_t f) const {
    TargetTable table = targets_by_category(set, f, std::vector<std::uint8_t>(set.rows, 0), 1)[0];
    const TargetTable::Purest purest = table.purest(subset_leaf_size(set));
    return {moments(set).squared_error() + purest.gain, set.ranks_of_categories(f, purest.left)};
}

SplitLosses SquaredError::stumps_of_subsets(
    const RowSet& set, std::uint32_t f, const std::uint64_t* left, const std::uint64_t* right) const {
    std::vector<std::uint8_t> side_of(set.rows, neither);
    set.for_categories(f, [&](Rank rank, Position begin, Position end) {
        const std::uint8_t side = contains(left, rank) ? 0 : contains(right, rank) ? 1 : neither;
        for (Position k = begin; k < end; ++k) side_of[set.order(f).row(k)] = side;
    });
    return stumps_of_sides(set, side_of);
}
}  // namespace contree
