// The heuristics' workbench: what every way of making a good tree needs, for all rows of one fit.
//
// Plans made here are plain: no stump is left open, and a leaf's `rank` is its class, so that rows can be sent down
// a plan without looking at the training rows again.  A stop may leave features out of what `split` returns; so
// whoever splits looks at `stopped` before it looks for a split of a given plan.
#pragma once

#include <functional>
#include <vector>

#include "bounds/outcome.hpp"
#include "depth_two/depth_two.hpp"
#include "search/cache.hpp"
#include "tree/locate.hpp"

namespace contree {

template <class Entry>
class Bench {
public:
    Bench(const Subproblem<Entry>& root, DepthTwo<Entry>& depth_two, const Kernel& kernel, Cache& cache, Arena& arena,
          Statistics& statistics, const Control& control);

    // The best tree of depth two, its stumps left open.  After a stop any tree of depth two.
    Outcome two(const Subproblem<Entry>& sub);
    // The same where it has fewer errors than `target`; else no tree.
    Outcome two_below(const Subproblem<Entry>& sub, Score target);
    // A tree of depth two that is nearly as good, for about half the work.
    Outcome rough_two(const Subproblem<Entry>& sub);
    // The best tree of depth two, plain.
    Outcome plain_two(const Subproblem<Entry>& sub);
    // A tree for `sub` with its stumps filled in and its leaves' classes noted.
    Outcome plain(const Subproblem<Entry>& sub, const Plan& plan);
    // The best tree of a depth above two that a limited search finds, plain: no worse than `tree`.
    Outcome exact(const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree);
    // The better of `tree` and what `make` returns, which is asked once for the same rows.
    Outcome once(const Subproblem<Entry>& sub, const Outcome& tree, const std::function<Outcome()>& make);
    Outcome leaf(const Subproblem<Entry>& sub) const;

    Children<Entry> split(const Subproblem<Entry>& sub, const Split& at);
    Step step_at(const Subproblem<Entry>& sub, const Split& at) const;

    // The class of a row, and what a plain plan says of it.
    std::uint32_t class_of(Row origin) const { return class_of_[origin]; }

    // A plain plan made ready to send rows down.
    struct Guide {
        struct Hop {
            std::int32_t column;   // -1 in a leaf
            Rank rank;             // of a leaf: its class
            std::uint32_t right;   // the left child is the next hop
        };
        std::vector<Hop> hops;
    };
    Guide guide(const Step* begin) const;
    std::uint32_t told(const Guide& guide, Row origin) const {
        const RowRank* const ranks = ranks_ + std::size_t{origin} * columns_;
        std::uint32_t at = 0;
        while (guide.hops[at].column >= 0)
            at = ranks[guide.hops[at].column] <= guide.hops[at].rank ? at + 1 : guide.hops[at].right;
        return guide.hops[at].rank;
    }
    bool goes_left(const Step& split, Row origin) const {
        return ranks_[std::size_t{origin} * columns_ + static_cast<std::size_t>(column_of_[static_cast<std::size_t>(split.feature)])] <= split.rank;
    }
    // Rows in turn, up to a stop.
    template <class Action>
    void for_rows(const Subproblem<Entry>& sub, const Action& action) const {
        in_stretches(sub.rows, halt(), [&](Row begin, Row end) {
            for (Row r = begin; r < end; ++r) action(r);
        });
    }
    // After a stop it means nothing.
    Score errors(const Subproblem<Entry>& sub, const Plan& plan) const;

    // So few that what is dear elsewhere is not: larger subtrees than of depth three can be searched too.
    bool few_cells() const { return class_of_.size() * columns_ <= 50'000; }
    // Work done so far, in row visits: the same on every machine, so that budgets of it are.
    std::int64_t work() const { return statistics_.row_visits; }
    void count_pass(const Subproblem<Entry>& sub) { statistics_.row_visits += std::int64_t{sub.rows} * sub.features; }
    bool stopped() const { return control_.stopped(); }
    Halt halt() const { return when_stopped(control_); }

    // How `exact` searches: for a tree with fewer errors than `target`, for at most so much work, which is its rows'
    // share of `exact_budget`.  Without it, not at all.
    using Exact = std::function<Outcome(const Subproblem<Entry>& sub, std::int64_t depth, Score target, std::int64_t budget)>;
    Exact solve_exact;

    std::int64_t exact_budget = 0;
    bool along_features = false;   // are trees of depth three bettered along the features (line_search.hpp) instead?

    // Who hears at once of better trees for all rows, while a heuristic goes on; may be nobody.
    std::function<void(const Outcome& tree)> tell;
    void found(const Subproblem<Entry>& sub, const Outcome& tree) {
        if (!tell || sub.rows < class_of_.size()) return;
        const Outcome made = plain(sub, tree.plan);
        if (!stopped()) tell(made);
    }

    Arena& arena;
    Batches<Entry> batches;
    Statistics& statistics() { return statistics_; }

private:
    using RowRank = std::conditional_t<sizeof(Entry) == 4, std::uint16_t, Rank>;

    DepthTwo<Entry>& depth_two_;
    const Movers& movers_;
    Cache& cache_;
    Statistics& statistics_;
    const Control& control_;
    std::size_t columns_;
    Arena table_;
    RowRank* const ranks_;                   // row after row
    std::vector<std::uint32_t> class_of_;    // by row
    std::vector<std::int32_t> column_of_;    // by the table's number of a feature
};

extern template class Bench<NarrowEntry>;
extern template class Bench<WideEntry>;

}  // namespace contree
