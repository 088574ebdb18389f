#include "depth_two/depth_two.hpp"

#include "bounds/class_count.hpp"

namespace contree {

namespace {

constexpr std::size_t whole_lane = lane_count - 1;
constexpr unsigned fresh_lanes = 5;               // thresholds tried at once in an untouched feature

}  // namespace

template <class Entry>
Outcome DepthTwo<Entry>::solve(const Subproblem<Entry>& sub, Score lower, Score target, const Sources& sources,
                               Profile* learnt, Arena& arena, Statistics& statistics) {
    Arena::Frame frame(arena);
    sub_ = &sub;
    arena_ = &arena;
    statistics_ = &statistics;
    learnt_ = learnt;
    ++statistics.depth_two_solves;
    ub_ = target;
    best_ = Outcome{};
    if (const Score leaf = leaf_errors(sub); leaf < ub_) {
        ub_ = best_.upper = leaf;
        best_.plan.assign(1, Step{Step::leaf, 0});
    }
    start(sub, lower, sources);
    while (lower < ub_ && !control_.stopped()) {
        drop_closed();
        if (open_.empty()) break;
        choose_lanes();
        write_words();
        evaluate();
        learn();
        ++round_;
    }
    best_.lower = std::min(best_.upper, floor_);
    for (const Open& open : open_) best_.lower = std::min(best_.lower, open.segment.bound);   // after a stop
    best_.lower = std::max(best_.lower, lower);
    if (learnt != nullptr) {
        learnt->rows = sub.rows;
        settle(*learnt, rules_);
    }
    return std::move(best_);
}

template <class Entry>
void DepthTwo<Entry>::start(const Subproblem<Entry>& sub, Score lower, const Sources& sources) {
    round_ = 0;
    floor_ = unreached;
    stump_ = std::max(class_count_bound(sub, 1), lower);
    open_.clear();
    const Point left_end{0, 0, stump_}, right_end{sub.rows, stump_, 0};
    Inheritance<Entry> inheritance(sub, sources);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        inheritance.points_of(f, inherited_);
        statistics_->inherited_points += static_cast<std::int64_t>(inherited_.size());
        found_.clear();
        close(open_between(f, left_end, right_end, inherited_, ub_, rules_, found_));
        for (const Segment& segment : found_) open_.push_back({segment, {}});
        for (const Point& point : inherited_) note(f, point);
    }
    words_ = arena_->take<std::uint64_t>(sub.rows);
    pairs_.clear();
    if (sub.classes > 2) {
        for (std::uint32_t b = 1; b < sub.classes; ++b)
            for (std::uint32_t a = 0; a < b; ++a) pairs_.push_back({a, b, {}});
        std::sort(pairs_.begin(), pairs_.end(), [&](const Pair& x, const Pair& y) {
            const Row of_x = sub.class_size(x.a) + sub.class_size(x.b), of_y = sub.class_size(y.a) + sub.class_size(y.b);
            return of_x != of_y ? of_x > of_y : std::pair(x.a, x.b) < std::pair(y.a, y.b);
        });
        class_totals_.resize(sub.classes);
        potential_.resize(pairs_.size() + 1);
    }
}

template <class Entry>
void DepthTwo<Entry>::note(std::uint32_t f, const Point& point) {
    if (learnt_ == nullptr) return;
    learnt_->points.push_back({sub_->feature[f], sub_->rank_left_of(f, point.z), point.z, point.left, point.right});
}

template <class Entry>
void DepthTwo<Entry>::drop_closed() {
    std::size_t kept = 0;
    for (Open& open : open_) {
        if (open.segment.bound >= ub_) {
            close(open.segment.bound);
            ++statistics_->closed_by_segment_bound;
            continue;
        }
        open.run = live_run(open.segment, sub_->cuts(open.segment.f), ub_, rules_);
        if (open.run.empty()) {
            close(ub_);
            ++statistics_->closed_by_trimming;
            continue;
        }
        open_[kept++] = open;
    }
    open_.resize(kept);
}

