// The meaning of the kernels, in plain C++.
#include <algorithm>

#include "depth_two/kernel.hpp"

namespace contree {

namespace {

template <class Entry>
void sweep(const Sweep<Entry>& input, SideSums& sums) {
    using P = Packed<Entry>;
    std::fill_n(sums.high, side_count, 0);
    std::fill_n(sums.low, side_count, 0);
    for (std::uint32_t f = 0; f < input.features; ++f) {
        const Entry* const order = input.entries + f * input.stride;
        const std::uint8_t* const takes = input.takes + f * input.stride;
        std::fill_n(sums.end, side_count, 0);
        for (Row k = 0; k < input.rows; ++k) {
            const Row row = P::row(order[k]);
            const std::uint64_t word = input.words[row];
            const std::int32_t sign = row < input.boundary ? 1 : -1;
            for (unsigned s = 0; s < side_count; ++s) sums.end[s] += (word >> s & 1) != 0 ? sign : 0;
            if (input.ties[f] != Ties::none && takes[k] == 0) continue;
            for (unsigned s = 0; s < side_count; ++s) {
                sums.high[s] = std::max(sums.high[s], sums.end[s]);
                sums.low[s] = std::min(sums.low[s], sums.end[s]);
            }
        }
    }
}

void count_sides(const std::uint64_t* words, Row rows, std::int32_t* totals) {
    std::fill_n(totals, side_count, 0);
    for (Row r = 0; r < rows; ++r)
        for (unsigned s = 0; s < side_count; ++s) totals[s] += static_cast<std::int32_t>(words[r] >> s & 1);
}

template <class Step>
void sweep_weighted(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    extremes = {};
    for (unsigned s = 0; s < side_count; ++s) {
        if ((input.used >> s & 1) == 0) continue;
        for (std::uint32_t f = 0; f < input.features && !input.halt(); ++f) {
            Score sum = 0, high = 0, low = 0;
            Score before = 0, near_before = 0;
            for (Row k = 0; k < input.rows; ++k) {
                const Row row = Packed<WideEntry>::row(input.entries[f * input.stride + k]);
                const Score size = input.row_sizes == nullptr ? 1 : Score{input.row_sizes[row]};
                if ((input.words[row] >> s & 1) != 0) {
                    sum += input.steps[row];
                    before += size;
                }
                if (input.min_leaf > 0 && (input.near_words[row] >> s & 1) != 0) near_before += size;
                if (input.takes[f * input.stride + k] == 0) continue;
                const auto leaves = [&](Score left, const Score* all) {
                    return left >= input.min_leaf && all[s] - left >= input.min_leaf;
                };
                if (input.min_leaf == 0 || leaves(near_before, input.near_sizes))
                    high = std::max(high, sum), low = std::min(low, sum);
                if (input.min_leaf > 0 && leaves(before, input.sizes)) {
                    extremes.allowed_high[s] = std::max(extremes.allowed_high[s], sum);
                    extremes.allowed_low[s] = std::min(extremes.allowed_low[s], sum);
                }
            }
            extremes.high[s] = std::max(extremes.high[s], high);
            extremes.low[s] = std::min(extremes.low[s], low);
            extremes.end[s] = sum;
        }
    }
}

void weigh_sides(const std::uint64_t* words, const Score* weights, Row rows, Score* totals) {
    std::fill_n(totals, side_count, 0);
    for (Row r = 0; r < rows; ++r)
        for (unsigned s = 0; s < side_count; ++s) totals[s] += (words[r] >> s & 1) != 0 ? weights[r] : 0;
}

}  // namespace

const Kernel scalar_kernel{
    "scalar", [] { return true; },
    sweep<NarrowEntry>, sweep<WideEntry>, count_sides,
    sweep_weighted<std::int8_t>, sweep_weighted<std::int16_t>, sweep_weighted<std::int32_t>,
    sweep_weighted<std::int64_t>, weigh_sides, &scalar_movers, 0};

}  // namespace contree
