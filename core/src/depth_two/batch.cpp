#include "depth_two/batch.hpp"

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
        const SplitLosses losses = objective_.stumps_of_split(*set_, lanes[t].f, lanes[t].z);
        found(left_side(t), losses.left, losses.relaxed_left, losses.leaf_left);
        found(right_side(t), losses.right, losses.relaxed_right, losses.leaf_right);
        statistics_->row_visits += static_cast<std::int64_t>(set_->cells());
    }
    if (!with_whole || (lanes_meant >> whole_lane & 1) == 0) return;
    const Stump stump = objective_.best_stump(*set_);
    found(left_side(whole_lane), stump.loss, stump.relaxed, objective_.leaf_loss(*set_));
    found(right_side(whole_lane), 0, 0, 0);
}

void Batch::evaluate_lanes(Score) {
    allowed_ = 0;
    for (std::size_t t = 0; t < lanes.size(); ++t)
        allowed_ |= std::uint32_t{set_->allows(lanes[t].f, lanes[t].z)} << t;
    near_.fill(0);
    evaluate_one_by_one(lanes_in_use());
}
}  // namespace contree
