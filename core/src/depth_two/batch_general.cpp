// Batches of the general case: rows that weigh more than one, leaves that must be of some size.
#include <algorithm>
#include <bit>

#include "depth_two/batch.hpp"
#include "depth_two/d2split.hpp"
#include "tree/stump.hpp"

namespace contree {

namespace {

constexpr Row coarse_chunk = 1023;   // steps in a chunk of coarse ones: fewer are folded more often, more are coarser

// Some lanes' sides, put together at the start of a word: fewer registers hold them.
class Packing {
public:
    explicit Packing(std::uint32_t lanes) {
        for (std::uint32_t t = 0; t < lane_count; ++t)
            if ((lanes >> t & 1) != 0) lane_[count_++] = t;
    }
    std::uint64_t used() const { return count_ == lane_count ? ~std::uint64_t{0} : (std::uint64_t{1} << 2 * count_) - 1; }
    std::uint64_t pack(std::uint64_t word) const {
        std::uint64_t packed = 0;
        for (std::uint32_t i = 0; i < count_; ++i)
            packed |= (word >> lane_[i] & 1) << i | (word >> (lane_count + lane_[i]) & 1) << (count_ + i);
        return packed;
    }
    template <class T>
    void pack(T* by_side) const {
        std::array<T, side_count> packed{};
        for_sides([&](std::size_t from, std::size_t to) { packed[to] = by_side[from]; });
        std::copy(packed.begin(), packed.end(), by_side);
    }
    template <class T>
    void unpack(T* by_side) const {
        std::array<T, side_count> unpacked{};
        for_sides([&](std::size_t from, std::size_t to) { unpacked[from] = by_side[to]; });
        std::copy(unpacked.begin(), unpacked.end(), by_side);
    }

private:
    template <class Body>
    void for_sides(const Body& body) const {
        for (std::size_t i = 0; i < count_; ++i) {
            body(left_side(lane_[i]), i);
            body(right_side(lane_[i]), count_ + i);
        }
    }
    std::array<std::uint32_t, lane_count> lane_;
    std::uint32_t count_ = 0;
};

}  // namespace

// Steps are as narrow as the weights allow.  Where they need 64 bits, steps cut off to 32 come first.
template <class Entry>
void Batch<Entry>::start_general() {
    sized_ = &sub_->sized();
    const Subproblem<Entry>& sub = *sized_;
    const Score largest = sub.weighted() ? *std::max_element(sub.weight, sub.weight + sub.rows) : 1;
    const auto chunk = [&](Score greatest) { return static_cast<Row>(std::min<Score>(sub.rows, greatest / largest)); };
    if (!sub.weighted()) step_bits_ = 8, chunk_rows_ = chunk(std::numeric_limits<std::int8_t>::max() - 1);
    else if (largest <= largest_step<std::int16_t>) step_bits_ = 16, chunk_rows_ = chunk(std::numeric_limits<std::int16_t>::max() - 1);
    else if (largest <= largest_step<std::int32_t>) step_bits_ = 32, chunk_rows_ = chunk(std::numeric_limits<std::int32_t>::max() - 1);
    else step_bits_ = 64, chunk_rows_ = sub.rows;
    coarse_shift_ = 0;
    while (step_bits_ == 64 && largest >> coarse_shift_ > std::numeric_limits<std::int32_t>::max() / (coarse_chunk + 1)) ++coarse_shift_;
    ends_ = nullptr;
    row_sizes_ = coarse_row_sizes_ = nullptr;
    class_of_.clear();
    if (limited()) {
        near_words_ = arena_->take<std::uint64_t>(sub.rows);
        sized_words_ = sub_->wide == nullptr ? words_ : arena_->take<std::uint64_t>(sub.rows);
        find_twins();
    }
    class_totals_.resize(2);
    potential_.resize(2);
}

// Coarse steps close most lanes: only those that may be below ub, and the best of all, are evaluated in full.
template <class Entry>
void Batch<Entry>::evaluate_weighted(Score ub) {
    if (sub_->classes > 2) weigh_classes();
    std::uint32_t meant = lanes_in_use();
    if (coarse_shift_ > 0) {
        evaluate_weighted(ub, meant, true);
        if (!limited()) meant = may_be_best(ub);
    }
    if (meant != 0 && (coarse_shift_ == 0 || !limited())) evaluate_weighted(ub, meant, false);   // with a leaf size, more coarse steps follow
}

// After coarse steps: the lanes that may be below ub and all others; where leaves compete with stumps, all that may be below ub,
// as the best is not known by its stumps alone.  A coarse score is at most 3.5 slacks too small for
// each side (see sweep_coarse), so one that is 8 above another's is above the other's true score.  Those left out have reached nothing.
template <class Entry>
std::uint32_t Batch<Entry>::may_be_best(Score ub) {
    const Score slack = Score{sub_->rows} << coarse_shift_;
    const auto counts = [&](std::size_t t) {
        return (lanes_in_use() >> t & 1) != 0 && (t >= lanes.size() || sub_->allows(lanes[t].f, lanes[t].z));
    };
    for (std::size_t t = 0; t < lane_count && !with_leaves; ++t)
        if (counts(t)) ub = std::min(ub, reached(t) + 8 * slack);
    std::uint32_t lanes_below = 0;
    for (std::size_t t = 0; t < lane_count; ++t) {
        if ((lanes_in_use() >> t & 1) != 0 && proved(t) < ub) lanes_below |= std::uint32_t{1} << t;
        else reached_[left_side(t)] = reached_[right_side(t)] = unreached;
    }
    return lanes_below;
}

// With coarse steps the sums are so much too good that what follows from them is proved; it is not reached then.
template <class Entry>
void Batch<Entry>::evaluate_weighted(Score ub, std::uint32_t lanes_meant, bool coarse) {
    const auto meant = [&](std::size_t s) { return (lanes_meant >> s % lane_count & 1) != 0; };
    if (sub_->classes == 2) {
        sweep_weighted(pairs_[0], lanes_meant, coarse);
        for (std::size_t s = 0; s < side_count; ++s) {
            if (!meant(s)) continue;
            const Score positive = (size_[s] + extremes_.end[s]) / 2, negative = size_[s] - positive;
            reached_[s] = proved_[s] = static_cast<Sum>(std::min(positive - extremes_.high[s], negative + extremes_.low[s]));
        }
        return;
    }
    BySide right = leaves();
    Deaths death;
    sweep_pairs(ub, lanes_meant, right, death, [&](Pair& pair) {
        sweep_weighted(pair, lanes_meant, coarse);
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        for (std::size_t s = 0; s < side_count; ++s)
            if (meant(s)) right[s] = static_cast<Sum>(std::max<Score>({right[s], b[s] + extremes_.high[s], a[s] - extremes_.low[s]}));
    });
    for (std::size_t s = 0; s < side_count; ++s) {
        if (!meant(s)) continue;
        reached_[s] = size_[s] - right[s];
        proved_[s] = size_[s] - std::max(right[s], potential_[death[s % lane_count]][s]);
    }
}

// Stumps with leaves large enough, for the lanes that lie below ub without that: the others do not with it, and have reached
// nothing, as what there is of them may be coarse.  Where all lanes fit one pass, the others get their numbers for nothing.
template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub) {
    near_ = relaxed_ = proved_;
    const auto below_ub = [&] {
        std::uint32_t lanes_below = 0;
        for (std::size_t t = 0; t < lane_count; ++t)
            if ((lanes_in_use() >> t & 1) != 0 && proved(t) < ub) lanes_below |= std::uint32_t{1} << t;
            else reached_[left_side(t)] = reached_[right_side(t)] = unreached;
        return lanes_below;
    };
    std::uint32_t meant = below_ub();
    if (meant == 0) return;
    if (sub_->classes == 2 && step_bits_ <= 16) meant = lanes_in_use();
    write_sizes();
    if (sub_->classes == 2) weigh_classes();
    // By rows and by mass, where both count: each closes lanes by itself, and those that neither closes go one by one.
    const bool both = sub_->leaf.rows > 1 && sub_->leaf.mass > 0;
    for (const bool by_mass : {false, true}) {
        if (by_mass ? sub_->leaf.mass == 0 : sub_->leaf.rows <= 1) continue;
        size_sides(by_mass);
        if (coarse_shift_ > 0 && (!by_mass || coarse_least() > 0)) {
            evaluate_allowed(ub, meant, true);
            meant = both || by_mass ? below_ub() : may_be_best(ub);
        }
        if (meant != 0 && !(both && coarse_shift_ > 0)) evaluate_allowed(ub, meant, false);
        if (both) meant = below_ub();
        if (meant == 0) return;
    }
    if (both && sub_->wide == nullptr) evaluate_by_mass(meant);
}

