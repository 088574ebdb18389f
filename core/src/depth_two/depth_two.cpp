#include "depth_two/depth_two.hpp"
#include "bounds/split_cost.hpp"
#include "tree/locate.hpp"

namespace contree {
static constexpr unsigned most_lanes = 5;   // thresholds tried at once in an untouched feature
static constexpr unsigned most_spare = 10;  // and in any segment, where lanes are to spare

Outcome DepthTwo::solve(const RowSet& set, Leaves leaves, Score lower, Score target, const Sources& sources,
    Profile* learnt, Arena& arena, Statistics& statistics, Score slack) {
    assert(leaves >= 3);
    Arena::Frame frame(arena);
    set_ = &set;
    statistics_ = &statistics;
    // What holds for a leaf size says nothing of other row sets.
    learnt_ = set.has_leaf_size() ? nullptr : learnt;
    ++statistics.depth_two_solves;
    slack_ = slack;
    lower_ub(target);
    best_ = Outcome{};
    leaf_ = rules_.costs.loss * objective_.leaf_loss(set);
    budgets_ = leaves > 3 ? std::vector<LeafBudget>{{2, 2}} : std::vector<LeafBudget>{{1, 2}, {2, 1}};
    plain_ = leaves > 3 && rules_.costs.plain();
    if (learnt != nullptr) learnt->expect(budgets_);
    if (leaf_ < ub_) improve(leaf_, {Step{Step::leaf, 0}});
    batch_ = &batches_->start(set, arena, statistics);
    batch_->with_leaves = !plain_;
    batch_->wanted = [this](std::size_t t) { return wanted(t); };
    start(lower, sources);
    open_subsets();
    for (bool first = true; lower < ub_ && !open_.empty() && !control_.stopped(); first = false) {
        batch_->with_whole = first;
        choose_lanes();
        if (batch_->evaluate(raw_limit())) learn();
    }
    search_subsets(lower);
    for (const Open& open : open_) close(open.segment.bound);  // after a stop
    // Nothing else notes what was cut off the runs.  A split may cost more than a leaf.
    const Score cut_off = slack_ > 0 ? limit_ : best_.upper;
    best_.lower = std::max(std::min({cut_off, floor_, leaf_}), lower);
    if (learnt != nullptr) {
        learnt->mass = set.mass;
        settle(*learnt, rules_);
    }
    return std::move(best_);
}

void DepthTwo::start(Score lower, const Sources& sources) {
    const RowSet& set = *set_;
    floor_ = unreached;
    stump_ = lower;
    open_.clear();
    for (std::uint32_t budget = 0; budget < budgets_.size(); ++budget) {
        const Point left_end{0, 0, end_score(budgets_[budget].right)},
            right_end{set.mass, end_score(budgets_[budget].left), 0};
        Inheritance inheritance(set, budgets_[budget], sources, rules_);
        for (std::uint32_t f = 0; f < set.features; ++f) {
            inheritance.points_of(f, inherited_);
            statistics_->inherited_points += static_cast<std::int64_t>(inherited_.size());
            found_.clear();
            close(open_between(f, budget, left_end, right_end, inherited_, ub_, rules_, found_));
            for (const Segment& segment : found_)
                if (Open open{segment, {}}; still_open(open)) open_.push_back(open);
            // Inherited points that close nothing here are not worth handing on.
            for (const Point& point : inherited_)
                if (rules_.total(point) >= ub_) note(f, budget, set.position_of(f, point.z), point);
        }
    }
}

// What a side of at most so many leaves costs.  A lane that was left out has reached no stump.
Score DepthTwo::side_score(Score stump, Score leaf, Leaves leaves) const {
    if (plain_) return stump;
    return small_tree(stump, leaf, stump >= unreached ? 1 : leaves, rules_.costs);
}

// The best of a lane for all budgets, if its stumps lose so much.
Score DepthTwo::lane_score(std::size_t t, const Sides& stumps) const {
    Score least = unreached;
    for (const LeafBudget& budget : budgets_)
        least = std::min(least, side_score(stumps.left, batch_->leaf_left(t), budget.left) +
                                    side_score(stumps.right, batch_->leaf_right(t), budget.right));
    return least + rules_.costs.split;
}

bool DepthTwo::wanted(std::size_t t) const {
    Score best = ub_;
    for (std::size_t s = 0; s < batch_->lanes.size(); ++s)
        if (batch_->reached(s) < unreached)
            best = std::min(best, lane_score(s, {batch_->reached_left(s), batch_->reached_right(s)}));
    return lane_score(t, {batch_->proved_left(t), batch_->proved_right(t)}) < best;
}

// That tree.  The best stump of a plan may turn out to be a leaf where nothing but loss counts.
Step DepthTwo::side_step(Score stump, Score leaf, Leaves leaves) const {
    const bool is_leaf = !plain_ && side_score(stump, leaf, leaves) == rules_.costs.loss * leaf;
    return {is_leaf ? Step::leaf : Step::stump, 0};
}

// Can the segment hold a split below the limit?  Sets its live run.
bool DepthTwo::still_open(Open& open) {
    const bool closed = open.segment.bound >= limit_;
    if (!closed) open.run = live_run(open.segment, *set_, limit_, rules_);
    if (!closed && !open.run.empty()) return true;
    close(closed ? open.segment.bound : limit_);
    ++(closed ? statistics_->closed_by_segment_bound : statistics_->closed_by_trimming);
    return false;
}

// Least bound first, then the longest run.  A round costs the same with few lanes as with all, so spare ones
// go to the first segments.  A segment's lanes are spread evenly over its run.  A key is the bound, what the
// width lacks to the greatest, and the segment's number, in one word; cutting off large numbers changes the
// order in which segments are taken and nothing else.
void DepthTwo::choose_lanes() {
    constexpr std::uint64_t most = (1u << 22) - 1, index_mask = (1u << 20) - 1;
    const unsigned room = batch_->width - batch_->with_whole;
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ub_))) - 22);
    const auto width = [](const Run& run) { return std::uint64_t{run.last - run.first}; };
    keys_.clear();
    for (std::size_t i = 0; i < open_.size(); ++i)
        keys_.push_back(std::min(static_cast<std::uint64_t>(open_[i].segment.bound) >> shift, most) << 42 |
                        (most - std::min(width(open_[i].run), most)) << 20 | i);
    if (keys_.size() > room) {
        std::nth_element(keys_.begin(), keys_.begin() + room, keys_.end());
        keys_.resize(room);
    }
    std::sort(keys_.begin(), keys_.end());
    auto& lanes = batch_->lanes;
    lanes.clear();
    const unsigned each = std::max(1u, std::min(most_spare, room / static_cast<unsigned>(keys_.size())));
    for (const std::uint64_t key : keys_) {
        const auto i = static_cast<std::uint32_t>(key & index_mask);
        const auto& [segment, run] = open_[i];
        const bool fresh = segment.u.z == 0 && segment.v.z == set_->mass;
        const std::uint64_t thresholds = width(run) + 1,
                            count = std::min<std::uint64_t>(
                                {room - lanes.size(), thresholds, fresh ? std::max(most_lanes, each) : each});
        for (std::uint64_t c = 0; c < count; ++c) {
            const auto ahead = static_cast<std::uint32_t>((2 * c + 1) * thresholds / (2 * count));
            lanes.push_back({segment.f, set_->cuts(segment.f).at(run.first + ahead, run.low, run.high), i});
        }
    }
    std::ranges::sort(lanes, {}, [](const Lane& lane) { return std::uint64_t{lane.f} << 32 | lane.z; });
    match_lanes();
    if (set_->has_leaf_size()) choose_neighbourhoods();
}

