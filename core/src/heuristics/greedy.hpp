// CART's tree: the least that a fit returns.
#pragma once
#include "objective/objective.hpp"
#include "tree/outcome.hpp"

namespace contree {
// Every split is the purest, as in CART, but before leaves the one of least loss.  Equally pure splits, of
// which CART takes one at random, are all tried, for a limited amount of work, and the best is taken by loss
// and what splits cost.  `upper` is the loss alone.  What is not split at a halt is a leaf.
Outcome greedy_tree(const Objective& objective, const RowSet& set, std::int64_t depth,
    const Partitioner& partitioner, Arena& arena, const Halt& halt);
}  // namespace contree
