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

// A stump's split is looked for; a leaf has none.  Throws where the plan was not made for these rows.
template <class Entry>
Split locate(const Subproblem<Entry>& sub, const Step& step, const Halt& halt = {}) {
    if (step.feature == Step::leaf) return {0, 0};
    if (step.feature == Step::stump) {
        const Stump stump = best_stump(sub, halt);
        return {stump.f, stump.z};
    }
    std::uint32_t f = 0;
    while (f < sub.features && sub.feature[f] != static_cast<FeatureId>(step.feature)) ++f;
    if (f == sub.features) throw std::logic_error("contree: a plan splits a constant feature");
    const Entry* const order = sub.order(f);
    const auto z = static_cast<Position>(
        std::partition_point(order, order + sub.rows,
                             [&](Entry entry) { return Packed<Entry>::rank(entry) <= step.rank; }) - order);
    if (z == 0 || z == sub.rows || !sub.allows(z)) throw std::logic_error("contree: a plan splits off too few rows");
    return {f, z};
}

}  // namespace contree
