// The best trees of every number of leaves, over one solver.
//
// First come the trees that take no time: of one to three leaves, and CART's.  Then all sizes at depth two,
// and at depth three; then, for deeper trees, the search without a limit of leaves, and all sizes at the
// depth asked for.  So wherever a stop comes, a deeper path is not worse than a shallower one.  Small sizes
// come before large ones.  Every tree found is pruned to a first tree of each smaller size; one with fewer
// leaves than asked for settles all sizes between.  Bounds of a larger size hold for smaller ones
// (leaf_budget.hpp), so what the search without a limit learnt serves them all: a budget (l_L, l_R) lies
// within it.
#pragma once
#include "search/levels.hpp"
#include "tree/locate.hpp"
#include "tree/prune.hpp"

namespace contree {
class SizePath {
public:
    SizePath(
        const RowSet& root, const Options& options, Solver& solver, Incumbent& incumbent, StopFlags& flags)
        : root_(root), solver_(solver), incumbent_(incumbent), flags_(flags), gap_(options.max_gap),
          whole_(options.max_depth, leaves_of(options), root.rows) {}

    void run(Worker& worker, Levels& levels, Improver& improver) {
        search_shallow(worker, improver);
        if (whole_.depth <= deepest_shallow) return incumbent_.settle();
        levels.run(worker);
        search_rest(worker, incumbent_.best(), levels.last());
    }
    // `simpler` returns a tree that is no worse and no larger.  It serves every size that is no better.
    // After a search that has not `ended` only proved trees change: a tree that became better by chance
    // would let a longer search look worse.
    template <class Simpler> void simplify(bool ended, const Simpler& simpler) {
        for (std::size_t leaves = sizes_.size(); leaves > 0; --leaves) {
            const Outcome& size = sizes_[leaves - 1];
            if (size.plan.empty() || (!ended && size.lower < size.upper)) continue;
            const Outcome found = simpler(size);
            for (std::size_t i = leaves_of(found.plan) - 1; i < sizes_.size(); ++i)
                if (found.upper <= sizes_[i].upper) sizes_[i] = {sizes_[i].lower, found.upper, found.plan};
        }
    }
    // By leaves, less one: the best trees, and what is proved of them; as far as more leaves gain something.
    std::vector<Outcome> take_sizes() {
        while (sizes_.size() > 1 && sizes_.back().upper == sizes_[sizes_.size() - 2].upper) sizes_.pop_back();
        return std::move(sizes_);
    }
private:
    static constexpr Leaves few = 3;  // so many leaves take no time
    static constexpr std::int64_t deepest_shallow =
        3;  // up to here proofs are short beside those of the next
    static constexpr std::uint64_t many_cells = 500'000;  // of fewer a CART tree takes some milliseconds

