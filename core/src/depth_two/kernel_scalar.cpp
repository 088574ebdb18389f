// The meaning of the kernels, in plain C++.
#include <algorithm>
#include "depth_two/kernel.hpp"

namespace contree {
namespace {
void sweep(const Sweep& input, SideSums& sums) {
    sums = {};
    for (std::uint32_t f = 0; f < input.features; ++f) {
        const Order order = input.order(f);
        const std::uint8_t* const mask = input.threshold_mask + f * input.stride;
        std::fill_n(sums.end, side_count, 0);
        for (Row k = 0; k < input.rows; ++k) {
            const Row row = order.row(k);
            const std::uint64_t word = input.words[row];
            const std::int32_t sign = row < input.boundary ? 1 : -1;
            for (unsigned s = 0; s < side_count; ++s) sums.end[s] += (word >> s & 1) != 0 ? sign : 0;
            if (input.ties[f] != Ties::none && mask[k] == 0) continue;
            for (unsigned s = 0; s < side_count; ++s) {
                sums.high[s] = std::max(sums.high[s], sums.end[s]);
                sums.low[s] = std::min(sums.low[s], sums.end[s]);
            }
        }
    }
}

void weigh_sides(const std::uint64_t* words, const Score* weights, Row rows, Score* totals) {
    std::fill_n(totals, side_count, 0);
    for (Row r = 0; r < rows; ++r)
        for (unsigned s = 0; s < side_count; ++s)
            if ((words[r] >> s & 1) != 0) totals[s] += weights == nullptr ? 1 : weights[r];
}

template <class Step>
void sweep_side(const WeightedSweep<Step>& input, std::uint32_t f, unsigned s, SideExtremes& extremes) {
    Score sum = 0, before = 0, near_before = 0;
    const auto take = [&](Score& high, Score& low) { high = std::max(high, sum), low = std::min(low, sum); };
    const auto leaves = [&](Score left, const Score* all) {
        return left >= input.min_leaf && all[s] - left >= input.min_leaf;
    };
    for (Row k = 0; k < input.rows; ++k) {
        const Row row = Packed<WideEntry>::row(input.entries[f * input.stride + k]);
        const Score size = input.row_sizes == nullptr ? 1 : Score{input.row_sizes[row]};
        if ((input.words[row] >> s & 1) != 0) sum += input.steps[row], before += size;
        if (input.min_leaf > 0 && (input.near_words[row] >> s & 1) != 0) near_before += size;
        if (input.threshold_mask[f * input.stride + k] == 0) continue;
        if (input.min_leaf == 0 || leaves(near_before, input.near_sizes))
            take(extremes.high[s], extremes.low[s]);
        if (input.min_leaf > 0 && leaves(before, input.sizes))
            take(extremes.allowed_high[s], extremes.allowed_low[s]);
    }
    extremes.end[s] = sum;
}

template <class Step> void sweep_weighted(const WeightedSweep<Step>& input, SideExtremes& extremes) {
    extremes = {};
    for (unsigned s = 0; s < side_count; ++s)
        for (std::uint32_t f = 0; f < input.features && (input.used >> s & 1) != 0 && !input.halt(); ++f)
            sweep_side(input, f, s, extremes);
}
}  // namespace

const Kernel scalar_kernel{"scalar", [] { return true; }, sweep, weigh_sides,
    {sweep_weighted<std::int8_t>, sweep_weighted<std::int16_t>, sweep_weighted<std::int32_t>,
        sweep_weighted<std::int64_t>},
    &scalar_partitioner, 0, &squared_scalar};
}  // namespace contree