// With coarse steps what follows is proved, not reached.
template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub, std::uint32_t meant, bool coarse) {
    BySide right = leaves(), near_right = right;
    Deaths death;
    sweep_pairs(ub, meant, right, death, [&](Pair& pair) {
        sweep_limited(pair, meant, coarse);
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        for (std::size_t s = 0; s < side_count; ++s) {
            if ((meant >> s % lane_count & 1) == 0) continue;
            right[s] = std::max<Sum>({right[s], static_cast<Sum>(b[s] + extremes_.allowed_high[s]), static_cast<Sum>(a[s] - extremes_.allowed_low[s])});
            near_right[s] = std::max<Sum>({near_right[s], static_cast<Sum>(b[s] + extremes_.high[s]), static_cast<Sum>(a[s] - extremes_.low[s])});
        }
    });
    for (std::size_t t = 0; t < lane_count; ++t) {
        if ((meant >> t & 1) == 0) continue;
        for (const std::size_t s : {left_side(t), right_side(t)}) {
            reached_[s] = size_[s] - right[s];
            proved_[s] = std::max(proved_[s], size_[s] - std::max(right[s], potential_[death[t]][s]));
            near_[s] = std::max(near_[s], size_[s] - std::max(near_right[s], potential_[death[t]][s]));
        }
    }
}