// A lane cuts its owner, and the segments of other budgets that hold its threshold; with a leaf size its
// owner alone, as it tells of that one's neighbourhood.  Lanes are sorted by feature and position, so with
// one budget those of a segment are neighbours already.
void DepthTwo::match_lanes() {
    const auto& lanes = batch_->lanes;
    cuts_.clear();
    for (std::uint32_t t = 0; t < lanes.size(); ++t) cuts_.emplace_back(lanes[t].owner, t);
    if (budgets_.size() == 1) return;
    for (std::uint32_t i = 0; i < open_.size() && !set_->has_leaf_size(); ++i) {
        const Segment& s = open_[i].segment;
        for (std::uint32_t t = 0; t < lanes.size(); ++t) {
            if (lanes[t].f != s.f || open_[lanes[t].owner].segment.budget == s.budget) continue;
            const Score z = set_->mass_at(s.f, lanes[t].z);
            if (s.u.z - s.u.open < z && z < s.v.z) cuts_.emplace_back(i, t);
        }
    }
    std::sort(cuts_.begin(), cuts_.end());
}

// The thresholds that every lane's bounds must hold for: those up to its run's next lanes, or the run's ends.
void DepthTwo::choose_neighbourhoods() {
    auto& lanes = batch_->lanes;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
        const auto [owner, t] = cuts_[i];
        const bool first = i == 0 || cuts_[i - 1].first != owner,
                   last = i + 1 == cuts_.size() || cuts_[i + 1].first != owner;
        const Run& run = open_[owner].run;
        const Cuts cuts = set_->cuts(lanes[t].f);
        const auto beside = [&](std::size_t j) { return cuts.below(lanes[cuts_[j].second].z); };
        lanes[t].before = cuts.at(first ? run.first : beside(i - 1) + 1, run.low, run.high);
        lanes[t].behind = cuts.at(last ? run.last : beside(i + 1) - 1, run.low, run.high);
    }
}

