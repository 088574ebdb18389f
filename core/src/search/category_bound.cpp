#include "search/category_bound.hpp"
#include "bounds/split_cost.hpp"
#include "bounds/subset.hpp"

namespace contree {
namespace {
constexpr std::int64_t deepest = 4;  // deeper trees fit a few categories without a loss

// Every `parts`-th category is in one part, so that each has large and small ones.  Parts that are not
// solved when the work ends count for what is proved of them.
Score sum_of_parts(Solver& solver, Worker& worker, const RowSet& root, std::int64_t depth, std::uint32_t f,
    std::size_t parts) {
    const std::vector<Rank> ranks = ranks_of(root, f);
    const Leaves leaves = most_leaves(depth);
    Score sum = 0;
    for (std::size_t part = 0; part < parts && !worker.over(); ++part) {
        SubsetWords only = root.categories->none();
        for (std::size_t i = part; i < ranks.size(); i += parts) insert(only.data(), ranks[i]);
        const Arena::Frame frame(worker.arena);
        worker.count_split(root);
        Children sides = split_rows(root, root.split_of(f, only), true, solver.partitioner(), worker.arena,
            when_stopped(solver.flags().control));
        if (solver.flags().stopping()) break;
        sides.left.leaf = {};
        const Outcome outcome = solver.solve(worker, {sides.left, {depth, leaves, sides.left.rows}});
        sum += without_splits(outcome.lower, leaves, solver.rules().costs);
    }
    return sum;
}
}  // namespace

Score bound_by_categories(
    Solver& solver, Worker& worker, const RowSet& root, std::int64_t depth, std::int64_t budget) {
    if (depth > deepest) return 0;
    const std::size_t most = most_categories(root);
    const std::int64_t end = std::exchange(worker.work_end, worker.work() + budget);
    Score bound = 0;
    for (std::size_t size = 1; size < most; size *= 2) {
        for (std::uint32_t f = root.features; f < root.columns(); ++f) {
            const std::size_t count = root.cuts(f).count + std::size_t{1};
            if (worker.over() || solver.flags().stopping() || size >= count) continue;
            const std::size_t parts = (count + size - 1) / size;
            bound = std::max(bound, sum_of_parts(solver, worker, root, depth, f, parts));
        }
    }
    worker.work_end = end;
    return bound;
}
}  // namespace contree
