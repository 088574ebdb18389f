// Fills in the stumps that a plan leaves open.
#pragma once

#include "data/subproblem.hpp"
#include "tree/plan.hpp"

namespace contree {

// The same tree with every stump as a split of its own.  Empty after a halt.
template <class Entry>
Plan plain_plan(const Subproblem<Entry>& root, const Plan& plan, const Movers& movers, Arena& arena, const Halt& halt);

extern template Plan plain_plan(const Subproblem<NarrowEntry>&, const Plan&, const Movers&, Arena&, const Halt&);
extern template Plan plain_plan(const Subproblem<WideEntry>&, const Plan&, const Movers&, Arena&, const Halt&);

}  // namespace contree
