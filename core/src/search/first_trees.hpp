// Good trees at once, before anything is proved.
#pragma once

#include "bounds/shape.hpp"
#include "search/bench.hpp"

namespace contree {

inline constexpr std::int64_t deepest_first_tree = 64;   // bounds the recursion; no tree that a person reads comes near

// May CART's or a given tree split below so many levels?  A chain of splits that part off a few rows each takes as much memory at
// every level as all rows do: a tree that has become deep ends where that is too much.
inline bool room_below(std::int64_t level, const Arena& arena) {
    constexpr std::size_t much = std::size_t{1} << 30;
    return level < deepest_first_tree || (level < deepest_tree && arena.bytes() < much);
}

// CART's tree, and at the last level better: every split is the one of least Gini impurity, but before a leaf the one of
// fewest errors, which no other split there can beat.  Of splits that are equally pure CART takes one at random: here all that
// part the rows in another way are tried and the best is taken, by errors and what splits cost (`upper` is errors alone), for a limited amount of work, which does nearly always, because such
// splits are common among few rows only.  It is the least that a fit does, so no time limit stops it: `halt` is for whoever will not wait
// for that, and leaves what is not split by then as leaves.
template <class Entry>
Outcome greedy_tree(const Subproblem<Entry>& sub, std::int64_t depth, const Objective& objective, const Movers& movers, Arena& arena, const Halt& halt);

// Every split above the last two levels is the root of a tree of depth two for its rows that is the best or nearly so,
// and such trees are the last two levels.  Far better than greedy, for less than `depth` solves of depth two.
template <class Entry>
Outcome rollout_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth);

}  // namespace contree
