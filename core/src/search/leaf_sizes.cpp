// Minimal leaf sizes: how the solver evaluates splits where a leaf must be of some size.
//
// An evaluated split gets its own numbers, theta(L(z) | L(z)) and theta(R(z) | R(z)).  What holds in a run
// beside it (`near`, see segment.hpp) is solved once a run needs it, for that run.
#include "search/solver.hpp"

namespace contree {
namespace {
Sources known_of(const Profile& profile) { return profile.empty() ? Sources{} : Sources{&profile, &profile}; }

// Does the row set lack values?  Then rows of a larger set may stray (RowSet::strays), which only depth two
// handles: a side that is searched in nodes is not solved for a run.
bool lacks_values(const RowSet& set) {
    const auto lacks = [&](FeatureId f) { return set.missing[f] == Missing::first; };
    return std::any_of(set.feature, set.feature + set.features, lacks);
}
}  // namespace

// Are bounds for all of a run solved?  In a long run too many rows may lie on either side to close it.
bool Solver::bounds_runs(const Node& node, const Run& run) const {
    const bool is_short = 2 * std::uint64_t{run.high - run.low} <= node.set->rows;
    return options_.switches.wide_leaves != 0 && is_short && objective_.bounds_runs(*node.set) &&
           !(node.depth > 3 && lacks_values(*node.set));
}

// The ends to solve for the run: those whose own numbers would close it if they held in all of it.  Not again
// before the run is half as long.
void Solver::find_stale_ends(Node& node, Task& task) const {
    const RowSet& set = *node.set;
    if (!bounds_runs(node, task.run)) return;
    Segment hoped = task.segment;
    const auto profile_of = [&](const Point& end) -> const SideProfiles* {
        return end.profile < 0 || end.z == 0 || end.z == set.mass ? nullptr : &node.profile(end);
    };
    const auto position_of = [&](const Point& end) { return set.position_of(task.segment.f, end.z); };
    const SideProfiles *const u = profile_of(hoped.u), *const v = profile_of(hoped.v);
    const bool left = u != nullptr && u->own.left > hoped.u.left &&
                      2 * std::uint64_t{task.run.high - position_of(hoped.u)} <= u->left_reach;
    const bool right = v != nullptr && v->own.right > hoped.v.right &&
                       2 * std::uint64_t{position_of(hoped.v) - task.run.low} <= v->right_reach;
    if (left) hoped.u.left = u->own.left;
    if (right) hoped.v.right = v->own.right;
    if (segment_bound(hoped, rules_) < task.limit) return;
    task.renew_left = left;
    task.renew_right = right;
}

void Solver::renew_ends(Worker& worker, Node& node, const Task& task) {
    Segment s = task.segment;
    if (task.renew_left) renew_end(worker, node, task, s, true);
    if (task.renew_right) renew_end(worker, node, task, s, false);
    std::lock_guard lock(node.mutex);
    node.set_aside(trimmed_bound(task.segment, task.limit, rules_));
    s.bound = std::max(s.bound, segment_bound(s, rules_));
    node.enqueue(s);
    node.land(task);
}

void Solver::renew_end(Worker& worker, Node& node, const Task& task, Segment& s, bool left) {
    const RowSet& set = *node.set;
    if (segment_bound(s, rules_) >= task.limit || flags_.stopping()) return;
    Point& end = left ? s.u : s.v;
    SideProfiles& profiles = [&]() -> SideProfiles& {
        std::lock_guard lock(node.mutex);
        return node.profile(end);
    }();
    ++worker.statistics.ends_renewed;
    worker.cells_moved += static_cast<std::int64_t>(set.cells());
    Arena::Frame frame(worker.arena);
    const Position z = set.position_of(s.f, end.z);
    Children children = split(worker, set, {s.f, z}, true);
    if (flags_.stopping()) return;
    RowSet& side = side_of(children, left);
    widen(worker, set, s.f, left ? task.run.high : task.run.low, left, side);
    const Score other = left ? right_bound(s, set.mass_at(s.f, task.run.high), rules_)
                             : left_bound(s, set.mass_at(s.f, task.run.low), rules_);
    const TreeSize size(node.depth - 1, side_of(node.budgets[s.budget], left), side.rows);
    Score& proved = side_of(end, left);
    const Score target = task.limit - rules_.costs.split - other;
    const Sources known = known_of(side_of(profiles, left));
    proved = std::max(proved, solve(worker, {side, size, proved, target, 0, known, nullptr, node.job}).lower);
    std::lock_guard lock(node.mutex);
    (left ? profiles.left_reach : profiles.right_reach) = left ? task.run.high - z : z - task.run.low;
}

// First the sides are solved for leaves of any size: that is faster and bounds every split beside.  What
// stays open is solved for the leaf size, starting from these bounds, which hold for it too.
void Solver::evaluate_leaf_size(
    Worker& worker, Node& node, Task& task, Children& children, const Sides& up_to) {
    const Segment& s = task.segment;
    SideProfiles profiles;
    children.left.leaf = children.right.leaf = {};
    const Solved any_sides = solve_sides(worker, node, task, children, {0, 0}, up_to, &profiles);
    const Point any_size{node.set->mass_at(s.f, task.z), any_sides.left.lower, any_sides.right.lower};
    Evaluated w = within(s, {any_size, any_size}, true, rules_);
    Outcome whole{rules_.total(w.own), unreached, {}};
    if (rules_.total(w.own) < task.limit && !flags_.stopping()) {
        children.left.leaf = children.right.leaf = node.set->leaf;
        if (node.set->leaf_size_rows != nullptr) {
            widen(worker, *node.set, s.f, task.z, true, children.left);
            widen(worker, *node.set, s.f, task.z, false, children.right);
        }
        task.left = known_of(profiles.left);
        task.right = known_of(profiles.right);
        const Solved sides =
            solve_sides(worker, node, task, children, {w.own.left, w.own.right}, up_to, nullptr);
        whole = join_sides(node, task, {s.f, task.z}, sides);
        w.own.left = std::max(w.own.left, sides.left.lower);
        w.own.right = std::max(w.own.right, sides.right.lower);
    }
    // A split with a side too small makes no tree, but others are bounded by it.
    if (!node.set->allows(s.f, task.z)) whole = {unreached, unreached, {}};
    learn(worker, node, task, w, any_size, std::move(whole), std::move(profiles));
}

// Gives a side the leaf size, and the rows that count for it: all that may lie on that side of z.
void Solver::widen(Worker& worker, const RowSet& set, std::uint32_t f, Position z, bool left, RowSet& side) {
    const RowSet& all = set.sized();
    const std::uint32_t g = set.sized_feature(f);
    const Position place = left ? set.sized_left(f, z, g) : set.sized_right(f, z, g);
    side.leaf = set.leaf;
    side.leaf_size_rows = &all;
    if (place == (left ? all.rows : 0)) return;
    const Children parts = split(worker, all, {g, place}, true);
    side.leaf_size_rows = new (worker.arena.take<RowSet>(1)) RowSet(side_of(parts, left));
}
}  // namespace contree
