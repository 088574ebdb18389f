// The sweep of the general case, in vectors that the compiler knows: each kernel includes this text inside
// its own target region, so that the same lines become its machine's instructions.  Before it come the
// kernel's `Lanes`: how a row's bits choose the lanes that its step is added to.
//
// A few registers of sides at a time, as many as a machine has for all that is kept of each.  Lanes hold sums
// relative to the start of a chunk of rows that cannot overflow them; at its end they are folded into the
// totals.

// The extremes of some registers' sides over all features.
template <class Step, bool limited, unsigned parts>
class SweepBlock {
    using L = Lanes<Step>;
    typedef Step V __attribute__((vector_size(register_bytes)));
    using UStep = std::make_unsigned_t<Step>;
    typedef UStep Unsigned __attribute__((vector_size(register_bytes)));   // its sums may wrap around
    static constexpr unsigned count = register_bytes / sizeof(Step);   // lanes of one register
    // Of all rows.  Byte steps are ones, and there are few of them in a chunk: so totals are as narrow as
    // they may be.
    using Total = std::conditional_t<sizeof(Step) == 1, std::int32_t, Score>;
    static constexpr Step lowest = std::numeric_limits<Step>::min(),
                          highest = std::numeric_limits<Step>::max();

public:
    static constexpr unsigned sides = parts * count;

    SweepBlock(const WeightedSweep<Step>& input, unsigned first, SideExtremes& extremes)
        : input_(input), first_(first), extremes_(extremes) {}

    void run() {
        if constexpr (limited) {
            for (unsigned p = 0; p < parts; ++p) {
                for (unsigned i = 0; i < count; ++i) {
                    most_[p * count + i] = static_cast<Total>(input_.sizes[side(p, i)] - input_.min_leaf);
                    near_most_[p * count + i] =
                        static_cast<Total>(input_.near_sizes[side(p, i)] - input_.min_leaf);
                }
            }
        }
        for (std::uint32_t f = 0; f < input_.features; ++f) {
            for (unsigned i = 0; i < sides; ++i) sum_before_[i] = size_before_[i] = near_before_[i] = 0;
            for (Row begin = 0; begin < input_.rows && (begin == 0 || !input_.halt());) {
                const Row end = std::min(input_.rows - begin, input_.chunk_rows) + begin;
                if (input_.row_sizes == nullptr) add_rows<true>(f, begin, end);
                else add_rows<false>(f, begin, end);
                begin = end;
            }
        }
        for (unsigned lane = 0; lane < sides; ++lane) {
            const unsigned s = first_ + lane;
            extremes_.high[s] = high_[lane];
            extremes_.low[s] = low_[lane];
            extremes_.allowed_high[s] = allowed_high_[lane];
            extremes_.allowed_low[s] = allowed_low_[lane];
            extremes_.end[s] = sum_before_[lane];
        }
    }

private:
    template <bool by_rows>
    void add_rows(std::uint32_t f, Row begin, Row end) {
        V sum[parts], high[parts], low[parts], allowed_high[parts], allowed_low[parts];
        Window window[parts], near[parts];
        for (unsigned p = 0; p < parts; ++p) {
            sum[p] = V{};
            high[p] = allowed_high[p] = V{} + lowest;
            low[p] = allowed_low[p] = V{} + highest;
            if constexpr (limited) {
                open(p, size_before_, most_, window[p]);
                open(p, near_before_, near_most_, near[p]);
            }
        }
        const WideEntry* const order = input_.entries + f * input_.stride;
        const std::uint8_t* const takes = input_.takes + f * input_.stride;
        bool any = false;
        for (Row k = begin; k < end; ++k) {
            const Row row = Packed<WideEntry>::row(order[k]);
            const Step step = input_.steps[row];
            const bool take = takes[k] != 0;
            any |= take;
            for (unsigned p = 0; p < parts; ++p) {
                const unsigned from = first_ + p * count;
                const typename L::Sides inside = L::sides(input_.words[row], from);
                sum[p] = L::added(sum[p], inside, V{} + step);
                if constexpr (limited) {
                    const typename L::Sides near_inside = L::sides(input_.near_words[row], from);
                    const auto size = Unsigned{} + static_cast<UStep>(by_rows ? 1 : input_.row_sizes[row]);
                    window[p].place = L::added(window[p].place, inside, size);
                    near[p].place = L::added(near[p].place, near_inside, size);
                }
                if (!take) continue;
                if constexpr (limited) {
                    take_inside(sum[p], window[p], allowed_high[p], allowed_low[p]);
                    take_inside(sum[p], near[p], high[p], low[p]);
                } else {
                    high[p] = sum[p] > high[p] ? sum[p] : high[p];
                    low[p] = sum[p] < low[p] ? sum[p] : low[p];
                }
            }
        }
        for (unsigned p = 0; p < parts; ++p) {
            if (any) fold(p, high[p], low[p], high_, low_);
            if (limited && any) fold(p, allowed_high[p], allowed_low[p], allowed_high_, allowed_low_);
            add_to(p, sum[p], sum_before_);
            if (!limited) continue;
            add_to(p, window[p].added(), size_before_);
            add_to(p, near[p].added(), near_before_);
        }
    }

