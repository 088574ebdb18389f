// A tree that the caller has, as a first incumbent.
#pragma once

#include "bounds/outcome.hpp"
#include "data/subproblem.hpp"

namespace contree {

// The tests of `tree` on the rows of `root`: thresholds become ranks, tests that part no rows are left out, what is
// deeper than `depth` or would leave too few rows becomes a leaf, and leaves take the majority of the rows that reach them.  `root` has all of the
// table's features that have a threshold.
template <class Entry>
Outcome given_tree(const Tree& tree, const Table& table, const RankedTable& ranked, const Subproblem<Entry>& root,
                   std::int64_t depth, const Movers& movers, Arena& arena);

}  // namespace contree
