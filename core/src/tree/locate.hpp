// Where a step of a plan splits a set of rows.
#pragma once
#include <stdexcept>
#include "objective/objective.hpp"
#include "tree/outcome.hpp"

namespace contree {
inline Step step_at(const RowSet& set, const Split& at) {
    const auto column = static_cast<std::int32_t>(set.feature[at.f]);
    return {column, at.subset == no_subset ? set.rank_left_of(at.f, at.z) : at.subset};
}

// Where a step that splits does so, allowed or not; nowhere if the set lacks its column, or if missing values
// alone lie left: the feature's other order has that threshold.
inline Split place_of(const RowSet& set, const Step& step) {
    const std::uint32_t f = set.number_of(static_cast<FeatureId>(step.feature));
    if (f == set.columns()) return {0, 0};
    if (f >= set.features) return set.split_of(f, set.categories->subset(step.rank));
    const Position z = set.order(f).first_behind(step.rank, 0, set.rows);
    return {f, z == 0 || z == set.rows || set.cut_behind(f, z - 1) ? z : 0};
}

// A stump's split is looked for; a leaf has none.  Throws where the plan was not made for these rows.
inline Split locate(const Objective& objective, const RowSet& set, const Step& step, const Halt& halt = {}) {
    if (step.feature == Step::leaf) return {0, 0};
    if (step.feature == Step::stump) {
        const Stump stump = objective.best_stump(set, halt);
        return stump.split();
    }
    const Split at = place_of(set, step);
    if (at.z == 0 || at.z == set.rows || !set.allows(at))
        throw std::logic_error("contree: a plan splits off too few rows");
    return at;
}

// The same tree with every stump as a split of its own.  Empty after a halt.
inline Plan plain_plan(const Objective& objective, const RowSet& root, const Plan& plan,
    const Partitioner& partitioner, Arena& arena, const Halt& halt) {
    const auto is_stump = [](const Step& step) { return step.feature == Step::stump; };
    if (std::none_of(plan.begin(), plan.end(), is_stump)) return plan;
    Plan filled;
    const auto fill = [&](auto&& self, const RowSet& set, const Step* step) -> void {
        const Step* const end = end_of(step);
        if (halt() || std::none_of(step, end, is_stump)) {
            filled.insert(filled.end(), step, end);
            return;
        }
        const Split at = locate(objective, set, *step, halt);
        filled.push_back(at.z == 0 ? Step{Step::leaf, 0} : step_at(set, at));
        if (is_stump(*step)) {
            if (at.z > 0) filled.insert(filled.end(), 2, Step{Step::leaf, 0});
            return;
        }
        Arena::Frame frame(arena);
        const Children children = split_rows(set, at, false, partitioner, arena, halt);
        self(self, children.left, step + 1);
        self(self, children.right, end_of(step + 1));
    };
    fill(fill, root, plan.data());
    return halt() ? Plan{} : filled;
}
}  // namespace contree
