// 64 sides in four registers of bytes.  Every arm64 machine has these instructions.
#include "data/simd.hpp"  // IWYU pragma: keep

#if CONTREE_NEON_KERNEL
#include <algorithm>
#include <cstring>
#include "depth_two/kernel.hpp"

namespace contree {
namespace {
constexpr unsigned register_bytes = 16;
constexpr unsigned registers = side_count / register_bytes;
constexpr Row chunk_rows = 120;  // bytes hold the sums of so many rows

// All bits in every byte whose bit of the word is set, none in the others, for 16 sides from `from` on.
inline uint8x16_t spread(uint8x16_t word, unsigned from) {
    const uint8x16_t bit_of = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ULL));
    const auto low = static_cast<std::uint8_t>(from / 8), high = static_cast<std::uint8_t>(low + 1);
    const uint8x16_t bytes = vqtbl1q_u8(word, vcombine_u8(vdup_n_u8(low), vdup_n_u8(high)));
    return vtstq_u8(bytes, bit_of);
}

// The sums of a chunk of rows, relative to its start.
struct Bytes {
    alignas(64) std::int8_t sum[side_count], high[side_count], low[side_count];
};

template <Ties ties, class Entry>
void add_rows(const Sweep& input, std::uint32_t f, Row begin, Row end, Bytes& bytes) {
    const Entry* const order = input.order(f).as<Entry>();
    const std::uint8_t* const mask = input.threshold_mask + f * input.stride;
    const int8x16_t lowest = vdupq_n_s8(-128), highest = vdupq_n_s8(127);
    int8x16_t sum[registers], high[registers], low[registers];
    for (unsigned r = 0; r < registers; ++r) sum[r] = vdupq_n_s8(0), high[r] = lowest, low[r] = highest;
    for (Row k = begin; k < end; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
        const uint8x16_t word = vreinterpretq_u8_u64(vld1q_dup_u64(input.words + row));
        const int8x16_t step = vdupq_n_s8(row < input.boundary ? 1 : -1);
        CONTREE_UNROLL(4)
        for (unsigned r = 0; r < registers; ++r) {
            const uint8x16_t inside = spread(word, r * register_bytes);
            sum[r] = vaddq_s8(sum[r], vandq_s8(vreinterpretq_s8_u8(inside), step));
        }
        if (ties == Ties::regular && mask[k] == 0) continue;
        const uint8x16_t take = vdupq_n_u8(ties == Ties::irregular ? mask[k] : 0xff);
        CONTREE_UNROLL(4)
        for (unsigned r = 0; r < registers; ++r) {
            const bool all = ties != Ties::irregular;
            high[r] = vmaxq_s8(high[r], all ? sum[r] : vbslq_s8(take, sum[r], lowest));
            low[r] = vminq_s8(low[r], all ? sum[r] : vbslq_s8(take, sum[r], highest));
        }
    }
    for (unsigned r = 0; r < registers; ++r) {
        vst1q_s8(bytes.sum + r * register_bytes, sum[r]);
        vst1q_s8(bytes.high + r * register_bytes, high[r]);
        vst1q_s8(bytes.low + r * register_bytes, low[r]);
    }
}

// The wide sums live in memory: they are touched once in 120 rows.
template <Ties ties, class Entry> void sweep_feature(const Sweep& input, std::uint32_t f, SideSums& sums) {
    Bytes bytes;
    std::fill_n(sums.end, side_count, 0);
    for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
        add_rows<ties, Entry>(input, f, begin, std::min(input.rows, begin + chunk_rows), bytes);
        const bool any = bytes.high[0] != -128;  // does a threshold stand here?
        for (unsigned s = 0; s < side_count; ++s) {
            if (any) sums.high[s] = std::max(sums.high[s], sums.end[s] + bytes.high[s]);
            if (any) sums.low[s] = std::min(sums.low[s], sums.end[s] + bytes.low[s]);
            sums.end[s] += bytes.sum[s];
        }
    }
}

void sweep(const Sweep& input, SideSums& sums) {
    sums = {};
    with_entry(input.width, [&](auto entry) {
        using Entry = decltype(entry);
        for (std::uint32_t f = 0; f < input.features; ++f)
            input.ties[f] == Ties::none      ? sweep_feature<Ties::none, Entry>(input, f, sums)
            : input.ties[f] == Ties::regular ? sweep_feature<Ties::regular, Entry>(input, f, sums)
                                             : sweep_feature<Ties::irregular, Entry>(input, f, sums);
    });
}

// There are no mask registers: a row's bits are copied to all lanes, and each tests its own.
template <class Step> struct Lanes {
    using Sides = uint8x16_t;  // all bits set in the lanes of the sides that the row lies on

    static Sides sides(const std::uint64_t& word, unsigned from) {
        const auto bits = word >> from;
        if constexpr (sizeof(Step) == 1) {
            return spread(vreinterpretq_u8_u64(vdupq_n_u64(word)), from);
        } else if constexpr (sizeof(Step) == 2) {
            static constexpr std::uint16_t own[] = {1, 2, 4, 8, 16, 32, 64, 128};
            return vreinterpretq_u8_u16(
                vtstq_u16(vdupq_n_u16(static_cast<std::uint16_t>(bits)), vld1q_u16(own)));
        } else if constexpr (sizeof(Step) == 4) {
            static constexpr std::uint32_t own[] = {1, 2, 4, 8};
            return vreinterpretq_u8_u32(
                vtstq_u32(vdupq_n_u32(static_cast<std::uint32_t>(bits)), vld1q_u32(own)));
        } else {
            static constexpr std::uint64_t own[] = {1, 2};
            return vreinterpretq_u8_u64(vtstq_u64(vdupq_n_u64(bits), vld1q_u64(own)));
        }
    }
    // `steps` in the lanes inside, else nothing.
    template <class Vector> static Vector added(const Vector& sum, Sides inside, const Vector& steps) {
        return sum + (reinterpret_cast<Vector>(inside) & steps);
    }
};

#include "depth_two/weighted_sweep.inl"
}  // namespace
}  // namespace contree

const contree::Kernel contree::neon_kernel{
    "neon", [] { return true; }, sweep, weigh_sides, weighted, &scalar_partitioner, 0, &squared_scalar};

#endif
