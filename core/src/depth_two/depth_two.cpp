#include "depth_two/depth_two.hpp"

#include "bounds/class_count.hpp"

namespace contree {

namespace {

constexpr unsigned most_lanes = 5;    // thresholds tried at once in an untouched feature
constexpr unsigned most_spare = 10;   // and in any segment, where lanes are to spare

// Sorts by two small numbers and remembers a third, in one word.  Large numbers are cut off, which changes the
// order in which segments are taken and nothing else.
constexpr std::uint64_t packed_key(std::uint64_t first, std::uint64_t second, std::uint64_t index) {
    return std::min<std::uint64_t>(first, (1u << 22) - 1) << 42 | std::min<std::uint64_t>(second, (1u << 22) - 1) << 20 | index;
}
constexpr std::uint64_t index_of(std::uint64_t key) { return key & ((1u << 20) - 1); }

}  // namespace

template <class Entry>
Outcome DepthTwo<Entry>::solve(const Subproblem<Entry>& sub, Score lower, Score target, const Sources& sources,
                               Profile* learnt, Arena& arena, Statistics& statistics) {
    Arena::Frame frame(arena);
    sub_ = &sub;
    statistics_ = &statistics;
    learnt_ = learnt;
    ++statistics.depth_two_solves;
    ub_ = target;
    best_ = Outcome{};
    if (const Score leaf = leaf_errors(sub); leaf < ub_) improve(leaf, {Step{Step::leaf, 0}});
    batch_.start(sub, arena, statistics);
    start(lower, sources);
    for (bool first = true; lower < ub_ && !open_.empty() && !control_.stopped(); first = false) {
        batch_.with_whole = first;
        choose_lanes();
        if (batch_.evaluate(ub_)) learn();
    }
    Score still_open = unreached;   // after a stop
    for (const Open& open : open_) still_open = std::min(still_open, open.segment.bound);
    best_.lower = std::max(std::min({best_.upper, floor_, still_open}), lower);
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
    stump_ = std::max(class_count_bound(sub, 1), lower);
    open_.clear();
    const Point left_end{0, 0, stump_}, right_end{sub.mass, stump_, 0};
    Inheritance<Entry> inheritance(sub, sources);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        inheritance.points_of(f, inherited_);
        statistics_->inherited_points += static_cast<std::int64_t>(inherited_.size());
        if (sub.limited()) note_inherited(f);   // before the ends tell them what holds for this leaf size alone
        found_.clear();
        close(open_between(f, left_end, right_end, inherited_, ub_, rules_, found_));
        for (const Segment& segment : found_)
            if (Open open{segment, {}}; still_open(open)) open_.push_back(open);
        if (!sub.limited()) note_inherited(f);
    }
}

// Can the segment hold a split below ub_?  Sets its live run.
template <class Entry>
bool DepthTwo<Entry>::still_open(Open& open) {
    if (open.segment.bound >= ub_) {
        close(open.segment.bound);
        ++statistics_->closed_by_segment_bound;
        return false;
    }
    open.run = live_run(open.segment, *sub_, ub_, rules_);
    if (open.run.empty()) {
        close(ub_);
        ++statistics_->closed_by_trimming;
        return false;
    }
    return true;
}

// Least bound first, then the longest run.  A round costs the same with few lanes as with all, so spare ones go
// to the first segments.
template <class Entry>
void DepthTwo<Entry>::choose_lanes() {
    const unsigned room = lane_count - batch_.with_whole;
    // With weights, bounds may be large: their leading bits are enough.
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ub_))) - 22);
    keys_.clear();
    for (std::size_t i = 0; i < open_.size(); ++i) {
        const std::uint64_t width = open_[i].run.last - open_[i].run.first;
        keys_.push_back(packed_key(static_cast<std::uint64_t>(open_[i].segment.bound) >> shift, (1u << 22) - 1 - std::min<std::uint64_t>(width, (1u << 22) - 1), i));
    }
    if (keys_.size() > room) {
        std::nth_element(keys_.begin(), keys_.begin() + room, keys_.end());
        keys_.resize(room);
    }
    std::sort(keys_.begin(), keys_.end());
    batch_.lanes.clear();
    const unsigned each = std::max(1u, std::min(most_spare, room / static_cast<unsigned>(keys_.size())));
    for (const std::uint64_t key : keys_) {
        const auto i = static_cast<std::uint32_t>(index_of(key));
        const Segment& segment = open_[i].segment;
        const bool fresh = segment.u.z == 0 && segment.v.z == sub_->mass;
        const auto left = static_cast<unsigned>(room - batch_.lanes.size());
        if (left == 0) break;
        spread_lanes(i, std::min(left, fresh ? std::max(most_lanes, each) : each));
    }
    std::sort(batch_.lanes.begin(), batch_.lanes.end(), [](const Lane& a, const Lane& b) {
        return (std::uint64_t{a.f} << 32 | a.z) < (std::uint64_t{b.f} << 32 | b.z);
    });
    if (sub_->limited()) choose_stretches();
}