// Least bound first, then the longest run; untouched features get several lanes.
template <class Entry>
void DepthTwo<Entry>::choose_lanes() {
    const unsigned room = lane_count - has_whole_lane();
    chosen_.resize(open_.size());
    for (std::uint32_t i = 0; i < chosen_.size(); ++i) chosen_[i] = i;
    const auto before = [&](std::uint32_t x, std::uint32_t y) {
        const Open &a = open_[x], &b = open_[y];
        if (a.segment.bound != b.segment.bound) return a.segment.bound < b.segment.bound;
        const std::uint32_t of_a = a.run.last - a.run.first, of_b = b.run.last - b.run.first;
        return of_a != of_b ? of_a > of_b : x < y;
    };
    if (chosen_.size() > room) {
        std::nth_element(chosen_.begin(), chosen_.begin() + room, chosen_.end(), before);
        chosen_.resize(room);
    }
    std::sort(chosen_.begin(), chosen_.end(), before);
    // A round costs the same with few lanes as with all, so spare ones go to the first segments.
    lanes_.clear();
    const unsigned each = std::max(1u, std::min(fresh_lanes, room / static_cast<unsigned>(chosen_.size())));
    for (const std::uint32_t i : chosen_) {
        const Segment& segment = open_[i].segment;
        const bool fresh = segment.u.z == 0 && segment.v.z == sub_->rows;
        const std::size_t left = room - lanes_.size();
        if (left == 0) break;
        spread_lanes(i, static_cast<unsigned>(std::min<std::size_t>(left, fresh ? fresh_lanes : each)));
    }
    std::sort(lanes_.begin(), lanes_.end(),
              [](const Lane& a, const Lane& b) { return a.f != b.f ? a.f < b.f : a.z < b.z; });
    statistics_->d2split_calls += static_cast<std::int64_t>(lanes_.size());
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
        lanes_.push_back({i, open.segment.f, cuts.at(index, open.run.low, open.run.high)});
    }
}

// The rows' words.  The thresholds z_1 < .. < z_m of one feature part its order into m + 1 buckets, and all
// rows of a bucket have the same bits in the feature's lanes.  The largest bucket gets its bits by default.
template <class Entry>
void DepthTwo<Entry>::write_words() {
    using P = Packed<Entry>;
    struct Bucket {
        std::uint32_t f;
        Position begin, end;
        std::uint64_t flip;
    };
    std::array<Bucket, 2 * lane_count> buckets;
    std::size_t bucket_count = 0;
    std::uint64_t common = has_whole_lane() ? std::uint64_t{1} << whole_lane : 0;
    for (std::size_t t = 0; t < lanes_.size();) {
        const std::uint32_t f = lanes_[t].f;
        std::size_t m = 1;
        while (t + m < lanes_.size() && lanes_[t + m].f == f) ++m;
        const auto bits = [&](std::size_t b) {
            const std::uint64_t passed = (std::uint64_t{1} << b) - 1, all = (std::uint64_t{1} << m) - 1;
            return (all & ~passed) << t | passed << (lane_count + t);
        };
        const auto begin = [&](std::size_t b) { return b == 0 ? 0 : lanes_[t + b - 1].z; };
        const auto end = [&](std::size_t b) { return b == m ? sub_->rows : lanes_[t + b].z; };
        std::size_t largest = 0;
        for (std::size_t b = 1; b <= m; ++b)
            if (end(b) - begin(b) > end(largest) - begin(largest)) largest = b;
        common |= bits(largest);
        for (std::size_t b = 0; b <= m; ++b)
            if (b != largest) buckets[bucket_count++] = {f, begin(b), end(b), bits(b) ^ bits(largest)};
        t += m;
    }
    std::fill_n(words_, sub_->rows, common);
    for (std::size_t i = 0; i < bucket_count; ++i) {
        const Bucket& bucket = buckets[i];
        const Entry* const order = sub_->order(bucket.f);
        for (Position k = bucket.begin; k < bucket.end; ++k) words_[P::row(order[k])] ^= bucket.flip;
    }
}

