// An instance as the search sees it: ranks, and the subproblem of all its rows.
#pragma once

#include "data/subproblem.hpp"
#include "depth_two/kernel.hpp"
#include "instance.hpp"

namespace check {

inline contree::RankedTable ranked(const Instance& data, double tolerance = 0) {
    const contree::Control control;
    return contree::rank_columns(data.table(), tolerance, control);
}

template <class Entry>
struct Root {
    explicit Root(const Instance& data, const contree::Kernel& kernel = contree::chosen_kernel())
        : movers(*kernel.movers), table(ranked(data)), sub(all_rows_of(table)) {}

    // The caller's rows left of position z of the subproblem's feature f.
    std::vector<std::size_t> rows_left_of(std::uint32_t f, contree::Position z) const {
        std::vector<std::size_t> rows;
        for (contree::Position k = 0; k < z; ++k)
            rows.push_back(table.original[sub.origin[contree::Packed<Entry>::row(sub.order(f)[k])]]);
        return rows;
    }
    std::vector<std::size_t> rows_right_of(std::uint32_t f, contree::Position z) const {
        std::vector<std::size_t> rows;
        for (contree::Position k = z; k < sub.rows; ++k)
            rows.push_back(table.original[sub.origin[contree::Packed<Entry>::row(sub.order(f)[k])]]);
        return rows;
    }
    // All positions of feature f at which a threshold stands, found without the cuts.
    std::vector<contree::Position> thresholds(std::uint32_t f) const {
        std::vector<contree::Position> found;
        for (contree::Position z = 1; z < sub.rows; ++z)
            if (contree::Packed<Entry>::rank(sub.order(f)[z - 1]) != contree::Packed<Entry>::rank(sub.order(f)[z]))
                found.push_back(z);
        return found;
    }

    // The table keeps its orders, for comparison.
    contree::Subproblem<Entry> all_rows_of(contree::RankedTable copy) { return contree::root_subproblem<Entry>(copy, movers, arena); }

    const contree::Movers& movers;
    contree::RankedTable table;
    contree::Arena arena;
    contree::Subproblem<Entry> sub;
};

}  // namespace check
