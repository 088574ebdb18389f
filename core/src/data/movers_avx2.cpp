// Eight entries at a time: compare into a mask of eight bits; a table says where the lanes of a mask go.
#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <cstring>

#include "data/movers.hpp"
#include "data/subproblem.hpp"

#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")

namespace contree {

namespace {

// Lanes of set bits first; and how many bits are set before each.
struct Places {
    alignas(64) std::uint8_t chosen[256][8];
    alignas(64) std::uint8_t before[256][8];
};
constexpr Places places = [] {
    Places made{};
    for (unsigned mask = 0; mask < 256; ++mask) {
        std::uint8_t count = 0;
        for (std::uint8_t lane = 0; lane < 8; ++lane) {
            made.before[mask][lane] = count;
            if ((mask >> lane & 1) != 0) made.chosen[mask][count++] = lane;
        }
    }
    return made;
}();

inline __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
inline void store(void* to, __m256i lanes) { _mm256_storeu_si256(static_cast<__m256i*>(to), lanes); }
inline __m256i eight(const std::uint8_t* bytes) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}
inline unsigned mask_of(__m256i lanes) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

// Eight entries: their rows, does the next have the same rank, and those of a mask to the front.
inline __m256i rows_of(const NarrowEntry* at) {
    return _mm256_and_si256(load(at), _mm256_set1_epi32(0xffff));
}
inline __m256i rows_of(const WideEntry* at) {
    const __m256 both =
        _mm256_shuffle_ps(_mm256_castsi256_ps(load(at)), _mm256_castsi256_ps(load(at + 4)), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8);
}
inline unsigned same_as_next(const NarrowEntry* at) {
    return mask_of(_mm256_cmpeq_epi32(_mm256_srli_epi32(_mm256_xor_si256(load(at), load(at + 1)), 16),
                                      _mm256_setzero_si256()));
}
inline unsigned same_as_next(const WideEntry* at) {
    const auto four = [](const WideEntry* from) -> unsigned {
        const __m256i differ = _mm256_srli_epi64(_mm256_xor_si256(load(from), load(from + 1)), 32);
        return static_cast<unsigned>(
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(differ, _mm256_setzero_si256()))));
    };
    return four(at) | four(at + 4) << 4;
}
inline void compress(const NarrowEntry* from, unsigned mask, NarrowEntry* to) {
    store(to, _mm256_permutevar8x32_epi32(load(from), eight(places.chosen[mask])));
}
inline void compress(const WideEntry* from, unsigned mask, WideEntry* to) {
    const auto four = [](const WideEntry* at, unsigned half,
                         WideEntry* begin) {   // a wide lane is two of 32 bits
        const __m256i chosen =
            _mm256_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(places.chosen[half])));
        const __m256i twice = _mm256_slli_epi64(chosen, 1);
        const __m256i lanes =
            _mm256_or_si256(twice, _mm256_slli_epi64(_mm256_add_epi64(twice, _mm256_set1_epi64x(1)), 32));
        store(begin, _mm256_permutevar8x32_epi32(load(at), lanes));
    };
    four(from, mask & 15, to);
    four(from + 4, mask >> 4, to + _mm_popcnt_u32(mask & 15));
}

#include "data/partition.inl"

inline __m256i in_all(Row value) { return _mm256_set1_epi32(static_cast<int>(value)); }

// begin <= row <= last + begin; without a sign, so that rows before it are beyond.
inline __m256i inside(__m256i row, __m256i begin, __m256i last) {
    const __m256i offset = _mm256_sub_epi32(row, begin);
    return _mm256_cmpeq_epi32(_mm256_min_epu32(offset, last), offset);
}

template <class Entry>
void filter(const Entry* order, Row rows, Row a, Row a_size, Row b, Row b_size, Entry* to) {
    const __m256i a_begin = in_all(a), a_last = in_all(a_size - 1), b_begin = in_all(b),
                  b_last = in_all(b_size - 1);
    Row k = 0;
    if (a_size > 0 && b_size > 0) {
        for (; k + 8 <= rows; k += 8) {
            const __m256i row = rows_of(order + k);
            const unsigned kept =
                mask_of(_mm256_or_si256(inside(row, a_begin, a_last), inside(row, b_begin, b_last)));
            compress(order + k, kept, to);
            to += _mm_popcnt_u32(kept);
        }
    }
    for (; k < rows; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
        *to = order[k];
        to += (row - a < a_size) | (row - b < b_size);
    }
}

template <class Entry>
bool same_rank(const Entry* at) {
    return (at[0] ^ at[1]) <= Packed<Entry>::row_mask;
}

template <class Entry>
void mark_cuts(const Entry* order, Row rows, std::uint64_t* bits) {
    for (Row begin = 0; begin < rows; begin += 64) {
        const Row count = rows - begin < 64 ? rows - begin : 64;
        const Entry* const from = order + begin;
        std::uint64_t cuts = 0;
        Row k = 0;
        for (; k + 8 <= count; k += 8) cuts |= std::uint64_t{same_as_next(from + k) ^ 0xff} << k;
        for (; k < count; ++k) cuts |= std::uint64_t{!same_rank(from + k)} << k;
        bits[begin / 64] = cuts;
    }
}

Row number_sides(const std::uint8_t* goes_right, Row rows, Row lefts, Row rights, Row* route) {
    const Row before = rights;
    Row r = 0;
    for (; r + 8 <= rows; r += 8) {
        std::uint64_t flags;
        std::memcpy(&flags, goes_right + r, 8);
        const auto right =
            static_cast<unsigned>(flags * 0x0102040810204080ULL >> 56);   // byte i of 0 or 1 to bit i
        const __m256i to_left =
            _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(lefts)), eight(places.before[right ^ 0xff]));
        const __m256i to_right = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(rights | right_bit)),
                                                  eight(places.before[right]));
        const __m256i turned = _mm256_cmpgt_epi32(eight(goes_right + r), _mm256_setzero_si256());
        store(route + r, _mm256_blendv_epi8(to_left, to_right, turned));
        const auto count = static_cast<Row>(_mm_popcnt_u32(right));
        rights += count;
        lefts += 8 - count;
    }
    for (; r < rows; ++r) {
        const Row is_right = goes_right[r];
        route[r] = is_right ? rights | right_bit : lefts;
        rights += is_right;
        lefts += 1 - is_right;
    }
    return rights - before;
}

template <class Entry>
constexpr EntryMovers<Entry> movers{partition<Entry>, filter<Entry>, mark_cuts<Entry>};

}  // namespace

}  // namespace contree

#pragma GCC pop_options

namespace contree {

const Movers avx2_movers{movers<NarrowEntry>, movers<WideEntry>, number_sides};

}  // namespace contree

#endif
