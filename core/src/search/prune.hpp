// A given tree cut back: of all trees that have the same splits above and leaves where it goes on, the best for the
// objective, for each number of leaves.  So what is pruned out of CART's tree is no worse than what scikit-learn makes
// of it with the same cost or the same number of leaves: that is one of these trees.
#pragma once

#include "bounds/outcome.hpp"
#include "data/subproblem.hpp"

namespace contree {

class Prunings {
public:
    // `plan` has no open stump; more than `most` leaves will not be asked for.
    template <class Entry>
    Prunings(const Subproblem<Entry>& root, const Plan& plan, const Objective& objective, Leaves most);

    // With at most so many leaves, at least one; of equal ones the smallest.
    Outcome best(Leaves leaves) const;

private:
    struct Node {
        Score leaf = 0;              // as a leaf
        std::size_t right = 0;       // the left child is the next node; 0: a leaf
        std::vector<Score> scores;   // by leaves - 1: at most so many
    };
    void fill(std::size_t node, const Objective& objective, Leaves most);
    void write(std::size_t node, Leaves leaves, Plan& to) const;
    std::pair<Leaves, Leaves> shares(std::size_t node, Leaves leaves) const;

    const Plan plan_;
    Score split_;
    std::vector<Node> nodes_;   // like the plan's steps
};

template <class Entry>
Outcome pruned(const Subproblem<Entry>& root, const Plan& plan, const Objective& objective, Leaves most) {
    return Prunings(root, plan, objective, most).best(most);
}

extern template Prunings::Prunings(const Subproblem<NarrowEntry>&, const Plan&, const Objective&, Leaves);
extern template Prunings::Prunings(const Subproblem<WideEntry>&, const Plan&, const Objective&, Leaves);

}  // namespace contree
