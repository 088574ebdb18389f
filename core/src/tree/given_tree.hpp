// A tree that the caller has, as a first incumbent.
#pragma once
#include <cmath>
#include "tree/locate.hpp"
#include "tree/outcome.hpp"

namespace contree {
// The tests of `tree` on a set of rows: thresholds become ranks, tests that part no rows are left out, what
// is deeper than `depth` or would leave too few rows becomes a leaf, and leaves say what is best for the rows
// that reach them.  `upper` is the loss.
struct Planter {
    const Objective& objective;
    const Tree& tree;
    const Table& table;
    const RankedTable& ranked;
    const std::int64_t depth;
    const Partitioner& partitioner;
    Arena& arena;

    Outcome plant(std::size_t node, const RowSet& sub, std::int64_t level = 0) {
        const Score leaf = objective.leaf_loss(sub);
        const Outcome as_leaf{0, leaf, {Step{Step::leaf, 0}}};
        if (level == depth || leaf == 0 || !room_below(level, arena)) return as_leaf;
        while (tree.children_left[node] >= 0) {
            const Place at = place(node, sub);
            if (at.z > 0 && at.z < sub.rows)
                return sub.allows(at.split()) ? join_sides(node, sub, at, level) : as_leaf;
            node = child(node, at.z > 0);
        }
        return as_leaf;
    }

    // Where a node's test parts the rows.  Position 0: all go right; sub.rows: all go left.
    struct Place {
        std::uint32_t f = 0;
        Position z = 0;
        bool mirrored = false;  // the rows left of z are those that the test sends right
        SubsetId subset = no_subset;
        Split split() const { return {f, z, subset}; }
    };

    std::size_t child(std::size_t node, bool left) const {
        return static_cast<std::size_t>((left ? tree.children_left : tree.children_right)[node]);
    }

    Place place(std::size_t node, const RowSet& sub) const {
        // Of a feature's columns the first: missing values, if there are any, come last in it.
        const auto column = std::ranges::find(ranked.columns, tree.feature[node], &Column::feature);
        const auto number = static_cast<FeatureId>(column - ranked.columns.begin());
        const bool missing_left = tree.missing_left[node] != 0;
        if (ranked.categories->is_categorical(number)) return place_subset(node, sub, number);
        const std::vector<double>& lowest = column->values.lowest;
        const auto values_end = lowest.end() - (column->missing == Missing::last);
        // Values that count as equal stay together: all of them go where the lowest of them goes.
        const auto left = static_cast<Rank>(
            std::upper_bound(lowest.begin(), values_end, tree.threshold[node]) - lowest.begin());
        const std::uint32_t f = sub.number_of(number);
        if (f == sub.columns()) {  // constant on these rows: any of them shows where all go
            const double value = table.values[static_cast<std::size_t>(column->feature) * table.rows +
                                              ranked.original[sub.origin[0]]];
            const bool goes_left =
                std::isnan(value) ? missing_left : left == lowest.size() || !(value >= lowest[left]);
            return {0, goes_left ? sub.rows : 0};
        }
        const auto first_from = [&](Rank rank) { return sub.order(f).first_from(rank, 0, sub.rows); };
        const Position z = first_from(left),
                       present = first_from(static_cast<Rank>(values_end - lowest.begin()));
        if (!missing_left || present == sub.rows) return {f, z};
        if (z == present) return {f, sub.rows};
        if (z == 0) return {f, present, true};
        return {sub.number_of(number + 1), sub.rows - present + z};
    }

    // Categories of the table by the tree's bit set; a node that has none sends them all right.
    Place place_subset(std::size_t node, const RowSet& sub, FeatureId number) const {
        const Column& column = ranked.columns[number];
        const std::int64_t offset = node < tree.category_offset.size() ? tree.category_offset[node] : -1;
        SubsetWords subset = ranked.categories->none();
        for (Rank rank = 0; rank < column.values.lowest.size(); ++rank) {
            const double code = column.values.lowest[rank];
            const bool left = std::isnan(code) ? tree.missing_left[node] != 0
                                               : offset >= 0 && contains(tree.category_words.data() + offset,
                                                                    static_cast<Rank>(code));
            if (left) insert(subset.data(), rank);
        }
        const std::uint32_t f = sub.number_of(number);
        if (f < sub.columns()) {
            const Split at = sub.split_of(f, subset);
            return {f, at.z, false, at.subset};
        }
        const double value = table.values[static_cast<std::size_t>(column.feature) * table.rows +
                                          ranked.original[sub.origin[0]]];
        const auto same = [&](double code) {
            return code == value || (std::isnan(code) && std::isnan(value));
        };
        const auto rank = std::ranges::find_if(column.values.lowest, same) - column.values.lowest.begin();
        return {0, contains(subset.data(), static_cast<Rank>(rank)) ? sub.rows : 0};
    }

    Outcome join_sides(std::size_t node, const RowSet& sub, const Place& at, std::int64_t level) {
        Arena::Frame frame(arena);
        const Children children = split_rows(sub, at.split(), true, partitioner, arena);
        const Outcome left = plant(child(node, !at.mirrored), children.left, level + 1);
        const Outcome right = plant(child(node, at.mirrored), children.right, level + 1);
        return {0, left.upper + right.upper, join(step_at(sub, at.split()), left.plan, right.plan)};
    }
};
}  // namespace contree
