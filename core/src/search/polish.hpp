// Betters a given tree without changing its shape (after TAO: Carreira-Perpinan and Tavallali, 2018).
#pragma once

#include "search/bench.hpp"

namespace contree {

// One pass from the top down.  At an inner node both subtrees are kept as they are, and the split is moved to where
// they make the fewest errors together; the last two levels are exact, and with `bottom` three so is the third, as
// far as Bench::three gets.  Never worse than `plan`, which must be plain, unless a stop cuts it short.
template <class Entry>
Outcome polish_once(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Step* plan, std::int64_t bottom = 2);

// Passes until one changes nothing.
template <class Entry>
Outcome polish(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree, std::int64_t bottom = 2);


}  // namespace contree
