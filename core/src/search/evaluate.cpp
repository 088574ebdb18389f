// Split(D, d, f, z) (Eq. 6): one split of a node is evaluated, and its segment cut there.
#include "search/solver.hpp"
#include "tree/locate.hpp"

namespace contree {
void Solver::evaluate(Worker& worker, Node& node, Task& task) {
    if (task.segment.subset != no_subset) return evaluate_subset(worker, node, task);
    if (task.renew_left || task.renew_right) return renew_ends(worker, node, task);
    ++worker.statistics.splits_evaluated;
    worker.count_split(*node.set);
    const Segment& s = task.segment;
    Arena::Frame frame(worker.arena);
    Children children = split(worker, *node.set, {s.f, task.z}, keeps_origin(node));
    if (flags_.stopping()) {  // the segment is as open as before
        std::lock_guard lock(node.mutex);
        node.enqueue(s);
        return node.land(task);
    }
    const Sides up_to = targets(node, task);
    if (node.set->has_leaf_size()) return evaluate_leaf_size(worker, node, task, children, up_to);
    SideProfiles profiles;
    const Score z = node.set->mass_at(s.f, task.z);
    const Sides lower{left_bound(s, z, rules_), right_bound(s, z, rules_)};
    const Solved sides = solve_sides(worker, node, task, children, lower, up_to, &profiles);
    const Point w{z, sides.left.lower, sides.right.lower};
    learn(worker, node, task, {w, w}, w, join_sides(node, task, {s.f, task.z}, sides), std::move(profiles));
}

Children Solver::split(Worker& worker, const RowSet& set, const Split& at, bool keep_origin) const {
    return split_rows(set, at, keep_origin, partitioner(), worker.arena, when_stopped(flags_.control));
}

// B3.  Let [i..j] be the live run around z.  If L(z) reaches limit - lbR(j), then L >= L(z) and R >= lbR(j)
// close all of [z..j].  Below that target the value is exact.  The right side mirrored.
Sides Solver::targets(const Node& node, const Task& task) const {
    const Segment& s = task.segment;
    const Score limit = task.limit - rules_.costs.split;  // for both sides together
    if (!options_.switches.run_targets) return {limit, limit};
    const auto mass_at = [&](Position z) { return node.set->mass_at(s.f, z); };
    return {limit - right_bound(s, mass_at(task.run.high), rules_),
        limit - left_bound(s, mass_at(task.run.low), rules_)};
}

// Both sides of a split, each from what is proved of it up to its target.
auto Solver::solve_sides(Worker& worker, const Node& node, const Task& task, const Children& children,
    const Sides& lower, const Sides& up_to, SideProfiles* learnt) -> Solved {
    const auto solve_side = [&](bool left) {
        const RowSet& side = side_of(children, left);
        const Leaves leaves = side_of(node.budgets[task.segment.budget], left);
        SolveRequest request{
            side, {node.depth - 1, leaves, side.rows}, side_of(lower, left), side_of(up_to, left)};
        request.parent = node.job;
        if (learnt != nullptr && remembers(side, request.size.depth, node.set->has_leaf_size()))
            request.learnt = &side_of(*learnt, left);
        if (request.learnt != nullptr || side.has_leaf_size()) request.sources = side_of(task, left);
        return solve(worker, request);
    };
    return {solve_side(true), solve_side(false)};
}

// The split's own outcome, from those of its sides.
Outcome Solver::join_sides(const Node& node, const Task& task, const Split& at, const Solved& sides) const {
    const auto& [left, right] = sides;
    const Score split_cost = rules_.costs.split, upper = left.upper + right.upper + split_cost;
    Outcome whole{left.lower + right.lower + split_cost, unreached, {}};
    if (upper >= task.limit + node.gap) return whole;  // no better than what there was
    whole.upper = upper;
    whole.plan = join(step_at(*node.set, at), left.plan, right.plan);
    return whole;
}

// Takes what was found into the node, and the two halves of the segment into its queue.  `any_size` is what
// holds for leaves of any size.
void Solver::learn([[maybe_unused]] Worker& worker, Node& node, const Task& task, const Evaluated& found,
    const Point& any_size, Outcome outcome, SideProfiles profiles) {
    const Segment& s = task.segment;
    std::lock_guard lock(node.mutex);
    const bool leaf_size = node.set->has_leaf_size();
    Evaluated w = within(s, found, leaf_size, rules_);
    if (leaf_size) node.set_aside(trimmed_bound(s, task.limit, rules_));
    const Score proved = std::max(outcome.lower, rules_.total(w.own));
    // A stop leaves a split unsettled, and it stays open: as the left end of what lies right of it.
    const bool settled = outcome.proved() || proved >= task.limit;
    assert(settled || flags_.stopping() || worker.over());
    if (settled) node.set_aside(proved);
    if (outcome.upper < node.ub) improve(node, outcome.upper, std::move(outcome.plan));
    node.note(s.f, s.budget, task.z, leaf_size ? any_size : w.own);
    if (leaf_size) profiles.own = {w.own.left, w.own.right};
    if (leaf_size || !profiles.left.empty() || !profiles.right.empty()) {
        w.near.profile = static_cast<std::int32_t>(node.profiles->size());
        node.profiles->push_back(std::move(profiles));
    }
    Point left_end = w.as_left_end();
    left_end.open = !settled;
    for (const Segment& half : {part_of(s, s.u, w.as_right_end(), rules_), part_of(s, left_end, s.v, rules_)})
        if (half.length() > 0) node.enqueue(half);
    node.land(task);
    if (node.listener != nullptr) node.listener->landed(node, s, w.near);
}
}  // namespace contree
