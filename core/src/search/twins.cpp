// B8. Missing values: the part of BestFirst that evaluates a threshold in both orders of a feature at once.
//
// Let M be the rows of a node that lack a feature, and L and R those with values on the left and on the right of a threshold.
// The first order splits the node into L and R + M, the second one into L + M and R.  For trees of any fixed depth and leaves
//     theta(L + M) >= theta(L) + theta(M),   theta(R + M) >= theta(R) + theta(M).
// Proof: the best tree for L + M errs on the rows of L at least theta(L) times, on those of M at least theta(M) times, and no row is in both.
// So both splits cost theta(L) + theta(R) + theta(M) at the least.  theta(M) is the same for all thresholds of the feature and found once; L and R are
// two solves that bound both splits, which by themselves take four.  What that leaves open lacks one side, R + M or L + M, and starts from what
// the smaller one has proved: so there are never more than four.  Weights: the same with masses.  Where splits cost something,
// theta(L) and theta(M) would both pay for the tree's, so there theta(M) counts as nothing, which leaves B0.
// With a minimal leaf size it holds for leaves of any size, which bound the others: what is closed by that is closed.  It does not hold for the
// leaf size itself, as a part of the rows may allow fewer splits; so what stays open is evaluated as it is without a twin (leaf_sizes.cpp).
//
// What a solve of one order alone tells of the other (B0 for |M| rows) closes next to nothing: 0 to 3 % of the splits evaluated.
#include "search/best_first.hpp"

