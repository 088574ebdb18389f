// What a tree costs.  The search knows rows and splits; an objective knows what a leaf says and loses.
//
// A loss is an integer, adds up over leaves, and never falls when rows join: the search rests on that (B1).
// ARCHITECTURE.md says how to add one.
#pragma once
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>
#include "data/row_set.hpp"

namespace contree {
class Batches;
struct Kernel;

// The best tree of depth one.
struct Stump {
    Score loss;
    std::uint32_t f;  // the row set's number of the feature
    Position z;       // 0: a leaf is as good
    Score relaxed;    // the least loss of a stump with leaves of any size
    SubsetId subset = no_subset;
    Split split() const { return {f, z, subset}; }
};

// The two sides of one split.
struct SplitLosses {
    Score left, right;                  // of the best stumps with leaves large enough
    Score relaxed_left, relaxed_right;  // with leaves of any size
    Score leaf_left, leaf_right;        // of a leaf
};

// The best and the purest way to send categories of a feature left; empty: a leaf is as good.
struct BestSubset {
    Score loss;
    SubsetWords left;
    Score relaxed;  // the least loss with leaves of any size
};
struct PurestSubset {
    double purity;  // as `purities` has it
    SubsetWords left;
};

class Objective {
public:
    explicit Objective(const Costs& what_is_minimised, bool rows_count_once)
        : costs(what_is_minimised), similar(rows_count_once) {}
    virtual ~Objective() = default;
    Objective(const Objective&) = delete;
    Objective& operator=(const Objective&) = delete;

    const Costs costs;
    const bool similar;  // theta(S') >= theta(S) - (mass of S \ S') for any row sets (B0)

    // Of the best leaf for a set of rows, for some rows of one, and a code for what that leaf says.
    virtual Score leaf_loss(const RowSet& set) const = 0;
    virtual Score leaf_loss(const RowSet& set, std::span<const Row> rows) const = 0;
    virtual Rank prediction(const RowSet& set) const = 0;
    virtual Rank prediction(const RowSet& set, std::span<const Row> rows) const = 0;
    // What one row, by its number in the ranked table, loses in a leaf that says so; in any unit.
    virtual Score row_loss(Row origin, Rank prediction) const = 0;
    Score leaf_score(const RowSet& set) const { return costs.loss * leaf_loss(set); }

    // What a row loses that a tree does not get right, about.
    virtual double typical_loss(const RowSet& all) const { return static_cast<double>(all.mass) / all.rows; }

    virtual Stump best_stump(const RowSet& set, const Halt& halt = {}) const = 0;
    // The two leaves of a split, and the best stumps on its two sides (D2Split, Algorithm 2).
    SplitLosses leaves_of_split(const RowSet& set, std::uint32_t f, Position z) const {
        std::vector<Row> rows(set.rows);
        for (Row k = 0; k < set.rows; ++k) rows[k] = set.order(f).row(k);
        const Score left = leaf_loss(set, {rows.data(), z}), right = leaf_loss(set, {&rows[z], set.rows - z});
        return {left, right, left, right, left, right};
    }
    virtual SplitLosses stumps_of_split(const RowSet& set, std::uint32_t f, Position z) const = 0;
    // How pure CART calls a split at each position of a feature, larger is purer; 0 if it is not allowed.
    virtual void purities(
        const RowSet& set, std::uint32_t f, const Halt& halt, std::vector<double>& by_position) const = 0;
    // Categories (search/subsets.cpp).  The best stump of a categorical feature with less loss than `limit`;
    // and CART's choice, the purest prefix of an order of the categories.
    // An objective may begin without: then it takes no categorical features.
    virtual BestSubset best_subset(const RowSet&, std::uint32_t, Score) const { return no_categories(); }
    virtual PurestSubset purest_subset(const RowSet&, std::uint32_t) const { return no_categories(); }
    // The leaves and best stumps of rows whose ranks are in `left` and in `right`; others are left out.
    virtual SplitLosses stumps_of_subsets(const RowSet&, std::uint32_t, const std::uint64_t* /* left */,
        const std::uint64_t* /* right */) const {
        return no_categories();
    }
    // By how much the loss of a stump of categories may be above that of its two leaves.
    virtual Score stump_excess() const { return 0; }
    // With a leaf size: can its batch bound all thresholds of a run by one evaluation (bounds/segment.hpp)?
    virtual bool bounds_runs(const RowSet&) const { return false; }
    // How up to 32 splits at once are evaluated at depth two.
    virtual std::unique_ptr<Batches> make_batches(const Kernel& kernel, const Halt& halt) const = 0;

    // On the caller's own rows: the `counts` numbers of a node, and a leaf's loss by these.
    virtual std::size_t counts() const = 0;
    virtual void count(std::span<const Row> raw_rows, Score* counts) const = 0;
    virtual Score loss_of_counts(const Score* counts) const = 0;
protected:
    struct NoCategories {                        // in place of any result
        template <class T> operator T() const {  // NOLINT(google-explicit-constructor)
            throw std::logic_error("contree: this objective takes no categorical features");
        }
    };
    static NoCategories no_categories() { return {}; }
    // The best stump of numbers, or a better one of categories.
    Stump with_categories(const RowSet& set, Stump best, const Halt& halt) const {
        for (std::uint32_t f = set.features; f < set.columns() && best.loss > 0 && !halt(); ++f) {
            const BestSubset found = best_subset(set, f, best.loss);
            best.relaxed = std::min(best.relaxed, found.relaxed);
            if (found.left.empty()) continue;
            const Split at = set.split_of(f, found.left);
            best = {found.loss, at.f, at.z, best.relaxed, at.subset};
        }
        return best;
    }
};

// What a leaf below a categorical split must have.  Where a larger set counts for sizes, its rows of other
// categories may go to any side, so any size will do: that can only make a proved bound smaller.
inline LeafSize subset_leaf_size(const RowSet& set) {
    return set.leaf_size_rows == nullptr ? set.leaf : LeafSize{};
}

// The purest threshold of a feature, as CART measures it.
inline constexpr double but_for_rounding = 1 - 1e-12;  // purities that differ by less are equal

struct Purest {
    double purity;  // larger is purer
    Position z;     // 0: no threshold leaves rows enough for a leaf
};

inline Purest purest_threshold(
    const Objective& objective, const RowSet& set, std::uint32_t f, const Halt& halt = {}) {
    std::vector<double> purities;
    objective.purities(set, f, halt, purities);
    const auto best = std::max_element(purities.begin(), purities.end());  // the first is 0
    return {*best, static_cast<Position>(best - purities.begin())};
}
}  // namespace contree
