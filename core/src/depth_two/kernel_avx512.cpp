// 64 sides in one register of bytes: a row is one masked add, one maximum, one minimum.
#if defined(__x86_64__)

// GCC 12 warns of its own AVX-512 headers (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include <algorithm>

#include "depth_two/kernel.hpp"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")

namespace contree {

namespace {

alignas(64) constexpr std::int8_t unit[2][64] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}};

// Bytes hold the sums of at most this many rows; then they are widened.
constexpr Row chunk_rows = 120;

// Sums of one chunk, relative to its start.  `any` tells whether a threshold stood in it.
struct Bytes {
    __m512i sum, high, low;
    bool any;
};

template <Ties ties, class Entry>
inline void add_rows(const Sweep<Entry>& input, const Entry* order, Row begin, Row end, Bytes& bytes) {
    using P = Packed<Entry>;
    __m512i sum = bytes.sum, high = bytes.high, low = bytes.low;
    bool any = bytes.any || ties == Ties::none;
#pragma GCC unroll 4
    for (Row k = begin; k < end; ++k) {
        const Row row = P::row(order[k]);
        const __m512i step = _mm512_load_si512(unit[row >= input.boundary]);
        sum = _mm512_mask_add_epi8(sum, _cvtu64_mask64(input.words[row]), sum, step);
        if constexpr (ties == Ties::few) {
            const bool differs = (order[k] ^ order[k + 1]) > P::row_mask;
            const __mmask64 all = _cvtu64_mask64(-static_cast<std::uint64_t>(differs));
            any |= differs;
            high = _mm512_mask_max_epi8(high, all, high, sum);
            low = _mm512_mask_min_epi8(low, all, low, sum);
            continue;
        }
        if constexpr (ties == Ties::many) {
            if ((order[k] ^ order[k + 1]) <= P::row_mask) continue;
            any = true;
        }
        high = _mm512_max_epi8(high, sum);
        low = _mm512_min_epi8(low, sum);
    }
    bytes.sum = sum, bytes.high = high, bytes.low = low, bytes.any = any;
}

template <class Entry>
inline void add_rows(const Sweep<Entry>& input, Ties ties, const Entry* order, Row begin, Row end, Bytes& bytes) {
    switch (ties) {
        case Ties::none: return add_rows<Ties::none>(input, order, begin, end, bytes);
        case Ties::few: return add_rows<Ties::few>(input, order, begin, end, bytes);
        case Ties::many: return add_rows<Ties::many>(input, order, begin, end, bytes);
    }
}

// The wide sums: 64 lanes of 16 bits in two registers, or of 32 bits in four.
template <unsigned registers>
struct Wide;

template <>
struct Wide<2> {
    static constexpr unsigned lanes = 32;
    static __m512i widen(__m512i bytes, unsigned r) {
        return _mm512_cvtepi8_epi16(r == 0 ? _mm512_castsi512_si256(bytes) : _mm512_extracti64x4_epi64(bytes, 1));
    }
    static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi16(a, b); }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epi16(a, b); }
    static __m512i min(__m512i a, __m512i b) { return _mm512_min_epi16(a, b); }
    static void store(std::int32_t* to, __m512i lanes16) {
        _mm512_store_si512(to, _mm512_cvtepi16_epi32(_mm512_castsi512_si256(lanes16)));
        _mm512_store_si512(to + 16, _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(lanes16, 1)));
    }
};

template <>
struct Wide<4> {
    static constexpr unsigned lanes = 16;
    static __m512i widen(__m512i bytes, unsigned r) {
        const __m256i half = r < 2 ? _mm512_castsi512_si256(bytes) : _mm512_extracti64x4_epi64(bytes, 1);
        return _mm512_cvtepi8_epi32(r % 2 == 0 ? _mm256_castsi256_si128(half) : _mm256_extracti128_si256(half, 1));
    }
    static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }
    static __m512i min(__m512i a, __m512i b) { return _mm512_min_epi32(a, b); }
    static void store(std::int32_t* to, __m512i lanes32) { _mm512_store_si512(to, lanes32); }
};

