// The paper's own search (search="paper"): one feature after the other, depth first, Algorithm 1.
//
// Kept for ablations, and as a second, independent proof.  Costs and limits of leaves, which the paper lacks,
// enter as in the other search: scores are objectives, and Branch looks at each leaf budget apart.
// docs/paper-map.md says where it differs from the print and why.
#pragma once
#include <functional>
#include "bounds/leaf_budget.hpp"
#include "objective/objective.hpp"
#include "paper/pruning.hpp"
#include "search/cache.hpp"
#include "statistics.hpp"
#include "tree/outcome.hpp"

namespace contree {
class PaperSearch {
public:
    using Improved = std::function<void(const Outcome& incumbent)>;

    // `first` is a tree that is there already, if it has a plan.
    PaperSearch(const Objective& objective, const RowSet& root, const Options& options,
        const Control& control, Improved improved, Outcome first);
    Outcome run();
    Statistics statistics() const;
private:
    // One `solve` and its incumbent: Branch calls of all its features improve on it.
    struct Subproblem {
        const RowSet& set;
        TreeSize size;
        Score gap_here, gap_below;  // how far from the optimum pruning may end here, and each side
        Score ub;                   // the bound that was handed down, or the best score
        Outcome best;

        Score to_beat() const { return ub - gap_here; }
    };
    // A threshold's scores, or bounds where a side was cut off, and whether a side reached no loss at all.
    struct Sides {
        paper::Evaluated theta;
        bool left_is_zero, right_is_zero;
    };

    Outcome solve(const RowSet& set, const TreeSize& size, Score ub, Score gap);
    void branch(Subproblem& sub, std::uint32_t f, const LeafBudget& budget);
    Sides split(Subproblem& sub, std::uint32_t f, Position z, const LeafBudget& budget, Score eta);
    Sides split_small(Subproblem& sub, std::uint32_t f, Position z, const LeafBudget& budget);
    void improve(Subproblem& sub, Score score, Plan plan);

    const Objective& objective_;
    const RowSet& root_;
    const Options& options_;
    const Control& control_;
    const Improved improved_;
    const Outcome first_;
    Cache cache_;
    Arena arena_;
    Statistics statistics_;
};
}  // namespace contree
