// The sweep of the general case, in vectors that the compiler knows: each kernel includes this text inside its own
// target region, so that the same lines become its machine's instructions.
//
// Sixteen sides (eight with 64-bit sums) at a time: their sums, counts and extremes stay in registers, and the rows
// are passed over once for each such block.

template <class Sum>
struct Lanes {
    static constexpr unsigned count = 64 / sizeof(Sum);
    typedef Sum Vector __attribute__((vector_size(64)));
};

template <class Sum, bool limited>
void sweep_block(const WeightedSweep<Sum>& input, unsigned first, SideExtremes<Sum>& extremes) {
    using V = typename Lanes<Sum>::Vector;
    constexpr unsigned lanes = Lanes<Sum>::count;
    V bit, most_before;
    for (unsigned i = 0; i < lanes; ++i) {
        bit[i] = Sum{1} << i;
        most_before[i] = static_cast<Sum>(input.sizes[first + i]) - static_cast<Sum>(input.min_leaf);
    }
    const V least_before = V{} + static_cast<Sum>(input.min_leaf);
    V high{}, low{}, allowed_high{}, allowed_low{};
    for (std::uint32_t f = 0; f < input.features; ++f) {
        const WideEntry* const order = input.entries + f * input.stride;
        const std::uint8_t* const takes = input.takes + f * input.stride;
        V sum{}, before{};
        for (Row k = 0; k < input.rows; ++k) {
            const Row row = Packed<WideEntry>::row(order[k]);
            const auto word = static_cast<Sum>(input.words[row] >> first & ((std::uint64_t{1} << lanes) - 1));
            const V inside = (bit & word) != 0;   // -1 where the row belongs to the side
            sum += inside & input.steps[row];
            if constexpr (limited) before -= inside;
            if (takes[k] == 0) continue;
            high = sum > high ? sum : high;
            low = sum < low ? sum : low;
            if constexpr (limited) {   // a sum of 0 is a leaf, which is always allowed
                const V allowed = sum & (before >= least_before) & (before <= most_before);
                allowed_high = allowed > allowed_high ? allowed : allowed_high;
                allowed_low = allowed < allowed_low ? allowed : allowed_low;
            }
        }
    }
    for (unsigned i = 0; i < lanes; ++i) {
        extremes.high[first + i] = high[i];
        extremes.low[first + i] = low[i];
        extremes.allowed_high[first + i] = limited ? allowed_high[i] : high[i];
        extremes.allowed_low[first + i] = limited ? allowed_low[i] : low[i];
    }
}

template <class Sum>
void sweep_weighted(const WeightedSweep<Sum>& input, SideExtremes<Sum>& extremes) {
    constexpr unsigned lanes = Lanes<Sum>::count;
    for (unsigned first = 0; first < side_count; first += lanes) {
        if ((input.used >> first & ((std::uint64_t{1} << lanes) - 1)) == 0) {
            for (Sum* const to : {extremes.high, extremes.low, extremes.allowed_high, extremes.allowed_low})
                std::fill_n(to + first, lanes, Sum{0});
        } else if (input.min_leaf > 1) {
            sweep_block<Sum, true>(input, first, extremes);
        } else {
            sweep_block<Sum, false>(input, first, extremes);
        }
    }
}

void weigh_sides(const std::uint64_t* words, const Score* weights, Row rows, Score* totals) {
    using V = Lanes<Score>::Vector;
    constexpr unsigned lanes = Lanes<Score>::count;
    V bit;
    for (unsigned i = 0; i < lanes; ++i) bit[i] = Score{1} << i;
    for (unsigned first = 0; first < side_count; first += lanes) {
        V sum{};
        for (Row r = 0; r < rows; ++r) {
            const auto word = static_cast<Score>(words[r] >> first & ((std::uint64_t{1} << lanes) - 1));
            sum += ((bit & word) != 0) & weights[r];
        }
        for (unsigned i = 0; i < lanes; ++i) totals[first + i] = sum[i];
    }
}
