// A given tree cut back: of all trees with the same splits above and leaves where it goes on, the best for
// the objective, for each number of leaves.  scikit-learn's pruned CART is one of these trees.
#pragma once
#include "objective/objective.hpp"
#include "tree/outcome.hpp"

namespace contree {
class Prunings {
public:
    // `plan` has no open stump; more than `most` leaves will not be asked for.
    Prunings(const Objective& objective, const RowSet& root, const Plan& plan, Leaves most);

    // With at most so many leaves, at least one; of equal ones the smallest.
    Outcome best(Leaves leaves) const;
private:
    struct Node {
        Score leaf = 0;             // as a leaf
        std::size_t right = 0;      // the left child is the next node; 0: a leaf
        std::vector<Score> scores;  // by leaves - 1: at most so many
    };
    void fill(std::size_t node, Leaves most);
    void write(std::size_t node, Leaves leaves, Plan& to) const;

    const Plan plan_;
    Score split_;
    std::vector<Node> nodes_;  // like the plan's steps
};

inline Outcome pruned(const Objective& objective, const RowSet& root, const Plan& plan, Leaves most) {
    return Prunings(objective, root, plan, most).best(most);
}
}  // namespace contree