template <class Entry>
void DepthTwo<Entry>::side_sizes() {
    size_.fill(0);
    for (std::size_t t = 0; t < lanes_.size(); ++t) {
        size_[left_side(t)] = static_cast<std::int32_t>(lanes_[t].z);
        size_[right_side(t)] = static_cast<std::int32_t>(sub_->rows - lanes_[t].z);
    }
    if (has_whole_lane()) size_[left_side(whole_lane)] = static_cast<std::int32_t>(sub_->rows);
}

template <class Entry>
void DepthTwo<Entry>::evaluate() {
    ++statistics_->depth_two_batches;
    side_sizes();
    if (sub_->classes == 2) evaluate_two_classes();
    else evaluate_classes();
}

template <class Entry>
void DepthTwo<Entry>::evaluate_two_classes() {
    statistics_->row_visits += std::int64_t{sub_->rows} * sub_->features;
    kernel_.sweep(Sweep<Entry>{sub_->entries, sub_->stride, sub_->tied, sub_->features, sub_->rows, words_,
                               sub_->class_begin[1]}, sums_);
    for (unsigned s = 0; s < side_count; ++s) {
        const std::int32_t positive = (size_[s] + sums_.end[s]) / 2, negative = size_[s] - positive;
        reached_[s] = proved_[s] = std::min(positive - sums_.high[s], negative + sums_.low[s]);
    }
}

// More classes: a stump that says a left and b right is right tot_b + W times, with W = pre_a - pre_b over
// the rows of classes a and b alone, so
//     rows - errors = max over pairs {a, b} of max(tot_b + max W, tot_a - min W),
// and a pair is a two-class sweep over its own rows.  No stump on {a, b} is right more than tot_a + tot_b
// times: `potential_[i]` is the most that pairs i, i+1, .. can give.  A lane whose two sides cannot get below
// ub_ even so is dead, and a pair that can help no side of a live lane is left out.  (Testing one side alone
// would be wrong: left and right may use different pairs.)
template <class Entry>
void DepthTwo<Entry>::evaluate_classes() {
    const Subproblem<Entry>& sub = *sub_;
    BySide right{};   // rows classified rightly by the best stump so far
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        kernel_.count_sides(words_ + sub.class_begin[c], sub.class_size(c), class_totals_[c].data());
        for (unsigned s = 0; s < side_count; ++s) right[s] = std::max(right[s], class_totals_[c][s]);
    }
    potential_[pairs_.size()].fill(0);
    for (std::size_t i = pairs_.size(); i-- > 0;) {
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for (unsigned s = 0; s < side_count; ++s) potential_[i][s] = std::max(potential_[i + 1][s], a[s] + b[s]);
    }
    const std::size_t whole = has_whole_lane() ? whole_lane : lane_count;
    std::array<std::size_t, lane_count> death;   // the pair at which a lane died; its bound counts all from there
    death.fill(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        bool any_live = false, helps = false;
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for (std::size_t t = 0; t < lane_count; ++t) {
            if (t >= lanes_.size() && t != whole) continue;
            const std::size_t l = left_side(t), r = right_side(t);
            const std::int32_t best_left = std::max(right[l], potential_[i][l]), best_right = std::max(right[r], potential_[i][r]);
            const bool live = size_[l] + size_[r] - best_left - best_right < ub_;
            any_live |= live;
            if (!live) death[t] = std::min(death[t], i);
            helps |= live && (a[l] + b[l] > right[l] || a[r] + b[r] > right[r]);
        }
        if (!any_live) break;
        if (!helps) continue;
        const PairRows& rows = pair_rows(pairs_[i]);
        statistics_->row_visits += std::int64_t{rows.rows} * sub.features;
        kernel_.sweep(Sweep<Entry>{rows.entries, rows.stride, sub.tied, sub.features, rows.rows, words_,
                                   sub.class_begin[pairs_[i].b]}, sums_);
        for (unsigned s = 0; s < side_count; ++s)
            right[s] = std::max({right[s], b[s] + sums_.high[s], a[s] - sums_.low[s]});
    }
    for (std::size_t t = 0; t < lane_count; ++t) {
        for (const std::size_t s : {left_side(t), right_side(t)}) {
            reached_[s] = size_[s] - right[s];
            proved_[s] = size_[s] - std::max(right[s], potential_[death[t]][s]);
        }
    }
}

