// The search: solve -> branch -> evaluate.
//
// `solve` answers CT(D, d) (Eq. 4) against a target: the exact score where it is below, else a proved bound
// that reaches it.  Above depth two it opens a Node (`branch`, Eq. 5), takes the segment of least bound,
// evaluates the split in the middle of its live run (Eq. 6: two subproblems of depth d - 1), and puts both
// halves back into the queue.  When the least bound reaches the target, all is proved.
#pragma once
#include "search/cache.hpp"
#include "search/node.hpp"

namespace contree {
template <class Pair> auto& side_of(Pair& pair, bool left) { return left ? pair.left : pair.right; }

// A subproblem and all that is known of it.
struct SolveRequest {
    const RowSet& set;
    TreeSize size;
    Score lower = 0;           // proved
    Score target = unreached;  // what is not below it need not be exact
    Score gap = 0;             // how far from the optimum the result may be
    Sources sources = {};
    Profile* learnt = nullptr;  // gets the bounds of all thresholds looked at, if given
    const Crew::Job* parent = nullptr;
    const Outcome* shallow = nullptr;         // depth - 1 on the same rows, where that is known already,
    const Profile* shallow_learnt = nullptr;  // and what it learnt
    const Outcome* incumbent = nullptr;       // a tree of this size, found before
    // Of all rows: who hears of the node, where profiles are kept, and the frontier to go on from, if any.
    NodeListener* listener = nullptr;
    RootProfiles* profiles = nullptr;
    const Frontier* start = nullptr;
};

class Solver {
public:
    // `root` has all rows: the cache is for all others.
    Solver(const Objective& objective, const RowSet& root, const Options& options, const Kernel& kernel,
        Cache& cache, Crew& crew, StopFlags& flags)
        : objective_(objective), root_(root), options_(options), kernel_(kernel),
          rules_(rules_of(objective, options.switches)), cache_(cache), crew_(crew), flags_(flags) {}

    Outcome solve(Worker& worker, SolveRequest request);
    // The same for at most so much work: what is found by then, which may prove nothing.
    Outcome solve_within(Worker& worker, const SolveRequest& request, std::int64_t budget);

    // Is what solving this row set learns worth keeping?  A set to be solved `again` may be smaller.
    bool remembers(const RowSet& set, std::int64_t depth, bool again = false) const;

    const Objective& objective() const { return objective_; }
    const Rules& rules() const { return rules_; }
    const Partitioner& partitioner() const { return *kernel_.partitioner; }
    const StopFlags& flags() const { return flags_; }
private:
    class OpenNode;
    struct Solved {
        Outcome left, right;
    };

    Outcome solve_affordable(Worker& worker, const SolveRequest& request, const TreeSize& size);
    TreeSize affordable_size(const SolveRequest& request) const;
    Outcome solve_stump(const SolveRequest& request, Score leaf) const;
    // Below it a subproblem is solved faster than found, unless the same rows come again for all sizes.
    std::int64_t cached_depth() const { return options_.all_sizes ? 2 : 3; }

    // branch.cpp
    Outcome branch(Worker& worker, const SolveRequest& request);
    void open(Worker& worker, Node& node, const SolveRequest& request);
    Outcome solve_shallow(Worker& worker, Node& node, const SolveRequest& request);
    void open_segments(Node& node, Score ends, std::int32_t profile, const Sources& sources);
    void work(Worker& worker, Node& node);
    bool next_task(Node& node, Task& task, Statistics& statistics);
    void improve(Node& node, Score score, Plan plan);

    // evaluate.cpp
    void evaluate(Worker& worker, Node& node, Task& task);
    // Must the sides of a node's splits know which rows they are?
    bool keeps_origin(const Node& node) const {
        return node.set->has_leaf_size() || (options_.switches.cache && node.depth - 1 >= cached_depth());
    }
    Children split(Worker& worker, const RowSet& set, const Split& at, bool keep_origin) const;
    Sides targets(const Node& node, const Task& task) const;
    Solved solve_sides(Worker& worker, const Node& node, const Task& task, const Children& children,
        const Sides& lower, const Sides& up_to, SideProfiles* learnt);
    Outcome join_sides(const Node& node, const Task& task, const Split& at, const Solved& sides) const;
    void learn(Worker& worker, Node& node, const Task& task, const Evaluated& found, const Point& any_size,
        Outcome outcome, SideProfiles profiles);

    // subsets.cpp
    void open_subsets(Node& node, std::uint32_t budget);
    Outcome solve_categories(
        Worker& worker, const Node& node, const Split& at, Leaves leaves, Score lower, Score target);
    const Lattice& lattice_of(Worker& worker, Node& node, const Task& task);
    void evaluate_subset(Worker& worker, Node& node, const Task& task);
    void evaluate_whole_subset(Worker& worker, Node& node, const Task& task, const Split& at);

    // leaf_sizes.cpp
    bool bounds_runs(const Node& node, const Run& run) const;
    void find_stale_ends(Node& node, Task& task) const;
    void renew_ends(Worker& worker, Node& node, const Task& task);
    void renew_end(Worker& worker, Node& node, const Task& task, Segment& segment, bool left);
    void evaluate_leaf_size(Worker& worker, Node& node, Task& task, Children& children, const Sides& up_to);
    void widen(Worker& worker, const RowSet& set, std::uint32_t f, Position z, bool left, RowSet& side);

    const Objective& objective_;
    const RowSet& root_;
    const Options& options_;
    const Kernel& kernel_;
    const Rules rules_;
    Cache& cache_;
    Crew& crew_;
    StopFlags& flags_;
};
}  // namespace contree
