// The sweeps of the general case: their steps and sizes, and few lanes packed into few registers.
#include <algorithm>
#include <bit>

#include "depth_two/batch.hpp"

namespace contree {

namespace {

// Numbers by side, those of some sides put together at the start, and back.
template <class T>
void pack(std::uint64_t sides, T* by_side) {
    for (std::size_t to = 0; sides != 0; sides &= sides - 1) by_side[to++] = by_side[std::countr_zero(sides)];
}
template <class T>
void unpack(std::uint64_t sides, T* by_side) {
    for (auto from = static_cast<std::size_t>(std::popcount(sides)); sides != 0;) {
        const auto last = static_cast<std::size_t>(std::bit_width(sides)) - 1;
        by_side[last] = by_side[--from];
        sides ^= std::uint64_t{1} << last;
    }
}

// How many registers a sweep of some sides takes, with so many sides in each and so many registers at once.
unsigned registers_for(std::uint64_t sides, unsigned count, unsigned at_once) {
    if (count == side_count || sides >> count == 0) return 1;
    const unsigned block = std::min(count * at_once, side_count);
    unsigned registers = 0;
    for (unsigned first = 0; first < side_count; first += block) registers += (sides >> first & ~std::uint64_t{0} >> (side_count - block)) != 0 ? at_once : 0;
    return registers;
}

constexpr std::uint64_t first_of(int count) { return count <= 0 ? 0 : ~std::uint64_t{0} >> (64 - count); }

}  // namespace

// Leaves of any size, or windows that are known: the pair's own rows are enough.
template <class Entry>
void Batch<Entry>::sweep_own(Pair& pair, std::uint64_t sides, bool sized) {
    if (pair.sweep.entries == nullptr) prepare(pair);
    if (halt_()) return;
    sweep_general(pair, pair.steps, sides, sized, [&]<class Step>(WeightedSweep<Step>& input) {
        if (input.steps == nullptr) input.steps = steps_of<Step>(pair);
        input.entries = pair.sweep.entries;
        input.stride = pair.sweep.stride;
        input.takes = pair.sweep.takes;
        input.rows = pair.rows;
        input.features = sub_->features;
        input.words = words_;
    });
}

template <class Entry>
void Batch<Entry>::sweep_weighted(Pair& pair, std::uint64_t sides) {
    statistics_->row_visits += std::int64_t{pair.rows} * sub_->features;
    sweep_own(pair, sides, false);
}

// Bytes are compared with sizes as they are added: one or two registers hold all sides, and to find windows first takes longer than that.
template <class Entry>
bool Batch<Entry>::by_windows() const {
    return kernel_.registers.mirrored && step_bits_ > 16;
}

// And are there windows for the orders of each pair of classes?
template <class Entry>
bool Batch<Entry>::by_pairs() const {
    return by_windows() && sub_->wide == nullptr && sub_->classes > 2;
}

// Every row counts towards the size of a leaf, whatever its class.  (Visits are counted alike with and without windows, so that a search goes alike on all machines.)
template <class Entry>
void Batch<Entry>::sweep_limited(Pair& pair, std::uint64_t sides) {
    const Subproblem<Entry>& all = *sized_;
    statistics_->row_visits += std::int64_t{all.rows} * sub_->features;
    if (by_windows() && (sides & ~windows_of_) != 0) find_windows(sides & ~windows_of_);
    if (by_windows() && sub_->wide == nullptr) return sweep_own(pair, sides, true);
    if (ends_ == nullptr) ends_ = mark_ends(all.entries, all.stride, all.rows, all.features);
    const auto fill = [&]<class Step>(WeightedSweep<Step>& input) {
        input.entries = all.entries;
        input.stride = all.stride;
        input.takes = ends_;
        input.rows = all.rows;
        input.features = all.features;
        input.words = sized_words_;
        if (by_windows()) return;
        input.near_words = near_words_;
        input.sizes = sizes_.data();
        input.near_sizes = near_sizes_.data();
        input.min_leaf = sized_by_mass_ ? sub_->leaf.mass : Score{sub_->leaf.rows};
    };
    sweep_general(pair, pair.sized_steps, sides, true, [&]<class Step>(WeightedSweep<Step>& input) {
        if (input.steps == nullptr) input.steps = sized_steps_of<Step>(pair);
        fill(input);
        if (sized_by_mass_ && !by_windows()) input.row_sizes = row_sizes<Step>();
    });
}

// What the rows that count for sizes weigh.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::row_sizes() {
    if (row_sizes_ == nullptr) {
        auto* const sizes = arena_->take<Step>(sized_->rows);
        std::copy_n(sized_->weight, sized_->rows, sizes);
        row_sizes_ = sizes;
    }
    return static_cast<const Step*>(row_sizes_);
}

