// A found tree made simpler where that costs nothing: fewer leaves, then purer leaves, then wider margins.
//
// The search stops at the first tree that it proves to be best, which may have a leaf that gains nothing.
// Each subtree of height two is solved again with fewer leaves; one of four leaves is not where a feature has
// many categories.  Then every split may move to another threshold at which its two subtrees lose as little.
#pragma once
#include "depth_two/kernel.hpp"
#include "objective/objective.hpp"
#include "statistics.hpp"
#include "tree/outcome.hpp"

namespace contree {
struct Simplification {
    const Objective& objective;
    const RankedTable& ranked;
    const RowSet& root;
    const Kernel& kernel;
    const Options& options;
    const Control& control;    // a stop leaves the rest of the tree as it is
    std::uint64_t most_cells;  // larger row sets are not solved again
    Arena& arena;
    Statistics& statistics;
};

// No worse and no larger than `found`, which has a tree; what is proved stays.
Outcome simplified(const Simplification& task, const Outcome& found);
}  // namespace contree
