// Squared error: a leaf says the mean of its rows' targets, and loses their squared distances from it.
//
// The floor keeps what the search rests on.  Let E be the squared error of the best leaf, S inside T, and A
// and B disjoint.
// - Monotony: E(S) <= E(T), as the mean of T loses on S no more than on T, and the mean of S no more than
//   that.  Floors keep the order.
// - A split never loses more than a leaf: E(A) + E(B) <= E(A + B), so floor(E(A)) + floor(E(B)), an integer
//   that is not above it, is at most floor(E(A + B)).
// B0 does not hold: a row far away takes more than its mass with it.
//
// Bounds.  Targets obey |y| W < 2^53 for W over all rows.  So all sums of w and w y are exact in a double,
// Q < 2^106 / W, and W Q and S^2 are below 2^106.  The loss of all rows is below 2^60; by monotony that of a
// part is too, so 2^shift (W Q - S^2) < 2^60 W + W < 2^114 fits 128 bits.
//
// A prediction is one of 2^32 places between the least and the greatest target.
#pragma once
#include <algorithm>
#include "objective/moments.hpp"
#include "objective/objective.hpp"
#include "objective/target_table.hpp"

namespace contree {
class SquaredError final : public Objective {
public:
    static RowGroups groups() { return {nullptr, 1}; }
    // The loss of a leaf for all rows, which weigh `mass`.  Throws std::invalid_argument where a number is
    // out of range.
    static Score most_loss(const Table& table, int shift, Score mass);

    // `ranked` is the table, ranked with these groups.
    SquaredError(const Table& table, const RankedTable& ranked, const Costs& costs, int shift);

    Score leaf_loss(const RowSet& set) const override { return loss_of(moments(set)); }
    Score leaf_loss(const RowSet& set, std::span<const Row> rows) const override;
    Rank prediction(const RowSet& set) const override { return prediction_of(moments(set)); }
    Rank prediction(const RowSet& set, std::span<const Row> rows) const override {
        return prediction_of(moments(set, rows));
    }
    Score row_loss(Row origin, Rank prediction) const override;
    double typical_loss(const RowSet& all) const override {
        return std::max(1.0, static_cast<double>(leaf_loss(all)) / all.rows);
    }
    Stump best_stump(const RowSet& set, const Halt& halt) const override;
    SplitLosses stumps_of_split(const RowSet& set, std::uint32_t f, Position z) const override;
    void purities(const RowSet& set, std::uint32_t f, const Halt& halt,
        std::vector<double>& by_position) const override;
    BestSubset best_subset(const RowSet& set, std::uint32_t f, Score limit) const override;
    PurestSubset purest_subset(const RowSet& set, std::uint32_t f) const override;
    SplitLosses stumps_of_subsets(const RowSet& set, std::uint32_t f, const std::uint64_t* left,
        const std::uint64_t* right) const override;
    Score stump_excess() const override { return 1; }
    std::unique_ptr<Batches> make_batches(
        const Kernel& kernel, const Halt& halt) const override;  // depth_two/
    // Of a node: its rows, and W, S and Q; Q in units of 2^62, and what is left.
    std::size_t counts() const override { return 5; }
    void count(std::span<const Row> raw_rows, Score* counts) const override;
    Score loss_of_counts(const Score* counts) const override;

    const SquaredLoss& loss() const { return loss_; }
    Score loss_of(const Moments& moments) const { return loss_.of_leaf(moments); }
    Moments moments(const RowSet& set) const;
    Moments moments(const RowSet& set, std::span<const Row> rows) const;
    std::int64_t target(const RowSet& set, Row r) const { return target_of_[set.origin[r]]; }
    double unit() const { return unit_; }  // 2^shift
private:
    static constexpr std::uint8_t neither = 2;  // by row: left, right or neither
    struct Side;
    Rank prediction_of(const Moments& all) const;
    void search_stumps(const RowSet& set, const std::vector<std::uint8_t>& side_of, std::span<Side> sides,
        const Halt& halt) const;
    SplitLosses stumps_of_sides(const RowSet& set, const std::vector<std::uint8_t>& side_of) const;
    // target_subsets.cpp; by side
    std::vector<TargetTable> targets_by_category(const RowSet& set, std::uint32_t f,
        const std::vector<std::uint8_t>& side_of, std::size_t sides) const;

    const Table table_;
    const SquaredLoss loss_;
    const double unit_;
    std::vector<std::int64_t> target_of_;  // by row of the ranked table
    std::vector<Score> weight_of_;         // the same; empty where all weigh one
    double lowest_ = 0, step_ = 0;         // what a prediction of 0 says, and how far the next one lies
    double row_unit_ = 0;                  // of `row_loss`, whose sums over all rows are below 2^60
};
}  // namespace contree
