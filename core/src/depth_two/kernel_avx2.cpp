// 64 sides in two registers of bytes; a row's bits are spread over the bytes by a shuffle and a compare.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>

#include "depth_two/kernel.hpp"

#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")

namespace contree {

namespace {

constexpr Row chunk_rows = 120;   // bytes hold the sums of so many rows

// spread gives -1: its sign is turned for rows that count +1.
alignas(32) constexpr std::int8_t turn_sign[2][32] = {
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

// -1 in every byte whose bit of the word's half is set, 0 in the others.
inline __m256i spread(const std::uint64_t& word, unsigned half) {
    const __m256i byte_of = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,   //
                                             2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit_of = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m128i bits = _mm_loadu_si32(reinterpret_cast<const char*>(&word) + 4 * half);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_broadcastd_epi32(bits), byte_of);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of);
}

// Sums of a chunk relative to its start, left and right sides; bytes are greater by 128, and so have no sign:
// then 0 and 255 are what changes no maximum and no minimum.
struct Bytes {
    __m256i sum[2], high[2], low[2];
};
constexpr int bias = 128;

inline __m256i complement(__m256i bytes) { return _mm256_xor_si256(bytes, _mm256_set1_epi8(-1)); }

// What a row adds to the bytes of a half.
inline __m256i step_of(const std::uint64_t& word, unsigned half, bool counts_down) {
    return _mm256_sign_epi8(spread(word, half),
                            _mm256_load_si256(reinterpret_cast<const __m256i*>(turn_sign[counts_down])));
}

// Spreading a row's word takes four instructions of seven for each half.  So the first feature keeps what it
// has spread, a cache line for each row, and the others load it.
enum class Steps { spread, keep, load };

template <Ties ties, Steps steps, class Entry>
inline void add_rows(const Sweep<Entry>& input, const Entry* order,
                     [[maybe_unused]] const std::uint8_t* takes, Row begin, Row end, Bytes& bytes) {
    using P = Packed<Entry>;
    __m256i sum0 = bytes.sum[0], sum1 = bytes.sum[1], high0 = bytes.high[0], high1 = bytes.high[1],
            low0 = bytes.low[0], low1 = bytes.low[1];
    if constexpr (ties == Ties::irregular) low0 = complement(low0), low1 = complement(low1);
#pragma GCC unroll 2
    for (Row k = begin; k < end; ++k) {
        const Row row = P::row(order[k]);
        __m256i step0, step1;
        auto* const kept = reinterpret_cast<__m256i*>(input.steps) + 2 * std::size_t{row};
        if constexpr (steps == Steps::load) {
            step0 = _mm256_load_si256(kept), step1 = _mm256_load_si256(kept + 1);
        } else {
            const std::uint64_t& word = input.words[row];
            step0 = step_of(word, 0, row >= input.boundary), step1 = step_of(word, 1, row >= input.boundary);
        }
        if constexpr (steps == Steps::keep)
            _mm256_store_si256(kept, step0), _mm256_store_si256(kept + 1, step1);
        sum0 = _mm256_add_epi8(sum0, step0), sum1 = _mm256_add_epi8(sum1, step1);
        if constexpr (ties == Ties::irregular) {
            // The least sum is the greatest complement, and zero changes neither.
            const __m256i take = _mm256_set1_epi8(static_cast<char>(takes[k]));
            high0 = _mm256_max_epu8(high0, _mm256_and_si256(sum0, take)),
            high1 = _mm256_max_epu8(high1, _mm256_and_si256(sum1, take));
            low0 = _mm256_max_epu8(low0, _mm256_andnot_si256(sum0, take)),
            low1 = _mm256_max_epu8(low1, _mm256_andnot_si256(sum1, take));
            continue;
        }
        if constexpr (ties == Ties::regular)
            if (takes[k] == 0) continue;
        high0 = _mm256_max_epu8(high0, sum0), high1 = _mm256_max_epu8(high1, sum1);
        low0 = _mm256_min_epu8(low0, sum0), low1 = _mm256_min_epu8(low1, sum1);
    }
    if constexpr (ties == Ties::irregular) low0 = complement(low0), low1 = complement(low1);
    bytes.sum[0] = sum0, bytes.sum[1] = sum1, bytes.high[0] = high0, bytes.high[1] = high1;
    bytes.low[0] = low0, bytes.low[1] = low1;
}

// Eight 32-bit lanes from bytes 8r .. 8r+7 of the 64.
inline __m256i widen(const __m256i* bytes, unsigned r) {
    return _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(bytes) + 8 * r)));
}

