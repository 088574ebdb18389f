// What a subproblem returns.  A bound is never a score: `upper` is reached by `plan`, `lower` is proved, and
// only where they meet is the subproblem solved.
#pragma once

#include "tree/plan.hpp"

namespace contree {

struct Outcome {
    Score lower = 0;           // no allowed tree has a smaller objective
    Score upper = unreached;   // the objective of `plan`
    Plan plan;                 // empty where no tree below the target was found

    bool proved() const { return lower >= upper; }
};

}  // namespace contree
