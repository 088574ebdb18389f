// The tree that a fit returns, built and verified.
//
// On many rows that takes long, so it is done for every better tree, and a stop only hands out the last; on
// few rows it is done once, at the end.
#pragma once
#include <stdexcept>
#include "depth_two/kernel.hpp"
#include "search/progress_log.hpp"
#include "tree/build.hpp"
#include "tree/locate.hpp"

namespace contree {
// What a search is asked for, and of which rows.
struct FitRequest {
    const Table& table;
    const Options& options;
    const Start& start;
};
struct Problem {
    const FitRequest& request;
    const Objective& objective;
    const RankedTable& ranked;
    const RowSet& root;
};

// A tree of a plan, not verified; empty after a halt.
inline Tree tree_of(const Problem& problem, const Outcome& outcome, Arena& arena, const Halt& halt) {
    const auto& [request, objective, ranked, root] = problem;
    const Plan plan = plain_plan(objective, root, outcome.plan, *chosen_kernel().partitioner, arena, halt);
    return plan.empty() ? Tree{} : build_tree(objective, ranked, request.table, plan, halt);
}

class ResultBuilder {
public:
    ResultBuilder(const Problem& problem, const Control& control, ProgressLog& log, Result& result)
        : problem_(problem), control_(control), log_(log), result_(result) {}

    bool at_once() const { return at_once_; }

    // Called for each better tree or bound.  Where a stop comes first the result does not follow.
    void improve(const Outcome& incumbent) {
        const bool none = result_.tree.size() == 0, better = none || incumbent.upper < best_;
        const Halt halt = none ? when_abandoned(control_) : when_stopped(control_);
        if (better && at_once_ && !build(incumbent, halt)) return;
        log_.improved(incumbent.upper, std::min(incumbent.lower, incumbent.upper));
    }
    // A tree that is `simpler` replaces one that is as good.
    void finish(const Outcome& outcome, bool simpler = false) {
        const Score leaf_cost = problem_.request.options.leaf_cost;
        const bool hurried = at_once_ && control_.stopped() && !problem_.request.start.resumable;
        const bool better = outcome.upper < best_ || (simpler && outcome.upper == best_);
        if (result_.tree.size() == 0 || (better && !hurried))
            if (!build(outcome, hurried ? when_abandoned(control_) : Halt{})) best_ = outcome.upper;
        const Score lower = std::min(outcome.lower, best_);
        result_.objective = best_ + leaf_cost;
        result_.lower_bound = lower + leaf_cost;
        log_.improved(best_, lower, true);
    }
    void add_size(const Outcome& outcome) {
        SizedTree size;
        Score objective = 0;
        make(outcome, static_cast<Leaves>(result_.sizes.size() + 1), {}, size.tree, size.loss, objective);
        size.lower_bound = std::min(outcome.lower, size.loss);
        result_.sizes.push_back(std::move(size));
    }
private:
    bool build(const Outcome& outcome, const Halt& halt) {
        const Leaves leaves = leaves_of(problem_.request.options);
        return make(outcome, leaves, halt, result_.tree, result_.loss, best_);
    }
    // Builds and verifies a tree; after a halt nothing is there.
    bool make(const Outcome& outcome, Leaves leaves, const Halt& halt, Tree& made, Score& loss,
        Score& objective_made) {
        if (halt()) return false;
        Tree tree = tree_of(problem_, outcome, arena_, halt);
        if (tree.size() == 0 || halt()) return false;
        const auto& [request, objective, ranked, root] = problem_;
        const Score recounted = verify(objective, tree, request.table, ranked.min_leaf, halt);
        if (halt()) return false;
        const auto splits = static_cast<std::int64_t>(tree.size() / 2);
        const Score least = outcome.upper - splits * objective.costs.of(objective.stump_excess(), 0);
        const Score score = objective.costs.of(recounted, splits);
        if (score > outcome.upper || score < (root.categorical > 0 ? least : outcome.upper))
            throw std::logic_error("contree: the tree's objective is not what the search found");
        if (splits >= leaves) throw std::logic_error("contree: a tree with too many leaves");
        objective_made = score;
        loss = recounted;
        made = std::move(tree);
        return true;
    }

    const Problem problem_;
    const Control& control_;
    ProgressLog& log_;
    Result& result_;
    const bool at_once_ = problem_.root.cells() >= 2'000'000;  // a tree for fewer takes some milliseconds
    Score best_ = 0;                                           // of result_.tree
    Arena arena_;
};
}  // namespace contree
