// From a plan to the tree that is returned, and the last check of it.
#pragma once

#include "data/subproblem.hpp"
#include "tree/plan.hpp"

namespace contree {

// Follows the plan down the rows, fills in its stumps and thresholds, and takes out splits that save no error.
template <class Entry>
Tree build_tree(const RankedTable& table, const Subproblem<Entry>& root, const Plan& plan, Arena& arena);

// The tree's errors, recounted on the caller's raw values.  Throws std::logic_error where the class counts of
// a node are not those of the tree, or a leaf has too few rows.
Score verify(const Tree& tree, const Table& table, std::int64_t min_samples_leaf = 1);

extern template Tree build_tree(const RankedTable&, const Subproblem<NarrowEntry>&, const Plan&, Arena&);
extern template Tree build_tree(const RankedTable&, const Subproblem<WideEntry>&, const Plan&, Arena&);

}  // namespace contree
