// What each class weighs in each category of a feature, and the best ways to send categories left.
//
// A stump that says a on its left and b on its right is right most often if every category goes to the side
// whose label it has more of.  So the best stump of all is right max over {a, b} of sum over c of
// max(n_ca, n_cb) times, for any number of classes.
#pragma once
#include <cmath>
#include <vector>
#include "objective/objective.hpp"

namespace contree {
class ClassTable {
public:
    ClassTable(std::uint32_t classes, std::size_t categories)
        : classes_(classes), mass_(categories * classes, 0), rows_(categories, 0) {}

    std::size_t categories() const { return rows_.size(); }
    void add(std::size_t category, std::uint32_t c, Score weight, Row rows = 1) {
        mass_[category * classes_ + c] += weight;
        rows_[category] += rows;
    }
    Score mass(std::size_t category, std::uint32_t c) const { return mass_[category * classes_ + c]; }
    Score mass(std::size_t category) const;
    Row rows(std::size_t category) const { return rows_[category]; }

    // By category: does it go left?
    using Sides = std::vector<std::uint8_t>;
    struct Best {
        Score right;  // how much the stump gets right
        Sides left;   // empty: none is better than what there was
    };
    // What no stump is right more often than.
    Score most_right() const;
    // The best stump with leaves large enough that is right more than `least`.
    Best best(const LeafSize& leaf, Score least) const;

    // The purest prefix, by Gini, of the categories ordered by the share of a class; for each class in turn.
    struct Purest {
        double purity;
        Sides left;
    };
    Purest purest(const LeafSize& leaf) const;
private:
    Score pair_right(std::uint32_t a, std::uint32_t b) const;
    void take_pair(std::uint32_t a, std::uint32_t b, const LeafSize& leaf, Best& best) const;
    void take_allowed(std::uint32_t a, std::uint32_t b, const LeafSize& leaf, Best& best) const;

    const std::uint32_t classes_;
    std::vector<Score> mass_;  // category after category
    std::vector<Row> rows_;
};
}  // namespace contree
