// What a leaf costs: it says its largest class and errs on all others.
#pragma once

#include <algorithm>

#include "data/subproblem.hpp"

namespace contree {

template <class Entry>
Score leaf_errors(const Subproblem<Entry>& sub) {
    Score largest = 0;
    for (std::uint32_t c = 0; c < sub.classes; ++c) largest = std::max(largest, sub.class_mass(c));
    return sub.mass - largest;
}

template <class Entry>
Score leaf_score(const Subproblem<Entry>& sub, const Objective& objective) {
    return objective.error * leaf_errors(sub);
}

}  // namespace contree
