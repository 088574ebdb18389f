// contree: provably optimal decision trees on continuous features, for classes and for numbers.
//
//     contree::Table table{values, rows, features, labels, classes};
//     contree::Options options;
//     options.max_depth = 3;
//     contree::Control control;                  // control.stop() from any thread ends the search
//     contree::Result result = contree::fit(table, options, control);
//     // result.tree, result.loss, result.lower_bound, result.status
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
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "contree/options.hpp"

namespace contree {
// What the search minimises, or a part or a bound of it.  It is always an integer.
using Score = std::int64_t;

// The caller's rows: values, column after column, and labels or targets.  NaN is missing, infinity is not.
struct Table {
    const double* values;            // values[f * rows + r]
    std::size_t rows;                // at least one
    std::size_t features;            // zero gives a leaf
    const std::int32_t* labels;      // errors: one for each row, 0..classes-1
    std::int32_t classes;            // at least one
    const Score* weights = nullptr;  // one for each row, at least 1 each, below 2^60 in all; null: all 1
    const std::int64_t* targets = nullptr;  // in place of labels: |y| * (all weights) < 2^53
    // One for each feature: 0 for numbers, k where the values are categories 0..k-1; null: all are numbers.
    const std::int32_t* categories = nullptr;
};

// A decision tree as flat arrays in preorder: the root first, then its left and its right subtree.
// A row goes left where its value is <= threshold, or where it is missing and `missing_left` says so.  If the
// feature is categorical, a row goes left where its category is in a set of words instead: category c is bit
// c % 64 of word category_offset + c / 64.  A category of which the node has no row is where most rows go.
struct Tree {
    std::vector<std::int64_t> children_left, children_right;  // -1 in a leaf
    std::vector<std::int64_t> feature;                        // -2 in a leaf
    std::vector<double> threshold;  // -2 in a leaf; infinity parts missing values from the others; NaN: none
    std::vector<std::uint8_t> missing_left;    // 0 in a leaf
    std::vector<double> gap_below, gap_above;  // the values of all rows around the threshold; -2 in a leaf
    std::vector<std::int64_t> missing_count;   // rows of the node whose value is missing; 0 in a leaf
    // By node.  Errors: rows of each class, then what they weigh.  Squared error: rows, what they weigh, sums
    // of weight * target and of weight * target^2, this in units of 2^62 and the rest.
    std::vector<Score> counts;
    std::vector<std::int64_t> category_offset;  // -1 where no categories are parted
    std::vector<std::uint64_t> category_words;

    std::size_t size() const { return feature.size(); }
};

enum class Status { optimal, gap_reached, time_limit, stopped, interrupted, memory_limit, cutoff };
std::string_view name(Status status);

inline constexpr Score no_objective = std::numeric_limits<Score>::max();

// What a search has not closed yet of its level.  Any part of the intervals can be searched alone.
struct Frontier {
    // Thresholds that a better tree may have: those of one order of a feature between two masses, for one
    // way to share the leaves out.  A search continues from what is proved of both sides at the ends.
    struct Interval {
        struct End {
            Score z, left, right;  // the mass left of the threshold, and what is proved of the two sides
        };
        std::int64_t column;  // a feature's order, as ranked: a feature with missing values has two
        std::int64_t budget;  // which share of the leaves; 0 where leaves are not limited
        End u, v;             // u.z < v.z
        bool with_u;          // does the threshold at u belong to it?
        Score bound;          // no tree with one of these thresholds at its root has a smaller objective
        // For a categorical feature, a set of ranks as bits.  The search has decided the first u.z of all
        // v.z ranks: those in the set go left, the others right.  `u` holds what is proved of both sides.
        // Empty for thresholds.
        std::vector<std::uint64_t> subset = {};
    };