template <unsigned registers, class Entry>
void sweep_chunks(const Sweep<Entry>& input, SideSums& sums) {
    using W = Wide<registers>;
    __m512i base[registers], high[registers], low[registers];
    for (unsigned r = 0; r < registers; ++r) high[r] = low[r] = _mm512_setzero_si512();
    for (std::uint32_t f = 0; f < input.features; ++f) {
        const Entry* const order = input.entries + f * input.stride;
        const Ties ties = input.ties[f];
        for (unsigned r = 0; r < registers; ++r) base[r] = _mm512_setzero_si512();
        for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
            const Row end = std::min(input.rows, begin + chunk_rows);
            Bytes bytes{_mm512_setzero_si512(), _mm512_set1_epi8(-128), _mm512_set1_epi8(127), false};
            add_rows(input, ties, order, begin, end, bytes);
            for (unsigned r = 0; r < registers; ++r) {
                if (bytes.any) {
                    high[r] = W::max(high[r], W::add(base[r], W::widen(bytes.high, r)));
                    low[r] = W::min(low[r], W::add(base[r], W::widen(bytes.low, r)));
                }
                base[r] = W::add(base[r], W::widen(bytes.sum, r));
            }
        }
    }
    for (unsigned r = 0; r < registers; ++r) {
        W::store(sums.high + r * W::lanes, high[r]);
        W::store(sums.low + r * W::lanes, low[r]);
        W::store(sums.end + r * W::lanes, base[r]);
    }
}

// Up to 127 rows nothing overflows a byte, and the extremes stay in registers over all features.
template <class Entry>
void sweep_small(const Sweep<Entry>& input, SideSums& sums) {
    Bytes bytes{_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), false};
    for (std::uint32_t f = 0; f < input.features; ++f) {
        bytes.sum = _mm512_setzero_si512();
        const Entry* const order = input.entries + f * input.stride;
        add_rows(input, input.ties[f], order, 0, input.rows, bytes);
    }
    for (unsigned r = 0; r < 4; ++r) {
        _mm512_store_si512(sums.high + r * 16, Wide<4>::widen(bytes.high, r));
        _mm512_store_si512(sums.low + r * 16, Wide<4>::widen(bytes.low, r));
        _mm512_store_si512(sums.end + r * 16, Wide<4>::widen(bytes.sum, r));
    }
}

template <class Entry>
void sweep(const Sweep<Entry>& input, SideSums& sums) {
    if (input.rows <= 127) sweep_small(input, sums);
    else if (input.rows <= 32767) sweep_chunks<2>(input, sums);
    else sweep_chunks<4>(input, sums);
}

void count_sides(const std::uint64_t* words, Row rows, std::int32_t* totals) {
    __m512i total[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                        _mm512_setzero_si512()};
    const __m512i one = _mm512_set1_epi8(1);
    for (Row begin = 0; begin < rows; begin += chunk_rows) {
        const Row end = std::min(rows, begin + chunk_rows);
        __m512i sum = _mm512_setzero_si512();
        for (Row r = begin; r < end; ++r) sum = _mm512_mask_add_epi8(sum, _cvtu64_mask64(words[r]), sum, one);
        for (unsigned r = 0; r < 4; ++r) total[r] = _mm512_add_epi32(total[r], Wide<4>::widen(sum, r));
    }
    for (unsigned r = 0; r < 4; ++r) _mm512_storeu_si512(totals + r * 16, total[r]);
}

}  // namespace

}  // namespace contree

#pragma GCC pop_options

namespace contree {

const Kernel avx512_kernel{
    "avx512",
    [] {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
    },
    sweep<NarrowEntry>, sweep<WideEntry>, count_sides, &avx512_movers};

}  // namespace contree

#endif
