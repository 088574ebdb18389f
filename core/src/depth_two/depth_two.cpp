#include "depth_two/depth_two.hpp"

#include "bounds/class_count.hpp"
#include "bounds/cost.hpp"

namespace contree {

namespace {

constexpr unsigned most_lanes = 5;    // thresholds tried at once in an untouched feature
constexpr unsigned most_spare = 10;   // and in any segment, where lanes are to spare

// Sorts by two small numbers and remembers a third, in one word.  Large numbers are cut off, which changes
// the order in which segments are taken and nothing else.
constexpr std::uint64_t packed_key(std::uint64_t first, std::uint64_t second, std::uint64_t index) {
    return std::min<std::uint64_t>(first, (1u << 22) - 1) << 42 |
           std::min<std::uint64_t>(second, (1u << 22) - 1) << 20 | index;
}
constexpr std::uint64_t index_of(std::uint64_t key) { return key & ((1u << 20) - 1); }

}  // namespace

template <class Entry>
Outcome DepthTwo<Entry>::solve(const Subproblem<Entry>& sub, Leaves leaves, Score lower, Score target,
                               const Sources& sources, Profile* learnt, Arena& arena, Statistics& statistics,
                               Score slack) {
    assert(leaves >= 3);
    Arena::Frame frame(arena);
    sub_ = &sub;
    statistics_ = &statistics;
    learnt_ = sub.limited() ? nullptr : learnt;   // what holds for a leaf size says nothing of other row sets
    ++statistics.depth_two_solves;
    slack_ = slack;
    lower_ub(target);
    best_ = Outcome{};
    leaf_ = leaf_score(sub, rules_.objective);
    shapes_.clear();
    if (leaves == 3) shapes_ = {{1, 2}, {2, 1}};
    else shapes_.push_back({2, 2});
    plain_ = leaves > 3 && rules_.objective.plain();
    if (learnt != nullptr) learnt->expect(shapes_);
    if (leaf_ < ub_) improve(leaf_, {Step{Step::leaf, 0}});
    batch_ = &batches_.start(sub, arena, statistics);
    batch_->with_leaves = !plain_;
    start(lower, sources);
    for (bool first = true; lower < ub_ && !open_.empty() && !control_.stopped(); first = false) {
        batch_->with_whole = first;
        choose_lanes();
        if (batch_->evaluate(raw_limit())) learn();
    }
    Score still_open = unreached;   // after a stop
    for (const Open& open : open_) still_open = std::min(still_open, open.segment.bound);
    // Runs were cut down to what may be below the limit; what was cut off is not noted anywhere else.
    const Score cut_off = slack_ > 0 ? limit_ : best_.upper;
    // A split may cost more than a leaf.
    best_.lower = std::max(std::min({cut_off, floor_, still_open, leaf_}), lower);
    if (learnt != nullptr) {
        learnt->mass = sub.mass;
        settle(*learnt, rules_);
    }
    return std::move(best_);
}

template <class Entry>
void DepthTwo<Entry>::start(Score lower, const Sources& sources) {
    const Subproblem<Entry>& sub = *sub_;
    floor_ = unreached;
    stump_ = lower;
    open_.clear();
    for (std::uint32_t shape = 0; shape < shapes_.size(); ++shape) {
        const Point left_end{0, 0, end_score(shapes_[shape].right)},
            right_end{sub.mass, end_score(shapes_[shape].left), 0};
        Inheritance<Entry> inheritance(sub, shapes_[shape], sources, rules_);
        for (std::uint32_t f = 0; f < sub.features; ++f) {
            inheritance.points_of(f, inherited_);
            statistics_->inherited_points += static_cast<std::int64_t>(inherited_.size());
            found_.clear();
            close(open_between(f, shape, left_end, right_end, inherited_, ub_, rules_, found_));
            for (const Segment& segment : found_)
                if (Open open{segment, {}}; still_open(open)) open_.push_back(open);
            note_inherited(f, shape);
        }
    }
}

// What a side of at most so many leaves costs.
template <class Entry>
Score DepthTwo<Entry>::side_score(Score stump, Score leaf, Leaves leaves) const {
    if (plain_) return stump;
    // A lane that was left out has reached no stump.
    return small_tree(stump, leaf, stump >= unreached ? 1 : leaves, rules_.objective);
}

// That tree.  The best stump of a plan may turn out to be a leaf where nothing but errors counts.
template <class Entry>
Step DepthTwo<Entry>::side_step(Score stump, Score leaf, Leaves leaves) const {
    const bool is_leaf = !plain_ && side_score(stump, leaf, leaves) == rules_.objective.error * leaf;
    return {is_leaf ? Step::leaf : Step::stump, 0};
}

// So many errors of two stumps reach ub_: a side costs no less than its stump's errors, and the split is paid
// too.
template <class Entry>
Score DepthTwo<Entry>::raw_limit() const {
    return ub_ == unreached ? unreached : rules_.mass_of(ub_ - rules_.objective.split);
}

// Can the segment hold a split below the limit?  Sets its live run.
template <class Entry>
bool DepthTwo<Entry>::still_open(Open& open) {
    if (open.segment.bound >= limit_) {
        close(open.segment.bound);
        ++statistics_->closed_by_segment_bound;
        return false;
    }
    open.run = live_run(open.segment, *sub_, limit_, rules_);
    if (open.run.empty()) {
        close(limit_);
        ++statistics_->closed_by_trimming;
        return false;
    }
    return true;
}

// Least bound first, then the longest run.  A round costs the same with few lanes as with all, so spare ones
// go to the first segments.
template <class Entry>
void DepthTwo<Entry>::choose_lanes() {
    const unsigned room = lane_count - batch_->with_whole;
    // With weights, bounds may be large: their leading bits are enough.
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ub_))) - 22);
    keys_.clear();
    for (std::size_t i = 0; i < open_.size(); ++i) {
        const std::uint64_t width = open_[i].run.last - open_[i].run.first;
        keys_.push_back(packed_key(static_cast<std::uint64_t>(open_[i].segment.bound) >> shift,
                                   (1u << 22) - 1 - std::min<std::uint64_t>(width, (1u << 22) - 1), i));
    }
    if (keys_.size() > room) {
        std::nth_element(keys_.begin(), keys_.begin() + room, keys_.end());
        keys_.resize(room);
    }
    std::sort(keys_.begin(), keys_.end());
    batch_->lanes.clear();
    const unsigned each = std::max(1u, std::min(most_spare, room / static_cast<unsigned>(keys_.size())));
    for (const std::uint64_t key : keys_) {
        const auto i = static_cast<std::uint32_t>(index_of(key));
        const Segment& segment = open_[i].segment;
        const bool fresh = segment.u.z == 0 && segment.v.z == sub_->mass;
        const auto left = static_cast<unsigned>(room - batch_->lanes.size());
        if (left == 0) break;
        spread_lanes(i, std::min(left, fresh ? std::max(most_lanes, each) : each));
    }
    std::sort(batch_->lanes.begin(), batch_->lanes.end(), [](const Lane& a, const Lane& b) {
        return (std::uint64_t{a.f} << 32 | a.z) < (std::uint64_t{b.f} << 32 | b.z);
    });
    match_lanes();
    if (sub_->limited()) choose_stretches();
}

