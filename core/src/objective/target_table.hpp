// What the targets of each category of a feature sum to, and the best ways to send categories left.
//
// Let E(A) be the squared error of the rows A.  Of all sets of categories, one that makes E(A) + E(B) least
// is a prefix of the categories in the order of their means: for the two means that A and B have, every
// category loses no more on the side whose mean is nearer to its own, and these sides are prefixes.
//
// One floor.  The least floor(2^s E(A)) + floor(2^s E(B)) may be one below what any prefix reaches.  So a
// stump of categories loses floor(2^s (E(A) + E(B))) in the search: one floor for both leaves, and that is
// least for a prefix.  What the search rests on holds for this loss as well:
// - Monotony: both E never fall when rows join, so neither does the least of their sums, nor its floor.
// - Disjoint sets add up (S0): the best stump for S + T, used for S and for T, has in all the same sum or
//   less, and the floors of two parts are at most the floor of the whole.
// - A stump loses no more than a leaf, and no less than its two leaves do.
// So all that is proved holds for it, and in the end for squared errors themselves: a tree's squared error is
// no less than what the search counts for it.  The tree that is returned is counted leaf by leaf; that is
// below what the search counted by less than one unit for each of its stumps of categories.
//
// Leaf sizes.  If some categories have their side already, the best way for all others is a prefix of these,
// by the same proof.  So categories are decided one by one in the order of means, and what is decided is
// given up where the best rest, with leaves of any size, is no better than what is known, and done where that
// rest is large enough.  Of all sets of the same rows and weight only those of the least and the greatest
// sum matter: what both sides gain, S^2 / W + (all - S)^2 / (all - W), is convex in S.
#pragma once
#include <vector>
#include "objective/moments.hpp"

namespace contree {
class TargetTable {
public:
    TargetTable(std::size_t categories, SquaredLoss loss) : loss_(loss), categories_(categories) {}

    void add(std::size_t category, const Moments& more, Row rows = 1) {
        categories_[category].all.add(more);
        categories_[category].rows += rows;
    }

    // By category: does it go left?
    using Sides = std::vector<std::uint8_t>;
    struct Best {
        Score loss;     // of the best stump with leaves large enough, if it is less than the limit
        Sides left;     // empty: none is
        Score relaxed;  // of the best stump, or a leaf, of any size
    };
    Best best(const LeafSize& leaf, Score limit);

    // The prefix that gains most.
    struct Purest {
        double gain;  // as `SquaredError::purities` has it, without the error of all rows
        Sides left;
    };
    Purest purest(const LeafSize& leaf);
private:
    struct Category {
        Moments all = {};
        Row rows = 0;
    };
    struct State;
    struct Rest;

    void sort();
    bool allows(const Category& left, const LeafSize& leaf) const {
        return left.rows >= leaf.rows && all_.rows - left.rows >= leaf.rows && left.all.weight >= leaf.mass &&
               all_.all.weight - left.all.weight >= leaf.mass;
    }
    Score loss_of(const Category& left) const { return loss_.of_stump(left.all, all_.all.without(left.all)); }
    void take_allowed(const LeafSize& leaf, Best& best) const;
    std::vector<State> with_one_more(
        const std::vector<State>& states, const std::vector<std::size_t>& open, std::size_t decided) const;
    Rest best_rest(const State& state, std::size_t decided, const LeafSize& leaf) const;

    const SquaredLoss loss_;
    std::vector<Category> categories_;
    Category all_;
    std::vector<std::size_t> order_;  // those with rows, the least mean first
    std::vector<Category> before_;    // by how many of these: their sum
};
}  // namespace contree