// The rows that count for sizes and are the subproblem's own.  Both list the table's rows in ascending order.
template <class Entry>
void Batch<Entry>::find_twins() {
    twin_ = nullptr;
    if (sub_->wide == nullptr) return;
    auto* const twin = arena_->take<Row>(sized_->rows);
    for (Row r = 0, own = 0; r < sized_->rows; ++r)
        twin[r] = own < sub_->rows && sub_->origin[own] == sized_->origin[r] ? own++ : no_twin;
    twin_ = twin;
}

// The sides on which rows count for the sizes of leaves: those of a lane itself, and those of any threshold from its
// `before` to its `behind`.  Rows that are not the subproblem's own count on both sides where they may lie on either.
template <class Entry>
void Batch<Entry>::write_sizes() {
    const Subproblem<Entry>& sub = *sub_;
    const Subproblem<Entry>& all = *sized_;
    if (sub.wide != nullptr)
        write_words(all, sized_words_, [&](std::size_t t) { return std::pair(sub.sized_feature(lanes[t].f), sub.sized_right(lanes[t].f, lanes[t].z)); });
    const auto add = [&](std::uint64_t* words, std::uint32_t f, Position begin, Position end, std::size_t side) {
        for (Position k = begin; k < end; ++k) words[Packed<Entry>::row(all.order(f)[k])] |= std::uint64_t{1} << side;
    };
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const Lane& lane = lanes[t];
        const std::uint32_t f = lane.f;
        size_ends_[t] = {sub.sized_feature(f), sub.sized_left(f, lane.z), sub.sized_right(f, lane.z), sub.sized_left(f, lane.behind), sub.sized_right(f, lane.before)};
        add(sized_words_, size_ends_[t].f, size_ends_[t].right, size_ends_[t].left, left_side(t));
    }
    std::copy_n(sized_words_, all.rows, near_words_);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const SizeEnds& e = size_ends_[t];
        add(near_words_, e.f, e.left, e.near_left, left_side(t));
        add(near_words_, e.f, e.near_right, e.right, right_side(t));
    }
}

