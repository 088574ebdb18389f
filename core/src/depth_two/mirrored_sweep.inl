// Sweeps without a leaf size, or with one whose windows are known, where masks are dear (AVX2).  Each row with a step lies on one side of every lane, so W
// of a right side is W of all rows less that of the left one: one instruction instead of those that choose a step and add it.  Lanes and
// chunks are as in weighted_sweep.inl.

// All bits of the lanes whose bits are set.
struct alignas(32) LaneMask : std::array<std::int32_t, 8> {};
constexpr std::array<LaneMask, 256> lanes_of_bits = [] {
    std::array<LaneMask, 256> masks{};
    for (unsigned bits = 0; bits < 256; ++bits)
        for (unsigned i = 0; i < 8; ++i) masks[bits][i] = (bits >> i & 1) != 0 ? -1 : 0;
    return masks;
}();

// Adds a row's step to the lanes from `from` on in which it lies left.
template <class Step>
inline void add_left(typename Lanes<Step>::Vector& sum, const std::uint64_t& word, unsigned from, Step step) {
    using L = Lanes<Step>;
    if constexpr (sizeof(Step) == 4) {
        const auto bits = *(reinterpret_cast<const unsigned char*>(&word) + from / 8);
        const __m256i inside = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes_of_bits[bits].data()));
        sum = reinterpret_cast<typename L::Vector>(_mm256_add_epi32(reinterpret_cast<__m256i>(sum), _mm256_and_si256(inside, _mm256_set1_epi32(step))));
    } else if constexpr (sizeof(Step) == 8) {
        const __m256i to_top = _mm256_sub_epi64(_mm256_setr_epi64x(63, 62, 61, 60), _mm256_set1_epi64x(from));
        const __m256i bits = _mm256_sllv_epi64(_mm256_set1_epi64x(static_cast<long long>(word)), to_top);
        const __m256d added = _mm256_blendv_pd(_mm256_setzero_pd(), _mm256_castsi256_pd(_mm256_set1_epi64x(step)), _mm256_castsi256_pd(bits));
        sum = reinterpret_cast<typename L::Vector>(_mm256_add_epi64(reinterpret_cast<__m256i>(sum), _mm256_castpd_si256(added)));
    } else {
        L::add(sum, L::sides(word, from), step);
    }
}

// The extremes of both sides of some registers' lanes over all features.
template <class Step, unsigned parts>
class MirroredBlock {
    using L = Lanes<Step>;
    using V = typename L::Vector;
    static constexpr Step lowest = std::numeric_limits<Step>::min(), highest = std::numeric_limits<Step>::max();

public:
    static constexpr unsigned lanes = parts * L::count;

    MirroredBlock(const WeightedSweep<Step>& input, unsigned first, SideExtremes& extremes) : input_(input), first_(first), extremes_(extremes) {}

    void run() {
        for (Score* const by_side : {extremes_.high, extremes_.low, extremes_.allowed_high, extremes_.allowed_low})
            for (unsigned i = 0; i < lanes; ++i) by_side[left_side(first_ + i)] = by_side[right_side(first_ + i)] = 0;
        using Narrow = std::conditional_t<sizeof(Step) <= 2, std::int32_t, Score>;   // holds the sums of so many chunks
        if (input_.edges_of != nullptr) in_windows();
        else if (input_.rows / input_.chunk_rows < std::numeric_limits<std::uint16_t>::max()) in_chunks<Narrow>();
        else in_chunks<Score>();
    }

private:
    // Of the left and of the right sides.
    struct Sums {
        V left[parts], all;
        V high[2][parts], low[2][parts];

        void begin(Step no_high, Step no_low) {
            for (unsigned side = 0; side < 2; ++side)
                for (unsigned p = 0; p < parts; ++p) high[side][p] = V{} + no_high, low[side][p] = V{} + no_low;
            begin_order();
        }
        void begin_order() {
            for (V& sum : left) sum = V{};
            all = V{};
        }
    };

    // Of the left and of the right sides, over all chunks so far.
    template <class Total>
    struct Totals {
        alignas(64) Total before[2][lanes], high[2][lanes] = {}, low[2][lanes] = {};
    };

