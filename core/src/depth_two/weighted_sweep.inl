// The sweep of the general case, in vectors that the compiler knows.  Each kernel includes this text inside
// its own target region, behind its `Lanes`: how a row's bits choose the lanes that its step is added to.

// The extremes of some registers' sides over all features.  Lanes hold sums relative to the start of a chunk
// of rows that cannot overflow them; at its end they are folded into totals.
template <class Step, bool limited, unsigned parts> class SweepBlock {
    using L = Lanes<Step>;
    typedef Step V __attribute__((vector_size(register_bytes)));
    using UStep = std::make_unsigned_t<Step>;
    typedef UStep Unsigned __attribute__((vector_size(register_bytes)));  // its sums may wrap around
    static constexpr unsigned count = register_bytes / sizeof(Step);      // lanes of one register
    // Of all rows.  Byte steps are ones: so their totals are narrow too.
    using Total = std::conditional_t<sizeof(Step) == 1, std::int32_t, Score>;
    static constexpr Step lowest = std::numeric_limits<Step>::min(),
                          highest = std::numeric_limits<Step>::max();
    static constexpr unsigned sides = parts * count;
public:
    SweepBlock(const WeightedSweep<Step>& input, unsigned first) : input_(input), first_(first) {}

    void run(SideExtremes& extremes) {
        for (unsigned i = 0; limited && i < sides; ++i) {
            most_[i] = static_cast<Total>(input_.sizes[first_ + i] - input_.min_leaf);
            near_most_[i] = static_cast<Total>(input_.near_sizes[first_ + i] - input_.min_leaf);
        }
        for (std::uint32_t f = 0; f < input_.features; ++f) {
            for (unsigned i = 0; i < sides; ++i) sum_before_[i] = size_before_[i] = near_before_[i] = 0;
            for (Row begin = 0, end; begin < input_.rows && (begin == 0 || !input_.halt()); begin = end) {
                end = std::min(input_.rows - begin, input_.chunk_rows) + begin;
                input_.row_sizes == nullptr ? add_rows<true>(f, begin, end) : add_rows<false>(f, begin, end);
            }
        }
        std::copy_n(high_, sides, extremes.high + first_);
        std::copy_n(low_, sides, extremes.low + first_);
        std::copy_n(allowed_high_, sides, extremes.allowed_high + first_);
        std::copy_n(allowed_low_, sides, extremes.allowed_low + first_);
        std::copy_n(sum_before_, sides, extremes.end + first_);
    }
private:
    template <bool by_rows> void add_rows(std::uint32_t f, Row begin, Row end) {
        V sum[parts], high[parts], low[parts], allowed_high[parts], allowed_low[parts];
        Window window[parts], near[parts];
        for (unsigned p = 0; p < parts; ++p) {
            sum[p] = V{};
            high[p] = allowed_high[p] = V{} + lowest;
            low[p] = allowed_low[p] = V{} + highest;
            if (!limited) continue;
            open(size_before_ + p * count, most_ + p * count, window[p]);
            open(near_before_ + p * count, near_most_ + p * count, near[p]);
        }
        const WideEntry* const order = input_.entries + f * input_.stride;
        const std::uint8_t* const mask = input_.threshold_mask + f * input_.stride;
        bool any = false;
        for (Row k = begin; k < end; ++k) {
            const Row row = Packed<WideEntry>::row(order[k]);
            const Step step = input_.steps[row];
            const bool take = mask[k] != 0;
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
            add_to(p, reinterpret_cast<V>(window[p].place - window[p].start), size_before_);
            add_to(p, reinterpret_cast<V>(near[p].place - near[p].start), near_before_);
        }
    }

    static void add_to(unsigned p, const V& sum, Total* totals) {
        alignas(64) Step sums[count];
        std::memcpy(sums, &sum, sizeof sum);
        for (unsigned i = 0; i < count; ++i) totals[p * count + i] += static_cast<Total>(sums[i]);
    }

    // Where both leaves of a side are large enough: from `least`, what the chunk must add for the left one,
    // to what leaves enough for the right one.  `place` is the size so far less `least`, without a sign: one
    // comparison with `range` tells.  Where no size of the chunk is allowed, it stays beyond.
    struct Window {
        Unsigned start, place, range;
    };
    void open(const Total* before, const Total* most_of_all, Window& window) const {
        alignas(64) Step starts[count], ranges[count];
        for (unsigned i = 0; i < count; ++i) {
            const Total least = std::max<Total>(0, static_cast<Total>(input_.min_leaf) - before[i]);
            const Total most = most_of_all[i] - before[i];
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
    // By lane.
    alignas(64) Total sum_before_[sides] = {}, size_before_[sides] = {}, near_before_[sides] = {},
                      most_[sides] = {}, near_most_[sides] = {}, high_[sides] = {}, low_[sides] = {},
                      allowed_high_[sides] = {}, allowed_low_[sides] = {};
};

// Four registers at once, or two where sizes are kept too; one, where the sides of the others do not matter.
template <class Step, bool limited>
void sweep_sides(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    constexpr unsigned count = register_bytes / sizeof(Step),
                       most = std::min(limited ? 2u : 4u, side_count / count);
    const auto sweep_all = [&]<unsigned parts>() {
        constexpr unsigned sides = parts * count;
        for (unsigned first = 0; first < side_count; first += sides)
            if ((input.used >> first & ~std::uint64_t{0} >> (64 - sides)) != 0)
                SweepBlock<Step, limited, parts>(input, first).run(extremes);
    };
    const bool few = most > 1 && input.used >> count % 64 == 0;
    few ? sweep_all.template operator()<1>() : sweep_all.template operator()<most>();
}

template <class Step> void sweep_weighted(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    input.min_leaf > 0 ? sweep_sides<Step, true>(input, extremes) : sweep_sides<Step, false>(input, extremes);
}

constexpr std::tuple weighted{&sweep_weighted<std::int8_t>, &sweep_weighted<std::int16_t>,
    &sweep_weighted<std::int32_t>, &sweep_weighted<std::int64_t>};

// The sums of weight(row) by side, of chunks that a Step holds.
template <class Step, class Weight>
void total_sides(const std::uint64_t* words, Row rows, Row chunk, Score* totals, const Weight& weight) {
    using L = Lanes<Step>;
    typedef Step V __attribute__((vector_size(register_bytes)));
    constexpr unsigned count = register_bytes / sizeof(Step), parts = std::min(4u, side_count / count);
    std::fill_n(totals, side_count, 0);
    for (Row begin = 0, end; begin < rows; begin = end) {
        end = std::min(rows - begin, chunk) + begin;
        for (unsigned first = 0; first < side_count; first += parts * count) {
            V sum[parts] = {};
            for (Row r = begin; r < end; ++r)
                for (unsigned p = 0; p < parts; ++p)
                    sum[p] = L::added(sum[p], L::sides(words[r], first + p * count), V{} + weight(r));
            alignas(64) Step sums[parts * count];
            std::memcpy(sums, sum, sizeof sums);
            for (unsigned i = 0; i < parts * count; ++i) totals[first + i] += sums[i];
        }
    }
}

void weigh_sides(const std::uint64_t* words, const Score* weights, Row rows, Score* totals) {
    if (weights == nullptr)
        return total_sides<std::int8_t>(words, rows, 120, totals, [](Row) { return std::int8_t{1}; });
    total_sides<Score>(words, rows, rows, totals, [=](Row r) { return weights[r]; });
}
