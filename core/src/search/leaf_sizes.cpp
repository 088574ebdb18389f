// Minimal leaf sizes: the part of BestFirst that evaluates splits where a leaf must be of some size.
//
// A split that is evaluated gets its own numbers, theta(L(z) | L(z)) and theta(R(z) | R(z)), as without a
// leaf size.  What holds in a run beside it (`near`, see segment.hpp) is solved when a run turns out to need
// it, and for that run: the shorter it is, the fewer rows count for sizes that do not lie on the side.
#include "search/best_first.hpp"

namespace contree {

namespace {

// What was learnt of the same rows.
Sources known_of(const Profile& profile) {
    return profile.empty() ? Sources{} : Sources{&profile, &profile};
}

}  // namespace

// Does the row set lack values?  Then rows of a wider set may stray (Subproblem::strays), which is taken care
// of at depth two; a side that is itself searched in nodes with wider sets below it is not solved for a run.
template <class Entry>
bool lacks_values(const Subproblem<Entry>& sub) {
    return std::any_of(sub.feature, sub.feature + sub.features,
                       [&](FeatureId f) { return sub.missing[f] == Missing::first; });
}

// Are bounds for all of a run solved?  Where it is long, so many rows may lie on either side that they seldom
// close it.
template <class Entry>
bool BestFirst<Entry>::bounds_runs(const Node& node, const Run& run) const {
    const Subproblem<Entry>& sub = *node.sub;
    const bool is_short = 2 * std::uint64_t{run.high - run.low} <= sub.rows;
    return options_.switches.wide_leaves != 0 && rules_.monotone && is_short &&
           sub.classes <= most_paired_classes && !(node.depth > 3 && lacks_values(sub));
}

// The ends to solve for the run: those whose own numbers would close it if they held in all of it.  Not again
// before the run is half as long.
template <class Entry>
auto BestFirst<Entry>::stale_ends(const Node& node, const Task& task) const -> Ends {
    const Subproblem<Entry>& sub = *node.sub;
    if (!bounds_runs(node, task.run)) return Ends::neither;
    Segment hoped = task.segment;
    const auto memory_of = [&](const Point& end) {
        return end.memory < 0 || end.z == 0 || end.z == sub.mass
                   ? nullptr
                   : &(*node.memories)[static_cast<std::size_t>(end.memory)];
    };
    const auto position_of = [&](const Point& end) { return sub.position_of(task.segment.f, end.z); };
    const Memory* const u = memory_of(hoped.u);
    const Memory* const v = memory_of(hoped.v);
    const bool left = u != nullptr && u->own.left > hoped.u.left &&
                      2 * std::uint64_t{task.run.high - position_of(hoped.u)} <= u->left_reach;
    const bool right = v != nullptr && v->own.right > hoped.v.right &&
                       2 * std::uint64_t{position_of(hoped.v) - task.run.low} <= v->right_reach;
    if (left) hoped.u.left = u->own.left;
    if (right) hoped.v.right = v->own.right;
    if (segment_bound(hoped, rules_) < task.limit) return Ends::neither;
    return left ? right ? Ends::both : Ends::left : Ends::right;
}

template <class Entry>
void BestFirst<Entry>::renew_ends(Worker& worker, Node& node, const Task& task) {
    const Subproblem<Entry>& sub = *node.sub;
    Segment s = task.segment;
    const Shape shape = node.shapes[s.shape];
    const Score limit = task.limit - rules_.objective.split;
    const auto memory_of = [&](const Point& end) -> Memory& {
        std::lock_guard lock(node.mutex);
        return (*node.memories)[static_cast<std::size_t>(end.memory)];
    };
    const auto renew = [&](Point& end, bool left) {
        if (segment_bound(s, rules_) >= task.limit || stopping()) return;
        Memory& memory = memory_of(end);
        ++worker.statistics.ends_renewed;
        worker.cells_moved += std::int64_t{sub.rows} * sub.features;
        Arena::Frame frame(worker.arena);
        const Position z = sub.position_of(s.f, end.z);
        Children<Entry> children =
            split_rows(sub, s.f, z, true, *kernel_.movers, worker.arena, when_stopped(control_));
        if (stopping()) return;
        Subproblem<Entry>& side = left ? children.left : children.right;
        widen(worker, sub, s.f, left ? task.run.high : task.run.low, left, side);
        const Score other = left ? right_bound(s, sub.mass_at(s.f, task.run.high), rules_)
                                 : left_bound(s, sub.mass_at(s.f, task.run.low), rules_);
        Score& proved = left ? end.left : end.right;
        const TreeSize size(node.depth - 1, left ? shape.left : shape.right, side.rows);
        const Sources known = known_of(left ? memory.left : memory.right);
        proved = std::max(proved, solve(worker, {side, size, proved, limit - other, 0, known, nullptr, &node}).lower);
        std::lock_guard lock(node.mutex);
        (left ? memory.left_reach : memory.right_reach) = left ? task.run.high - z : z - task.run.low;
    };
    if (task.ends != Ends::right) renew(s.u, true);
    if (task.ends != Ends::left) renew(s.v, false);
    std::lock_guard lock(node.mutex);
    node.set_aside(trimmed_bound(task.segment, task.limit, rules_));
    s.bound = std::max(s.bound, segment_bound(s, rules_));
    enqueue(node, s);
    node.land(task.segment);
    node.taken -= task.run.size();
    node.changed.notify_all();
}

// The sides are first solved for leaves of any size, which is faster and tells of every split beside; what
// that leaves open is solved for the leaf size that counts.  Bounds for leaves of any size hold for those
// too, so the second solve starts from what the first one learnt.
template <class Entry>
void BestFirst<Entry>::evaluate_limited(Worker& worker, Node& node, Task& task, Children<Entry>& children,
                                        const Sides& up_to) {
    const Segment& s = task.segment;
    const Score z = node.sub->mass_at(s.f, task.z);
    Memory memory;
    children.left.leaf = children.right.leaf = {};
    const auto [any_left, any_right] = solve_sides(worker, node, task, children, {0, 0}, up_to, &memory);
    const Point any{z, any_left.lower, any_right.lower};
    Evaluated w = within(s, {any, any}, true, rules_);
    Outcome whole{rules_.total(w.own), unreached, {}};
    if (rules_.total(w.own) < task.limit && !stopping()) {
        children.left.leaf = children.right.leaf = node.sub->leaf;
        if (node.sub->wide != nullptr) {
            widen(worker, *node.sub, s.f, task.z, true, children.left);
            widen(worker, *node.sub, s.f, task.z, false, children.right);
        }
        task.left = known_of(memory.left);
        task.right = known_of(memory.right);
        const auto [left, right] =
            solve_sides(worker, node, task, children, {w.own.left, w.own.right}, up_to, nullptr);
        whole = join_sides(node, task, left, right);
        w.own.left = std::max(w.own.left, left.lower);
        w.own.right = std::max(w.own.right, right.lower);
    }
    if (!node.sub->allows(s.f, task.z))
        whole = {unreached, unreached, {}};   // it makes no tree, but others are bounded by it
    learn(worker, node, task, w, any, std::move(whole), std::move(memory));
}

// Gives a side of a split the leaf size, and the rows that count for it: all that may lie on that side of a
// threshold at z.
template <class Entry>
void BestFirst<Entry>::widen(Worker& worker, const Subproblem<Entry>& sub, std::uint32_t f, Position z,
                             bool left, Subproblem<Entry>& side) {
    const Subproblem<Entry>& all = sub.sized();
    const Position place = left ? sub.sized_left(f, z) : sub.sized_right(f, z);
    side.leaf = sub.leaf;
    if (place == (left ? all.rows : 0)) {
        side.wide = &all;
        return;
    }
    const Children<Entry> parts = split_rows(all, sub.sized_feature(f), place, true, *kernel_.movers,
                                             worker.arena, when_stopped(control_));
    side.wide = new (worker.arena.template take<Subproblem<Entry>>(1))
        Subproblem<Entry>(left ? parts.left : parts.right);
}

#define CONTREE_LEAF_SIZES(Entry)                                                                           \
    template bool BestFirst<Entry>::bounds_runs(const Node&, const Run&) const;                             \
    template auto BestFirst<Entry>::stale_ends(const Node&, const Task&) const->Ends;                       \
    template void BestFirst<Entry>::renew_ends(Worker&, Node&, const Task&);                                \
    template void BestFirst<Entry>::evaluate_limited(Worker&, Node&, Task&, Children<Entry>&, const Sides&); \
    template void BestFirst<Entry>::widen(Worker&, const Subproblem<Entry>&, std::uint32_t, Position, bool, \
                                          Subproblem<Entry>&);
CONTREE_LEAF_SIZES(NarrowEntry)
CONTREE_LEAF_SIZES(WideEntry)
#undef CONTREE_LEAF_SIZES

}  // namespace contree
