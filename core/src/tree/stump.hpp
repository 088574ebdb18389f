// The best tree of depth one, plainly: every threshold of every feature that leaves rows enough for a leaf.
#pragma once

#include "data/subproblem.hpp"

namespace contree {

struct Stump {
    Score errors;
    std::uint32_t f;   // the subproblem's number of the feature
    Position z;        // 0: a leaf is as good
    Score relaxed;     // the least errors of a stump with leaves of any size
};

template <class Entry>
Stump best_stump(const Subproblem<Entry>& sub, const Halt& halt = {});

extern template Stump best_stump(const Subproblem<NarrowEntry>&, const Halt&);
extern template Stump best_stump(const Subproblem<WideEntry>&, const Halt&);

}  // namespace contree
