#include "search/frontier.hpp"
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include "search/incumbent.hpp"
#include "search/subset_interval.hpp"

namespace contree {
namespace {
using Interval = Frontier::Interval;

void check(bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument("the frontier is not of this search: " + what);
}

std::uint32_t feature_of(const RowSet& root, const Interval& interval) {
    const bool possible = interval.column >= 0 && interval.column <= std::numeric_limits<std::int32_t>::max();
    const std::uint32_t f =
        possible ? root.number_of(static_cast<FeatureId>(interval.column)) : root.columns();
    check(f < root.columns(), "no column " + std::to_string(interval.column));
    check(interval.subset.empty() == (f < root.features), "a threshold where categories are, or the reverse");
    if (f >= root.features) {
        check(is_subset_of_lattice(root, interval, f), "no such set of categories");
        return f;
    }
    const auto stands = [&](Score z) {
        return z >= 0 && z <= root.mass && root.mass_at(f, root.position_of(f, z)) == z;
    };
    const bool ends = interval.u.z < interval.v.z && stands(interval.u.z) && stands(interval.v.z);
    check(ends && (!interval.with_u || interval.u.z > 0), "no threshold at an interval's end");
    return f;
}

bool is_whole(const Interval& interval) { return interval.u.z == interval.v.z; }

// The thresholds of an interval among the feature's cuts: the first, and how many.
std::pair<std::uint32_t, std::uint32_t> thresholds_of(
    const RowSet& root, const Interval& interval, std::uint32_t f) {
    const Position u = root.position_of(f, interval.u.z), v = root.position_of(f, interval.v.z);
    const Cuts cuts = root.cuts(f);
    const std::uint32_t first = cuts.below(interval.with_u ? u : u + 1);
    return {first, std::max(first, cuts.below(v)) - first};
}

// Both parts end at a threshold in the middle, of which is known what B1 says.  It belongs to the right one.
std::pair<Interval, std::optional<Interval>> halves(
    const RowSet& root, const Interval& whole, std::uint32_t f, const Rules& rules) {
    const auto [first, count] = thresholds_of(root, whole, f);
    const Position from = std::max<Position>(1, root.position_of(f, whole.u.z)),
                   to = root.position_of(f, whole.v.z);
    const Score z = root.mass_at(f, root.cuts(f).at(first + count / 2, from, to));
    const Segment segment{whole.bound, {whole.u.z, whole.u.left, whole.u.right, whole.with_u},
        {whole.v.z, whole.v.left, whole.v.right}, f};
    const Evaluated middle = within(segment, {{z, 0, 0}, {z, 0, 0}}, root.has_leaf_size(), rules);
    const Point left_end = middle.as_left_end(), right_end = middle.as_right_end();
    Interval left = whole, right = whole;
    left.v = {z, right_end.left, right_end.right};
    right.u = {z, left_end.left, left_end.right};
    right.with_u = true;
    return {left, right};
}
}  // namespace

Frontier frontier_of(Node& node, Score leaf_cost) {
    std::lock_guard lock(node.mutex);
    Frontier frontier{node.depth, with_leaf(node.floor, leaf_cost), {}};
    frontier.intervals.reserve(node.queue.size() + node.in_flight.size());
    const auto add = [&](const Segment& s) {
        frontier.intervals.push_back({node.set->feature[s.f], s.budget, {s.u.z, s.u.left, s.u.right},
            {s.v.z, s.v.left, s.v.right}, s.u.open, with_leaf(s.bound, leaf_cost)});
        if (s.subset != no_subset) frontier.intervals.back().subset = node.set->categories->subset(s.subset);
    };
    for (const Segment& segment : node.queue) add(segment);
    for (const Segment* const segment : node.in_flight) add(*segment);
    return frontier;
}

void open_from(
    Node& node, const Frontier& frontier, const RootProfiles& profiles, Score leaf_cost, const Rules& rules) {
    const RowSet& root = *node.set;
    node.set_aside(without_leaf(frontier.floor, leaf_cost));
    for (const auto& [column, budget, u, v, with_u, bound, subset] : frontier.intervals) {
        const std::uint32_t f = root.number_of(static_cast<FeatureId>(column)),
                            of_budget = static_cast<std::uint32_t>(budget);
        if (!subset.empty()) {
            node.queue.push_back({without_leaf(bound, leaf_cost), {u.z, u.left, u.right},
                {v.z, v.left, v.right}, f, of_budget, root.categories->id_of(of_width(root, subset))});
            continue;
        }
        const std::int32_t before = u.z == 0 ? profiles.of_ends : profiles.before(f, of_budget, u.z);
        const std::int32_t behind = v.z == root.mass ? profiles.of_ends : profiles.behind(f, of_budget, v.z);
        const Point left{u.z, u.left, u.right, with_u, before}, right{v.z, v.left, v.right, false, behind};
        Segment segment = make_segment(f, of_budget, left, right, rules);
        segment.bound = std::max(segment.bound, without_leaf(bound, leaf_cost));
        node.queue.push_back(segment);
    }
    node.make_heap();
}

void check_frontier(const RowSet& root, const TreeSize& size, const Frontier& frontier) {
    if (frontier.depth == 0 && frontier.intervals.empty()) return;
    check(frontier.depth >= 1 && frontier.depth <= size.depth, "depth " + std::to_string(frontier.depth) +
                                                                   ", where trees have at most " +
                                                                   std::to_string(size.depth));
    check(frontier.floor >= 0, "a negative bound");
    if (frontier.intervals.empty()) return;
    check(frontier.depth > 2, "intervals of depth two");
    const auto budgets =
        static_cast<std::int64_t>(leaf_budgets({frontier.depth, size.leaves, root.rows}).size());
    const auto possible = [](Score bound) { return bound >= 0 && bound <= unreached; };
    for (const Interval& interval : frontier.intervals) {
        feature_of(root, interval);
        check(interval.budget >= 0 && interval.budget < budgets,
            "no leaf budget " + std::to_string(interval.budget));
        const bool bounds = possible(interval.u.left) && possible(interval.u.right) &&
                            possible(interval.v.left) && possible(interval.v.right) && interval.bound >= 0;
        check(bounds, "an impossible bound");
    }
}

Frontier split_frontier(const RowSet& root, const Frontier& frontier, std::size_t parts, const Rules& rules) {
    Frontier finer = frontier;
    std::vector<std::uint32_t> features;
    std::priority_queue<std::pair<std::uint32_t, std::size_t>> longest;
    const auto add = [&](std::size_t i) {
        const Interval& interval = finer.intervals[i];
        const std::uint32_t count =
            interval.subset.empty() ? thresholds_of(root, interval, features[i]).second
            : is_whole(interval)    ? 1
                                    : std::uint32_t{1} << std::min<Score>(30, interval.v.z - interval.u.z);
        longest.emplace(count, i);
    };
    for (std::size_t i = 0; i < finer.intervals.size(); ++i) {
        features.push_back(feature_of(root, finer.intervals[i]));
        add(i);
    }
    while (finer.intervals.size() < parts && !longest.empty() && longest.top().first >= 2) {
        const std::size_t i = longest.top().second;
        longest.pop();
        const bool subset = !finer.intervals[i].subset.empty();
        const auto [left, right] = subset ? children_of(root, finer.intervals[i], features[i])
                                          : halves(root, finer.intervals[i], features[i], rules);
        finer.intervals[i] = left;
        add(i);
        if (!right) continue;
        finer.intervals.push_back(*right);
        features.push_back(features[i]);
        add(finer.intervals.size() - 1);
    }
    return finer;
}
}  // namespace contree