// What those rows are or weigh, on all sides.
template <class Entry>
void Batch<Entry>::size_sides(bool by_mass) {
    const Subproblem<Entry>& all = *sized_;
    const auto size_before = [&](std::uint32_t f, Position z) { return by_mass ? all.mass_at(f, z) : Score{z}; };
    const Score whole = by_mass ? all.mass : Score{all.rows};
    sized_by_mass_ = by_mass;
    sizes_.fill(0);
    near_sizes_.fill(0);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const SizeEnds& e = size_ends_[t];
        sizes_[left_side(t)] = size_before(e.f, e.left);
        sizes_[right_side(t)] = whole - size_before(e.f, e.right);
        near_sizes_[left_side(t)] = size_before(e.f, e.near_left);
        near_sizes_[right_side(t)] = whole - size_before(e.f, e.near_right);
    }
    if (with_whole) sizes_[left_side(whole_lane)] = near_sizes_[left_side(whole_lane)] = whole;
}

// Leaves that must have rows and weigh something: one by one.
template <class Entry>
void Batch<Entry>::evaluate_by_mass(std::uint32_t lanes_meant) {
    if (class_of_.empty()) class_of_ = classes_of_rows(*sub_);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        if ((lanes_meant >> t & 1) == 0) continue;
        const SplitErrors errors = d2split(*sub_, class_of_, lanes[t].f, lanes[t].z);
        reached_[left_side(t)] = proved_[left_side(t)] = static_cast<Sum>(errors.left);
        reached_[right_side(t)] = proved_[right_side(t)] = static_cast<Sum>(errors.right);
    }
    if ((lanes_meant >> whole_lane & 1) != 0 && with_whole)
        reached_[left_side(whole_lane)] = proved_[left_side(whole_lane)] = static_cast<Sum>(best_stump(*sub_).errors);
}

// Leaves of any size: the pair's own rows are enough.
template <class Entry>
void Batch<Entry>::sweep_weighted(Pair& pair, std::uint32_t lanes_meant, bool coarse) {
    if (pair.sweep.entries == nullptr) prepare(pair);
    statistics_->row_visits += std::int64_t{pair.rows} * sub_->features;
    const auto fill = [&]<class Step>(WeightedSweep<Step>& input) {
        input.entries = pair.sweep.entries;
        input.stride = pair.sweep.stride;
        input.takes = pair.sweep.takes;
        input.rows = pair.rows;
        input.features = sub_->features;
        input.words = words_;
    };
    if (coarse) {
        if (pair.coarse_steps == nullptr) pair.coarse_steps = steps_of<std::int32_t>(pair, coarse_shift_);
        WeightedSweep<std::int32_t> input{};
        input.steps = pair.coarse_steps;
        fill(input);
        return sweep_coarse(pair, input, lanes_meant);
    }
    sweep_general(pair.steps, lanes_meant, [&]<class Step>(WeightedSweep<Step>& input) {
        if (input.steps == nullptr) input.steps = steps_of<Step>(pair, 0);
        fill(input);
    });
}

// A coarse step is its weight without the last `coarse_shift_` bits, so each of W's prefixes, and the end, is off by
// less than `slack` = rows << coarse_shift_ in all.  Making the maximum greater and the minimum smaller by twice that
// leaves what follows from them, pos - max W and neg + min W with pos and neg off by half of it, no greater than it is.
template <class Entry>
void Batch<Entry>::sweep_coarse(const Pair& pair, WeightedSweep<std::int32_t>& input, std::uint32_t lanes_meant) {
    input.chunk_rows = coarse_chunk;
    sweep_packed(input, lanes_meant);
    const Score slack = Score{pair.rows} << coarse_shift_;
    const auto widen = [&](Score* high, Score* low) {
        for (std::size_t s = 0; s < side_count; ++s) {
            high[s] = high[s] * (Score{1} << coarse_shift_) + 2 * slack;
            low[s] = low[s] * (Score{1} << coarse_shift_) - 2 * slack;
        }
    };
    widen(extremes_.high, extremes_.low);
    if (input.min_leaf > 0) widen(extremes_.allowed_high, extremes_.allowed_low);
    for (Score& end : extremes_.end) end *= Score{1} << coarse_shift_;
}

