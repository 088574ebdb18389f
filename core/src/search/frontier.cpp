// The open part of a search as a value: the part of BestFirst that hands it out and begins with it.
//
// A segment holds all that its search needs: what is proved at its two ends.  Profiles only save time, and are
// left behind; profiles are found again by who has searched the same rows before (memories.hpp).  What was closed is in the floor, by a bound that holds whatever comes later, so a search may go on with a
// worse tree than there was when it was closed: then the floor is all that is proved of it.  Leaf sizes: a number of a
// segment's end need not hold for thresholds that were trimmed off before (segment.hpp).  These are in the floor, and
// what is derived from such a number for any other threshold is implied by the number itself, which holds there.
#include <stdexcept>
#include <string>

#include "search/best_first.hpp"

namespace contree {

namespace {

void check(bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument("the frontier is not of this search: " + what);
}

}  // namespace

// Bounds and objectives of the caller have the cost of one leaf more.
template <class Entry>
Score BestFirst<Entry>::without_leaf(Score objective) const {
    return objective >= unreached ? unreached : std::max<Score>(0, objective - options_.leaf_cost);
}
template <class Entry>
Score BestFirst<Entry>::with_leaf(Score score) const {
    return score >= unreached ? no_objective : score + options_.leaf_cost;
}
template <class Entry>
Score BestFirst<Entry>::cutoff() const {
    return without_leaf(control_.cutoff());
}

template <class Entry>
void BestFirst<Entry>::check_start() const {
    if (start_.depth == 0 && start_.intervals.empty()) return;
    check(!options_.all_sizes, "all_sizes has none");
    check(start_.depth >= 1 && start_.depth <= size_.depth, "depth " + std::to_string(start_.depth) + ", where trees have at most " + std::to_string(size_.depth));
    check(start_.floor >= 0, "a negative bound");
    if (start_.intervals.empty()) return;
    check(start_.depth > 2, "intervals of depth two");
    const std::size_t shapes = shapes_of({start_.depth, size_.leaves, root_.rows}).size();
    const auto stands = [&](std::uint32_t f, Score z) { return z >= 0 && z <= root_.mass && root_.mass_at(f, root_.position_of(f, z)) == z; };
    const auto possible = [](Score bound) { return bound >= 0 && bound <= unreached; };
    for (const Frontier::Interval& interval : start_.intervals) {
        const std::uint32_t f = number_of(interval.column);
        check(f < root_.features, "no column " + std::to_string(interval.column));
        check(interval.shape >= 0 && static_cast<std::size_t>(interval.shape) < shapes, "no shape " + std::to_string(interval.shape));
        check(interval.u.z < interval.v.z && stands(f, interval.u.z) && stands(f, interval.v.z), "no threshold at an interval's end");
        check(!interval.with_u || interval.u.z > 0, "no threshold at an interval's end");
        check(possible(interval.u.left) && possible(interval.u.right) && possible(interval.v.left) && possible(interval.v.right) &&
                  interval.bound >= 0, "an impossible bound");
    }
}

// The root's number of a column; its `features` where it has none.
template <class Entry>
std::uint32_t BestFirst<Entry>::number_of(std::int64_t column) const {
    const FeatureId *const begin = root_.feature, *const end = begin + root_.features;
    if (column < 0 || column > std::numeric_limits<std::int32_t>::max()) return root_.features;
    const FeatureId* const at = std::lower_bound(begin, end, static_cast<FeatureId>(column));
    return static_cast<std::uint32_t>((at != end && *at == static_cast<FeatureId>(column) ? at : end) - begin);
}

template <class Entry>
void BestFirst<Entry>::open_from(Node& node, const Frontier& frontier) const {
    node.set_aside(without_leaf(frontier.floor));
    for (const Frontier::Interval& interval : frontier.intervals) {
        const auto& [column, shape, u, v, with_u, bound] = interval;
        const std::uint32_t f = number_of(column), of_shape = static_cast<std::uint32_t>(shape);
        const std::int32_t before = u.z == 0 ? memories_.of_ends : memories_.before(f, of_shape, u.z);
        const std::int32_t behind = v.z == root_.mass ? memories_.of_ends : memories_.behind(f, of_shape, v.z);
        const Point left{u.z, u.left, u.right, with_u, before}, right{v.z, v.left, v.right, false, behind};
        Segment segment = make_segment(f, of_shape, left, right, rules_);
        segment.bound = std::max(segment.bound, without_leaf(bound));
        node.queue.push_back(segment);
    }
    std::make_heap(node.queue.begin(), node.queue.end(), later);
}

// Segments that threads are at work on are as open as the others.
template <class Entry>
Frontier BestFirst<Entry>::frontier_of(Node& node) const {
    std::lock_guard lock(node.mutex);
    Frontier frontier{node.depth, with_leaf(node.floor), {}};
    frontier.intervals.reserve(node.queue.size() + node.in_flight.size());
    const auto add = [&](const Segment& s) {
        frontier.intervals.push_back({root_.feature[s.f], s.shape, {s.u.z, s.u.left, s.u.right}, {s.v.z, s.v.left, s.v.right},
                                      s.u.open, with_leaf(s.bound)});
    };
    for (const Segment& segment : node.queue) add(segment);
    for (const Segment* const segment : node.in_flight) add(*segment);
    return frontier;
}

template <class Entry>
std::pair<Frontier, Outcome> BestFirst<Entry>::snapshot() {
    std::pair<Frontier, Outcome> now;
    {
        std::lock_guard lock(frontier_mutex_);
        now.first = level_node_ != nullptr ? frontier_of(*level_node_) : frontier_;
    }
    now.second = incumbent();
    return now;
}

template <class Entry>
void BestFirst<Entry>::end_level(std::int64_t depth, Score lower) {
    std::lock_guard lock(frontier_mutex_);
    frontier_ = {depth, with_leaf(lower), {}};
}

template <class Entry>
BestFirst<Entry>::LevelWatch::LevelWatch(BestFirst& search, Node& node, bool wanted) : search_(search), node_(wanted ? &node : nullptr) {
    if (node_ == nullptr) return;
    std::lock_guard lock(search_.frontier_mutex_);
    search_.level_node_ = node_;
}
template <class Entry>
void BestFirst<Entry>::LevelWatch::leave() {
    if (node_ == nullptr) return;
    Frontier frontier = search_.frontier_of(*node_);
    std::lock_guard lock(search_.frontier_mutex_);
    search_.frontier_ = std::move(frontier);
    search_.level_node_ = nullptr;   // what follows in the node is its own
}
template <class Entry>
BestFirst<Entry>::LevelWatch::~LevelWatch() {
    if (node_ == nullptr) return;
    std::lock_guard lock(search_.frontier_mutex_);
    search_.level_node_ = nullptr;
}

#define CONTREE_FRONTIER(Entry)                                                                  \
    template void BestFirst<Entry>::check_start() const;                                         \
    template std::uint32_t BestFirst<Entry>::number_of(std::int64_t) const;                      \
    template Score BestFirst<Entry>::without_leaf(Score) const;                                  \
    template Score BestFirst<Entry>::with_leaf(Score) const;                                     \
    template Score BestFirst<Entry>::cutoff() const;                                             \
    template void BestFirst<Entry>::open_from(Node&, const Frontier&) const;                     \
    template Frontier BestFirst<Entry>::frontier_of(Node&) const;                                \
    template std::pair<Frontier, Outcome> BestFirst<Entry>::snapshot();                          \
    template void BestFirst<Entry>::end_level(std::int64_t, Score);                              \
    template BestFirst<Entry>::LevelWatch::LevelWatch(BestFirst&, Node&, bool);                  \
    template void BestFirst<Entry>::LevelWatch::leave();                                         \
    template BestFirst<Entry>::LevelWatch::~LevelWatch();
CONTREE_FRONTIER(NarrowEntry)
CONTREE_FRONTIER(WideEntry)
#undef CONTREE_FRONTIER

}  // namespace contree