// A lane cuts its owner, and the segments of other shapes that hold its threshold: what it tells, it tells of
// all shapes. (Not with a minimal leaf size, where it tells of its owner's neighbourhood alone.)  Lanes are
// sorted by feature and position, so with one shape those of a segment are neighbours already.
template <class Entry>
void DepthTwo<Entry>::match_lanes() {
    const auto& lanes = batch_->lanes;
    cuts_.clear();
    for (std::uint32_t t = 0; t < lanes.size(); ++t) cuts_.push_back({lanes[t].owner, t});
    if (shapes_.size() == 1) return;
    for (std::uint32_t i = 0; i < open_.size() && !sub_->limited(); ++i) {
        const Segment& s = open_[i].segment;
        for (std::uint32_t t = 0; t < lanes.size(); ++t) {
            if (lanes[t].f != s.f || open_[lanes[t].owner].segment.shape == s.shape) continue;
            const Score z = sub_->mass_at(s.f, lanes[t].z);
            if (s.u.z - s.u.open < z && z < s.v.z) cuts_.push_back({i, t});
        }
    }
    std::sort(cuts_.begin(), cuts_.end(), [](const Cut& a, const Cut& b) {
        return std::pair(a.open, a.lane) < std::pair(b.open, b.lane);
    });
}

