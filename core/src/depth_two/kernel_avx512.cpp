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
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}};

// Bytes hold the sums of at most this many rows; then they are widened to 32 bits.
constexpr Row chunk_rows = 120;
constexpr unsigned wide_registers = 4;   // that hold 64 lanes of 32 bits

// Sixteen 32-bit lanes from a quarter of the bytes.
inline __m512i widen(__m512i bytes, unsigned quarter) {
    const __m256i half = quarter < 2 ? _mm512_castsi512_si256(bytes) : _mm512_extracti64x4_epi64(bytes, 1);
    return _mm512_cvtepi8_epi32(quarter % 2 == 0 ? _mm256_castsi256_si128(half)
                                                 : _mm256_extracti128_si256(half, 1));
}

inline __m512i* wide(std::int32_t* lanes) { return reinterpret_cast<__m512i*>(lanes); }

// Which unit a row takes: 64 bytes on, where its number reaches the boundary.  Cheaper than a comparison's
// flag.
inline std::size_t unit_offset(Row boundary, Row row) {
    return static_cast<std::size_t>(
        static_cast<std::uint64_t>(std::int64_t{boundary} - 1 - std::int64_t{row}) >> 57 & 64);
}

// Some features with ties of one kind.  The sums of one feature wait for each other; two features at once
// keep the units busy: 0.96 ns a row with one, 0.78 with two.  Sums are relative to the start of a chunk of
// rows, and `base` is what they were there.
template <Ties ties, unsigned streams, class Entry>
void sweep_features(const Sweep<Entry>& input, const std::uint32_t* f, SideSums& sums) {
    const Entry* order[streams];
    const std::uint8_t* takes[streams];
    __m512i base[streams][wide_registers];
    for (unsigned s = 0; s < streams; ++s) {
        order[s] = input.entries + f[s] * input.stride;
        takes[s] = input.takes + f[s] * input.stride;
        for (__m512i& lanes : base[s]) lanes = _mm512_setzero_si512();
    }
    const char* const units = reinterpret_cast<const char*>(unit);
    const std::uint64_t* const words = input.words;
    const Row boundary = input.boundary;
    const __m512i lowest = _mm512_set1_epi8(-128), highest = _mm512_set1_epi8(127);
    for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
        const Row end = std::min(input.rows, begin + chunk_rows);
        __m512i sum[streams], high[streams], low[streams];
        for (unsigned s = 0; s < streams; ++s)
            sum[s] = _mm512_setzero_si512(), high[s] = lowest, low[s] = highest;
#pragma GCC unroll 2
        for (Row k = begin; k < end; ++k) {
#pragma GCC unroll 2
            for (unsigned s = 0; s < streams; ++s) {
                const Row row = Packed<Entry>::row(order[s][k]);
                const __m512i step = _mm512_load_si512(units + unit_offset(boundary, row));
                sum[s] = _mm512_mask_add_epi8(sum[s], _cvtu64_mask64(words[row]), sum[s], step);
                if constexpr (ties == Ties::irregular) {
                    const auto take = static_cast<std::int64_t>(static_cast<std::int8_t>(takes[s][k]));
                    const __mmask64 all = _cvtu64_mask64(static_cast<std::uint64_t>(take));
                    high[s] = _mm512_mask_max_epi8(high[s], all, high[s], sum[s]);
                    low[s] = _mm512_mask_min_epi8(low[s], all, low[s], sum[s]);
                } else if (ties == Ties::none || takes[s][k] != 0) {
                    high[s] = _mm512_max_epi8(high[s], sum[s]);
                    low[s] = _mm512_min_epi8(low[s], sum[s]);
                }
            }
        }
        for (unsigned s = 0; s < streams; ++s) {
            const bool any =
                _mm512_cmpneq_epi8_mask(high[s], lowest) != 0;   // did a threshold stand in the chunk?
            for (unsigned r = 0; r < wide_registers; ++r) {
                if (any) {
                    wide(sums.high)[r] =
                        _mm512_max_epi32(wide(sums.high)[r], _mm512_add_epi32(base[s][r], widen(high[s], r)));
                    wide(sums.low)[r] =
                        _mm512_min_epi32(wide(sums.low)[r], _mm512_add_epi32(base[s][r], widen(low[s], r)));
                }
                base[s][r] = _mm512_add_epi32(base[s][r], widen(sum[s], r));
            }
        }
    }
    for (unsigned r = 0; r < wide_registers; ++r) wide(sums.end)[r] = base[0][r];
}

