// A frontier in more pieces, for many searches at once.
#pragma once

#include "contree/contree.hpp"
#include "data/subproblem.hpp"

namespace contree {

// Halves the interval with the most thresholds, until there are at least `parts` or none has two.  No threshold is lost, none
// is in two intervals, and no bound is worse.  Throws std::invalid_argument for an interval that is none of these rows.
template <class Entry>
Frontier split_frontier(const Subproblem<Entry>& root, const Options& options, const Frontier& frontier, std::size_t parts);

}  // namespace contree
