#include "depth_two/batch.hpp"
#include <algorithm>

namespace contree {
void Batch::start(const RowSet& set, Arena& arena, Statistics& statistics) {
    set_ = &set;
    arena_ = &arena;
    statistics_ = &statistics;
}

bool Batch::evaluate(Score ub) {
    if (halt_()) return false;  // perhaps before the orders were there
    ++statistics_->depth_two_batches;
    statistics_->d2split_calls += static_cast<std::int64_t>(lanes.size());
    allowed_ = ~std::uint32_t{0};
    evaluate_lanes(ub);
    return !halt_();
}

void Batch::evaluate_one_by_one(std::uint32_t lanes_meant) {
    const auto found = [&](std::size_t s, Score loss, Score relaxed, Score leaf) {
        reached_[s] = proved_[s] = loss;
        near_[s] = std::max(near_[s], relaxed);
        leaf_[s] = leaf;
    };
    for (std::size_t t = 0; t < lanes.size() && !halt_(); ++t) {
        if ((lanes_meant >> t & 1) == 0) continue;
        const Lane& lane = lanes[t];
        const SplitLosses losses = lane.left == nullptr
                                       ? objective_.stumps_of_split(*set_, lane.f, lane.z)
                                       : objective_.stumps_of_subsets(*set_, lane.f, lane.left, lane.right);
        found(left_side(t), losses.left, losses.relaxed_left, losses.leaf_left);
        found(right_side(t), losses.right, losses.relaxed_right, losses.leaf_right);
        statistics_->row_visits += static_cast<std::int64_t>(set_->cells());
    }
    if (!with_whole || (lanes_meant >> whole_lane & 1) == 0) return;
    const Stump stump = objective_.best_stump(*set_);
    found(left_side(whole_lane), stump.loss, stump.relaxed, objective_.leaf_loss(*set_));
    found(right_side(whole_lane), 0, 0, 0);
}

// The thresholds z_1 < .. < z_m of one feature part its order into m + 1 buckets, and all rows of a bucket
// have the same bits in the feature's lanes.  The largest bucket gets its bits by default.
void Batch::write_words(const RowSet& set, std::span<const Lane> places, std::uint64_t* words) const {
    struct Bucket {
        std::uint32_t f;
        Position begin, end;
        std::uint64_t flip;
    };
    std::array<Bucket, 2 * lane_count> buckets;
    Bucket* end = buckets.data();
    std::uint64_t common = with_whole ? std::uint64_t{1} << whole_lane : 0;
    const auto size = [](const Bucket& bucket) { return bucket.end - bucket.begin; };
    const auto smaller = [&](const Bucket& x, const Bucket& y) { return size(x) < size(y); };
    const auto is_threshold = [&](std::size_t t) { return t < places.size() && places[t].left == nullptr; };
    for (std::size_t t = 0, m; is_threshold(t); t += m) {
        const std::uint32_t f = places[t].f;
        for (m = 1; t + m < places.size() && places[t + m].f == f;) ++m;
        Bucket* const first = end;
        for (std::size_t b = 0; b <= m; ++b) {
            const std::uint64_t passed = (std::uint64_t{1} << b) - 1, all = (std::uint64_t{1} << m) - 1;
            *end++ = {f, b == 0 ? 0 : places[t + b - 1].z, b == m ? set.rows : places[t + b].z,
                (all & ~passed) << t | passed << (lane_count + t)};
        }
        --end;
        std::iter_swap(std::max_element(first, end + 1, smaller), end);
        common |= end->flip;
        for (Bucket* bucket = first; bucket != end; ++bucket) bucket->flip ^= end->flip;
    }
    std::fill_n(words, set.rows, common);
    for (const Bucket& bucket : std::span(buckets.data(), end)) {
        const Order order = set.order(bucket.f);
        in_chunks(size(bucket), halt_, [&](Row from, Row to) {
            for (Row k = bucket.begin + from; k < bucket.begin + to; ++k) words[order.row(k)] ^= bucket.flip;
        });
    }
}

void Batch::evaluate_lanes(Score) {
    allowed_ = 0;
    for (std::size_t t = 0; t < lanes.size(); ++t) allowed_ |= std::uint32_t{allows_lane(lanes[t])} << t;
    near_.fill(0);
    evaluate_one_by_one(lanes_in_use());
}
}  // namespace contree