constexpr unsigned wide_registers = side_count / 8;

inline __m256i* wide(std::int32_t* lanes) { return reinterpret_cast<__m256i*>(lanes); }

// The wide sums live in memory: they are touched once in 120 rows.
template <Ties ties, Steps steps, class Entry>
void sweep_feature(const Sweep<Entry>& input, std::uint32_t f, SideSums& sums) {
    const Entry* const order = input.entries + f * input.stride;
    const std::uint8_t* const takes = input.takes + f * input.stride;
    __m256i *const high = wide(sums.high), *const low = wide(sums.low), *const base = wide(sums.end);
    for (unsigned r = 0; r < wide_registers; ++r) base[r] = _mm256_set1_epi32(-bias);
    for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
        Bytes bytes;
        for (unsigned h = 0; h < 2; ++h) {
            bytes.sum[h] = _mm256_set1_epi8(static_cast<char>(bias));
            bytes.high[h] = _mm256_setzero_si256();
            bytes.low[h] = _mm256_set1_epi8(-1);
        }
        add_rows<ties, steps>(input, order, takes, begin, std::min(input.rows, begin + chunk_rows), bytes);
        const bool any =
            _mm256_testz_si256(bytes.high[0], bytes.high[0]) == 0;   // did a threshold stand in the chunk?
        for (unsigned r = 0; r < wide_registers; ++r) {
            if (any) {
                high[r] = _mm256_max_epi32(high[r], _mm256_add_epi32(base[r], widen(bytes.high, r)));
                low[r] = _mm256_min_epi32(low[r], _mm256_add_epi32(base[r], widen(bytes.low, r)));
            }
            base[r] =
                _mm256_add_epi32(base[r], _mm256_sub_epi32(widen(bytes.sum, r), _mm256_set1_epi32(bias)));
        }
    }
    for (unsigned r = 0; r < wide_registers; ++r)
        base[r] = _mm256_add_epi32(base[r], _mm256_set1_epi32(bias));
}

template <class Entry>
void sweep(const Sweep<Entry>& input, SideSums& sums) {
    std::fill_n(sums.high, side_count, 0);
    std::fill_n(sums.low, side_count, 0);
    for (std::uint32_t f = 0; f < input.features; ++f) {
        const auto with = [&]<Steps steps>() {
            switch (input.ties[f]) {
                case Ties::none: return sweep_feature<Ties::none, steps>(input, f, sums);
                case Ties::regular: return sweep_feature<Ties::regular, steps>(input, f, sums);
                case Ties::irregular: return sweep_feature<Ties::irregular, steps>(input, f, sums);
            }
        };
        if (input.steps == nullptr) with.template operator()<Steps::spread>();
        else if (f == 0 && !input.kept) with.template operator()<Steps::keep>();
        else with.template operator()<Steps::load>();
    }
}

void count_sides(const std::uint64_t* words, Row rows, std::int32_t* totals) {
    __m256i total[wide_registers];
    for (__m256i& t : total) t = _mm256_setzero_si256();
    for (Row begin = 0; begin < rows; begin += chunk_rows) {
        const Row end = std::min(rows, begin + chunk_rows);
        __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (Row r = begin; r < end; ++r) {
            sum[0] = _mm256_sub_epi8(sum[0], spread(words[r], 0));
            sum[1] = _mm256_sub_epi8(sum[1], spread(words[r], 1));
        }
        for (unsigned r = 0; r < wide_registers; ++r) total[r] = _mm256_add_epi32(total[r], widen(sum, r));
    }
    for (unsigned r = 0; r < wide_registers; ++r) _mm256_storeu_si256(wide(totals) + r, total[r]);
}

constexpr Row most_kept = 4096;   // a cache line for each: what a second-level cache of 512 KB has room for

#include "depth_two/lanes_by_test.inl"
#include "depth_two/weighted_sweep.inl"

}  // namespace

}  // namespace contree

#pragma GCC pop_options

namespace contree {

const Kernel avx2_kernel{
    "avx2", [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); },
    sweep<NarrowEntry>, sweep<WideEntry>, count_sides,
    sweep_weighted<std::int8_t>, sweep_weighted<std::int16_t>, sweep_weighted<std::int32_t>,
    sweep_weighted<std::int64_t>, weigh_sides, &avx2_movers, most_kept};

}  // namespace contree

#endif