// The thresholds that every lane's bounds must hold for: those up to the lanes, or the ends of its run,
// beside it.
template <class Entry>
void DepthTwo<Entry>::choose_stretches() {
    auto& lanes = batch_->lanes;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Lane& lane = lanes[cuts_[i].lane];
        const Lane* const left = i == 0 ? nullptr : &lanes[cuts_[i - 1].lane];
        const Lane* const right = i + 1 == lanes.size() ? nullptr : &lanes[cuts_[i + 1].lane];
        const bool first = left == nullptr || left->owner != lane.owner,
                   last = right == nullptr || right->owner != lane.owner;
        const Run& run = open_[lane.owner].run;
        const Cuts cuts = sub_->cuts(lane.f);
        lane.before = cuts.at(first ? run.first : cuts.below(left->z) + 1, run.low, run.high);
        lane.behind = cuts.at(last ? run.last : cuts.below(right->z) - 1, run.low, run.high);
    }
}

// `count` thresholds evenly over the run, or all of them where there are fewer.
template <class Entry>
void DepthTwo<Entry>::spread_lanes(std::uint32_t i, unsigned count) {
    const Open& open = open_[i];
    const std::uint32_t width = open.run.last - open.run.first + 1;
    count = std::min(count, width);
    const Cuts cuts = sub_->cuts(open.segment.f);
    for (unsigned c = 0; c < count; ++c) {
        const auto index =
            open.run.first + static_cast<std::uint32_t>((std::uint64_t{2} * c + 1) * width / (2 * count));
        batch_->lanes.push_back({open.segment.f, cuts.at(index, open.run.low, open.run.high), i});
    }
}

// Takes the lanes' scores into the incumbent and cuts the segments at them.
template <class Entry>
void DepthTwo<Entry>::learn() {
    const Score before = ub_, limit_before = limit_;
    if (batch_->with_whole) learn_whole();
    for (std::size_t t = 0; t < batch_->lanes.size(); ++t) {
        const Lane& lane = batch_->lanes[t];
        if (batch_->reached(t) >= raw_limit() || !batch_->allows(t)) continue;
        for (const Shape& shape : shapes_) {
            const Score left = side_score(batch_->reached_left(t), batch_->leaf_left(t), shape.left);
            const Score right = side_score(batch_->reached_right(t), batch_->leaf_right(t), shape.right);
            const Score score = left + right + rules_.objective.split;
            if (score >= ub_) continue;
            improve(score, {Step{static_cast<std::int32_t>(sub_->feature[lane.f]),
                                 sub_->rank_left_of(lane.f, lane.z)},
                            side_step(batch_->reached_left(t), batch_->leaf_left(t), shape.left),
                            side_step(batch_->reached_right(t), batch_->leaf_right(t), shape.right)});
        }
    }
    cut_segments(limit_before);
    if (ub_ < before) std::erase_if(open_, [&](Open& open) { return !still_open(open); });
}

