// The best tree for all rows and the proved bound: what a search has to show at any moment.
//
// Both only get better.  Its listener hears of each improvement, in any thread, one call at a time.
#pragma once
#include <functional>
#include <mutex>
#include "search/worker.hpp"
#include "tree/outcome.hpp"

namespace contree {
// The caller's objectives have the cost of one leaf more than scores, which count splits.
inline Score without_leaf(Score objective, Score leaf_cost) {
    return objective >= unreached ? unreached : std::max<Score>(0, objective - leaf_cost);
}
inline Score with_leaf(Score score, Score leaf_cost) {
    return score >= unreached ? no_objective : score + leaf_cost;
}

class Incumbent {
public:
    using Listener = std::function<void(const Outcome& incumbent)>;

    Incumbent(const Options& options, StopFlags& flags, Listener listener)
        : gap_(options.max_gap), leaf_cost_(options.leaf_cost), flags_(flags),
          listener_(std::move(listener)) {}

    void offer_tree(const Outcome& tree) {
        std::lock_guard lock(mutex_);
        if (tree.plan.empty() || tree.upper >= best_.upper) return;
        best_.plan = tree.plan;  // which may find no memory
        best_.upper = tree.upper;
        notify();
    }
    // Takes a bound that holds for the depth asked for.
    void raise_bound(Score lower) {
        std::lock_guard lock(mutex_);
        if (lower <= best_.lower) return;
        best_.lower = lower;
        notify();
    }
    void settle() {  // at the end: what is proved is no more than what is reached
        std::lock_guard lock(mutex_);
        best_.lower = std::min(best_.lower, best_.upper);
    }

    Outcome best() const {
        std::lock_guard lock(mutex_);
        return best_;
    }
    Score open_gap() const {
        const Outcome now = best();
        return now.upper - now.lower;
    }
    // Nothing at or above this matters: it is reached elsewhere.
    Score cutoff() const { return without_leaf(flags_.control.cutoff(), leaf_cost_); }
    bool finished() const { return flags_.finished.load(std::memory_order_relaxed); }
private:
    void notify() {
        if (std::min(best_.upper, cutoff()) - gap_ <= best_.lower)
            flags_.finished.store(true, std::memory_order_relaxed);
        if (best_.upper != unreached) listener_(best_);
    }

    const Score gap_, leaf_cost_;
    StopFlags& flags_;
    const Listener listener_;
    mutable std::mutex mutex_;
    Outcome best_;
};
}  // namespace contree
