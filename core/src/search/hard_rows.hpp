// Rows that every tree finds hard: pairs of different classes that lie close together in all features.
//
// theta_d(S) >= theta_d(S') for S' inside S (B0 with nothing taken away: on S' the best tree for S errs no more often
// than on S).  So a part of the rows proves a bound for all of them, at its own, smaller price.  A random part proves little,
// because a small one is easily told apart; these pairs are what costs a tree most errors for each row that it has.
#pragma once

#include "search/bench.hpp"

namespace contree {

// Up to `pairs` disjoint pairs of a row that `plan`, a plain plan for all rows of `root`, gets wrong and a row of another
// class that it gets right; the closest first, by the sum over the features of the rows between them.  By row: is it in a
// pair?  Many rows are thinned first.
template <class Entry>
std::vector<std::uint8_t> hard_rows(Bench<Entry>& bench, const Subproblem<Entry>& root, const Plan& plan, std::size_t pairs);

}  // namespace contree
