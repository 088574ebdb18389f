// The sweep of the general case, in vectors that the compiler knows: each kernel includes this text inside its own
// target region, so that the same lines become its machine's instructions.  Before it come the kernel's `Lanes`: how a
// row's bits choose the lanes that its step is added to.
//
// A few registers of sides at a time, as many as the machine has for all that is kept of each.  Lanes hold sums
// relative to the start of a chunk of rows that cannot overflow them; at its end they are folded into the totals.

// The extremes of some registers' sides over all features.
template <class Step, bool limited, unsigned parts>
class SweepBlock {
    using L = Lanes<Step>;
    using V = typename L::Vector;
    static constexpr Step lowest = std::numeric_limits<Step>::min(), highest = std::numeric_limits<Step>::max();

public:
    static constexpr unsigned sides = parts * L::count;

    SweepBlock(const WeightedSweep<Step>& input, unsigned first, SideExtremes& extremes)
        : input_(input), first_(first), extremes_(extremes) {
    }

    void run() {
        for (unsigned s = first_; s < first_ + sides; ++s)
            extremes_.high[s] = extremes_.low[s] = extremes_.allowed_high[s] = extremes_.allowed_low[s] = extremes_.end[s] = 0;
        for (std::uint32_t f = 0; f < input_.features; ++f) {
            for (unsigned i = 0; i < sides; ++i) sum_before_[i] = size_before_[i] = near_before_[i] = 0;
            for (Row begin = 0; begin < input_.rows;) {
                const Row end = std::min(input_.rows - begin, input_.chunk_rows) + begin;
                add_rows(f, begin, end);
                begin = end;
            }
        }
        for (unsigned p = 0; p < parts; ++p)
            for (unsigned i = 0; i < L::count; ++i) extremes_.end[side(p, i)] = sum_before_[p * L::count + i];
    }

private:
    void add_rows(std::uint32_t f, Row begin, Row end) {
        V sum[parts], high[parts], low[parts], allowed_high[parts], allowed_low[parts], before[parts], near_before[parts];
        V least[parts], most[parts], near_least[parts], near_most[parts];
        for (unsigned p = 0; p < parts; ++p) {
            sum[p] = before[p] = near_before[p] = V{};
            high[p] = allowed_high[p] = V{} + lowest;
            low[p] = allowed_low[p] = V{} + highest;
            if constexpr (limited) {
                limits(p, size_before_, input_.sizes, least[p], most[p]);
                limits(p, near_before_, input_.near_sizes, near_least[p], near_most[p]);
            }
        }
        const WideEntry* const order = input_.entries + f * input_.stride;
        const std::uint8_t* const takes = input_.takes + f * input_.stride;
        bool any = false;
        for (Row k = begin; k < end; ++k) {
            const Row row = Packed<WideEntry>::row(order[k]);
            const std::uint64_t word = input_.words[row] >> first_;
            const Step step = input_.steps[row];
            const std::uint64_t near_word = limited ? input_.near_words[row] >> first_ : 0;
            const Step size = limited && input_.row_sizes != nullptr ? input_.row_sizes[row] : Step{1};
            const bool take = takes[k] != 0;
            any |= take;
            for (unsigned p = 0; p < parts; ++p) {
                const typename L::Sides inside = L::sides(word >> (p * L::count));
                L::add(sum[p], inside, step);
                if constexpr (limited) {
                    L::add(before[p], inside, size);
                    L::add(near_before[p], L::sides(near_word >> (p * L::count)), size);
                }
                if (!take) continue;
                if constexpr (limited) {
                    const V allowed = (before[p] >= least[p]) & (before[p] <= most[p]);
                    allowed_high[p] = allowed & (sum[p] > allowed_high[p]) ? sum[p] : allowed_high[p];
                    allowed_low[p] = allowed & (sum[p] < allowed_low[p]) ? sum[p] : allowed_low[p];
                    const V near = (near_before[p] >= near_least[p]) & (near_before[p] <= near_most[p]);
                    high[p] = near & (sum[p] > high[p]) ? sum[p] : high[p];
                    low[p] = near & (sum[p] < low[p]) ? sum[p] : low[p];
                } else {
                    high[p] = sum[p] > high[p] ? sum[p] : high[p];
                    low[p] = sum[p] < low[p] ? sum[p] : low[p];
                }
            }
        }
        for (unsigned p = 0; p < parts; ++p) {
            if (any) fold(p, high[p], low[p], extremes_.high, extremes_.low);
            if (limited && any) fold(p, allowed_high[p], allowed_low[p], extremes_.allowed_high, extremes_.allowed_low);
            for (unsigned i = 0; i < L::count; ++i) {
                sum_before_[p * L::count + i] += sum[p][i];
                if (!limited) continue;
                size_before_[p * L::count + i] += before[p][i];
                near_before_[p * L::count + i] += near_before[p][i];
            }
        }
    }

