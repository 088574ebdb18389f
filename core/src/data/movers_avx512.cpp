// Sixteen (or eight) entries at a time: compare into a mask, compress, store.
#if defined(__x86_64__)

// GCC 12 warns of its own AVX-512 headers (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include "data/movers.hpp"
#include "data/subproblem.hpp"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt")

namespace contree {

namespace {

// The mask of the first `left` of `lanes` entries.
inline unsigned first(Row left, unsigned lanes) {
    return left >= lanes ? (1u << lanes) - 1 : (1u << left) - 1;
}

// Compressing in a register and storing all of it is far faster than a compressing store.
Row partition_narrow(const NarrowEntry* order, Row rows, const Row* route, NarrowEntry* left,
                     NarrowEntry* right) {
    const NarrowEntry* const begin = left;
    const __m512i row_mask = _mm512_set1_epi32(0xffff);
    for (Row k = 0; k < rows; k += 16) {
        const __mmask16 valid = static_cast<__mmask16>(first(rows - k, 16));
        const __m512i entries = _mm512_maskz_loadu_epi32(valid, order + k);
        const __m512i target = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), valid,
                                                           _mm512_and_si512(entries, row_mask), route, 4);
        const __m512i moved =
            _mm512_or_si512(_mm512_andnot_si512(row_mask, entries), _mm512_and_si512(target, row_mask));
        const __mmask16 goes_right = _mm512_cmplt_epi32_mask(target, _mm512_setzero_si512());
        const __mmask16 goes_left = static_cast<__mmask16>(valid & ~goes_right);
        _mm512_storeu_si512(left, _mm512_maskz_compress_epi32(goes_left, moved));
        _mm512_storeu_si512(right, _mm512_maskz_compress_epi32(goes_right, moved));
        left += _mm_popcnt_u32(goes_left);
        right += _mm_popcnt_u32(goes_right);
    }
    return static_cast<Row>(left - begin);
}

Row partition_wide(const WideEntry* order, Row rows, const Row* route, WideEntry* left, WideEntry* right) {
    const WideEntry* const begin = left;
    const __m512i row_mask = _mm512_set1_epi64(0xffffffffLL), number_mask = _mm512_set1_epi64(0x7fffffffLL);
    for (Row k = 0; k < rows; k += 8) {
        const __mmask8 valid = static_cast<__mmask8>(first(rows - k, 8));
        const __m512i entries = _mm512_maskz_loadu_epi64(valid, order + k);
        const __m256i found = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), valid,
                                                          _mm512_and_si512(entries, row_mask), route, 4);
        const __m512i target = _mm512_cvtepu32_epi64(found);
        const __m512i moved =
            _mm512_or_si512(_mm512_andnot_si512(row_mask, entries), _mm512_and_si512(target, number_mask));
        const __mmask8 goes_right = _mm256_cmplt_epi32_mask(found, _mm256_setzero_si256());
        const __mmask8 goes_left = static_cast<__mmask8>(valid & ~goes_right);
        _mm512_storeu_si512(left, _mm512_maskz_compress_epi64(goes_left, moved));
        _mm512_storeu_si512(right, _mm512_maskz_compress_epi64(goes_right, moved));
        left += _mm_popcnt_u32(goes_left);
        right += _mm_popcnt_u32(goes_right);
    }
    return static_cast<Row>(left - begin);
}

void filter_narrow(const NarrowEntry* order, Row rows, Row a, Row a_size, Row b, Row b_size,
                   NarrowEntry* to) {
    const __m512i row_mask = _mm512_set1_epi32(0xffff);
    const __m512i a_begin = _mm512_set1_epi32(static_cast<int>(a)),
                  a_rows = _mm512_set1_epi32(static_cast<int>(a_size));
    const __m512i b_begin = _mm512_set1_epi32(static_cast<int>(b)),
                  b_rows = _mm512_set1_epi32(static_cast<int>(b_size));
    for (Row k = 0; k < rows; k += 16) {
        const __mmask16 valid = static_cast<__mmask16>(first(rows - k, 16));
        const __m512i entries = _mm512_maskz_loadu_epi32(valid, order + k);
        const __m512i row = _mm512_and_si512(entries, row_mask);
        const unsigned in_a = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(row, a_begin), a_rows);
        const unsigned in_b = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(row, b_begin), b_rows);
        const __mmask16 kept = static_cast<__mmask16>((in_a | in_b) & valid);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(kept, entries));
        to += _mm_popcnt_u32(kept);
    }
}

