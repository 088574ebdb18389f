// Rows that agree in every feature go together through every tree.  Of such a group all but its largest class are
// errors, at any depth: no tree has fewer errors than these in all.
#pragma once

#include "data/subproblem.hpp"

namespace contree {

// Where it is halted: 0, which is true as well.
template <class Entry>
Score irreducible_errors(const Subproblem<Entry>& sub, const Halt& halt = {});

extern template Score irreducible_errors(const Subproblem<NarrowEntry>&, const Halt&);
extern template Score irreducible_errors(const Subproblem<WideEntry>&, const Halt&);

}  // namespace contree
