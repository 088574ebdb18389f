// Which categories go left: a lattice of sets, and its bound.
//
// A split of a categorical feature sends a set of categories left and the others right.  A node of the
// lattice has decided the first categories: A go left, B right, U are open.  The categories are decided in
// the order of their ranks, so A and a number tell a node, and its two children decide one category more.
// As exchanging the sides exchanges the budgets of leaves, and these come in both orders, the first category
// goes left.
//
// S0.  theta(S + T) >= theta(S) + theta(T) for sets without a row in common, of one depth and number of
// leaves: the best tree for S + T, used on S and on T, loses on both together what it loses on S + T.
// So no split below a node has an objective below
//     theta(A) + theta(B) + sum over c in U of loss cost * theta(c) + the split's cost.
// Each undecided category joins one side, and S0 holds there for any order of them.  Costs of splits are
// counted once, in theta(A) and theta(B); of c only the loss counts.  Leaf sizes: a row more may make a split
// allowed, so S0 is used for leaves of any size, which lose no more; only whole sets (U empty) are solved for
// the leaf size.
#pragma once
#include <algorithm>
#include <vector>
#include "bounds/leaf_budget.hpp"
#include "data/row_set.hpp"

namespace contree {
// The categories of a feature in a row set.
inline std::vector<Rank> ranks_of(const RowSet& set, std::uint32_t f) {
    std::vector<Rank> ranks;
    set.for_categories(f, [&](Rank rank, Position, Position) { ranks.push_back(rank); });
    return ranks;
}

// How many categories all features have.
inline std::int64_t categories_of(const RowSet& set) {
    std::int64_t count = 0;
    for (std::uint32_t f = set.features; f < set.columns(); ++f) count += set.cuts(f).count + 1;
    return count;
}

inline std::size_t most_categories(const RowSet& set) {
    std::size_t most = 0;
    for (std::uint32_t f = set.features; f < set.columns(); ++f)
        most = std::max(most, set.cuts(f).count + std::size_t{1});
    return most;
}

// Row visits for sets of categories where a good tree is enough: some looks at each cell for every category.
inline std::int64_t visits_for_sets(const RowSet& set) {
    constexpr std::int64_t passes_by_category = 8;
    return passes_by_category * categories_of(set) * static_cast<std::int64_t>(set.cells());
}

struct Lattice {
    explicit Lattice(std::vector<Rank> of_set) : ranks(std::move(of_set)) {}

    std::vector<Rank> ranks;  // in the order in which they are decided
    std::vector<Score> rest;  // by how many are decided: what the others lose at the least, each alone

    void sum_up(const std::vector<Score>& alone) {
        rest.assign(ranks.size() + 1, 0);
        for (std::size_t i = ranks.size(); i-- > 0;) rest[i] = rest[i + 1] + alone[i];
    }
    // Those of the first `decided` that are not on the left.
    SubsetWords right_of(const SubsetWords& left, std::size_t decided) const {
        SubsetWords right(left.size(), 0);
        for (std::size_t i = 0; i < decided; ++i)
            if (!contains(left.data(), ranks[i])) insert(right.data(), ranks[i]);
        return right;
    }
    bool on_left(const SubsetWords& left, std::size_t i) const { return contains(left.data(), ranks[i]); }
    // Do all categories go left?
    bool is_all(const SubsetWords& left) const {
        return std::ranges::all_of(ranks, [&](Rank rank) { return contains(left.data(), rank); });
    }
};

// The split with its sides exchanged where that brings the first category to the left.
inline SubsetId first_on_left(const RowSet& set, const Split& at) {
    const Lattice lattice(ranks_of(set, at.f));
    const SubsetWords left = set.categories->subset(at.subset);
    if (lattice.on_left(left, 0)) return at.subset;
    return set.categories->id_of(lattice.right_of(left, lattice.ranks.size()));
}
}  // namespace contree
