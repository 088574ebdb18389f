// Batches of the general case: what classes weigh on the sides of lanes.
#include <algorithm>
#include <bit>

#include "depth_two/batch.hpp"

namespace contree {

template <class Entry>
auto Batch<Entry>::own_classes() -> const ByClass& {
    const Subproblem<Entry>& sub = *sub_;
    if (own_classes_.of_row.empty()) {
        own_classes_.of_row.resize(sub.rows);
        own_classes_.masses.assign(sub.mass_of_class, sub.mass_of_class + sub.classes);
        own_classes_.masses.push_back(0);
        for (std::uint32_t c = 0; c < sub.classes; ++c)
            std::fill_n(own_classes_.of_row.begin() + sub.class_begin[c], sub.class_size(c), static_cast<std::uint8_t>(c));
    }
    return own_classes_;
}

// What every class weighs, or how many rows it has, in front of each of `places_`.  From both ends of the order to the longest part without a place.
template <class Entry>
template <class Weight>
void Batch<Entry>::sum_before(const Subproblem<Entry>& all, const std::vector<std::uint8_t>& class_of, const std::vector<Score>& totals, std::uint32_t f, const Weight& weight) {
    const std::size_t kinds = totals.size(), count = places_.size();
    before_places_.resize(kinds * count);
    const auto place = [&](std::size_t i) { return i == 0 ? 0 : i > count ? all.rows : places_[i - 1]; };
    std::size_t longest = 0;
    for (std::size_t i = 1; i <= count; ++i)
        if (place(i + 1) - place(i) > place(longest + 1) - place(longest)) longest = i;
    const Entry* const order = all.order(f);
    std::array<Score, most_paired_classes + 1> sums{}, others{};   // rows in turn: of one class, a sum would wait for itself
    const auto add = [&](std::size_t part, Score sign) {
        const Entry* const from = order + place(part);
        const auto class_and_row = [&](Row k) { return std::pair(class_of[Packed<Entry>::row(from[k])], Packed<Entry>::row(from[k])); };
        in_stretches(place(part + 1) - place(part), halt_, [&](Row begin, Row end) {
            for (Row k = begin; k + 1 < end; k += 2) {
                const auto [c, row] = class_and_row(k);
                const auto [d, next] = class_and_row(k + 1);
                sums[c] += sign * weight(row);
                others[d] += sign * weight(next);
            }
            if ((end - begin) % 2 == 0) return;
            const auto [c, row] = class_and_row(end - 1);
            sums[c] += sign * weight(row);
        });
    };
    const auto note = [&](std::size_t i) {
        for (std::size_t c = 0; c < kinds; ++c) before_places_[kinds * i + c] = sums[c] + others[c];
    };
    for (std::size_t i = 0; i < longest; ++i) add(i, 1), note(i);
    std::copy(totals.begin(), totals.end(), sums.begin());
    others.fill(0);
    for (std::size_t i = count; i > longest; --i) add(i, -1), note(i - 1);
}

// Weighing all rows on all sides takes sixteen registers of sums a row; here a row is looked at once for each feature that has lanes.
template <class Entry>
template <class Weight>
void Batch<Entry>::sum_classes(const std::vector<Score>& totals, const Weight& weight) {
    const std::size_t kinds = totals.size();
    for (std::uint32_t c = 0; c < sub_->classes; ++c) class_totals_[c].fill(0);
    for (std::size_t t = 0, end; t < lanes.size(); t = end) {
        places_.clear();
        for (end = t; end < lanes.size() && lanes[end].f == lanes[t].f; ++end) places_.push_back(lanes[end].z);
        sum_before(*sub_, own_classes().of_row, totals, lanes[t].f, weight);
        for (std::size_t i = t; i < end; ++i) {
            for (std::uint32_t c = 0; c < sub_->classes; ++c) {
                const Score left = before_places_[kinds * (i - t) + c];
                class_totals_[c][left_side(i)] = static_cast<Sum>(left);
                class_totals_[c][right_side(i)] = static_cast<Sum>(totals[c] - left);
            }
        }
    }
    for (std::uint32_t c = 0; c < sub_->classes && with_whole; ++c) class_totals_[c][left_side(whole_lane)] = static_cast<Sum>(totals[c]);
}

template <class Entry>
void Batch<Entry>::weigh_classes_by_order() {
    sum_classes(own_classes().masses, [this](Row row) { return sub_->weight[row]; });
}

#define CONTREE_GENERAL(Entry)                                                                              \
    template auto Batch<Entry>::own_classes() -> const ByClass&;                                           \
    template void Batch<Entry>::weigh_classes_by_order();
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
