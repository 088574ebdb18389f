// contree: provably optimal classification trees on continuous features.
//
//     contree::Table table{values, rows, features, labels, classes};
//     contree::Options options;
//     options.max_depth = 3;
//     contree::Control control;                  // control.stop() from any thread ends the search
//     contree::Result result = contree::fit(table, options, control);
//     // result.tree, result.errors, result.lower_bound, result.status
//
// `fit` never prints, keeps no state between calls and may run in several threads at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contree/options.hpp"

namespace contree {

// Numbers of errors, or sums of the weights of wrong rows: always integers.
using Score = std::int64_t;

// The caller's rows: values, column after column, and labels 0..classes-1.  NaN is a missing value; infinity is none.
struct Table {
    const double* values;         // values[f * rows + r]
    std::size_t rows;             // at least one
    std::size_t features;         // zero gives a leaf
    const std::int32_t* labels;   // one for each row
    std::int32_t classes;         // at least one
    const Score* weights = nullptr;   // one for each row, at least 1 each, below 2^60 in all; null: all 1
};

// A decision tree as flat arrays in preorder: the root first, then its left and its right subtree.
// A row goes left where its value is <= threshold, or where it is missing and `missing_left` says so.
struct Tree {
    std::vector<std::int64_t> children_left;    // -1 in a leaf
    std::vector<std::int64_t> children_right;   // -1 in a leaf
    std::vector<std::int64_t> feature;          // -2 in a leaf
    std::vector<double> threshold;              // -2 in a leaf; infinity parts the missing values from the others
    std::vector<std::uint8_t> missing_left;     // 0 in a leaf
    std::vector<double> gap_below, gap_above;   // the values of all rows around the threshold; -2 in a leaf
    std::vector<std::int64_t> missing_count;    // rows of the node whose value is missing; 0 in a leaf
    std::vector<std::int64_t> class_counts;     // nodes x classes: training rows of each class
    std::vector<Score> class_weights;           // nodes x classes: what they weigh

    std::size_t size() const { return feature.size(); }
};

enum class Status { optimal, gap_reached, time_limit, stopped, interrupted, memory_limit };
std::string_view name(Status status);

// One moment of the search: the best tree's score and the proved bound from then on.
struct Moment {
    double seconds;
    Score objective;
    Score lower_bound;
};

// The best tree of at most so many leaves.
struct SizedTree {
    Tree tree;
    Score errors = 0;
    Score lower_bound = 0;   // proved: no allowed tree of at most so many leaves has fewer errors
};

struct Result {
    Tree tree;
    Score errors = 0;        // what the rows weigh that `tree` gets wrong, recounted from the raw values
    Score objective = 0;     // what was minimised: error_cost * errors + leaf_cost * leaves
    Score lower_bound = 0;   // proved: no allowed tree has a smaller objective
    Status status = Status::optimal;
    double seconds = 0;
    std::vector<std::pair<std::string, std::int64_t>> counters;
    std::vector<Moment> history;
    std::vector<SizedTree> sizes;   // with all_sizes: by leaves, from one up to those of `tree`, as far as more gain something
};

// Lets another thread end a search; every loop of the search looks at `stopped`.
class Control {
public:
    // The best tree so far, please: at the least the greedy one.
    void stop() { stop_.store(true, std::memory_order_relaxed); }
    // Nobody wants the result any more.
    void abandon() {
        abandon_.store(true, std::memory_order_relaxed);
        stop();
    }
    bool stopped() const { return stop_.load(std::memory_order_relaxed); }
    bool abandoned() const { return abandon_.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> stop_{false}, abandon_{false};
};

// A look at a running search.
struct Progress {
    double seconds;       // since the call of fit
    Score objective;      // of the best tree so far; before there is any, `no_objective`
    Score lower_bound;    // proved so far
    double root_closed;   // share of the root's thresholds that can no longer be in a better tree, 0 to 1
};
inline constexpr Score no_objective = std::numeric_limits<Score>::max();

// What the caller wants of a running search.
enum class Verdict {
    go_on,
    stop,        // enough: the best tree so far, with status `stopped`
    interrupt,   // the same, with status `interrupted`
    abandon,     // nobody wants the result any more
};
using Poll = std::function<Verdict(const Progress&)>;

// Finds a tree of least objective.  Blocks; `poll`, if given, is called in the calling thread about every
// 20 ms while worker threads search, and once when they have ended by themselves or by the time limit.
// A tree that the caller has, `first`, is the first incumbent: the result is no worse than its tests
// are for these rows, cut at the depth and pruned to the leaves allowed.  Its children follow their parents; its class counts are not read.
// Throws std::invalid_argument for weights or costs out of range, std::bad_alloc when memory runs out and std::logic_error
// if the tree does not verify.
Result fit(const Table& table, const Options& options, Control& control, const Poll& poll = {},
           const Tree* first = nullptr);

// The depth-two kernels that this machine can run, fastest first, and the one in use:
// the first, or the one that the environment variable CONTREE_KERNEL names.
std::vector<std::string> kernels();
std::string kernel();

}  // namespace contree
