// Errors: a leaf says one class, and loses what the rows of all others weigh.  Rows are grouped by class.  A
// prediction is the caller's number of a class.  B0 holds: a tree errs on each row at most once.
#pragma once
#include "objective/objective.hpp"

namespace contree {
class Misclassification final : public Objective {
public:
    static RowGroups groups(const Table& table) {
        return {table.labels, static_cast<std::uint32_t>(table.classes)};
    }

    // `ranked` is the table, ranked with these groups.
    Misclassification(const Table& table, const RankedTable& ranked, const Costs& costs);

    Score leaf_loss(const RowSet& set) const override;
    Score leaf_loss(const RowSet& set, std::span<const Row> rows) const override;
    Rank prediction(const RowSet& set) const override;
    Rank prediction(const RowSet& set, std::span<const Row> rows) const override;
    Score row_loss(Row origin, Rank prediction) const override;
    Stump best_stump(const RowSet& set, const Halt& halt) const override;
    void purities(const RowSet& set, std::uint32_t f, const Halt& halt,
        std::vector<double>& by_position) const override;
    BestSubset best_subset(const RowSet& set, std::uint32_t f, Score limit) const override;
    PurestSubset purest_subset(const RowSet& set, std::uint32_t f) const override;
    // Of a node: how many rows each class has, then what they weigh.
    std::size_t counts() const override { return 2 * classes_; }
    void count(std::span<const Row> raw_rows, Score* counts) const override;
    Score loss_of_counts(const Score* counts) const override;

    // In depth_two/.
    SplitLosses stumps_of_split(const RowSet& set, std::uint32_t f, Position z) const override;
    SplitLosses stumps_of_subsets(const RowSet& set, std::uint32_t f, const std::uint64_t* left,
        const std::uint64_t* right) const override;
    bool bounds_runs(const RowSet& set) const override;
    std::unique_ptr<Batches> make_batches(const Kernel& kernel, const Halt& halt) const override;
private:
    // By row: left, right or neither.
    static constexpr std::uint8_t neither = 2;
    SplitLosses stumps_of_sides(const RowSet& set, const std::vector<std::uint8_t>& side_of) const;

    const Table table_;
    const std::size_t classes_;
    std::vector<Rank> class_of_;    // by row of the ranked table
    std::vector<Score> weight_of_;  // the same; empty where all weigh one
};
}  // namespace contree
