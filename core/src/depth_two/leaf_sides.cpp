#include "depth_two/leaf_sides.hpp"

namespace contree {

// Both sets of rows list the table's rows in ascending order.
void LeafSides::start(const Subproblem<WideEntry>& sub, Arena& arena) {
    sub_ = &sub;
    const Subproblem<WideEntry>& all = rows();
    near_words_ = arena.take<std::uint64_t>(all.rows);
    words_ = nullptr;
    own_row_ = nullptr;
    if (sub.wide == nullptr) return;
    words_ = arena.take<std::uint64_t>(all.rows);
    own_row_ = arena.take<Row>(all.rows);
    for (Row r = 0, own = 0; r < all.rows; ++r)
        own_row_[r] = own < sub.rows && sub.origin[own] == all.origin[r] ? own++ : none;
}

std::uint32_t LeafSides::place(const std::vector<Lane>& lanes) {
    const Subproblem<WideEntry>& sub = *sub_;
    std::uint32_t allowed = 0;
    ends_.resize(lanes.size());
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const Lane& lane = lanes[t];
        Ends& e = ends_[t];
        const bool again = t > 0 && lanes[t - 1].f == lane.f;
        e.f = again ? ends_[t - 1].f : sub.sized_feature(lane.f);
        e.stray = again ? ends_[t - 1].stray : sub.strays(lane.f);
        e.left = sub.sized_left(lane.f, lane.z, e.f);
        e.right = sub.sized_right(lane.f, lane.z, e.f);
        e.near_left = lane.behind == lane.z ? e.left : sub.sized_left(lane.f, lane.behind, e.f);
        e.near_right = lane.before == lane.z ? e.right : sub.sized_right(lane.f, lane.before, e.f);
        const bool enough = sub.enough_left(e.f, e.left, e.stray) && sub.enough_right(e.f, e.right, e.stray);
        allowed |= std::uint32_t{enough} << t;
    }
    return allowed;
}

void LeafSides::write(std::uint64_t* own_words, bool with_whole, const Halt& halt) {
    const Subproblem<WideEntry>& all = rows();
    if (own_row_ == nullptr) words_ = own_words;
    else
        write_words(all, ends_.size(), with_whole, halt, words_,
                    [&](std::size_t t) { return std::pair(ends_[t].f, ends_[t].right); });
    const auto add = [&](std::uint64_t* words, std::uint32_t f, Position begin, Position end,
                         std::size_t side) {
        const WideEntry* const order = all.order(f) + begin;
        in_stretches(begin < end ? end - begin : 0, halt, [&](Row first, Row last) {
            for (Row k = first; k < last; ++k)
                words[Packed<WideEntry>::row(order[k])] |= std::uint64_t{1} << side;
        });
    };
    for (std::size_t t = 0; t < ends_.size(); ++t) {
        const Ends& e = ends_[t];
        add(words_, e.f, e.right, e.left, left_side(t));
        add(words_, e.f, e.stray.begin, e.stray.end, e.stray.left ? left_side(t) : right_side(t));
    }
    std::copy_n(words_, all.rows, near_words_);
    for (std::size_t t = 0; t < ends_.size(); ++t) {
        const Ends& e = ends_[t];
        add(near_words_, e.f, e.left, e.near_left, left_side(t));
        add(near_words_, e.f, e.near_right, e.right, right_side(t));
    }
}

void LeafSides::weigh(bool by_mass, bool with_whole) {
    const Subproblem<WideEntry>& all = rows();
    const auto before = [&](std::uint32_t f, Position z) { return by_mass ? all.mass_at(f, z) : Score{z}; };
    const Score whole = by_mass ? all.mass : Score{all.rows};
    sizes_.fill(0);
    near_sizes_.fill(0);
    for (std::size_t t = 0; t < ends_.size(); ++t) {
        const Ends& e = ends_[t];
        sizes_[left_side(t)] = before(e.f, e.left);
        sizes_[right_side(t)] = whole - before(e.f, e.right);
        near_sizes_[left_side(t)] = before(e.f, e.near_left);
        near_sizes_[right_side(t)] = whole - before(e.f, e.near_right);
        const Score strays = before(e.f, e.stray.end) - before(e.f, e.stray.begin);
        for (Sizes* const sizes : {&sizes_, &near_sizes_})
            (*sizes)[e.stray.left ? left_side(t) : right_side(t)] += strays;
    }
    if (with_whole) {
        constexpr std::size_t side = left_side(Batch<WideEntry>::whole_lane);
        sizes_[side] = near_sizes_[side] = whole;
    }
}

}  // namespace contree
