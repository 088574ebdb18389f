// How a fit has gone so far: the search writes it in any thread, the supervising thread reads it.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>
#include "types.hpp"

namespace contree {
// How much of the root is done.  The search counts only when somebody has asked since it last did.
struct RootShare {
    std::atomic<bool> wanted{false};
    std::atomic<double> closed{0};  // share of the root's thresholds that can no longer be in a better tree
};

class ProgressLog {
public:
    using Clock = std::chrono::steady_clock;

    // `constant` is what the objective has besides what the search counts.
    ProgressLog(Clock::time_point start, Score constant) : start_(start), constant_(constant) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // A tree that is there before the search has found any.
    void begin(Score objective) {
        std::lock_guard lock(mutex_);
        objective_ = objective + constant_;
    }
    // The history gets every better tree, better bounds as often as anyone can follow, and the end.
    void improved(Score objective, Score lower_bound, bool end = false) {
        constexpr double pause = 0.05;
        std::lock_guard lock(mutex_);
        const bool better = objective + constant_ < objective_ || history_.empty();
        objective_ = std::min(objective_, objective + constant_);
        lower_bound_ = std::max(lower_bound_, lower_bound + constant_);
        if (better || end || history_.back().seconds + pause <= seconds())
            history_.push_back({seconds(), objective_, lower_bound_});
    }

    Progress look() {
        root_share.wanted.store(true, std::memory_order_relaxed);
        std::lock_guard lock(mutex_);
        return {seconds(), objective_, lower_bound_, root_share.closed.load(std::memory_order_relaxed)};
    }

    // When all threads have ended.  The last tree may lose less than the search counted (result_builder.hpp).
    std::vector<Moment> history() && {
        for (Moment& moment : history_) moment.lower_bound = std::min(moment.lower_bound, objective_);
        return std::move(history_);
    }

    RootShare root_share;
private:
    const Clock::time_point start_;
    const Score constant_;
    std::mutex mutex_;
    Score objective_ = no_objective;
    Score lower_bound_ = 0;
    std::vector<Moment> history_;
};
}  // namespace contree