// Sides are packed where that saves registers, and so work; where right sides follow from left ones, lanes are.
template <class Entry>
template <class Step>
void Batch<Entry>::sweep_packed(const Pair& pair, WeightedSweep<Step>& input, std::uint64_t sides, bool sized) {
    const Registers& registers = kernel_.registers;
    const bool limited = input.min_leaf > 0, mirrored = !limited && registers.mirrored;
    const std::uint64_t swept = mirrored ? (sides | sides >> lane_count) & first_of(lane_count) : sides, together = first_of(std::popcount(swept));
    const unsigned at_once = limited ? registers.at_once_limited : mirrored ? registers.at_once / 2 : registers.at_once;
    const auto registers_of = [&](std::uint64_t some) { return registers_for(some, registers.bytes / static_cast<unsigned>(sizeof(Step)), at_once); };
    const bool packs = registers.bytes > 0 && registers_of(together) < registers_of(swept);
    Arena::Frame frame(*arena_);
    if (sized && !limited) place_edges(pair, input, sides, packs ? swept : ~std::uint64_t{0});
    input.used = sides;
    input.halt = halt_;
    if (!packs) return kernel_.sweep(input, extremes_);
    const Row rows = sized ? sized_->rows : sub_->rows;
    const auto packed = [&](const std::uint64_t* words) {
        auto* const to = arena_->take<std::uint64_t>(rows);
        kernel_.pack_words(words, rows, swept, to);
        return to;
    };
    input.used = mirrored ? together | together << lane_count : together;
    input.words = packed(input.words);
    std::array<Score, side_count> sizes, near_sizes;
    if (limited) {
        input.near_words = packed(input.near_words);
        std::copy_n(input.sizes, side_count, sizes.begin());
        std::copy_n(input.near_sizes, side_count, near_sizes.begin());
        pack(sides, sizes.data());
        pack(sides, near_sizes.data());
        input.sizes = sizes.data();
        input.near_sizes = near_sizes.data();
    }
    kernel_.sweep(input, extremes_);
    const auto unpacked = [&](auto* by_side) {
        unpack(swept, by_side);
        if (mirrored) unpack(swept, by_side + lane_count);
    };
    for (Score* const by_side : {extremes_.high, extremes_.low, extremes_.end, extremes_.allowed_high, extremes_.allowed_low}) unpacked(by_side);
}

// The edges of the windows of some sides, with lanes put together where some are left out.
template <class Entry>
template <class Step>
void Batch<Entry>::place_edges(const Pair& pair, WeightedSweep<Step>& input, std::uint64_t sides, std::uint64_t lanes_kept) {
    std::array<std::uint8_t, side_count> place;
    for (std::size_t t = 0; t < lane_count; ++t) {
        place[left_side(t)] = static_cast<std::uint8_t>(left_side(static_cast<std::size_t>(std::popcount(lanes_kept & first_of(static_cast<int>(t))))));
        place[right_side(t)] = static_cast<std::uint8_t>(right_side(place[left_side(t)]));
    }
    std::size_t most = 0;
    for (const Windows& windows : windows_) most += windows.edges.size();
    auto* const to = arena_->take<WindowEdge>(most);
    auto* const edges_of = arena_->take<std::uint32_t>(windows_.size() + 1);
    const std::size_t kinds = sub_->classes + 1;
    const bool maps = by_pairs();
    std::uint32_t count = 0;
    for (std::size_t f = 0; f < windows_.size(); ++f) {
        edges_of[f] = count;
        for (const auto& [edge, counted] : windows_[f].edges) {
            if ((sides >> edge.side & 1) == 0) continue;
            const Score* const before = maps ? windows_[f].rows_before.data() + kinds * counted : nullptr;
            to[count++] = {maps ? static_cast<Row>(before[pair.a] + before[pair.b]) : edge.at, place[edge.side], edge.near};
        }
    }
    edges_of[windows_.size()] = count;
    input.edges = to;
    input.edges_of = edges_of;
}

