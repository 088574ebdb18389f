#include "search/solver.hpp"
#include "bounds/split_cost.hpp"

namespace contree {
namespace {
// Tells solves of the same rows for different leaf sizes apart; there is one least mass, or none.
std::int64_t leaf_key(const RowSet& set) {
    return std::int64_t{set.leaf.rows - 1} << 32 | std::int64_t{set.leaf.mass > 0} << 31;
}

Outcome leaf_outcome(Score score) { return {score, score, {Step{Step::leaf, 0}}}; }
}  // namespace

Outcome Solver::solve(Worker& worker, SolveRequest request) {
    const RowSet& set = request.set;
    ++worker.statistics.subproblems;
    const Score leaf = objective_.leaf_score(set);
    if (request.size.depth == 0 || set.columns() == 0 || leaf <= request.lower) return leaf_outcome(leaf);
    if (options_.switches.split_pays && leaf_is_best(leaf, rules_.costs)) {
        ++worker.statistics.closed_by_split_cost;
        return leaf_outcome(leaf);
    }
    if (request.lower >= request.target) {
        ++worker.statistics.closed_by_bound;
        return {request.lower, unreached, {}};
    }
    if (const TreeSize size = affordable_size(request); size.leaves < request.size.leaves) {
        ++worker.statistics.cut_by_affordable_splits;
        return solve_affordable(worker, request, size);
    }
    if (request.size.depth == 1) return solve_stump(request, leaf);
    const bool cached = options_.switches.cache && request.size.depth >= cached_depth() && &set != &root_ &&
                        set.leaf_size_rows == nullptr;
    // A gap is for the root alone, and there the exact answer costs one depth-two search.
    const auto search = [&] {
        if (request.size.depth > 2) return branch(worker, request);
        worker.depth_two.visits_end = worker.work_end - worker.cells_moved;
        return worker.depth_two.solve(set, request.size.leaves, request.lower, request.target,
            request.sources, request.learnt, worker.arena, worker.statistics);
    };
    if (!cached) return search();
    Cache::Key key = cache_.key(set.origin, set.rows, request.size.depth + leaf_key(set));
    Outcome known = cache_.find(key, request.size.leaves);
    if (known.proved() || known.lower >= request.target) {
        ++(known.proved() ? worker.statistics.cache_hits : worker.statistics.cache_bound_hits);
        return known;
    }
    request.lower = std::max(request.lower, known.lower);
    Outcome outcome = search();
    cache_.store(std::move(key), outcome, request.size.leaves);
    return outcome;
}

Outcome Solver::solve_within(Worker& worker, const SolveRequest& request, std::int64_t budget) {
    const std::int64_t end = std::exchange(worker.work_end, worker.work() + budget);
    Outcome outcome = solve(worker, request);
    worker.work_end = end;
    return outcome;
}

Outcome Solver::solve_stump(const SolveRequest& request, Score leaf) const {
    const Stump stump = objective_.best_stump(request.set, when_stopped(flags_.control));
    if (flags_.control.stopped()) return {request.lower, leaf, {Step{Step::leaf, 0}}};
    const Score score = rules_.costs.of(stump.loss, 1);
    if (score >= leaf) return leaf_outcome(leaf);
    return {score, score, {Step{Step::stump, 0}}};
}

// C2: the largest tree that can lie below the target.  Where leaves are not counted only the depth is cut,
// because counting them multiplies the segments of deep nodes.
TreeSize Solver::affordable_size(const SolveRequest& request) const {
    const TreeSize& size = request.size;
    if (rules_.costs.split == 0 || !options_.switches.affordable_splits) return size;
    const std::int64_t splits = affordable_splits(request.target, rules_.costs);
    if (splits >= size.leaves - std::int64_t{1}) return size;
    const bool counted = size.counts_leaves() || size.depth == 2;
    const Leaves leaves = counted ? static_cast<Leaves>(splits + 1) : any_leaves;
    return {std::min(size.depth, splits), leaves, request.set.rows};
}

// What is below the target is exact; beyond it larger trees may be better, and the target is what is proved.
// Bounds that this learns hold for smaller trees only, so nobody gets them, nor what it leaves open.
Outcome Solver::solve_affordable(Worker& worker, const SolveRequest& request, const TreeSize& size) {
    SolveRequest smaller{request.set, size, request.lower, request.target, request.gap, request.sources};
    smaller.parent = request.parent;
    const bool fits = request.incumbent != nullptr && leaves_of(request.incumbent->plan) <= size.leaves;
    if (fits) smaller.incumbent = request.incumbent;
    Outcome outcome = solve(worker, smaller);
    outcome.lower = std::min(outcome.lower, request.target);
    return outcome;
}

bool Solver::remembers(const RowSet& set, std::int64_t depth, bool again) const {
    if (!options_.switches.inheritance || depth < 2) return false;
    const auto least = static_cast<std::uint64_t>(options_.switches.inheritance_cells);
    return depth > 2 || (again ? 4 : 1) * set.cells() >= least;
}
}  // namespace contree
