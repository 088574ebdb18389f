// The best trees of every number of leaves, over one solver.
//
// One to three leaves come first, as they cost next to nothing, then the search without a limit.  From its
// tree downwards each size has the bounds of the next larger one, which hold for fewer leaves
// (leaf_budget.hpp): a budget (l_L, l_R) takes the left bounds from (l_L, l_R + 1), the right ones from (l_L
// + 1, l_R).  Every tree found is pruned to a first tree of each smaller size; one with fewer leaves than
// asked for settles all sizes between.
#pragma once
#include "search/levels.hpp"
#include "tree/locate.hpp"
#include "tree/prune.hpp"

namespace contree {
class SizePath {
public:
    SizePath(const RowSet& root, const Options& options, Solver& solver, StopFlags& flags)
        : root_(root), options_(options), solver_(solver), flags_(flags) {}

    // Before the search without a limit: sizes that take no time.
    void search_few(Worker& worker) {
        constexpr Leaves few = 3;
        const TreeSize whole(options_.max_depth, leaves_of(options_), root_.rows);
        for (Leaves leaves = 1; leaves <= std::min(few, whole.leaves) && !flags_.ended(); ++leaves) {
            sizes_.resize(leaves);
            settle(worker, leaves);
        }
    }
    // After it, from its tree and its last level: all other sizes.
    void search_rest(Worker& worker, const Outcome& largest, const Levels::Level& last, Improver& improver) {
        last_ = &last;
        known_ = last.profile;
        flags_.finished = false;  // that was the largest size
        spread(worker, largest);
        const auto count = static_cast<Leaves>(sizes_.size());
        sizes_.back().lower = std::max(sizes_.back().lower, largest.lower);
        const auto hand_down = [&](Leaves leaves) {
            sizes_[leaves - 1].lower = std::max(sizes_[leaves - 1].lower, sizes_[leaves].lower);
        };
        // Downwards is cheaper; whoever has no time for all of it wants the small ones first.
        if (limited_time()) {
            for (Leaves leaves = count; leaves-- > 1;) hand_down(leaves);
            for (Leaves leaves = 1; leaves < count; ++leaves) settle(worker, leaves);
        }
        for (Leaves leaves = count; leaves-- > 1;) {
            hand_down(leaves);
            settle(worker, leaves);
        }
        const Control& control = flags_.control;
        const bool stopped = control.stopped() && !control.abandoned();
        if (stopped) spread(worker, improver.greedy(worker, when_hurried(control)));
        while (sizes_.size() > 1 && sizes_.back().upper == sizes_[sizes_.size() - 2].upper) sizes_.pop_back();
    }

    // By leaves, less one: the best trees, and what is proved of them.
    const std::vector<Outcome>& sizes() const { return sizes_; }
private:
    // Searches one size that is open, from what is known of it, and tells the others.
    void settle(Worker& worker, Leaves leaves) {
        const Outcome first = sizes_[leaves - 1];
        if (first.lower + options_.max_gap >= first.upper || flags_.ended()) return;
        SolveRequest request{root_, TreeSize(options_.max_depth, leaves, root_.rows), first.lower};
        request.gap = options_.max_gap;
        request.incumbent = &first;
        Profile next;
        Outcome ends;
        if (!known_.empty()) request.sources = {&known_, &known_};
        if (last_ != nullptr && last_->shallow.lower > 0) {  // of one level less, without a limit of leaves
            ends.lower = last_->shallow.lower;
            request.shallow = &ends;
            if (!last_->shallow_profile.empty()) request.shallow_learnt = &last_->shallow_profile;
        }
        if (solver_.remembers(root_, request.size.depth)) request.learnt = &next;
        const Outcome outcome = solver_.solve(worker, request);
        // Upwards, what the search without a limit learnt stays the best that is known.
        if (!next.empty() && !limited_time()) known_ = std::move(next);
        const Outcome& best = outcome.upper < first.upper && !outcome.plan.empty() ? outcome : first;
        sizes_[leaves - 1].lower = std::min(std::max(first.lower, outcome.lower), best.upper);
        spread(worker, best);
    }
    // A tree serves its own size and, pruned, every smaller one.
    void spread(Worker& worker, const Outcome& tree) {
        if (tree.plan.empty()) return;
        const Objective& objective = solver_.objective();
        const Plan plan = plain_plan(objective, root_, tree.plan, solver_.partitioner(), worker.arena, {});
        const Prunings prunings(objective, root_, plan, any_leaves);
        const Leaves own = std::min(leaves_of(prunings.best(any_leaves).plan), leaves_of(options_));
        while (sizes_.size() < own) {
            sizes_.push_back(sizes_.empty() ? Outcome{} : sizes_.back());  // a tree of fewer leaves
            sizes_.back().lower = 0;
        }
        for (Leaves leaves = 1; leaves <= sizes_.size(); ++leaves) {
            Outcome& size = sizes_[leaves - 1];
            Outcome pruning = prunings.best(leaves);
            if (pruning.upper < size.upper) size = {size.lower, pruning.upper, std::move(pruning.plan)};
        }
    }
    bool limited_time() const { return options_.time_limit < std::numeric_limits<double>::infinity(); }

    const RowSet& root_;
    const Options& options_;
    Solver& solver_;
    StopFlags& flags_;
    std::vector<Outcome> sizes_;
    const Levels::Level* last_ = nullptr;
    Profile known_;  // what the last size learnt
};
}  // namespace contree