    // Before the search without a limit.
    void search_shallow(Worker& worker, Improver& improver) {
        for (Leaves leaves = 1; leaves <= std::min(few, whole_.leaves) && !flags_.ended(); ++leaves) {
            sizes_.resize(leaves);
            settle(worker, whole_.depth, leaves);
        }
        const bool quick = root_.cells() < many_cells;
        for (std::int64_t depth = std::min<std::int64_t>(1, whole_.depth); depth <= whole_.depth; ++depth) {
            if (depth > deepest_shallow) depth = whole_.depth;
            if (depth == whole_.depth || quick || !flags_.ended())
                spread(worker, improver.greedy(worker, depth, when_hurried(flags_.control)));
        }
        for (std::int64_t depth = 2; depth <= std::min(deepest_shallow, whole_.depth); ++depth)
            search_depth(worker, depth);
        const Outcome& largest = sizes_.back();
        if (whole_.depth <= deepest_shallow) incumbent_.raise_bound(largest.lower);
        flags_.finished = largest.upper - gap_ <= largest.lower;
    }
    // After it, from its tree and its last level.
    void search_rest(Worker& worker, const Outcome& largest, const Levels::Level& last) {
        last_ = &last;
        known_ = last.profile;
        spread(worker, largest);
        sizes_.back().lower = std::max(sizes_.back().lower, largest.lower);
        for (std::size_t i = sizes_.size(); i-- > 1;)
            sizes_[i - 1].lower = std::max(sizes_[i - 1].lower, sizes_[i].lower);
        for (Leaves leaves = 1; leaves < sizes_.size(); ++leaves) settle(worker, whole_.depth, leaves);
    }
    // All sizes that a depth adds.
    void search_depth(Worker& worker, std::int64_t depth) {
        const Leaves most = std::min(most_leaves(depth), whole_.leaves);
        std::vector<Score> proved;
        for (Leaves leaves = 1; leaves <= most && !flags_.ended(); ++leaves) {
            if (sizes_.size() < leaves) sizes_.push_back(open_size());
            proved.push_back(settle(worker, depth, leaves));
        }
        below_ = std::move(proved);
        below_depth_ = depth;
    }
    // Searches one size at one depth, from what is known of it, and tells the others; what is proved at that
    // depth.
    Score settle(Worker& worker, std::int64_t depth, Leaves leaves) {
        Outcome& size = sizes_[leaves - 1];
        if (size.lower + gap_ >= size.upper || flags_.ended()) return size.lower;
        SolveRequest request{root_, TreeSize(depth, leaves, root_.rows), size.lower};
        request.gap = gap_;
        request.target = size.upper;
        if (!known_.empty()) request.sources = {&known_, &known_};
        Outcome ends;
        if (last_ != nullptr && last_->shallow.lower > 0) {  // of one level less, without a limit of leaves
            ends.lower = last_->shallow.lower;
            if (!last_->shallow_profile.empty()) request.shallow_learnt = &last_->shallow_profile;
        }
        ends.lower = std::max(ends.lower, proved_of_side(depth, leaves));
        if (ends.lower > 0) request.shallow = &ends;
        const Outcome outcome = solver_.solve(worker, request);
        const Outcome best = outcome.upper < size.upper && !outcome.plan.empty() ? outcome : size;
        const Score lower = std::min(std::max(size.lower, outcome.lower), best.upper);
        if (depth == whole_.depth || leaves <= depth + 1) size.lower = lower;
        spread(worker, best);
        return lower;
    }
    // A side of a split loses no less than this if it has all rows: it has one leaf and one level less.
    Score proved_of_side(std::int64_t depth, Leaves leaves) const {
        if (depth <= 2 || below_depth_ != depth - 1 || leaves == 1) return 0;
        const std::size_t most = std::min(leaves - 1, most_leaves(depth - 1));
        return below_.size() >= most ? below_[most - 1] : 0;
    }
    // A tree serves its own size and, pruned, every smaller one.
    void spread(Worker& worker, const Outcome& tree) {
        if (tree.plan.empty()) return;
        const Objective& objective = solver_.objective();
        const Plan plan = plain_plan(objective, root_, tree.plan, solver_.partitioner(), worker.arena, {});
        const Prunings prunings(objective, root_, plan, any_leaves);
        const Leaves own = std::min(leaves_of(prunings.best(any_leaves).plan), whole_.leaves);
        while (sizes_.size() < own) sizes_.push_back(open_size());
        for (Leaves leaves = 1; leaves <= sizes_.size(); ++leaves) {
            Outcome& size = sizes_[leaves - 1];
            Outcome pruning = prunings.best(leaves);
            if (pruning.upper < size.upper) size = {size.lower, pruning.upper, std::move(pruning.plan)};
        }
        incumbent_.offer_tree(sizes_.back());
        flags_.finished = false;  // that was the largest size
    }
    // One more than there are: so far a tree of fewer leaves.
    Outcome open_size() const {
        Outcome size = sizes_.empty() ? Outcome{} : sizes_.back();
        size.lower = 0;
        return size;
    }

    const RowSet& root_;
    Solver& solver_;
    Incumbent& incumbent_;
    StopFlags& flags_;
    const Score gap_;
    const TreeSize whole_;
    std::vector<Outcome> sizes_;
    std::vector<Score> below_;  // proved by leaves - 1, at this depth:
    std::int64_t below_depth_ = 0;
    const Levels::Level* last_ = nullptr;
    Profile known_;  // what the search without a limit learnt
};
}  // namespace contree