// theta_1 of all rows bounds the ends of every feature.
template <class Entry>
void DepthTwo<Entry>::learn_whole() {
    constexpr std::size_t whole = Batch<Entry>::whole_lane;
    const Score leaf = batch_->leaf_left(whole);
    const Score reached = side_score(batch_->reached_left(whole), leaf, 2),
                proved = side_score(batch_->proved_left(whole), leaf, 2);
    if (reached < ub_) improve(reached, {side_step(batch_->reached_left(whole), leaf, 2)});
    close(proved);
    if (proved <= stump_) return;
    stump_ = proved;
    for (Open& open : open_) {
        Segment& s = open.segment;
        if (s.u.z == 0) s.u.right = end_score(shapes_[s.shape].right);
        if (s.v.z == sub_->mass) s.v.left = end_score(shapes_[s.shape].left);
        if (s.u.z == 0 || s.v.z == sub_->mass) s.bound = std::max(s.bound, segment_bound(s, rules_));
    }
}

template <class Entry>
void DepthTwo<Entry>::lower_ub(Score ub) {
    ub_ = ub;
    limit_ = ub - ub / 64 * slack_ - ub % 64 * slack_ / 64;
}

template <class Entry>
void DepthTwo<Entry>::improve(Score score, Plan plan) {
    lower_ub(best_.upper = score);
    best_.plan = std::move(plan);
}

// The segment's own place takes the last part of it; parts that are closed already are not kept.
template <class Entry>
void DepthTwo<Entry>::cut_segments(Score limit_before) {
    constexpr Score gone = -1;
    const bool limited = sub_->limited();
    bool any_gone = false;
    for (std::size_t next = 0; next < cuts_.size();) {
        const std::uint32_t i = cuts_[next].open;
        const Segment segment = open_[i].segment;
        if (limited) close(trimmed_bound(segment, limit_before, rules_));
        const Shape shape = shapes_[segment.shape];
        const auto point = [&](std::size_t t, Score z, Score left, Score right) {
            return Point{z, side_score(left, batch_->leaf_left(t), shape.left),
                         side_score(right, batch_->leaf_right(t), shape.right)};
        };
        Point u = segment.u;
        const auto part = [&](const Point& v) { return Open{part_of(segment, u, v, rules_), {}}; };
        for (; next < cuts_.size() && cuts_[next].open == i; ++next) {
            const std::size_t t = cuts_[next].lane;
            const Position position = batch_->lanes[t].z;
            const Score z = sub_->mass_at(segment.f, position);
            const Point own = point(t, z, batch_->proved_left(t), batch_->proved_right(t));
            const Point near = limited ? point(t, z, batch_->near_left(t), batch_->near_right(t)) : own;
            const Evaluated w = within(segment, {near, own}, limited, rules_);
            if (batch_->allows(t)) close(std::max(rules_.total(w.own), rules_.total(own)));
            note(segment.f, segment.shape, position, w.own);
            if (Open open = part(w.as_right_end()); u.z < z && still_open(open)) open_.push_back(open);
            u = w.as_left_end();
        }
        open_[i] = part(segment.v);
        if (!still_open(open_[i])) {
            open_[i].segment.bound = gone;
            any_gone = true;
        }
    }
    if (any_gone) std::erase_if(open_, [](const Open& open) { return open.segment.bound == gone; });
}

template <class Entry>
void DepthTwo<Entry>::note(std::uint32_t f, std::uint32_t shape, Position position, const Point& point) {
    if (learnt_ == nullptr) return;
    learnt_->parts[shape].points.push_back(
        {sub_->feature[f], sub_->rank_left_of(f, position), point.z, point.left, point.right});
}

// Of the inherited points, those that close nothing here are not worth handing on.
template <class Entry>
void DepthTwo<Entry>::note_inherited(std::uint32_t f, std::uint32_t shape) {
    for (const Point& point : inherited_)
        if (rules_.total(point) >= ub_) note(f, shape, sub_->position_of(f, point.z), point);
}

template class DepthTwo<NarrowEntry>;
template class DepthTwo<WideEntry>;

}  // namespace contree