namespace contree {

namespace {

constexpr Score unsolved = -1;

}  // namespace

template <class Entry>
bool BestFirst<Entry>::find_twins(const Subproblem<Entry>& sub, std::uint32_t f, Twins& twins) const {
    const Missing missing = sub.missing[sub.feature[f]];
    if (missing == Missing::none || !rules_.monotone || !options_.switches.twins) return false;
    const std::uint32_t first = missing == Missing::last ? f : f - 1;   // without the first order there is no second
    if (first + 1 == sub.features || sub.feature[first + 1] != sub.feature[first] + 1) return false;
    const Entry* const second = sub.order(first + 1);
    const Entry lacking = Packed<Entry>::row_mask;   // they have rank 0
    twins = {first, first + 1, static_cast<Row>(std::upper_bound(second, second + sub.rows, lacking) - second)};
    return true;
}

// The place in the queue of the twin's segment, where the same threshold is live in it and the two together are worth while; else
// behind the last.  What L and R alone prove is less than what a split costs, so that more thresholds are needed.  They lose about what M costs at the best
// tree's rate of errors, less theta(M); and they pay where the ends of the segments were closed by L and R with four times that to spare.
// (Batches at depth 3 with 5 % missing, no spare: Raisin +59 %, Rice +47 %; now +6 % and 0; with all others the same but Page, +2 %.)
template <class Entry>
std::size_t BestFirst<Entry>::twin_segment(const Node& node, const Task& task, const Twins& twins, Score errors, Task& twin) const {
    const Subproblem<Entry>& sub = *node.sub;
    const bool is_first = task.segment.f == twins.first;
    const std::uint32_t f = is_first ? twins.second : twins.first;
    if (is_first && task.z + twins.lack == sub.rows) return node.queue.size();   // missing or not, which the second order has not
    const Position at = is_first ? task.z + twins.lack : task.z - twins.lack;
    const Score z = sub.mass_at(f, at);
    const auto holds = [&](const Segment& s) { return s.f == f && s.shape == task.segment.shape && s.u.z - s.u.open < z && z < s.v.z; };
    const auto found = std::find_if(node.queue.begin(), node.queue.end(), holds);
    if (found == node.queue.end()) return node.queue.size();
    twin.segment = *found;
    twin.z = at;
    twin.limit = task.limit;
    twin.run = live_run(twin.segment, sub, twin.limit, rules_);
    trim_by_strips(node, twin.segment, twin.limit, twin.run);
    if (sub.limited() && !twin.run.empty() && stale_ends(node, twin) != Ends::neither) return node.queue.size();
    const Segment& a = is_first ? task.segment : twin.segment;
    const Segment& b = is_first ? twin.segment : task.segment;
    const double rate = static_cast<double>(task.limit) / static_cast<double>(sub.mass);
    const double lost = std::max(0.0, rate * static_cast<double>(sub.mass_at(twins.second, twins.lack)) - static_cast<double>(errors));
    const Score enough = task.limit - rules_.objective.split - errors + static_cast<Score>(4 * lost);
    const bool left = a.u.z == 0 || b.u.z == 0 || a.u.left + b.u.right >= enough;
    const bool right = a.v.z == sub.mass || b.v.z == sub.mass || a.v.left + b.v.right >= enough;
    const bool live = twin.segment.bound < twin.limit && !twin.run.empty() && twin.run.low <= at && at <= twin.run.high;
    return live && ((left && right) || options_.switches.twins == 2) ? static_cast<std::size_t>(found - node.queue.begin()) : node.queue.size();
}

// theta(M), for sides of any number of leaves; or a bound of it.
template <class Entry>
Score BestFirst<Entry>::errors_of_missing(Worker& worker, Node& node, const Twins& twins) {
    const Subproblem<Entry>& sub = *node.sub;
    if (rules_.objective.split > 0 || twins.lack < 2) return 0;
    const auto known = [&]() -> Score& {
        if (node.missing_errors.empty()) node.missing_errors.assign(sub.features, unsolved);
        return node.missing_errors[twins.first];
    };
    {
        std::lock_guard lock(node.mutex);
        if (known() != unsolved) return known();
    }
    worker.cells_moved += std::int64_t{sub.rows} * sub.features;
    Arena::Frame frame(worker.arena);
    Children<Entry> children = split_rows(sub, twins.first, sub.rows - twins.lack, keeps_origin(node), *kernel_.movers, worker.arena, when_stopped(control_));
    if (stopping()) return 0;
    children.right.leaf = {};
    const Score errors = solve_side(worker, node, children.right, any_leaves, 0, unreached, {}, nullptr).lower;
    std::lock_guard lock(node.mutex);
    return known() = errors;
}

// False where the task is to be evaluated by itself.
template <class Entry>
bool BestFirst<Entry>::evaluate_twins(Worker& worker, Node& node, Task& task) {
    Twins twins;
    Task twin;
    if (!find_twins(*node.sub, task.segment.f, twins)) return false;
    {
        std::lock_guard lock(node.mutex);   // are they worth while if all of M were errors?
        if (twin_segment(node, task, twins, rules_.worth(node.sub->mass_at(twins.second, twins.lack)), twin) == node.queue.size()) return false;
    }
    const Score errors = errors_of_missing(worker, node, twins);
    {
        std::lock_guard lock(node.mutex);
        const std::size_t at = twin_segment(node, task, twins, errors, twin);
        if (at == node.queue.size() || stopping()) return false;
        node.queue.erase(node.queue.begin() + static_cast<std::ptrdiff_t>(at));
        std::make_heap(node.queue.begin(), node.queue.end(), later);
        begin(node, twin);
    }
    try {
        const bool is_first = task.segment.f == twins.first;
        evaluate_both(worker, node, is_first ? task : twin, is_first ? twin : task, errors);
    } catch (...) {
        std::lock_guard lock(node.mutex);
        node.land(twin.segment);
        throw;
    }
    return true;
}

template <class Entry>
void BestFirst<Entry>::evaluate_both(Worker& worker, Node& node, Task& first, Task& second, Score errors) {
    worker.statistics.splits_evaluated += 2;
    ++worker.statistics.twins_evaluated;
    worker.cells_moved += 2 * (std::int64_t{node.sub->rows} * node.sub->features + Worker::cells_of_a_split);
    Arena::Frame frame(worker.arena);
    const auto sides_of = [&](const Task& task) {
        return split_rows(*node.sub, task.segment.f, task.z, keeps_origin(node), *kernel_.movers, worker.arena, when_stopped(control_));
    };
    Children<Entry> of_first = sides_of(first), of_second = sides_of(second);
    if (stopping()) {
        put_back(node, first);
        return put_back(node, second);
    }
    of_first.left.leaf = of_second.right.leaf = {};
    const Shape shape = node.shapes[first.segment.shape];
    const bool limited = node.sub->limited();
    Prospects a = prospects(node, first), b = prospects(node, second);
    if (limited) a.lower = b.lower = {0, 0};   // those are not of leaves of any size
    // B3 for both: with what M adds, a side that reaches the larger target closes its half of either run.
    Profile of_left, of_right;
    const Outcome left = solve_side(worker, node, of_first.left, shape.left, a.lower.left, std::max(a.up_to.left, b.up_to.left - errors), first.left, &of_left);
    const Outcome right = solve_side(worker, node, of_second.right, shape.right, b.lower.right, std::max(b.up_to.right, a.up_to.right - errors), second.right, &of_right);

    // One order after the other: its side with the missing rows, unless what is known closes the split.
    const auto settle = [&](Task& task, Children<Entry>& children, const Prospects& known, bool missing_left) {
        Sides lower{left.lower + (missing_left ? errors : 0), right.lower + (missing_left ? 0 : errors)};
        Score& other = missing_left ? lower.left : lower.right;
        other = std::max(other, missing_left ? known.lower.left : known.lower.right);
        const auto point = [&] { return Point{node.sub->mass_at(task.segment.f, task.z), lower.left, lower.right}; };
        const Evaluated found = within(task.segment, {point(), point()}, limited, rules_);
        Memory memory{of_left, of_right, missing_left && !of_left.empty(), !missing_left && !of_right.empty()};
        if (rules_.total(found.own) >= task.limit || stopping()) {
            learn(worker, node, task, found, point(), {rules_.total(found.own), unreached, {}}, std::move(memory));
            return true;
        }
        if (limited) {
            evaluate_limited(worker, node, task, children, lower, known.up_to);
            return false;
        }
        Sources sources = missing_left ? task.left : task.right;
        const Profile& part = missing_left ? of_left : of_right;
        if (!part.empty()) sources.subset = &part;
        Profile& learnt = missing_left ? memory.left : memory.right;
        learnt = {};
        memory.left_in_part = memory.right_in_part = false;
        const Outcome more = missing_left ? solve_side(worker, node, children.left, shape.left, other, known.up_to.left, sources, &learnt)
                                          : solve_side(worker, node, children.right, shape.right, other, known.up_to.right, sources, &learnt);
        other = more.lower;
        learn(worker, node, task, {point(), point()}, point(), missing_left ? join_sides(node, task, more, right) : join_sides(node, task, left, more), std::move(memory));
        return false;
    };
    const bool first_closed = settle(first, of_first, a, false);
    worker.statistics.closed_by_twins += settle(second, of_second, b, true) && first_closed;
}

#define CONTREE_TWINS(Entry)                                                                                              \
    template bool BestFirst<Entry>::find_twins(const Subproblem<Entry>&, std::uint32_t, Twins&) const;                    \
    template std::size_t BestFirst<Entry>::twin_segment(const Node&, const Task&, const Twins&, Score, Task&) const;      \
    template Score BestFirst<Entry>::errors_of_missing(Worker&, Node&, const Twins&);                                     \
    template bool BestFirst<Entry>::evaluate_twins(Worker&, Node&, Task&);                                                \
    template void BestFirst<Entry>::evaluate_both(Worker&, Node&, Task&, Task&, Score);
CONTREE_TWINS(NarrowEntry)
CONTREE_TWINS(WideEntry)
#undef CONTREE_TWINS

}  // namespace contree
