// What one thread needs to search, and why a search ends.
#pragma once
#include <atomic>
#include "depth_two/depth_two.hpp"
#include "depth_two/kernel.hpp"
#include "statistics.hpp"

namespace contree {
// The caller stops it, a thread has failed, or the incumbent is good enough.
struct StopFlags {
    explicit StopFlags(const Control& by_caller) : control(by_caller) {}
    bool ended() const { return control.stopped() || failed.load(std::memory_order_relaxed); }
    bool stopping() const { return ended() || finished.load(std::memory_order_relaxed); }

    const Control& control;
    std::atomic<bool> finished{false};  // the incumbent is proved, or within the gap
    std::atomic<bool> failed{false};    // some thread threw, or has no memory left
};

// Memory, a depth-two search, counters, and how much work the thread may do.
struct Worker {
    Worker(const Objective& objective, const Kernel& kernel, const Switches& switches, const Control& control)
        : depth_two(objective, kernel, switches, control) {}

    Arena arena;
    DepthTwo depth_two;
    Statistics statistics;

    // Work in row visits, the same on every machine.  On few rows most of it goes into making row sets, so a
    // split counts as its cells and `cells_of_a_split` more.
    static constexpr std::int64_t cells_of_a_split = 4096;
    static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
    std::int64_t work_end = endless;  // after which nodes are left unproved
    std::int64_t cells_moved = 0;
    std::int64_t work() const { return statistics.row_visits + cells_moved; }
    bool over() const { return work() >= work_end; }
    void count_split(const RowSet& set) {
        cells_moved += static_cast<std::int64_t>(set.cells()) + cells_of_a_split;
    }
};
}  // namespace contree
