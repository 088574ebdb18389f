// 64 sides in two registers of bytes; a row's bits are spread over the bytes by a shuffle and a compare.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>

#include "depth_two/kernel.hpp"

#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")

namespace contree {

namespace {

constexpr Row chunk_rows = 120;   // bytes hold the sums of so many rows

// spread gives -1: its sign is turned for rows that count +1.
alignas(32) constexpr std::int8_t turn_sign[2][32] = {
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

// -1 in every byte whose bit of the word's half is set, 0 in the others.
inline __m256i spread(const std::uint64_t& word, unsigned half) {
    const __m256i byte_of = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                             2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit_of = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m128i bits = _mm_loadu_si32(reinterpret_cast<const char*>(&word) + 4 * half);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_broadcastd_epi32(bits), byte_of);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of);
}

// One half (left or right sides): sums of a chunk relative to its start.
struct Bytes {
    __m256i sum[2], high[2], low[2];
    bool any;   // a threshold stood in the chunk
};

template <bool ties, class Entry>
inline void add_rows(const Sweep<Entry>& input, const Entry* order, [[maybe_unused]] const std::uint8_t* takes, Row begin, Row end, Bytes& bytes) {
    using P = Packed<Entry>;
    __m256i sum0 = bytes.sum[0], sum1 = bytes.sum[1], high0 = bytes.high[0], high1 = bytes.high[1],
            low0 = bytes.low[0], low1 = bytes.low[1];
    bool any = bytes.any || !ties;
#pragma GCC unroll 2
    for (Row k = begin; k < end; ++k) {
        const Row row = P::row(order[k]);
        const std::uint64_t& word = input.words[row];
        const __m256i turn = _mm256_load_si256(reinterpret_cast<const __m256i*>(turn_sign[row >= input.boundary]));
        sum0 = _mm256_add_epi8(sum0, _mm256_sign_epi8(spread(word, 0), turn));
        sum1 = _mm256_add_epi8(sum1, _mm256_sign_epi8(spread(word, 1), turn));
        if constexpr (ties) {
            if (takes[k] == 0) continue;
            any = true;
        }
        high0 = _mm256_max_epi8(high0, sum0), high1 = _mm256_max_epi8(high1, sum1);
        low0 = _mm256_min_epi8(low0, sum0), low1 = _mm256_min_epi8(low1, sum1);
    }
    bytes.sum[0] = sum0, bytes.sum[1] = sum1, bytes.high[0] = high0, bytes.high[1] = high1;
    bytes.low[0] = low0, bytes.low[1] = low1, bytes.any = any;
}

// Eight 32-bit lanes from bytes 8r .. 8r+7 of the 64.
inline __m256i widen(const __m256i* bytes, unsigned r) {
    alignas(32) std::int8_t flat[32];
    _mm256_store_si256(reinterpret_cast<__m256i*>(flat), bytes[r / 4]);
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(flat + 8 * (r % 4))));
}

// The wide sums live in memory: they are touched once in 120 rows.
template <class Entry>
void sweep(const Sweep<Entry>& input, SideSums& sums) {
    constexpr unsigned registers = side_count / 8;
    auto* const high = reinterpret_cast<__m256i*>(sums.high);
    auto* const low = reinterpret_cast<__m256i*>(sums.low);
    auto* const base = reinterpret_cast<__m256i*>(sums.end);
    for (unsigned r = 0; r < registers; ++r) high[r] = low[r] = _mm256_setzero_si256();
    for (std::uint32_t f = 0; f < input.features; ++f) {
        const Entry* const order = input.entries + f * input.stride;
        const std::uint8_t* const takes = input.takes + f * input.stride;
        const bool ties = input.ties[f] != Ties::none;
        for (unsigned r = 0; r < registers; ++r) base[r] = _mm256_setzero_si256();
        for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
            const Row end = std::min(input.rows, begin + chunk_rows);
            Bytes bytes;
            bytes.any = false;
            for (unsigned h = 0; h < 2; ++h) {
                bytes.sum[h] = _mm256_setzero_si256();
                bytes.high[h] = _mm256_set1_epi8(-128);
                bytes.low[h] = _mm256_set1_epi8(127);
            }
            if (ties) add_rows<true>(input, order, takes, begin, end, bytes);
            else add_rows<false>(input, order, takes, begin, end, bytes);
            for (unsigned r = 0; r < registers; ++r) {
                if (bytes.any) {
                    high[r] = _mm256_max_epi32(high[r], _mm256_add_epi32(base[r], widen(bytes.high, r)));
                    low[r] = _mm256_min_epi32(low[r], _mm256_add_epi32(base[r], widen(bytes.low, r)));
                }
                base[r] = _mm256_add_epi32(base[r], widen(bytes.sum, r));
            }
        }
    }
}

void count_sides(const std::uint64_t* words, Row rows, std::int32_t* totals) {
    __m256i total[8];
    for (__m256i& t : total) t = _mm256_setzero_si256();
    for (Row begin = 0; begin < rows; begin += chunk_rows) {
        const Row end = std::min(rows, begin + chunk_rows);
        __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (Row r = begin; r < end; ++r) {
            sum[0] = _mm256_sub_epi8(sum[0], spread(words[r], 0));
            sum[1] = _mm256_sub_epi8(sum[1], spread(words[r], 1));
        }
        for (unsigned r = 0; r < 8; ++r) total[r] = _mm256_add_epi32(total[r], widen(sum, r));
    }
    for (unsigned r = 0; r < 8; ++r) _mm256_storeu_si256(reinterpret_cast<__m256i*>(totals) + r, total[r]);
}

constexpr Registers registers{32, 4, 2};

#include "depth_two/lanes_by_test.inl"
#include "depth_two/weighted_sweep.inl"

}  // namespace

}  // namespace contree

#pragma GCC pop_options

namespace contree {

const Kernel avx2_kernel{"avx2",
                         [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); },
                         sweep<NarrowEntry>, sweep<WideEntry>, count_sides,
                         sweep_weighted<std::int8_t>, sweep_weighted<std::int16_t>, sweep_weighted<std::int32_t>, sweep_weighted<std::int64_t>, weigh_sides, pack_words, &scalar_movers, registers};

}  // namespace contree

#endif
