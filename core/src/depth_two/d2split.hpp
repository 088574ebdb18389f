// D2Split (Algorithm 2): the best stumps on both sides of one split, in O(rows * features).
#pragma once

#include <vector>

#include "data/subproblem.hpp"

namespace contree {

struct SplitErrors {
    Score left, right;                   // of the best stumps with leaves large enough
    Score relaxed_left, relaxed_right;   // with leaves of any size
    Score leaf_left, leaf_right;         // of a leaf on each side
};

// `class_of` gives the class of each of the subproblem's rows.  Two places differ from the printed algorithm:
// a leaf errs total - max times (min over the counts is that for two classes only), and equal values of f2
// are passed over together, because no threshold lies between them.
template <class Entry>
SplitErrors d2split(const Subproblem<Entry>& sub, const std::vector<std::uint32_t>& class_of,
                    std::uint32_t f1, Position z);

extern template SplitErrors d2split(const Subproblem<NarrowEntry>&, const std::vector<std::uint32_t>&,
                                    std::uint32_t, Position);
extern template SplitErrors d2split(const Subproblem<WideEntry>&, const std::vector<std::uint32_t>&,
                                    std::uint32_t, Position);

}  // namespace contree
