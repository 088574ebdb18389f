// The first split of a small subtree, searched for along the features.
#pragma once

#include "search/bench.hpp"

namespace contree {

// A plain tree of depth three, bettered: the promising splits are tried as its first one, each with the best trees of depth two on
// both sides, and then places beside the best of them, in steps that get smaller.  A search for a proof spends as much on bounds before
// it comes to good splits; with far less work than the proof takes this finds more.
template <class Entry>
Outcome better_three(Bench<Entry>& bench, const Subproblem<Entry>& sub, const Outcome& tree);

}  // namespace contree
