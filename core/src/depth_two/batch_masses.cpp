// Batches of the general case: what classes weigh on the sides of lanes, and where leaves are large enough.
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
        own_classes_.rows.assign(sub.classes + 1, 0);
        for (std::uint32_t c = 0; c < sub.classes; ++c) {
            own_classes_.rows[c] = sub.class_size(c);
            std::fill_n(own_classes_.of_row.begin() + sub.class_begin[c], sub.class_size(c), static_cast<std::uint8_t>(c));
        }
    }
    return own_classes_;
}

template <class Entry>
auto Batch<Entry>::sized_classes() -> const ByClass& {
    if (sub_->wide == nullptr) return own_classes();
    if (sized_classes_.of_row.empty()) {
        sized_classes_.of_row.assign(sized_->rows, static_cast<std::uint8_t>(sub_->classes));
        sized_classes_.masses.assign(sub_->classes + 1, 0);
        sized_classes_.masses.back() = sized_->mass;
        for (std::uint32_t c = 0; c < sub_->classes; ++c) {
            const auto [begin, end] = sized_class_[c];
            std::fill(sized_classes_.of_row.begin() + begin, sized_classes_.of_row.begin() + end, static_cast<std::uint8_t>(c));
            for (Row r = begin; r < end; ++r) sized_classes_.masses[c] += sized_->weight[r];
            sized_classes_.masses.back() -= sized_classes_.masses[c];
        }
    }
    return sized_classes_;
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

// The same of the rows that count beside the lanes, into `lacks_`.  False where some of them may stray.
template <class Entry>
bool Batch<Entry>::weigh_near_by_order() {
    for (std::size_t t = 0; t < lanes.size(); ++t)
        if (size_ends_[t].stray.rows() > 0) return false;
    const ByClass& by_class = sized_classes();
    const std::size_t kinds = by_class.masses.size();
    for (std::uint32_t c = 0; c < sub_->classes; ++c) lacks_[c].fill(0);
    for (std::size_t t = 0, end; t < lanes.size(); t = end) {
        places_.clear();
        for (end = t; end < lanes.size() && lanes[end].f == lanes[t].f; ++end) {
            places_.push_back(size_ends_[end].near_left);
            places_.push_back(size_ends_[end].near_right);
        }
        std::sort(places_.begin(), places_.end());
        sum_before(*sized_, by_class.of_row, by_class.masses, size_ends_[t].f, [this](Row row) { return sized_->weight[row]; });
        const auto before = [&](Position z, std::uint32_t c) {
            const auto i = std::lower_bound(places_.begin(), places_.end(), z) - places_.begin();
            return before_places_[kinds * static_cast<std::size_t>(i) + c];
        };
        for (std::size_t i = t; i < end; ++i) {
            for (std::uint32_t c = 0; c < sub_->classes; ++c) {
                lacks_[c][left_side(i)] = static_cast<Sum>(before(size_ends_[i].near_left, c));
                lacks_[c][right_side(i)] = static_cast<Sum>(by_class.masses[c] - before(size_ends_[i].near_right, c));
            }
        }
    }
    for (std::uint32_t c = 0; c < sub_->classes && with_whole; ++c) lacks_[c][left_side(whole_lane)] = static_cast<Sum>(by_class.masses[c]);
    return true;
}

// In every order, the first and the last threshold of some sides' windows: they depend neither on the classes nor on how exact a sweep is, so all sweeps of
// the batch share them.  The left leaf grows along an order and the right one shrinks, so the thresholds that leave both large enough are neighbours.
template <class Entry>
void Batch<Entry>::find_windows(std::uint64_t sides) {
    if (windows_of_ == 0) {
        windows_.resize(sized_->features);
        for (Windows& windows : windows_) windows.edges.clear(), windows.rows_before.clear();
    }
    windows_of_ |= sides;
    std::array<std::array<Row, side_count>, 2> first, last;   // own and `near`
    for (std::uint32_t f = 0; f < sized_->features && !halt_(); ++f) {
        find_window_ends(f, false, sides, first);
        find_window_ends(f, true, sides, last);
        Windows& windows = windows_[f];
        const auto known = static_cast<std::ptrdiff_t>(windows.edges.size());
        for (std::uint64_t left = sides; left != 0; left &= left - 1) {
            const auto s = static_cast<std::uint8_t>(std::countr_zero(left));
            for (const bool near : {false, true}) {
                if (first[near][s] >= last[near][s]) continue;
                const Row begin = threshold_behind(f, first[near][s]), end = threshold_before(f, last[near][s]);
                if (begin > end) continue;
                windows.edges.push_back({{begin, s, near}, 0});
                windows.edges.push_back({{end, s, near}, 0});
            }
        }
        const auto by_place = [](const Edge& a, const Edge& b) { return a.edge.at < b.edge.at; };
        std::sort(windows.edges.begin() + known, windows.edges.end(), by_place);
        if (by_pairs()) count_before(f, static_cast<std::size_t>(known));
        std::inplace_merge(windows.edges.begin(), windows.edges.begin() + known, windows.edges.end(), by_place);
    }
}

// The first threshold behind a row, and the last one in front of it: where the rows of its value end, and where they begin.
template <class Entry>
Row Batch<Entry>::threshold_behind(std::uint32_t f, Row k) const {
    const Entry* const order = sized_->order(f);
    const Entry last = order[k] | Packed<Entry>::row_mask;
    Row step = 1;
    while (step < sized_->rows - k && order[k + step] <= last) step *= 2;
    return static_cast<Row>(std::upper_bound(order + k + step / 2, order + std::min(k + step, sized_->rows), last) - order);
}

template <class Entry>
Row Batch<Entry>::threshold_before(std::uint32_t f, Row k) const {
    const Entry* const order = sized_->order(f);
    const Entry first = order[k] & ~Packed<Entry>::row_mask;
    Row step = 1;
    while (step <= k && order[k - step] >= first) step *= 2;
    return static_cast<Row>(std::lower_bound(order + k - std::min(k, step), order + k - step / 2, first) - order);
}

// How many rows of each class lie in front of the edges from `known` on.  Added up for a pair, that is where the edge stands in the pair's own order.  No rows of
// one value lie on both sides of an edge, so none of the pair do: it is a threshold there too, or one of its ends, where a leaf is what W tells.  And a threshold of the pair
// between two edges is the end of some rows of one value that lie between them in the order of all rows, and so in the window.
template <class Entry>
void Batch<Entry>::count_before(std::uint32_t f, std::size_t known) {
    Windows& windows = windows_[f];
    places_.clear();
    for (std::size_t i = known; i < windows.edges.size(); ++i) {
        windows.edges[i].counted = static_cast<std::uint32_t>(i);
        places_.push_back(windows.edges[i].edge.at);
    }
    sum_before(*sub_, own_classes().of_row, own_classes().rows, f, [](Row) { return Score{1}; });
    windows.rows_before.insert(windows.rows_before.end(), before_places_.begin(), before_places_.end());
}

// From the front, the first row with which the left leaf is large enough; from the end, the last with which the right one is, and a threshold must lie
// in front of it.  Blocks of rows are put in order, while there are sides that want more.
template <class Entry>
void Batch<Entry>::find_window_ends(std::uint32_t f, bool from_end, std::uint64_t sides, std::array<std::array<Row, side_count>, 2>& at) {
    constexpr Row block = 256, stretch = 64 * block;   // after which a halt is looked for
    std::array<std::uint64_t, block> words[2];
    std::array<Score, block> sizes;
    std::array<std::array<Score, side_count>, 2> so_far{};
    std::uint64_t open[2] = {sides, sides};
    const Row rows = sized_->rows;
    const Score least = sized_by_mass_ ? sub_->leaf.mass : Score{sub_->leaf.rows};
    const Entry* const order = sized_->order(f);
    for (auto& by_side : at) by_side.fill(from_end ? 0 : rows);
    for (Row begin = 0; begin < rows && (open[0] | open[1]) != 0; begin += block) {
        if (begin % stretch == stretch - block && halt_()) return;
        const Row count = std::min(block, rows - begin);
        for (Row i = 0; i < count; ++i) {
            const Row row = Packed<Entry>::row(order[from_end ? rows - 1 - begin - i : begin + i]);
            words[false][i] = sized_words_[row];
            words[true][i] = near_words_[row];
            if (sized_by_mass_) sizes[i] = sized_->weight[row];
        }
        for (const bool near : {false, true}) {
            for (std::uint64_t left = open[near]; left != 0; left &= left - 1) {
                const auto s = static_cast<unsigned>(std::countr_zero(left));
                const Row reached = kernel_.reach(words[near].data(), sized_by_mass_ ? sizes.data() : nullptr, count, s, least, so_far[near][s]);
                if (reached == count) continue;
                open[near] ^= std::uint64_t{1} << s;
                at[near][s] = from_end ? rows - 1 - begin - reached : begin + reached;
            }
        }
    }
}

#define CONTREE_GENERAL(Entry)                                                                              \
    template auto Batch<Entry>::own_classes() -> const ByClass&;                                           \
    template auto Batch<Entry>::sized_classes() -> const ByClass&;                                         \
    template void Batch<Entry>::weigh_classes_by_order();                                                  \
    template bool Batch<Entry>::weigh_near_by_order();                                                     \
    template void Batch<Entry>::find_windows(std::uint64_t);                                               \
    template Row Batch<Entry>::threshold_behind(std::uint32_t, Row) const;                                 \
    template Row Batch<Entry>::threshold_before(std::uint32_t, Row) const;                                 \
    template void Batch<Entry>::count_before(std::uint32_t, std::size_t);                                  \
    template void Batch<Entry>::find_window_ends(std::uint32_t, bool, std::uint64_t, std::array<std::array<Row, side_count>, 2>&);
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
