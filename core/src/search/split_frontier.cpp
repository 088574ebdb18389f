#include "search/split_frontier.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>

#include "bounds/cost.hpp"
#include "bounds/segment.hpp"

namespace contree {

namespace {

using Interval = Frontier::Interval;

// The thresholds of an interval, counted among the feature's cuts: [first, end).
struct Thresholds {
    std::uint32_t first, end;
    std::uint32_t count() const { return end - first; }
};

template <class Entry>
std::uint32_t number_of(const Subproblem<Entry>& root, const Interval& interval) {
    const FeatureId* const begin = root.feature;
    const FeatureId* const end = begin + root.features;
    const FeatureId* const at = std::find_if(begin, end, [&](FeatureId id) { return static_cast<std::int64_t>(id) == interval.column; });
    if (at == end || interval.u.z < 0 || interval.u.z >= interval.v.z || interval.v.z > root.mass || (interval.with_u && interval.u.z == 0))
        throw std::invalid_argument("the frontier is not of this search");
    return static_cast<std::uint32_t>(at - begin);
}

template <class Entry>
Thresholds thresholds_of(const Subproblem<Entry>& root, const Interval& interval, std::uint32_t f) {
    const Position u = root.position_of(f, interval.u.z), v = root.position_of(f, interval.v.z);
    const Cuts cuts = root.cuts(f);
    const std::uint32_t first = cuts.below(interval.with_u ? u : u + 1);
    return {first, std::max(first, cuts.below(v))};
}

// Both parts end at a threshold in the middle, of which is known what B1 says.  It belongs to the right one.
template <class Entry>
std::pair<Interval, Interval> halves(const Subproblem<Entry>& root, const Interval& whole, std::uint32_t f, const Thresholds& inside, const Rules& rules) {
    const Position from = std::max<Position>(1, root.position_of(f, whole.u.z)), to = root.position_of(f, whole.v.z);
    const Score z = root.mass_at(f, root.cuts(f).at(inside.first + inside.count() / 2, from, to));
    const Segment segment{whole.bound, {whole.u.z, whole.u.left, whole.u.right, whole.with_u}, {whole.v.z, whole.v.left, whole.v.right}, f};
    const Evaluated middle = within(segment, {{z, 0, 0}, {z, 0, 0}}, root.limited(), rules);
    const Point left_end = middle.as_left_end(), right_end = middle.as_right_end();
    Interval left = whole, right = whole;
    left.v = {z, right_end.left, right_end.right};
    right.u = {z, left_end.left, left_end.right};
    right.with_u = true;
    return {left, right};
}

}  // namespace

template <class Entry>
Frontier split_frontier(const Subproblem<Entry>& root, const Options& options, const Frontier& frontier, std::size_t parts) {
    const Rules rules = rules_of(options.switches, objective_of(options));
    Frontier finer = frontier;
    std::vector<std::uint32_t> features;
    std::priority_queue<std::pair<std::uint32_t, std::size_t>> longest;
    const auto add = [&](std::size_t i) { longest.emplace(thresholds_of(root, finer.intervals[i], features[i]).count(), i); };
    for (std::size_t i = 0; i < finer.intervals.size(); ++i) {
        features.push_back(number_of(root, finer.intervals[i]));
        add(i);
    }
    while (finer.intervals.size() < parts && !longest.empty() && longest.top().first >= 2) {
        const std::size_t i = longest.top().second;
        longest.pop();
        const Interval whole = finer.intervals[i];
        const auto [left, right] = halves(root, whole, features[i], thresholds_of(root, whole, features[i]), rules);
        finer.intervals[i] = left;
        finer.intervals.push_back(right);
        features.push_back(features[i]);
        add(i);
        add(finer.intervals.size() - 1);
    }
    return finer;
}

template Frontier split_frontier(const Subproblem<NarrowEntry>&, const Options&, const Frontier&, std::size_t);
template Frontier split_frontier(const Subproblem<WideEntry>&, const Options&, const Frontier&, std::size_t);

}  // namespace contree
