// Categories above depth two: a node of a feature's lattice (bounds/subset.hpp) is evaluated and cut in two.
//
// One side of such a node is its parent's.  So the other one alone is solved, for leaves of any size.  A
// whole set is a split like any other: both sides are solved, for their trees.
#include "bounds/split_cost.hpp"
#include "search/solver.hpp"

namespace contree {
// Begins every categorical feature, for one budget.
void Solver::open_subsets(Node& node, std::uint32_t budget) {
    const RowSet& set = *node.set;
    for (std::uint32_t f = set.features; f < set.columns(); ++f) {
        const std::vector<Rank> ranks = ranks_of(set, f);
        SubsetWords first = set.categories->none();
        insert(first.data(), ranks[0]);
        const Segment begin{rules_.costs.split, {1, 0, 0}, {static_cast<Score>(ranks.size()), 0, 0}, f,
            budget, set.categories->id_of(first)};
        if (begin.bound >= node.limit()) {
            node.set_aside(begin.bound);
            continue;
        }
        node.queue.push_back(begin);
        if (node.hint_subset == no_subset || node.hint_f != f) continue;
        Segment hint = begin;  // once more, as a whole: to begin with
        hint.u.z = hint.v.z;
        hint.subset = node.hint_subset;
        node.queue.push_back(hint);
    }
}

// The rows of some categories alone, with leaves of any size.
Outcome Solver::solve_categories(
    Worker& worker, const Node& node, const Split& at, Leaves leaves, Score lower, Score target) {
    Arena::Frame frame(worker.arena);
    Children children = split(worker, *node.set, at, keeps_origin(node));
    if (flags_.stopping()) return {lower, unreached, {}};
    children.left.leaf = {};
    SolveRequest request{children.left, {node.depth - 1, leaves, at.z}, lower, target};
    request.parent = node.job;
    return solve(worker, request);
}

// The feature's lattice, with what every category loses alone.
const Lattice& Solver::lattice_of(Worker& worker, Node& node, const Task& task) {
    const std::uint32_t f = task.segment.f;
    {
        std::lock_guard lock(node.mutex);
        if (const auto found = node.lattices.find(f); found != node.lattices.end()) return found->second;
    }
    const RowSet& set = *node.set;
    Lattice lattice(ranks_of(set, f));
    std::vector<Score> alone(lattice.ranks.size(), 0);
    const Leaves leaves = most_leaves(node.depth - 1);
    for (std::size_t i = 0; i < alone.size() && alone.size() > 2; ++i) {
        SubsetWords only = set.categories->none();
        insert(only.data(), lattice.ranks[i]);
        const Score lower =
            solve_categories(worker, node, set.split_of(f, only), leaves, 0, task.limit).lower;
        alone[i] = without_splits(lower, leaves, rules_.costs);
    }
    lattice.sum_up(alone);
    std::lock_guard lock(node.mutex);
    return node.lattices.emplace(f, std::move(lattice)).first->second;
}

void Solver::evaluate_subset(Worker& worker, Node& node, const Task& task) {
    const Segment& s = task.segment;
    const RowSet& set = *node.set;
    const Lattice& lattice = lattice_of(worker, node, task);
    const auto decided = static_cast<std::size_t>(s.u.z);
    const SubsetWords left = set.categories->subset(s.subset);
    const Score others = rules_.costs.split + lattice.rest[decided];
    if (decided == lattice.ranks.size())
        return evaluate_whole_subset(worker, node, task, set.split_of(s.f, left));
    ++worker.statistics.splits_evaluated;
    worker.count_split(set);
    const bool grown_left = lattice.on_left(left, decided - 1);
    const SubsetWords grown = grown_left ? left : lattice.right_of(left, decided);
    Sides proved{s.u.left, s.u.right};
    Score& side = side_of(proved, grown_left);
    const Score target = task.limit - others - side_of(proved, !grown_left);
    const Leaves leaves = side_of(node.budgets[s.budget], grown_left);
    side =
        std::max(side, solve_categories(worker, node, set.split_of(s.f, grown), leaves, side, target).lower);

    const Score bound = std::max(s.bound, proved.left + proved.right + others);
    const Score alone = lattice.rest[decided] - lattice.rest[decided + 1];
    SubsetWords with_next = left;
    insert(with_next.data(), lattice.ranks[decided]);
    Segment next = s;
    next.bound = bound;
    next.u = {s.u.z + 1, proved.left, proved.right + alone};
    std::lock_guard lock(node.mutex);
    node.enqueue(next);
    if (!lattice.is_all(with_next)) {
        next.u = {s.u.z + 1, proved.left + alone, proved.right};
        next.subset = set.categories->id_of(with_next);
        node.enqueue(next);
    }
    node.land(task);
    if (node.listener != nullptr) node.listener->landed(node, s, {});
}

void Solver::evaluate_whole_subset(Worker& worker, Node& node, const Task& task, const Split& at) {
    const Segment& s = task.segment;
    const RowSet& set = *node.set;
    ++worker.statistics.splits_evaluated;
    worker.count_split(set);
    Arena::Frame frame(worker.arena);
    Outcome whole{unreached, unreached, {}};
    Score proved = unreached;  // a side that is too small: no tree
    if (set.allows(at)) {
        Children children = split(worker, set, at, keeps_origin(node));
        if (!flags_.stopping()) {
            children.left.leaf = children.right.leaf = subset_leaf_size(set);
            const Score limit = task.limit - rules_.costs.split;
            const Solved sides = solve_sides(worker, node, task, children, {s.u.left, s.u.right},
                {limit - s.u.right, limit - s.u.left}, nullptr);
            whole = join_sides(node, task, at, sides);
            proved = std::max(s.bound, std::max(s.u.left, sides.left.lower) +
                                           std::max(s.u.right, sides.right.lower) + rules_.costs.split);
        } else {
            whole.lower = proved = s.bound;
        }
    }
    std::lock_guard lock(node.mutex);
    if (whole.upper < node.ub) improve(node, whole.upper, std::move(whole.plan));
    if (whole.proved() || proved >= task.limit) {
        node.set_aside(proved);
    } else {  // a stop leaves it open
        Segment again = s;
        again.bound = proved;
        node.enqueue(again);
    }
    node.land(task);
    if (node.listener != nullptr) node.listener->landed(node, s, {});
}
}  // namespace contree
