// How much of the root is done: written by the search, read by the thread that supervises it.
#pragma once

#include <atomic>

namespace contree {

// The search counts only when somebody has asked since it last did, so that nobody's curiosity costs nothing.
struct RootShare {
    std::atomic<bool> wanted{false};
    std::atomic<double> closed{0};   // share of the root's thresholds that can no longer be in a better tree
};

}  // namespace contree
