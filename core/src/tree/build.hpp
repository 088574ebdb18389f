// From a plan to the tree that is returned, and the last check of it.
#pragma once
#include "objective/objective.hpp"
#include "tree/outcome.hpp"

namespace contree {
// Sends the rows down a plain plan, chooses thresholds, and takes out splits that do not make the objective
// smaller.  Throws std::logic_error if the plan is not for these rows.  After a halt the tree is not whole.
Tree build_tree(const Objective& objective, const RankedTable& ranked, const Table& table, const Plan& plan,
    const Halt& halt = {});

// What the leaves of a tree lose and its splits cost, by its counts.
Score score_of(const Objective& objective, const Tree& tree);

// The tree's loss, recounted on the caller's raw values.  Throws std::logic_error where the counts of a node
// are not those of the tree, or a leaf is too small.  After a halt the number means nothing.
Score verify(const Objective& objective, const Tree& tree, const Table& table, const LeafSize& leaf = {},
    const Halt& halt = {});
}  // namespace contree