    void add_to(unsigned p, const V& sum, Total* totals) const {
        alignas(64) Step sums[count];
        std::memcpy(sums, &sum, sizeof sum);
        for (unsigned i = 0; i < count; ++i) totals[p * count + i] += static_cast<Total>(sums[i]);
    }

    unsigned side(unsigned p, unsigned lane) const { return first_ + p * count + lane; }

    // Where both leaves of a side are large enough: from `least`, what the chunk has to add for the left one,
    // to what it may add so that enough is left for the right one.  The size so far is kept less `least`,
    // without a sign, so that one comparison with `range` tells; where no size of the chunk is allowed, it
    // stays beyond.
    struct Window {
        Unsigned start, place, range;
        V added() const { return reinterpret_cast<V>(place - start); }
    };
    void open(unsigned p, const Total* before, const Total* most_of_all, Window& window) const {
        alignas(64) Step starts[count], ranges[count];
        for (unsigned i = 0; i < count; ++i) {
            const Total so_far = before[p * count + i];
            const Total least = std::max<Total>(0, static_cast<Total>(input_.min_leaf) - so_far);
            const Total most = most_of_all[p * count + i] - so_far;
            const bool never = least > most || least > highest;
            starts[i] = never ? lowest : static_cast<Step>(-least);
            ranges[i] = never ? Step{0} : static_cast<Step>(std::min<Total>(most - least, highest));
        }
        std::memcpy(&window.start, starts, sizeof starts);
        std::memcpy(&window.range, ranges, sizeof ranges);
        window.place = window.start;
    }
    // W in the lanes that are inside their window; the others take what changes nothing.
    static void take_inside(const V& sum, const Window& window, V& high, V& low) {
        const auto inside = window.place <= window.range;
        const V above = inside ? sum : V{} + lowest, below = inside ? sum : V{} + highest;
        high = above > high ? above : high;
        low = below < low ? below : low;
    }

    // Lanes that still hold what they began with saw no threshold.
    void fold(unsigned p, const V& high, const V& low, Total* to_high, Total* to_low) const {
        alignas(64) Step highs[count], lows[count];
        std::memcpy(highs, &high, sizeof high);
        std::memcpy(lows, &low, sizeof low);
        for (unsigned i = 0; i < count; ++i) {
            const unsigned lane = p * count + i;
            const Total before = sum_before_[lane];
            to_high[lane] = std::max<Total>(to_high[lane], highs[i] == lowest ? 0 : before + highs[i]);
            to_low[lane] = std::min<Total>(to_low[lane], lows[i] == highest ? 0 : before + lows[i]);
        }
    }

    const WeightedSweep<Step>& input_;
    const unsigned first_;
    SideExtremes& extremes_;
    // By lane.
    alignas(64) Total sum_before_[sides] = {}, size_before_[sides] = {},
                      near_before_[sides] = {}, most_[sides] = {}, near_most_[sides] = {};
    alignas(64) Total high_[sides] = {}, low_[sides] = {}, allowed_high_[sides] = {},
                      allowed_low_[sides] = {};
};

template <class Step, bool limited, unsigned parts>
void sweep_blocks(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    constexpr unsigned sides = SweepBlock<Step, limited, parts>::sides;
    for (unsigned first = 0; first < side_count; first += sides) {
        const std::uint64_t block = sides == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sides % 64) - 1;
        if ((input.used >> first & block) != 0)
            SweepBlock<Step, limited, parts>(input, first, extremes).run();
    }
}

// Four registers at once, or two where sizes are kept too; one, where the sides of the others do not matter.
template <class Step, bool limited>
void sweep_sides(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    constexpr unsigned count = register_bytes / sizeof(Step),
                       parts = std::min(limited ? 2u : 4u, side_count / count);
    const bool few = parts > 1 && input.used >> count % 64 == 0;
    few ? sweep_blocks<Step, limited, 1>(input, extremes)
        : sweep_blocks<Step, limited, parts>(input, extremes);
}

template <class Step>
void sweep_weighted(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    input.min_leaf > 0 ? sweep_sides<Step, true>(input, extremes) : sweep_sides<Step, false>(input, extremes);
}

void weigh_sides(const std::uint64_t* words, const Score* weights, Row rows, Score* totals) {
    using L = Lanes<Score>;
    typedef Score V __attribute__((vector_size(register_bytes)));
    constexpr unsigned parts = 4, count = register_bytes / sizeof(Score);
    for (unsigned first = 0; first < side_count; first += parts * count) {
        V sum[parts] = {};
        for (Row r = 0; r < rows; ++r)
            for (unsigned p = 0; p < parts; ++p)
                sum[p] = L::added(sum[p], L::sides(words[r], first + p * count), V{} + weights[r]);
        for (unsigned p = 0; p < parts; ++p)
            for (unsigned i = 0; i < count; ++i) totals[first + p * count + i] = sum[p][i];
    }
}