// Every row counts towards the size of a leaf, whatever its class.
template <class Entry>
void Batch<Entry>::sweep_limited(Pair& pair, std::uint32_t lanes_meant, bool coarse) {
    const Subproblem<Entry>& all = *sized_;
    statistics_->row_visits += std::int64_t{all.rows} * sub_->features;
    if (ends_ == nullptr) ends_ = mark_ends(all.entries, all.stride, all.rows, all.features);
    const auto fill = [&]<class Step>(WeightedSweep<Step>& input) {
        input.entries = all.entries;
        input.stride = all.stride;
        input.takes = ends_;
        input.rows = all.rows;
        input.features = all.features;
        input.words = sized_words_;
        input.near_words = near_words_;
        input.sizes = sizes_.data();
        input.near_sizes = near_sizes_.data();
        input.min_leaf = sized_by_mass_ ? sub_->leaf.mass : Score{sub_->leaf.rows};
    };
    if (coarse) {
        WeightedSweep<std::int32_t> input{};
        if (pair.coarse_sized_steps == nullptr) pair.coarse_sized_steps = sized_steps_of<std::int32_t>(pair, coarse_shift_);
        input.steps = pair.coarse_sized_steps;
        fill(input);
        BySide sizes, near_sizes;
        if (sized_by_mass_) {
            input.row_sizes = row_sizes<std::int32_t>(coarse_row_sizes_, coarse_shift_);
            input.min_leaf = coarse_least();
            for (std::size_t s = 0; s < side_count; ++s) {
                sizes[s] = ((sizes_[s] - sub_->leaf.mass) >> coarse_shift_) + input.min_leaf;
                near_sizes[s] = ((near_sizes_[s] - sub_->leaf.mass) >> coarse_shift_) + input.min_leaf;
            }
            input.sizes = sizes.data();
            input.near_sizes = near_sizes.data();
        }
        return sweep_coarse(pair, input, lanes_meant);
    }
    sweep_general(pair.sized_steps, lanes_meant, [&]<class Step>(WeightedSweep<Step>& input) {
        if (input.steps == nullptr) input.steps = sized_steps_of<Step>(pair, 0);
        fill(input);
        if (sized_by_mass_) input.row_sizes = row_sizes<Step>(row_sizes_, 0);
    });
}

// What the rows that count for sizes weigh, cut off or not; `known` remembers it.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::row_sizes(const void*& known, unsigned shift) {
    if (known == nullptr) {
        auto* const sizes = arena_->take<Step>(sized_->rows);
        for (Row r = 0; r < sized_->rows; ++r) sizes[r] = static_cast<Step>(sized_->weight[r] >> shift);
        known = sizes;
    }
    return static_cast<const Step*>(known);
}

// Rows cut off to c in all weigh at least c << shift and less than (c + rows) << shift.  So where a left leaf is large enough, c is
// at least this; and where the right one is, c is at most (size - least) >> shift.  Coarse sizes thus allow what is
// allowed, and more.  None, where it is not positive.
template <class Entry>
Score Batch<Entry>::coarse_least() const {
    return (sub_->leaf.mass >> coarse_shift_) - Score{sized_->rows};
}

// Half of the lanes or fewer are packed, where that saves passes.
template <class Entry>
template <class Step>
void Batch<Entry>::sweep_packed(WeightedSweep<Step>& input, std::uint32_t lanes_meant) {
    input.used = lanes_meant | std::uint64_t{lanes_meant} << lane_count;
    if (sizeof(Step) <= 2 || std::popcount(lanes_meant) > int{lane_count} / 2) return kernel_.sweep(input, extremes_);
    const Packing packing(lanes_meant);
    Arena::Frame frame(*arena_);
    const Row rows = input.min_leaf > 0 ? sized_->rows : sub_->rows;
    const auto packed = [&](const std::uint64_t* words) {
        auto* const to = arena_->take<std::uint64_t>(rows);
        for (Row r = 0; r < rows; ++r) to[r] = packing.pack(words[r]);
        return to;
    };
    input.used = packing.used();
    input.words = packed(input.words);
    std::array<Score, side_count> sizes, near_sizes;
    if (input.min_leaf > 0) {
        input.near_words = packed(input.near_words);
        std::copy_n(input.sizes, side_count, sizes.begin());
        std::copy_n(input.near_sizes, side_count, near_sizes.begin());
        packing.pack(sizes.data());
        packing.pack(near_sizes.data());
        input.sizes = sizes.data();
        input.near_sizes = near_sizes.data();
    }
    kernel_.sweep(input, extremes_);
    for (Score* const by_side : {extremes_.high, extremes_.low, extremes_.end}) packing.unpack(by_side);
    if (input.min_leaf > 0)
        for (Score* const by_side : {extremes_.allowed_high, extremes_.allowed_low}) packing.unpack(by_side);
}