    unsigned side(unsigned p, unsigned lane) const { return first_ + p * L::count + L::place(lane); }

    // What a side has to have in the chunk so that its left leaf is large enough, and what it may have so that enough is
    // left for the right one.
    void limits(unsigned p, const Score* before, const Score* sizes, V& least, V& most) const {
        for (unsigned i = 0; i < L::count; ++i) {
            const Score so_far = before[p * L::count + i];
            const auto clamped = [](Score size) { return static_cast<Step>(std::clamp<Score>(size, lowest, highest)); };
            least[i] = clamped(input_.min_leaf - so_far);
            most[i] = clamped(sizes[side(p, i)] - input_.min_leaf - so_far);
        }
    }

    // Lanes that still hold what they began with saw no threshold.
    void fold(unsigned p, const V& high, const V& low, Score* to_high, Score* to_low) const {
        for (unsigned i = 0; i < L::count; ++i) {
            const unsigned s = side(p, i);
            const Score before = sum_before_[p * L::count + i];
            to_high[s] = std::max(to_high[s], high[i] == lowest ? 0 : before + high[i]);
            to_low[s] = std::min(to_low[s], low[i] == highest ? 0 : before + low[i]);
        }
    }

    const WeightedSweep<Step>& input_;
    const unsigned first_;
    SideExtremes& extremes_;
    Score sum_before_[sides] = {}, size_before_[sides] = {}, near_before_[sides] = {};   // by lane
};

template <class Step, bool limited, unsigned parts>
void sweep_blocks(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    constexpr unsigned sides = SweepBlock<Step, limited, parts>::sides;
    for (unsigned first = 0; first < side_count; first += sides) {
        const std::uint64_t block = sides == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sides % 64) - 1;
        if ((input.used >> first & block) != 0) SweepBlock<Step, limited, parts>(input, first, extremes).run();
    }
}

template <class Step>
void sweep_weighted(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    constexpr unsigned count = Lanes<Step>::count, parts = sizeof(Step) == 2 ? 2 : Lanes<Step>::parts;
    const bool few = input.used >> count % 64 == 0;   // one register is enough
    if (input.min_leaf > 0) few ? sweep_blocks<Step, true, 1>(input, extremes) : sweep_blocks<Step, true, 2>(input, extremes);
    else few ? sweep_blocks<Step, false, 1>(input, extremes) : sweep_blocks<Step, false, parts>(input, extremes);
}

void weigh_sides(const std::uint64_t* words, const Score* weights, Row rows, Score* totals) {
    using L = Lanes<Score>;
    constexpr unsigned parts = L::parts;
    for (unsigned first = 0; first < side_count; first += parts * L::count) {
        typename L::Vector sum[parts] = {};
        for (Row r = 0; r < rows; ++r)
            for (unsigned p = 0; p < parts; ++p) L::add(sum[p], L::sides(words[r] >> (first + p * L::count)), weights[r]);
        for (unsigned p = 0; p < parts; ++p)
            for (unsigned i = 0; i < L::count; ++i) totals[first + p * L::count + i] = sum[p][i];
    }
}
