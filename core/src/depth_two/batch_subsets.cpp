// Lanes of categories, for every objective.
#include <bit>
#include "depth_two/batch.hpp"

namespace contree {
void Batch::write_subsets(std::uint64_t* words, BySide& masses) const {
    const RowSet& set = *set_;
    for (std::size_t t = 0, end; t < lanes.size(); t = end) {
        for (end = t + 1; end < lanes.size() && lanes[end].f == lanes[t].f;) ++end;
        if (lanes[t].left == nullptr) continue;
        set.for_categories(lanes[t].f, [&](Rank rank, Position from, Position to) {
            std::uint64_t bits = 0;
            for (std::size_t i = t; i < end; ++i) {
                if (contains(lanes[i].left, rank)) bits |= std::uint64_t{1} << left_side(i);
                if (contains(lanes[i].right, rank)) bits |= std::uint64_t{1} << right_side(i);
            }
            const Order order = set.order(lanes[t].f);
            Score mass = 0;
            for (Position k = from; k < to; ++k) {
                words[order.row(k)] |= bits;
                mass += set.weight_of(order.row(k));
            }
            for (; bits != 0; bits &= bits - 1)
                masses[static_cast<std::size_t>(std::countr_zero(bits))] += mass;
        });
    }
}

bool Batch::allows_lane(const Lane& lane) const {
    if (lane.left == nullptr) return set_->allows(lane.f, lane.z);
    const LeafSize leaf = subset_leaf_size(*set_);
    Row rows[2] = {0, 0};
    Score mass[2] = {0, 0};
    set_->for_categories(lane.f, [&](Rank rank, Position begin, Position end) {
        for (const std::size_t side : {0, 1}) {
            if (!contains(side == 0 ? lane.left : lane.right, rank)) continue;
            rows[side] += end - begin;
            for (Position k = begin; k < end; ++k) mass[side] += set_->weight_of(set_->order(lane.f).row(k));
        }
    });
    return std::min(rows[0], rows[1]) >= leaf.rows && std::min(mass[0], mass[1]) >= leaf.mass;
}
}  // namespace contree
