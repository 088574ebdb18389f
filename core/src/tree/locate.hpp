// Where a step of a plan splits a subproblem.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "data/subproblem.hpp"
#include "tree/plan.hpp"
#include "tree/stump.hpp"

namespace contree {

struct Split {
    std::uint32_t f;   // the subproblem's number of the feature
    Position z;        // 0: no split
};

// Where a step that splits does so, be it allowed or not; nowhere if its column is not among the subproblem's.
template <class Entry>
Split place_of(const Subproblem<Entry>& sub, const Step& step) {
    std::uint32_t f = 0;
    while (f < sub.features && sub.feature[f] != static_cast<FeatureId>(step.feature)) ++f;
    if (f == sub.features) return {0, 0};
    const Entry* const order = sub.order(f);
    const auto left = [&](Entry entry) { return Packed<Entry>::rank(entry) <= step.rank; };
    return {f, static_cast<Position>(std::partition_point(order, order + sub.rows, left) - order)};
}

// A stump's split is looked for; a leaf has none.  Throws where the plan was not made for these rows.
template <class Entry>
Split locate(const Subproblem<Entry>& sub, const Step& step, const Halt& halt = {}) {
    if (step.feature == Step::leaf) return {0, 0};
    if (step.feature == Step::stump) {
        const Stump stump = best_stump(sub, halt);
        return {stump.f, stump.z};
    }
    const Split at = place_of(sub, step);
    if (at.z == 0 || at.z == sub.rows || !sub.allows(at.f, at.z))
        throw std::logic_error("contree: a plan splits off too few rows");
    return at;
}

}  // namespace contree