// `steps` remembers those that `fill` has found.
template <class Entry>
template <class Fill>
void Batch<Entry>::sweep_general(const void*& steps, std::uint32_t lanes_meant, const Fill& fill) {
    const auto with = [&]<class Step>(Step) {
        WeightedSweep<Step> input{};
        input.steps = static_cast<const Step*>(steps);
        input.chunk_rows = chunk_rows_;
        fill(input);
        steps = input.steps;
        sweep_packed(input, lanes_meant);
    };
    if (step_bits_ == 8) with(std::int8_t{});
    else if (step_bits_ == 16) with(std::int16_t{});
    else if (step_bits_ == 32) with(std::int32_t{});
    else with(std::int64_t{});
}

// What a row adds to W: its weight, with the sign of its class, and nothing where it is of a third one.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::steps_of(const Pair& pair, unsigned shift) {
    const Subproblem<Entry>& sub = *sub_;
    auto* const steps = arena_->take<Step>(sub.rows);
    std::fill_n(steps, sub.rows, Step{0});
    for (const std::uint32_t c : {pair.a, pair.b}) {
        for (Row r = sub.class_begin[c]; r < sub.class_begin[c + 1]; ++r) {
            const auto step = static_cast<Step>(sub.weight_of(r) >> shift);
            steps[r] = c == pair.a ? step : static_cast<Step>(-step);
        }
    }
    return steps;
}

// The same by the rows that count for sizes; those that are not the subproblem's own add nothing.
template <class Entry>
template <class Step>
const Step* Batch<Entry>::sized_steps_of(const Pair& pair, unsigned shift) {
    const Step* const own = steps_of<Step>(pair, shift);
    if (twin_ == nullptr) return own;
    auto* const steps = arena_->take<Step>(sized_->rows);
    for (Row r = 0; r < sized_->rows; ++r) steps[r] = twin_[r] == no_twin ? Step{0} : own[twin_[r]];
    return steps;
}

template <class Entry>
const std::uint8_t* Batch<Entry>::mark_ends(const Entry* entries, std::size_t stride, Row rows, std::uint32_t features) {
    auto* const takes = arena_->take<std::uint8_t>(stride * features);
    for (std::uint32_t f = 0; f < features; ++f)
        kernel_.movers->of<Entry>().mark_ends(entries + f * stride, rows, takes + f * stride);
    return takes;
}

#define CONTREE_GENERAL(Entry)                                                                     \
    template void Batch<Entry>::start_general();                                                   \
    template void Batch<Entry>::evaluate_weighted(Score);                                          \
    template void Batch<Entry>::evaluate_weighted(Score, std::uint32_t, bool);                     \
    template std::uint32_t Batch<Entry>::may_be_best(Score);                                       \
    template void Batch<Entry>::evaluate_allowed(Score);                                           \
    template void Batch<Entry>::evaluate_allowed(Score, std::uint32_t, bool);                      \
    template void Batch<Entry>::evaluate_by_mass(std::uint32_t);                                   \
    template void Batch<Entry>::find_twins();                                                      \
    template void Batch<Entry>::write_sizes();                                                     \
    template void Batch<Entry>::size_sides(bool);                                                  \
    template Score Batch<Entry>::coarse_least() const;                                             \
    template void Batch<Entry>::sweep_weighted(Pair&, std::uint32_t, bool);                        \
    template void Batch<Entry>::sweep_coarse(const Pair&, WeightedSweep<std::int32_t>&, std::uint32_t); \
    template void Batch<Entry>::sweep_limited(Pair&, std::uint32_t, bool);                         \
    template const std::uint8_t* Batch<Entry>::mark_ends(const Entry*, std::size_t, Row, std::uint32_t);
CONTREE_GENERAL(WideEntry)
#undef CONTREE_GENERAL

}  // namespace contree
