// What every way of making a good tree needs, for all rows of one fit.
//
// A plan is plain if no stump is open and every leaf's `rank` is what it says: then rows can be sent down it.
// A tree's `upper` is its loss.  A stop may leave features out of a split's sides: look at `stopped` before
// you locate a given plan's split.
#pragma once
#include <functional>
#include "depth_two/depth_two.hpp"
#include "depth_two/kernel.hpp"
#include "search/cache.hpp"
#include "tree/locate.hpp"

namespace contree {
// The one way into the search: the best tree of a depth below `target` that so much work finds.
using SolveWithin =
    std::function<Outcome(const RowSet& set, std::int64_t depth, Score target, std::int64_t budget)>;

// A split and the loss of the tree that has it.
struct Scored {
    Score loss;
    Split at;
    bool operator<(const Scored& other) const { return loss < other.loss; }
};
std::vector<Split> best_first(std::vector<Scored> scored, std::size_t most = SIZE_MAX);

class HeuristicContext {
public:
    // Without `solve_within`, only trees of depth two are exact.
    HeuristicContext(const Objective& objective, const RowSet& root, const Kernel& kernel,
        const Switches& switches, Cache& cache, Arena& arena, Statistics& statistics, const Control& control,
        SolveWithin solve_within = {});

    const Objective& objective;

    // The best tree of depth two, plain, and one that is nearly as good, its stumps left open, for about half
    // the work.  After a stop any tree of depth two.
    Outcome plain_two(const RowSet& set);
    Outcome rough_two(const RowSet& set);
    // The plan's tree for `set`, made plain.
    Outcome plain(const RowSet& set, const Plan& plan);
    // The best tree of a depth above two that a limited search finds, plain: no worse than `tree`.
    Outcome exact(const RowSet& set, std::int64_t depth, Outcome tree);
    Outcome leaf(const RowSet& set) const {
        return {0, objective.leaf_loss(set), {Step{Step::leaf, objective.prediction(set)}}};
    }

    Children split(const RowSet& set, const Split& at) {
        return split_rows(set, at, true, partitioner_, arena, halt());
    }
    // The tree that splits there, with side_tree(rows, right?) on each side; none at `limit` or above.
    template <class SideTree>
    Outcome tree_at(const RowSet& set, const Split& at, const SideTree& side_tree, Score limit = unreached) {
        Arena::Frame frame(arena);
        const Children children = split(set, at);
        const Outcome left = side_tree(children.left, false);
        if (left.upper >= limit) return {};
        const Outcome right = side_tree(children.right, true);
        if (left.upper + right.upper >= limit) return {};
        return {0, left.upper + right.upper, join(step_at(set, at), left.plan, right.plan)};
    }

    // A plain plan made ready to send rows down.
    struct Hop {
        std::int32_t column;          // -1 in a leaf
        Rank rank;                    // of a leaf: what it says
        const std::uint64_t* subset;  // the ranks that go left, of a categorical column
        std::uint32_t right;          // the left child is the next hop
    };
    using Guide = std::vector<Hop>;
    Guide guide(const Step* begin) const;
    // The leaf that a row reaches, and what it loses there.  Not after a stop.
    std::size_t leaf_of(const Guide& guide, Row origin) const {
        const Rank* const ranks = ranks_ + std::size_t{origin} * columns_;
        const Hop* hop = guide.data();
        while (hop->column >= 0) {
            const Rank rank = ranks[hop->column];
            const bool left = hop->subset == nullptr ? rank <= hop->rank : contains(hop->subset, rank);
            hop = left ? hop + 1 : guide.data() + hop->right;
        }
        return static_cast<std::size_t>(hop - guide.data());
    }
    Score loss(const Guide& guide, Row origin) const {
        return objective.row_loss(origin, guide[leaf_of(guide, origin)].rank);
    }
    // Rows in turn, up to a stop.
    template <class Action> void for_rows(const RowSet& set, const Action& action) const {
        in_chunks(set.rows, halt(), [&](Row begin, Row end) {
            for (Row r = begin; r < end; ++r) action(r);
        });
    }
    // Of the best leaves for a plan's splits.
    Score loss(const RowSet& set, const Plan& plan) const {
        const Guide down = guide(plan.data());
        std::vector<std::vector<Row>> rows(down.size());
        for_rows(set, [&](Row r) { rows[leaf_of(down, set.origin[r])].push_back(r); });
        Score sum = 0;
        for (const std::vector<Row>& leaf : rows) sum += objective.leaf_loss(set, leaf);
        return sum;
    }

    // So few that larger subtrees than of depth three can be searched too.
    bool few_cells() const { return std::size_t{rows_} * columns_ <= 50'000; }
    // Work so far, in row visits: the same on every machine.
    std::int64_t work() const { return statistics.row_visits; }
    void count_pass(const RowSet& set) { statistics.row_visits += static_cast<std::int64_t>(set.cells()); }
    bool stopped() const { return control_.stopped(); }
    Halt halt() const { return when_stopped(control_); }

    std::int64_t exact_budget = 0;  // of `exact`, for all rows; fewer rows get their share

    // Hears at once of better trees for all rows, while a heuristic goes on, if set.
    std::function<void(const Outcome& tree)> listener;
    void found(const RowSet& set, const Outcome& tree);

    Arena& arena;
    Statistics& statistics;
    const std::unique_ptr<Batches> batches;
private:
    template <class Make> Outcome kept(const RowSet& set, std::int64_t name, const Make& make);
    Outcome two(const RowSet& set, std::int64_t name, Score slack);

    DepthTwo depth_two_;
    const Partitioner& partitioner_;
    Cache& cache_;
    const Control& control_;
    const SolveWithin solve_within_;
    const Row rows_;
    const std::size_t columns_;
    Arena table_;
    Rank* const ranks_;  // row after row
    const Categories& categories_;
    std::vector<std::int32_t> column_of_;  // by the table's number of a feature
};
}  // namespace contree