    std::int64_t depth = 0;      // 0: nothing is begun; without intervals: the level is done
    Score floor = no_objective;  // no tree with any other threshold at its root has a smaller objective
    std::vector<Interval> intervals;
};

// One moment of the search: the best tree's score and the proved bound from then on.
struct Moment {
    double seconds;
    Score objective, lower_bound;
};

// The best tree of at most so many leaves.
struct SizedTree {
    Tree tree;
    Score loss = 0;
    Score lower_bound = 0;  // proved: no allowed tree of at most so many leaves loses less
};

struct Result {
    Tree tree;
    Score loss = 0;       // of `tree`, recounted from the raw values
    Score objective = 0;  // what was minimised: error_cost * loss + leaf_cost * leaves
    // Proved: no allowed tree has a smaller objective.  Squared error with categories: none has a smaller
    // squared error; its objective, which is floored leaf by leaf, may be smaller by 2^(max_depth - 1) units.
    Score lower_bound = 0;
    Status status = Status::optimal;
    std::size_t missing_threads = 0;  // that the system did not start
    double seconds = 0;
    std::vector<std::pair<std::string, std::int64_t>> counters;
    std::vector<Moment> history;
    Frontier frontier;             // of a resumable search; without intervals where all is proved
    std::vector<SizedTree> sizes;  // with all_sizes: by leaves, from one on, as far as more gain something
};

// Lets another thread end a search.  Every loop of the search looks at `stopped`.
class Control {
public:
    // Ends the search.  The result is the best tree so far, and never worse than the greedy tree.
    void stop() { stop_.store(true, std::memory_order_relaxed); }
    // Ends the search at once, even while the greedy tree is built.  Its open nodes become leaves.
    void hurry() { hurry_.store(true, std::memory_order_relaxed), stop(); }
    // Ends the search at once, for a caller that drops the result.  The result may have no tree.
    void abandon() { abandon_.store(true, std::memory_order_relaxed), hurry(); }
    // Says that another search has reached this objective.  This one then looks for better trees only.
    void lower_cutoff(Score objective) {
        Score now = cutoff();
        while (objective < now && !cutoff_.compare_exchange_weak(now, objective)) continue;
    }
    Score cutoff() const { return cutoff_.load(std::memory_order_relaxed); }
    // The search finishes the root's thresholds that it has begun, begins no other, and returns the rest.
    void hand_back() { hand_back_.store(true, std::memory_order_relaxed); }
    bool handing_back() const { return hand_back_.load(std::memory_order_relaxed); }
    bool stopped() const {
        if (look_) look_();
        return stop_.load(std::memory_order_relaxed);
    }
    bool hurried() const { return hurry_.load(std::memory_order_relaxed); }
    bool abandoned() const { return abandon_.load(std::memory_order_relaxed); }
    // For a search that no thread watches over: `look` is called wherever it asks whether to stop.
    void watch_by(std::function<void()> look) { look_ = std::move(look); }
private:
    std::function<void()> look_;
    std::atomic<bool> stop_{false}, hurry_{false}, abandon_{false}, hand_back_{false};
    std::atomic<Score> cutoff_{no_objective};
};

// A look at a running search.
struct Progress {
    double seconds;      // since the call of fit
    Score objective;     // of the best tree so far; before there is any, `no_objective`
    Score lower_bound;   // proved so far
    double root_closed;  // share of the root's thresholds that can no longer be in a better tree, 0 to 1
};

// What a poll answers to a running search.
enum class Verdict {
    go_on,
    stop,       // end with the best tree so far and the status `stopped`
    interrupt,  // end at once, even before CART's tree is whole, with the status `interrupted`
    abandon,    // end at once; the caller drops the result
};
using Poll = std::function<Verdict(const Progress&)>;

// What a search begins with.
struct Start {
    const Tree* first = nullptr;         // a tree that the caller has
    const Frontier* frontier = nullptr;  // what is left to search; shallower levels are not solved again
    Score lower_bound = 0;               // proved of every allowed tree, or of those of the part
    bool open_only = false;              // end where the last level begins, with its frontier
    bool resumable = false;   // return the frontier and the best tree, even if a stop then takes longer
    bool part = false;        // the frontier is not all of its level: end with it, at whatever depth
    std::int64_t splits = 0;  // begin at most so many of the root's thresholds, then hand back; 0: any
};

// A moment of a search to go on from later.
struct Snapshot {
    Tree tree;
    Score objective, lower_bound;
    Frontier frontier;
};

// A table ranked once for any number of searches, one at a time; each keeps what those before it proved.
//
//     contree::Searcher searcher(table, options);
//     contree::Result part = searcher.run({.resumable = true}, control, 10.0);   // for ten seconds
//     contree::Result rest = searcher.run({&part.tree, &part.frontier, part.lower_bound}, control);
//
// The table's arrays must outlive it.  Each run has its own time limit.  `run` throws std::invalid_argument
// for a frontier of other rows, and for any frontier with SearchKind::paper or all_sizes.  It does not check
// the bounds of a frontier.
class Searcher {
public:
    Searcher(const Table& table, const Options& options);
    ~Searcher();
    Result run(const Start& start, Control& control,
        double time_limit = std::numeric_limits<double>::infinity(), const Poll& poll = {});
    // The state from which a search in another thread could be resumed.  At first its tree is empty.
    Snapshot snapshot();
    // Cuts a frontier into at least `parts` intervals, if it has enough thresholds.
    Frontier split(const Frontier& frontier, std::size_t parts);
private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

// Finds a tree of least objective.  The calling thread calls `poll` about every 20 ms while worker threads
// search, and once when they have ended by themselves or by the time limit.  The result is no worse than
// `first`, cut at the depth and pruned to the leaves allowed; its children follow their parents, its counts
// are not read.  Throws std::invalid_argument for weights, targets or costs out of range, std::bad_alloc
// where memory runs out before there is a tree (later the status is `memory_limit`), std::system_error where
// no thread can be started, and std::logic_error if the tree does not verify.
Result fit(const Table& table, const Options& options, Control& control, const Poll& poll = {},
    const Tree* first = nullptr);

// The depth-two kernels that this machine can run, fastest first, and the one in use:
// the first, or the one that the environment variable CONTREE_KERNEL names.
std::vector<std::string> kernels();
std::string kernel();
}  // namespace contree
