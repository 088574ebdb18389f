// The open part of a search as a value: out of a node, into one, checked, and cut into more pieces.
//
// A segment holds all that its search needs: what is proved at its two ends.  Profiles only save time and
// stay behind (side_profiles.hpp).  What was closed is in the floor by a bound that holds whatever comes
// later, so a search may go on with a worse tree.  Leaf sizes: an end's number need not hold for thresholds
// trimmed off before (segment.hpp). These are in the floor; for all others the number holds, and so does what
// is derived from it.
#pragma once
#include "search/node.hpp"

namespace contree {
// What is open in a node of all rows.  Segments that threads are at work on are as open as the others.
Frontier frontier_of(Node& node, Score leaf_cost);

// Fills a node's queue and floor.  Where the same rows were searched before, `profiles` has what was learnt.
void open_from(
    Node& node, const Frontier& frontier, const RootProfiles& profiles, Score leaf_cost, const Rules& rules);

// Throws std::invalid_argument for a frontier that is not of these rows and trees of at most that size.
void check_frontier(const RowSet& root, const TreeSize& size, const Frontier& frontier);

// Halves the interval with the most thresholds until there are `parts` or none has two.  No threshold is lost
// or in two intervals, and no bound is worse.  Throws std::invalid_argument for an interval of other rows.
Frontier split_frontier(const RowSet& root, const Frontier& frontier, std::size_t parts, const Rules& rules);
}  // namespace contree