    template <class Total>
    void in_chunks() {
        Totals<Total> totals;
        Sums sums;
        const bool one = input_.rows <= input_.chunk_rows;
        if (one) sums.begin(0, 0);   // all is relative to the start then, and nothing is folded before the end
        for (std::uint32_t i = 0; i < input_.features; ++i) {
            std::fill_n(&totals.before[0][0], 2 * lanes, Total{0});
            if (one) sums.begin_order();
            for (Row begin = 0; begin < input_.rows && (begin == 0 || !input_.halt());) {
                const Row end = std::min(input_.rows - begin, input_.chunk_rows) + begin;
                if (!one) sums.begin(lowest, highest);
                add_rows(i, begin, end, sums);
                if (!one) fold(sums, totals);
                begin = end;
            }
        }
        if (one) fold(sums, totals);
        take(totals);
        for (unsigned i = 0; i < lanes; ++i)
            for (const unsigned side : {0, 1}) extremes_.end[side * lane_count + first_ + i] = totals.before[side][i];
    }

    // Into the extremes of all features; they begin anew.
    template <class Total>
    void take(Totals<Total>& totals) const {
        for (const unsigned side : {0, 1}) {
            for (unsigned i = 0; i < lanes; ++i) {
                const std::size_t s = side * lane_count + first_ + i;
                Total &high = totals.high[side][i], &low = totals.low[side][i];
                extremes_.high[s] = std::max<Score>(extremes_.high[s], high), extremes_.low[s] = std::min<Score>(extremes_.low[s], low);
                high = low = 0;
            }
        }
    }

    // A side's extremes are taken over when one of its windows begins or ends, and begin anew: between edges the loop asks nothing.
    void in_windows() {
        for (std::uint32_t f = 0; f < input_.features; ++f) {
            begin_order();
            open_[false] = open_[true] = 0;
            Sums sums;
            sums.begin(lowest, highest);
            Row at = 0, chunk_end = std::min(input_.rows, input_.chunk_rows);
            const WindowEdge* edge = input_.edges + input_.edges_of[f];
            const WindowEdge* const last = input_.edges + input_.edges_of[f + 1];
            for (;;) {
                while (edge != last && edge->side % lane_count - first_ >= lanes) ++edge;   // another block's
                if (edge == last) break;
                const Row stop = std::min(edge->at, chunk_end);
                if (stop > at) add_rows(f, at, stop, sums);
                at = stop;
                if (edge->at == at) {
                    pass(*edge++, sums);
                } else {
                    if (input_.halt()) return;
                    end_chunk(sums);
                    chunk_end = std::min(input_.rows - at, input_.chunk_rows) + at;
                }
            }
        }
    }

    // W counts for the windows that are open in front of the edge and behind it.
    void pass(const WindowEdge& edge, Sums& sums) {
        const unsigned s = edge.side, i = s % lane_count - first_;
        const V& left = sums.left[i / L::count];
        const Score now = extremes_.end[s] + (s < lane_count ? left : sums.all - left)[i % L::count];
        take_over(s, sums);
        count(s, now, now);
        open_[edge.near] ^= std::uint64_t{1} << s;
        count(s, now, now);
    }

    void take_over(unsigned s, Sums& sums) const {
        const unsigned i = s % lane_count - first_, p = i / L::count, lane = i % L::count, side = s / lane_count;
        const Step high = sums.high[side][p][lane], low = sums.low[side][p][lane];
        if (high == lowest && low == highest) return;   // no threshold since
        sums.high[side][p][lane] = lowest, sums.low[side][p][lane] = highest;
        count(s, extremes_.end[s] + high, extremes_.end[s] + low);
    }

    void count(unsigned s, Score most, Score least) const {
        if ((open_[true] >> s & 1) != 0) extremes_.high[s] = std::max(extremes_.high[s], most), extremes_.low[s] = std::min(extremes_.low[s], least);
        if ((open_[false] >> s & 1) != 0)
            extremes_.allowed_high[s] = std::max(extremes_.allowed_high[s], most), extremes_.allowed_low[s] = std::min(extremes_.allowed_low[s], least);
    }

