// An instance as the search sees it: ranks, the objective, and the set of all its rows.
#pragma once

#include "data/row_set.hpp"
#include "depth_two/kernel.hpp"
#include "instance.hpp"
#include "objective/misclassification.hpp"

namespace check {

inline contree::RankedTable ranked(const Instance& data, double tolerance = 0) {
    const contree::Control control;
    return contree::rank_columns(
        data.table(), contree::Misclassification::groups(data.table()), tolerance, control);
}

struct Root {
    explicit Root(const Instance& data, contree::Width width = contree::Width::wide,
        const contree::Kernel& kernel = contree::chosen_kernel(), const contree::Costs& costs = {})
        : partitioner(*kernel.partitioner), table(ranked(data)), objective(data.table(), table, costs),
          set(all_rows_of(table, width)) {}

    // The caller's rows left of position z of the set's feature f.
    std::vector<std::size_t> rows_left_of(std::uint32_t f, contree::Position z) const {
        return rows_between(f, 0, z);
    }
    std::vector<std::size_t> rows_right_of(std::uint32_t f, contree::Position z) const {
        return rows_between(f, z, set.rows);
    }
    std::vector<std::size_t> rows_between(
        std::uint32_t f, contree::Position begin, contree::Position end) const {
        std::vector<std::size_t> rows;
        for (contree::Position k = begin; k < end; ++k)
            rows.push_back(table.original[set.origin[set.order(f).row(k)]]);
        return rows;
    }
    // All positions of feature f at which a threshold stands, found without the cuts.
    std::vector<contree::Position> thresholds(std::uint32_t f) const {
        std::vector<contree::Position> found;
        for (contree::Position z = 1; z < set.rows; ++z)
            if (set.order(f).rank(z - 1) != set.order(f).rank(z)) found.push_back(z);
        return found;
    }

    // The table keeps its orders, for comparison.
    contree::RowSet all_rows_of(contree::RankedTable copy, contree::Width width) {
        return contree::all_rows(copy, width, partitioner, arena);
    }

    const contree::Partitioner& partitioner;
    contree::RankedTable table;
    contree::Arena arena;
    contree::Misclassification objective;
    contree::RowSet set;
};

}  // namespace check