// Takes the lanes' scores into the incumbent and cuts the segments at them.
void DepthTwo::learn() {
    const Score before = ub_, limit_before = limit_;
    if (batch_->with_whole) learn_whole();
    for (std::size_t t = 0; t < batch_->lanes.size(); ++t) take_lane(t);
    cut_segments(limit_before);
    if (ub_ < before) std::erase_if(open_, [&](Open& open) { return !still_open(open); });
}

// The tree that a lane has reached, if it is better.
void DepthTwo::take_lane(std::size_t t) {
    if (batch_->reached(t) >= raw_limit() || !batch_->allows(t)) return;
    const Lane& lane = batch_->lanes[t];
    for (const LeafBudget& budget : budgets_) {
        const Sides stumps{batch_->reached_left(t), batch_->reached_right(t)},
            leaves{batch_->leaf_left(t), batch_->leaf_right(t)};
        const Score score = side_score(stumps.left, leaves.left, budget.left) +
                            side_score(stumps.right, leaves.right, budget.right) + rules_.costs.split;
        if (score >= ub_) continue;
        const Split at = lane.left == nullptr
                             ? Split{lane.f, lane.z}
                             : set_->split_of(lane.f, {lane.left, lane.left + set_->categories->words});
        improve(score, {step_at(*set_, at), side_step(stumps.left, leaves.left, budget.left),
                           side_step(stumps.right, leaves.right, budget.right)});
    }
}

// theta_1 of all rows bounds the ends of every feature.
void DepthTwo::learn_whole() {
    constexpr std::size_t whole = Batch::whole_lane;
    const Score leaf = batch_->leaf_left(whole);
    const Score reached = side_score(batch_->reached_left(whole), leaf, 2),
                proved = side_score(batch_->proved_left(whole), leaf, 2);
    if (reached < ub_) improve(reached, {side_step(batch_->reached_left(whole), leaf, 2)});
    close(proved);
    if (proved <= stump_) return;
    stump_ = proved;
    for (Open& open : open_) {
        Segment& s = open.segment;
        if (s.u.z == 0) s.u.right = end_score(budgets_[s.budget].right);
        if (s.v.z == set_->mass) s.v.left = end_score(budgets_[s.budget].left);
        if (s.u.z == 0 || s.v.z == set_->mass) s.bound = std::max(s.bound, segment_bound(s, rules_));
    }
}

// The segment's own place takes the last part of it; parts that are closed already are not kept.
void DepthTwo::cut_segments(Score limit_before) {
    constexpr Score gone = -1;
    const bool leaf_size = set_->has_leaf_size();
    bool any_gone = false;
    for (std::size_t next = 0; next < cuts_.size();) {
        const std::uint32_t i = cuts_[next].first;
        const Segment segment = open_[i].segment;
        if (leaf_size) close(trimmed_bound(segment, limit_before, rules_));
        const LeafBudget budget = budgets_[segment.budget];
        Point u = segment.u;
        const auto part = [&](const Point& v) { return Open{part_of(segment, u, v, rules_), {}}; };
        for (; next < cuts_.size() && cuts_[next].first == i; ++next) {
            const std::size_t t = cuts_[next].second;
            const Position position = batch_->lanes[t].z;
            const Score z = set_->mass_at(segment.f, position);
            const auto point = [&](Score left, Score right) {
                return Point{z, side_score(left, batch_->leaf_left(t), budget.left),
                    side_score(right, batch_->leaf_right(t), budget.right)};
            };
            const Point own = point(batch_->proved_left(t), batch_->proved_right(t));
            const Point near = leaf_size ? point(batch_->near_left(t), batch_->near_right(t)) : own;
            const Evaluated w = within(segment, {near, own}, leaf_size, rules_);
            if (batch_->allows(t)) close(std::max(rules_.total(w.own), rules_.total(own)));
            note(segment.f, segment.budget, position, w.own);
            if (Open open = part(w.as_right_end()); u.z < z && still_open(open)) open_.push_back(open);
            u = w.as_left_end();
        }
        open_[i] = part(segment.v);
        if (still_open(open_[i])) continue;
        open_[i].segment.bound = gone;
        any_gone = true;
    }
    if (any_gone) std::erase_if(open_, [](const Open& open) { return open.segment.bound == gone; });
}
}  // namespace contree
