// A bound for tables with many categories: S0 (bounds/subset.hpp) for whole trees.
//
// Rows of some categories of a feature make a part, and the parts have no row in common.  So a tree for all
// rows loses at least what the best trees of the parts lose together.  A part with few categories is solved
// soon, where all of them would take without end.  Parts of more categories bound better and take longer.
#pragma once
#include "search/solver.hpp"

namespace contree {
// What every tree of that depth costs at the least, found with about so many row visits.
Score bound_by_categories(
    Solver& solver, Worker& worker, const RowSet& root, std::int64_t depth, std::int64_t budget);
}  // namespace contree
