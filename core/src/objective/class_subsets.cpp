// What errors tell of categories.
#include "objective/class_table.hpp"
#include "objective/misclassification.hpp"

namespace contree {
namespace {
// The classes of a set's groups in each of its categories of a feature.
ClassTable classes_by_category(const RowSet& set, std::uint32_t f) {
    ClassTable table(set.groups, set.cuts(f).count + std::size_t{1});
    std::size_t category = 0;
    set.for_categories(f, [&](Rank, Position begin, Position end) {
        std::uint32_t g = 0;  // rows of a category ascend
        for (Position k = begin; k < end; ++k) {
            const Row row = set.order(f).row(k);
            while (row >= set.group_begin[g + 1]) ++g;
            table.add(category, g, set.weight_of(row));
        }
        ++category;
    });
    return table;
}

}  // namespace

BestSubset Misclassification::best_subset(const RowSet& set, std::uint32_t f, Score limit) const {
    const ClassTable table = classes_by_category(set, f);
    const ClassTable::Best best = table.best(subset_leaf_size(set), set.mass - limit);
    return {set.mass - best.right, set.ranks_of_categories(f, best.left), set.mass - table.most_right()};
}

PurestSubset Misclassification::purest_subset(const RowSet& set, std::uint32_t f) const {
    const ClassTable::Purest purest = classes_by_category(set, f).purest(subset_leaf_size(set));
    return {purest.purity, set.ranks_of_categories(f, purest.left)};
}

SplitLosses Misclassification::stumps_of_subsets(
    const RowSet& set, std::uint32_t f1, const std::uint64_t* left, const std::uint64_t* right) const {
    std::vector<std::uint8_t> side_of(set.rows, neither);
    set.for_categories(f1, [&](Rank rank, Position begin, Position end) {
        const std::uint8_t side = contains(left, rank) ? 0 : contains(right, rank) ? 1 : neither;
        for (Position k = begin; k < end; ++k) side_of[set.order(f1).row(k)] = side;
    });
    return stumps_of_sides(set, side_of);
}
}  // namespace contree