// All features with ties of one kind, two at a time.
template <Ties ties, class Entry>
void sweep_kind(const Sweep<Entry>& input, SideSums& sums) {
    std::uint32_t group[2];
    unsigned waiting = 0;
    for (std::uint32_t f = 0; f < input.features; ++f) {
        if (input.ties[f] != ties) continue;
        group[waiting++] = f;
        if (waiting < 2) continue;
        sweep_features<ties, 2>(input, group, sums);
        waiting = 0;
    }
    if (waiting == 1) sweep_features<ties, 1>(input, group, sums);
}

template <class Entry>
void sweep(const Sweep<Entry>& input, SideSums& sums) {
    std::fill_n(sums.high, side_count, 0);
    std::fill_n(sums.low, side_count, 0);
    sweep_kind<Ties::none>(input, sums);
    sweep_kind<Ties::regular>(input, sums);
    sweep_kind<Ties::irregular>(input, sums);
}

void count_sides(const std::uint64_t* words, Row rows, std::int32_t* totals) {
    __m512i total[wide_registers];
    for (__m512i& lanes : total) lanes = _mm512_setzero_si512();
    const __m512i one = _mm512_set1_epi8(1);
    for (Row begin = 0; begin < rows; begin += chunk_rows) {
        const Row end = std::min(rows, begin + chunk_rows);
        __m512i sum = _mm512_setzero_si512();
        for (Row r = begin; r < end; ++r) sum = _mm512_mask_add_epi8(sum, _cvtu64_mask64(words[r]), sum, one);
        for (unsigned r = 0; r < wide_registers; ++r) total[r] = _mm512_add_epi32(total[r], widen(sum, r));
    }
    for (unsigned r = 0; r < wide_registers; ++r) _mm512_storeu_si512(totals + r * 16, total[r]);
}

constexpr unsigned register_bytes = 64;

template <unsigned lanes>
using MaskOf = std::conditional_t<
    lanes == 64, __mmask64,
    std::conditional_t<lanes == 32, __mmask32, std::conditional_t<lanes == 16, __mmask16, __mmask8>>>;

// A row's bits are a mask register.
template <class Step>
struct Lanes {
    using Sides = MaskOf<register_bytes / sizeof(Step)>;

    static Sides sides(const std::uint64_t& word, unsigned from) { return static_cast<Sides>(word >> from); }
    // `steps` in the lanes inside, else nothing.
    template <class Vector>
    static Vector added(const Vector& sum, Sides inside, const Vector& steps) {
        const auto w = reinterpret_cast<__m512i>(sum), s = reinterpret_cast<__m512i>(steps);
        if constexpr (sizeof(Step) == 1)
            return reinterpret_cast<Vector>(_mm512_mask_add_epi8(w, inside, w, s));
        else if constexpr (sizeof(Step) == 2)
            return reinterpret_cast<Vector>(_mm512_mask_add_epi16(w, inside, w, s));
        else if constexpr (sizeof(Step) == 4)
            return reinterpret_cast<Vector>(_mm512_mask_add_epi32(w, inside, w, s));
        else return reinterpret_cast<Vector>(_mm512_mask_add_epi64(w, inside, w, s));
    }
};

#include "depth_two/weighted_sweep.inl"

}  // namespace

}  // namespace contree

#pragma GCC pop_options

namespace contree {

const Kernel avx512_kernel{
    "avx512", [] {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
    },
    sweep<NarrowEntry>, sweep<WideEntry>, count_sides,
    sweep_weighted<std::int8_t>, sweep_weighted<std::int16_t>, sweep_weighted<std::int32_t>,
    sweep_weighted<std::int64_t>, weigh_sides, &avx512_movers, 0};

}  // namespace contree

#endif