// `steps` remembers those that `fill` has found.
template <class Entry>
template <class Fill>
void Batch<Entry>::sweep_general(const Pair& pair, const void*& steps, std::uint64_t sides, bool sized, const Fill& fill) {
    const auto with = [&]<class Step>(Step) {
        WeightedSweep<Step> input{};
        input.steps = static_cast<const Step*>(steps);
        input.chunk_rows = chunk_rows_;
        fill(input);
        steps = input.steps;
        sweep_packed(pair, input, sides, sized);
    };
    if (step_bits_ == 8) with(std::int8_t{});
    else if (step_bits_ == 16) with(std::int16_t{});
    else if (step_bits_ == 32) with(std::int32_t{});
    else with(std::int64_t{});
}

// What a row adds to W: its weight, with the sign of its class, and nothing where it is of a third one.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::steps_of(const Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    auto* const steps = arena_->take<Step>(sub.rows);
    std::fill_n(steps, sub.rows, Step{0});
    for (const std::uint32_t c : {pair.a, pair.b}) {
        for (Row r = sub.class_begin[c]; r < sub.class_begin[c + 1]; ++r) {
            const auto step = static_cast<Step>(sub.weight_of(r));
            steps[r] = c == pair.a ? step : static_cast<Step>(-step);
        }
    }
    return steps;
}

// The same by the rows that count for sizes; those that are not the subproblem's own add nothing.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::sized_steps_of(const Pair& pair) {
    const Step* const own = steps_of<Step>(pair);
    if (twin_ == nullptr) return own;
    auto* const steps = arena_->take<Step>(sized_->rows);
    for (Row r = 0; r < sized_->rows; ++r) steps[r] = twin_[r] == no_twin ? Step{0} : own[twin_[r]];
    return steps;
}

template <class Entry>
std::uint8_t* Batch<Entry>::mark_ends(const Entry* entries, std::size_t stride, Row rows, std::uint32_t features) {
    auto* const takes = arena_->take<std::uint8_t>(stride * features);
    for (std::uint32_t f = 0; f < features && !halt_(); ++f)
        kernel_.movers->of<Entry>().mark_ends(entries + f * stride, rows, takes + f * stride);
    return takes;
}

// Between two thresholds W rises on every side, or stays, where all rows there are of the first class, and falls where all are of the second one.  So where it does the
// same on both sides of a threshold it is no extreme there: what it comes from, or goes to, is as high and as low.  Taken at the others alone, which pays
// where a loop seldom has to stop for them.  (With a leaf size W counts at both ends of a window too.)
template <class Entry>
void Batch<Entry>::thin_takes(const Pair& pair, std::uint8_t* takes) {
    const Sweep<Entry>& sweep = pair.sweep;
    if (std::min(sub_->class_size(pair.a), sub_->class_size(pair.b)) > sweep.rows / 8) return;   // there are too many turns, as a rule
    Arena::Frame frame(*arena_);
    auto* const turns = arena_->take<Row>(sweep.rows);
    for (std::uint32_t f = 0; f < sweep.features && !halt_(); ++f, takes += sweep.stride) {
        const Entry* const order = sweep.entries + f * sweep.stride;
        constexpr unsigned rises = 1, falls = 2;
        unsigned before = 0, now = 0;
        Row last = 0, count = 0;
        for (Row k = 0; k < sweep.rows; ++k) {
            now |= Packed<Entry>::row(order[k]) < sweep.boundary ? rises : falls;
            const bool take = takes[k] != 0;
            turns[count] = last;
            count += take & ((before | now) == (rises | falls)) & (before != 0);
            last = take ? k : last;
            before = take ? now : before;
            now = take ? 0 : now;
        }
        if (count > sweep.rows / 8) continue;
        std::fill_n(takes, sweep.rows, std::uint8_t{0});
        for (Row i = 0; i < count; ++i) takes[turns[i]] = 0xff;
        takes[last] = 0xff;
    }
}

#define CONTREE_GENERAL(Entry)                                                                           \
    template bool Batch<Entry>::by_windows() const;                                                      \
    template bool Batch<Entry>::by_pairs() const;                                                        \
    template void Batch<Entry>::sweep_own(Pair&, std::uint64_t, bool);                            \
    template void Batch<Entry>::sweep_weighted(Pair&, std::uint64_t);                             \
    template void Batch<Entry>::sweep_limited(Pair&, std::uint64_t);                               \
    template void Batch<Entry>::thin_takes(const Pair&, std::uint8_t*);                                   \
    template std::uint8_t* Batch<Entry>::mark_ends(const Entry*, std::size_t, Row, std::uint32_t);
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
