// Rows that agree in every feature go together through every tree.  Of such a group all but its largest class are
// errors, at any depth: no tree has fewer errors than these in all.
#pragma once

#include "data/subproblem.hpp"

namespace contree {

template <class Entry>
Score irreducible_errors(const Subproblem<Entry>& sub);

extern template Score irreducible_errors(const Subproblem<NarrowEntry>&);
extern template Score irreducible_errors(const Subproblem<WideEntry>&);

}  // namespace contree
