// 64 sides in one register of bytes: a row is one masked add, one maximum, one minimum.
#include <algorithm>
#include <array>
#include <cstring>
#include "data/simd.hpp"
#include "depth_two/kernel.hpp"

#if CONTREE_X86_KERNELS

CONTREE_TARGET_BEGIN(CONTREE_AVX512)

namespace contree {
namespace {
// What a row adds: 64 times 1, then 64 times -1.
alignas(64) constexpr auto unit = [] {
    std::array<std::int8_t, 128> made{};
    for (unsigned i = 0; i < 128; ++i) made[i] = i < 64 ? 1 : -1;
    return made;
}();
// Where a row's begin: 64 bytes on, where its number reaches the boundary.  Cheaper than a comparison's flag.
inline std::size_t unit_of(Row boundary, Row row) {
    return static_cast<std::uint64_t>(std::int64_t{boundary} - 1 - std::int64_t{row}) >> 57 & 64;
}

constexpr Row chunk_rows = 120;         // bytes hold the sums of so many rows
constexpr unsigned wide_registers = 4;  // that hold 64 lanes of 32 bits

// Sixteen 32-bit lanes from a quarter of the bytes.
inline __m512i widen(const __m512i& bytes, unsigned quarter) {
    return _mm512_cvtepi8_epi32(reinterpret_cast<const __m128i*>(&bytes)[quarter]);
}

inline __m512i* wide(std::int32_t* lanes) { return reinterpret_cast<__m512i*>(lanes); }

// Some features with ties of one kind: two at once keep the units busy, as the sums of one wait for each
// other.  Sums are relative to the start of a chunk of rows, and `base` is what they were there.
template <Ties ties, unsigned streams, class Entry>
void sweep_features(const Sweep& input, const std::uint32_t* f, SideSums& sums) {
    const Entry* order[streams];
    const std::uint8_t* mask[streams];
    __m512i base[streams][wide_registers];
    for (unsigned s = 0; s < streams; ++s) {
        order[s] = input.order(f[s]).as<Entry>();
        mask[s] = input.threshold_mask + f[s] * input.stride;
        for (__m512i& lanes : base[s]) lanes = _mm512_setzero_si512();
    }
    const std::uint64_t* const words = input.words;
    const Row boundary = input.boundary;
    const __m512i lowest = _mm512_set1_epi8(-128), highest = _mm512_set1_epi8(127);
    __m512i *const highs = wide(sums.high), *const lows = wide(sums.low);
    for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
        const Row end = std::min(input.rows, begin + chunk_rows);
        __m512i sum[streams], high[streams], low[streams];
        for (unsigned s = 0; s < streams; ++s)
            sum[s] = _mm512_setzero_si512(), high[s] = lowest, low[s] = highest;
        CONTREE_UNROLL(2)
        for (Row k = begin; k < end; ++k) {
            CONTREE_UNROLL(2)
            for (unsigned s = 0; s < streams; ++s) {
                const Row row = Packed<Entry>::row(order[s][k]);
                const __m512i step = _mm512_load_si512(unit.data() + unit_of(boundary, row));
                sum[s] = _mm512_mask_add_epi8(sum[s], _cvtu64_mask64(words[row]), sum[s], step);
                if constexpr (ties == Ties::irregular) {
                    const __mmask64 all = _cvtu64_mask64(-std::uint64_t{mask[s][k] != 0});
                    high[s] = _mm512_mask_max_epi8(high[s], all, high[s], sum[s]);
                    low[s] = _mm512_mask_min_epi8(low[s], all, low[s], sum[s]);
                } else if (ties == Ties::none || mask[s][k] != 0) {
                    high[s] = _mm512_max_epi8(high[s], sum[s]);
                    low[s] = _mm512_min_epi8(low[s], sum[s]);
                }
            }
        }
        for (unsigned s = 0; s < streams; ++s) {
            const bool any = _mm512_cmpneq_epi8_mask(high[s], lowest) != 0;  // did a threshold stand here?
            for (unsigned r = 0; r < wide_registers; ++r) {
                __m512i& from = base[s][r];
                if (any) {
                    highs[r] = _mm512_max_epi32(highs[r], _mm512_add_epi32(from, widen(high[s], r)));
                    lows[r] = _mm512_min_epi32(lows[r], _mm512_add_epi32(from, widen(low[s], r)));
                }
                from = _mm512_add_epi32(from, widen(sum[s], r));
            }
        }
    }
    for (unsigned r = 0; r < wide_registers; ++r) wide(sums.end)[r] = base[0][r];
}

// All features with ties of one kind, two at a time.
template <Ties ties, class Entry> void sweep_kind(const Sweep& input, SideSums& sums) {
    std::uint32_t group[2];
    unsigned waiting = 0;
    for (std::uint32_t f = 0; f < input.features; ++f) {
        if (input.ties[f] != ties) continue;
        group[waiting++] = f;
        if (waiting < 2) continue;
        sweep_features<ties, 2, Entry>(input, group, sums);
        waiting = 0;
    }
    if (waiting == 1) sweep_features<ties, 1, Entry>(input, group, sums);
}

void sweep(const Sweep& input, SideSums& sums) {
    sums = {};
    with_entry(input.width, [&](auto entry) {
        sweep_kind<Ties::none, decltype(entry)>(input, sums);
        sweep_kind<Ties::regular, decltype(entry)>(input, sums);
        sweep_kind<Ties::irregular, decltype(entry)>(input, sums);
    });
}

constexpr unsigned register_bytes = 64;

// A row's bits are a mask register.
template <class Step> struct Lanes {
    using Sides = std::uint64_t;

    static Sides sides(const std::uint64_t& word, unsigned from) { return word >> from; }
    // `steps` in the lanes inside, else nothing.
    template <class Vector> static Vector added(const Vector& sum, Sides inside, const Vector& steps) {
        const auto w = reinterpret_cast<__m512i>(sum), s = reinterpret_cast<__m512i>(steps);
        if constexpr (sizeof(Step) == 1) return Vector(_mm512_mask_add_epi8(w, inside, w, s));
        if constexpr (sizeof(Step) == 2)
            return Vector(_mm512_mask_add_epi16(w, static_cast<__mmask32>(inside), w, s));
        if constexpr (sizeof(Step) == 4)
            return Vector(_mm512_mask_add_epi32(w, static_cast<__mmask16>(inside), w, s));
        if constexpr (sizeof(Step) == 8)
            return Vector(_mm512_mask_add_epi64(w, static_cast<__mmask8>(inside), w, s));
    }
};

#include "depth_two/weighted_sweep.inl"
}  // namespace
}  // namespace contree

CONTREE_TARGET_END

const contree::Kernel contree::avx512_kernel{
    "avx512", has_avx512, sweep, weigh_sides, weighted, &avx512_partitioner, 0, &squared_avx512};

#endif