    void end_chunk(Sums& sums) const {
        for (std::uint64_t open = open_[false] | open_[true]; open != 0; open &= open - 1) take_over(static_cast<unsigned>(std::countr_zero(open)), sums);
        for (unsigned i = 0; i < lanes; ++i) {
            const Score left = sums.left[i / L::count][i % L::count];
            extremes_.end[left_side(first_ + i)] += left;
            extremes_.end[right_side(first_ + i)] += sums.all[0] - left;
        }
        sums.begin(lowest, highest);
    }

    void begin_order() const {
        for (unsigned i = 0; i < lanes; ++i) extremes_.end[left_side(first_ + i)] = extremes_.end[right_side(first_ + i)] = 0;
    }

    // Not inline: inside other loops the compiler keeps some of the sums in memory.
    __attribute__((noinline)) void add_rows(std::uint32_t f, Row begin, Row end, Sums& kept) const {
        Sums sums = kept;
        const WideEntry* const order = input_.entries + f * input_.stride;
        const std::uint8_t* const takes = input_.takes + f * input_.stride;
        for (Row k = begin; k < end; ++k) {
            const Row row = Packed<WideEntry>::row(order[k]);
            const Step step = input_.steps[row];
            for (unsigned p = 0; p < parts; ++p) add_left<Step>(sums.left[p], input_.words[row], first_ + p * L::count, step);
            sums.all += step;
            if (takes[k] == 0) continue;
            for (unsigned p = 0; p < parts; ++p) {
                L::take(sums.left[p], sums.high[0][p], sums.low[0][p]);
                L::take(sums.all - sums.left[p], sums.high[1][p], sums.low[1][p]);
            }
        }
        kept = sums;
    }

    // Where the first lane still holds what it began with, there was no threshold.
    template <class Total>
    static void fold(const Sums& sums, Totals<Total>& totals) {
        const bool any = sums.high[0][0][0] != lowest || sums.low[0][0][0] != highest;
        for (unsigned side = 0; side < 2; ++side) {
            for (unsigned p = 0; p < parts; ++p) {
                const V sum = side == 0 ? sums.left[p] : sums.all - sums.left[p];
                Total *const before = totals.before[side] + p * L::count, *const high = totals.high[side] + p * L::count, *const low = totals.low[side] + p * L::count;
                for (unsigned i = 0; i < L::count && any; ++i) {
                    high[i] = std::max<Total>(high[i], before[i] + sums.high[side][p][i]);
                    low[i] = std::min<Total>(low[i], before[i] + sums.low[side][p][i]);
                }
                for (unsigned i = 0; i < L::count; ++i) before[i] += sum[i];
            }
        }
    }

    const WeightedSweep<Step>& input_;
    const unsigned first_;
    SideExtremes& extremes_;
    std::uint64_t open_[2] = {};   // the sides whose own windows are open, and those whose `near` ones are
};

template <class Step, unsigned parts>
void sweep_mirrored_blocks(const WeightedSweep<Step>& input, std::uint32_t lanes, SideExtremes& extremes) {
    constexpr unsigned at_once = MirroredBlock<Step, parts>::lanes;
    for (unsigned first = 0; first < lane_count && lanes >> first != 0; first += at_once) {
        const std::uint32_t block = ~std::uint32_t{0} >> (lane_count - at_once);
        if ((lanes >> first & block) != 0) MirroredBlock<Step, parts>(input, first, extremes).run();
    }
}

template <class Step>
void sweep_mirrored(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    constexpr unsigned count = Lanes<Step>::count, parts = std::min(registers.at_once / 2, lane_count / count);
    const auto lanes = static_cast<std::uint32_t>(input.used | input.used >> lane_count);
    const bool few = parts > 1 && lanes >> count % 32 == 0;   // one register is enough
    few ? sweep_mirrored_blocks<Step, 1>(input, lanes, extremes) : sweep_mirrored_blocks<Step, parts>(input, lanes, extremes);
}