template <class Entry>
const typename DepthTwo<Entry>::PairRows& DepthTwo<Entry>::pair_rows(Pair& pair) {
    PairRows& rows = pair.rows;
    if (rows.entries != nullptr) return rows;
    const Subproblem<Entry>& sub = *sub_;
    rows.rows = sub.class_size(pair.a) + sub.class_size(pair.b);
    rows.stride = rows.rows + mover_padding;
    Entry* const entries = arena_->take<Entry>(rows.stride * sub.features);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        Entry* const to = entries + f * rows.stride;
        kernel_.movers->of<Entry>().filter(sub.order(f), sub.rows, sub.class_begin[pair.a], sub.class_size(pair.a),
                                          sub.class_begin[pair.b], sub.class_size(pair.b), to);
        to[rows.rows] = Packed<Entry>::sentinel();
    }
    rows.entries = entries;
    return rows;
}

// Takes the lanes' scores into the incumbent and cuts the segments at them.
template <class Entry>
void DepthTwo<Entry>::learn() {
    if (has_whole_lane()) {
        const std::size_t whole = left_side(whole_lane);
        if (reached_[whole] < ub_) {
            ub_ = best_.upper = reached_[whole];
            best_.plan.assign(1, Step{Step::stump, 0});
        }
        stump_ = std::max<Score>(stump_, proved_[whole]);
        close(stump_);
    }
    for (std::size_t t = 0; t < lanes_.size(); ++t) {
        const Score total = reached_[left_side(t)] + reached_[right_side(t)];
        if (total >= ub_) continue;
        ub_ = best_.upper = total;
        const Lane& lane = lanes_[t];
        best_.plan.assign({Step{static_cast<std::int32_t>(sub_->feature[lane.f]), sub_->rank_left_of(lane.f, lane.z)},
                           Step{Step::stump, 0}, Step{Step::stump, 0}});
    }

    next_.clear();
    const auto keep = [&](const Segment& whole, Point u, Point v) {
        if (u.z == v.z) return;
        if (u.z == 0) u.right = std::max(u.right, stump_);
        if (v.z == sub_->rows) v.left = std::max(v.left, stump_);
        const Segment segment = part_of(whole, u, v, rules_);
        if (segment.bound < ub_) {
            next_.push_back({segment, {}});
        } else {
            close(segment.bound);
            ++statistics_->closed_by_segment_bound;
        }
    };
    // Lanes of one segment are neighbours, as they are sorted by feature and position.
    
    cut_.assign(open_.size(), 0);
    for (std::size_t t = 0; t < lanes_.size();) {
        const std::uint32_t i = lanes_[t].open;
        const Segment& segment = open_[i].segment;
        cut_[i] = 1;
        Point u = segment.u;
        for (; t < lanes_.size() && lanes_[t].open == i; ++t) {
            const Position z = lanes_[t].z;
            const Point w{z, std::max<Score>(proved_[left_side(t)], left_bound(segment, z, rules_)),
                          std::max<Score>(proved_[right_side(t)], right_bound(segment, z, rules_))};
            close(w.total());
            note(segment.f, w);
            keep(segment, u, w);
            u = w;
        }
        keep(segment, u, segment.v);
    }
    for (std::size_t i = 0; i < open_.size(); ++i)
        if (!cut_[i]) keep(open_[i].segment, open_[i].segment.u, open_[i].segment.v);
    open_.swap(next_);
}

template class DepthTwo<NarrowEntry>;
template class DepthTwo<WideEntry>;

}  // namespace contree