void filter_wide(const WideEntry* order, Row rows, Row a, Row a_size, Row b, Row b_size, WideEntry* to) {
    const __m256i a_begin = _mm256_set1_epi32(static_cast<int>(a)),
                  a_rows = _mm256_set1_epi32(static_cast<int>(a_size));
    const __m256i b_begin = _mm256_set1_epi32(static_cast<int>(b)),
                  b_rows = _mm256_set1_epi32(static_cast<int>(b_size));
    for (Row k = 0; k < rows; k += 8) {
        const __mmask8 valid = static_cast<__mmask8>(first(rows - k, 8));
        const __m512i entries = _mm512_maskz_loadu_epi64(valid, order + k);
        const __m256i row = _mm512_cvtepi64_epi32(entries);
        const unsigned in_a = _mm256_cmplt_epu32_mask(_mm256_sub_epi32(row, a_begin), a_rows);
        const unsigned in_b = _mm256_cmplt_epu32_mask(_mm256_sub_epi32(row, b_begin), b_rows);
        const __mmask8 kept = static_cast<__mmask8>((in_a | in_b) & valid);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(kept, entries));
        to += _mm_popcnt_u32(kept);
    }
}

void mark_cuts_narrow(const NarrowEntry* order, Row rows, std::uint64_t* bits) {
    const __m512i row_mask = _mm512_set1_epi32(0xffff);
    for (Row k = 0; k < rows; k += 16) {
        const __mmask16 valid = static_cast<__mmask16>(first(rows - k, 16));
        const __m512i here = _mm512_maskz_loadu_epi32(valid, order + k),
                      next = _mm512_maskz_loadu_epi32(valid, order + k + 1);
        const std::uint64_t cuts =
            _mm512_mask_cmpgt_epu32_mask(valid, _mm512_xor_si512(here, next), row_mask);
        const unsigned shift = k % 64;
        bits[k / 64] = (shift == 0 ? 0 : bits[k / 64]) | cuts << shift;
    }
}

void mark_cuts_wide(const WideEntry* order, Row rows, std::uint64_t* bits) {
    const __m512i row_mask = _mm512_set1_epi64(0xffffffffLL);
    for (Row k = 0; k < rows; k += 8) {
        const __mmask8 valid = static_cast<__mmask8>(first(rows - k, 8));
        const __m512i here = _mm512_maskz_loadu_epi64(valid, order + k),
                      next = _mm512_maskz_loadu_epi64(valid, order + k + 1);
        const std::uint64_t cuts =
            _mm512_mask_cmpgt_epu64_mask(valid, _mm512_xor_si512(here, next), row_mask);
        const unsigned shift = k % 64;
        bits[k / 64] = (shift == 0 ? 0 : bits[k / 64]) | cuts << shift;
    }
}

Row number_sides(const std::uint8_t* goes_right, Row rows, Row lefts, Row rights, Row* route) {
    const Row before = rights;
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (Row r = 0; r < rows; r += 16) {
        const __mmask16 valid = static_cast<__mmask16>(first(rows - r, 16));
        const __m128i flags = _mm_maskz_loadu_epi8(valid, goes_right + r);
        const __mmask16 right = _mm_test_epi8_mask(flags, flags),
                        left = static_cast<__mmask16>(valid & ~right);
        const __m512i to_left = _mm512_add_epi32(count, _mm512_set1_epi32(static_cast<int>(lefts)));
        const __m512i to_right =
            _mm512_add_epi32(count, _mm512_set1_epi32(static_cast<int>(rights | right_bit)));
        const __m512i both =
            _mm512_mask_expand_epi32(_mm512_maskz_expand_epi32(left, to_left), right, to_right);
        _mm512_mask_storeu_epi32(route + r, valid, both);
        lefts += static_cast<Row>(_mm_popcnt_u32(left));
        rights += static_cast<Row>(_mm_popcnt_u32(right));
    }
    return rights - before;
}

}  // namespace

}  // namespace contree

#pragma GCC pop_options

namespace contree {

const Movers avx512_movers{{partition_narrow, filter_narrow, mark_cuts_narrow},
                           {partition_wide, filter_wide, mark_cuts_wide},
                           number_sides};

}  // namespace contree

#endif
