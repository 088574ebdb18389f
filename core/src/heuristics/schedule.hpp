// Which heuristic comes when, and for how much work: all budgets stand here.
//
// Work is counted in row visits, so that a fit with one thread is the same every time.  First trees come
// before the levels that they can shorten, then slices between the search's tasks.  Heuristics look for
// little loss alone; what they find is pruned to the size asked for, and for what splits cost.
#pragma once
#include "heuristics/local_search.hpp"
#include "search/improver.hpp"
#include "search/incumbent.hpp"
#include "search/solver.hpp"

namespace contree {
class Schedule : public Improver {
public:
    // `worker` is the first thread's.
    Schedule(const RowSet& root, const Options& options, const TreeSize& size, Solver& solver,
        Incumbent& incumbent, Cache& cache, const Kernel& kernel, Worker& worker);

    Outcome greedy(Worker& worker, std::int64_t depth, const Halt& halt) override;
    Outcome to_size(const Outcome& tree) const override;
    void after_level(std::int64_t depth, std::int64_t level_work, bool endless_sets) override;
    void before_resuming() override {
        if (wanted()) prepare();
    }
    std::int64_t early_bound_budget(std::int64_t level_work) const override;
    void between_tasks(std::int64_t level_depth) override;
private:
    static constexpr std::int64_t cheap_depth = 3;  // up to it heuristics cost more than they save

    void prepare();
    void offer(const Outcome& tree);
    void offer_polished(const Outcome& tree);
    void improve(std::int64_t look_ahead_budget, std::int64_t near_budget);
    void search_near(std::int64_t budget);
    double least_proof(std::int64_t depth_two_cost) const;
    bool wanted() const { return options_.switches.heuristics != 0 && size_.depth > cheap_depth; }
    bool deep() const { return size_.depth > cheap_depth + 1; }
    // Does a tree of least loss serve as it is?
    bool loss_alone() const { return solver_.objective().costs.plain() && !size_.counts_leaves(); }

    const RowSet& root_;
    const Options& options_;
    const TreeSize size_;
    const std::int64_t depth_;  // that heuristics look at
    Solver& solver_;
    Incumbent& incumbent_;
    Cache& cache_;
    const Kernel& kernel_;
    Worker& worker_;
    std::unique_ptr<HeuristicContext> context_;  // null until the first level is done
    std::unique_ptr<LocalSearch> local_search_;
    Outcome best_;                     // of least loss, plain: the local search's
    std::int64_t depth_two_cost_ = 0;  // row visits of depth two of all rows
    std::int64_t own_visits_ = 0;      // of the heuristics
    bool beside_ = false;              // is a slice running?
};
}  // namespace contree
