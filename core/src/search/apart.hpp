// B7. Row sets that lie apart: a bound for deep trees within a second.
//
// Let A and B be sets of rows of S, and f a feature in whose order no row of A stands behind one of B; a
// value may be shared where the two meet.  Then every tree of depth k whose root splits S by f costs at least
// the less of theta_{k-1}(A) and theta_{k-1}(B).  Proof: a threshold below A's greatest value is below all
// values of B, so B goes right as a whole; any other leaves A whole on the left.  A subtree of depth k - 1
// has it, and rows that join never lower a score.  A leaf costs no less either.
//
// So if each feature with a threshold in S has two such sets, of theta_{k-1} >= t each, then theta_k(S) >= t.
// Each set is proved in the same way, down to depth three, which is solved.  Two sets may answer many
// features at once, and a set that is proved serves wherever its rows are.  Leaves may have any size here,
// and be as many as the depth allows: that only lowers the bound.
#pragma once
#include "search/solver.hpp"

namespace contree {
class Apart {
public:
    // `tree` is one for all rows of the root, a good one: rows on which it errs are hard to tell apart.  Sets
    // are solved from `exact_depth` down; from two on would be slower, as a solve knows of sums of both
    // sides.
    Apart(Solver& solver, Worker& worker, const RowSet& root, const Plan& tree, std::int64_t exact_depth = 3);

    // Is every tree of that depth proved to cost at least `target`?  A no means nothing.
    bool prove(std::int64_t depth, Score target);
private:
    // The least and the greatest rank of some rows in each column, or ranks beyond them.
    struct Box {
        std::vector<Rank> first, last;
    };
    // A threshold of the table, and one side of it.
    struct Cut {
        FeatureId column;
        Rank rank;
        bool low;
    };
    struct Family;
    struct Halves;

    bool prove(const RowSet& set, const Box& box, std::int64_t depth);
    void answer_with_others(Family& family, std::uint32_t f);
    void answer_alone(Family& family, std::uint32_t f);
    bool prove_part(Family& family, const std::vector<Cut>& cuts);
    bool over() const { return worker_.over() || solver_.flags().stopping(); }

    Solver& solver_;
    Worker& worker_;
    RowSet root_;
    const std::int64_t exact_depth_;
    std::vector<double> hardness_;  // by row of the table
    Score target_ = 0;
    std::vector<Cut> within_;               // the sides whose rows are the present set
    std::vector<std::vector<Box>> proved_;  // by depth: sets that cost at least the target
    std::vector<double> too_easy_;          // by depth: a set of several cuts that is no harder is not tried
};
}  // namespace contree