// The thresholds that every lane's bounds must hold for: those up to the lanes, or the ends of its run, beside it.
template <class Entry>
void DepthTwo<Entry>::choose_stretches() {
    auto& lanes = batch_.lanes;
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const Run& run = open_[lanes[t].owner].run;
        const Cuts cuts = sub_->cuts(lanes[t].f);
        const bool first = t == 0 || lanes[t - 1].owner != lanes[t].owner;
        const bool last = t + 1 == lanes.size() || lanes[t + 1].owner != lanes[t].owner;
        lanes[t].before = cuts.at(first ? run.first : cuts.below(lanes[t - 1].z) + 1, run.low, run.high);
        lanes[t].behind = cuts.at(last ? run.last : cuts.below(lanes[t + 1].z) - 1, run.low, run.high);
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
        const auto index = open.run.first + static_cast<std::uint32_t>((std::uint64_t{2} * c + 1) * width / (2 * count));
        batch_.lanes.push_back({open.segment.f, cuts.at(index, open.run.low, open.run.high), i});
    }
}

// Takes the lanes' scores into the incumbent and cuts the segments at them.
template <class Entry>
void DepthTwo<Entry>::learn() {
    const Score before = ub_;
    if (batch_.with_whole) learn_whole();
    for (std::size_t t = 0; t < batch_.lanes.size(); ++t) {
        const Lane& lane = batch_.lanes[t];
        if (batch_.reached(t) >= ub_ || !sub_->allows(lane.f, lane.z)) continue;
        improve(batch_.reached(t), {Step{static_cast<std::int32_t>(sub_->feature[lane.f]), sub_->rank_left_of(lane.f, lane.z)},
                                    Step{Step::stump, 0}, Step{Step::stump, 0}});
    }
    cut_segments(before);
    if (ub_ < before) std::erase_if(open_, [&](Open& open) { return !still_open(open); });
}

// theta_1 of all rows bounds the ends of every feature.
template <class Entry>
void DepthTwo<Entry>::learn_whole() {
    constexpr std::size_t whole = Batch<Entry>::whole_lane;
    if (batch_.reached(whole) < ub_) improve(batch_.reached(whole), {Step{Step::stump, 0}});
    close(batch_.proved(whole));
    if (batch_.proved(whole) <= stump_) return;
    stump_ = batch_.proved(whole);
    for (Open& open : open_) {
        Segment& s = open.segment;
        if (s.u.z == 0) s.u.right = stump_;
        if (s.v.z == sub_->mass) s.v.left = stump_;
        if (s.u.z == 0 || s.v.z == sub_->mass) s.bound = std::max(s.bound, segment_bound(s, rules_));
    }
}

template <class Entry>
void DepthTwo<Entry>::improve(Score score, Plan plan) {
    ub_ = best_.upper = score;
    best_.plan = std::move(plan);
}

// Lanes of one segment are neighbours, as they are sorted by feature and position.  The segment's own place takes
// the last part of it; parts that are closed already are not kept.
template <class Entry>
void DepthTwo<Entry>::cut_segments(Score ub_before) {
    constexpr Score gone = -1;
    bool any_gone = false;
    for (std::size_t t = 0; t < batch_.lanes.size();) {
        const std::uint32_t i = batch_.lanes[t].owner;
        const Segment segment = open_[i].segment;
        if (sub_->limited()) close(trimmed_bound(segment, ub_before, rules_));
        Point u = segment.u;
        const auto part = [&](const Point& v) { return Open{part_of(segment, u, v, rules_), {}}; };
        for (; t < batch_.lanes.size() && batch_.lanes[t].owner == i; ++t) {
            const Position position = batch_.lanes[t].z;
            const Score z = sub_->mass_at(segment.f, position);
            const Evaluated w = within(segment, {{z, batch_.near_left(t), batch_.near_right(t)}, {z, batch_.proved_left(t), batch_.proved_right(t)}},
                                       sub_->limited(), rules_);
            if (sub_->allows(segment.f, position)) close(std::max(w.own.total(), batch_.proved(t)));
            if (!sub_->limited()) note(segment.f, position, w.own);
            else note(segment.f, position, {z, batch_.relaxed_left(t), batch_.relaxed_right(t)});   // for other row sets
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
void DepthTwo<Entry>::note(std::uint32_t f, Position position, const Point& point) {
    if (learnt_ == nullptr) return;
    learnt_->points.push_back({sub_->feature[f], sub_->rank_left_of(f, position), point.z, point.left, point.right});
}

// Of the inherited points, those that close nothing here are not worth handing on.
template <class Entry>
void DepthTwo<Entry>::note_inherited(std::uint32_t f) {
    for (const Point& point : inherited_)
        if (point.total() >= ub_) note(f, sub_->position_of(f, point.z), point);
}

template class DepthTwo<NarrowEntry>;
template class DepthTwo<WideEntry>;

}  // namespace contree
