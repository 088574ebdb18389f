// The paper's own search (search="paper"): one feature after the other, depth first, Algorithm 1.
//
// Kept beside the best-first search for the ablations and comparisons of the experiments, and as a second,
// independent proof.  Costs and limits of leaves, which the paper does not have, enter as in the other search: scores are
// objectives, and Branch looks at each shape of a split apart.  docs/paper-map.md says where it differs from the print and why.
#pragma once

#include <functional>

#include "bounds/outcome.hpp"
#include "bounds/pruning.hpp"
#include "bounds/shape.hpp"
#include "data/subproblem.hpp"
#include "depth_two/d2split.hpp"
#include "search/cache.hpp"
#include "search/statistics.hpp"

namespace contree {

template <class Entry>
class PaperSearch {
public:
    using Improved = std::function<void(const Outcome& incumbent)>;

    // `first` is a tree that is there already, if it has a plan.
    PaperSearch(const Subproblem<Entry>& root, Row table_rows, const Options& options, const Control& control,
                Improved improved, Outcome first);
    Outcome run();
    Statistics statistics() const;

private:
    // The incumbent of one `solve`: Branch calls of all its features improve on it.
    struct Incumbent {
        const Subproblem<Entry>* sub;
        TreeSize size;
        Score gap;          // how far from the optimum this subproblem may end
        Score gap_here;     // the part of it that pruning uses up here
        Score gap_below;    // the part that each side may use
        Score ub;           // the bound that was handed down, or the best score
        Outcome best;
        std::vector<std::uint32_t> class_of;   // by row, where depth two or one needs it

        Score to_beat() const { return ub - gap_here; }
    };

    Outcome solve(const Subproblem<Entry>& sub, const TreeSize& size, Score ub, Score gap);
    void branch(Incumbent& incumbent, std::uint32_t f, const Shape& shape);
    paper::Evaluated split(Incumbent& incumbent, std::uint32_t f, Position z, const Shape& shape, Score eta, bool& left_is_zero,
                           bool& right_is_zero);
    void improve(Incumbent& incumbent, std::uint32_t f, Position z, Score score, const Plan& left, const Plan& right);
    void report(const Incumbent& incumbent);
    Score eta(const std::vector<Score>& z, const paper::Interval& interval, paper::SplitIndex w) const;

    const Subproblem<Entry>& root_;
    const Options& options_;
    const Control& control_;
    const Improved improved_;
    const Outcome first_;
    const Objective objective_;
    Cache cache_;
    Arena arena_;
    Statistics statistics_;
};

// The features by the best Gini impurity that one threshold of each reaches, or as they stand.
template <class Entry>
std::vector<std::uint32_t> feature_order(const Subproblem<Entry>& sub, bool by_gini);

extern template class PaperSearch<NarrowEntry>;
extern template class PaperSearch<WideEntry>;

}  // namespace contree
