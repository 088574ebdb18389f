// A bound for many rows that is there before the search has one: what the best tree for a sample loses.
//
// theta never falls when rows join (bounds/segment.hpp).  So what the best tree loses on some of the rows is
// a bound for all of them.  The sample has no leaf size, because a leaf of the whole tree may have few rows
// of it; and leaves cost nothing there, so that no such tree is left out.  Samples grow while they are cheap.
#pragma once
#include "types.hpp"

namespace contree {
// Of the score of any tree of the depth and the leaves allowed.  Zero for deep trees, whose samples take
// long.
Score sample_bound(const Table& table, const Options& options, const Control& control);
}  // namespace contree
