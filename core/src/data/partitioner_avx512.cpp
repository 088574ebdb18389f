// Sixteen or eight entries at a time: compare into a mask, compress in a register, store all of it.
#include "data/partitioner.hpp"
#include "data/simd.hpp"

#if CONTREE_X86_KERNELS

CONTREE_TARGET_BEGIN(CONTREE_AVX512)

namespace contree {
namespace {
template <class Entry> constexpr unsigned lanes = 64 / sizeof(Entry);

// Instructions on entries of 32 and of 64 bits under one name; a mask has a bit for each entry.
using Entries = __m512i;
inline Entries load(std::uint32_t mask, const NarrowEntry* from) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
}
inline Entries load(std::uint32_t mask, const WideEntry* from) {
    return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
}
inline void store_some(NarrowEntry* to, std::uint32_t mask, Entries entries) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), entries));
}
inline void store_some(WideEntry* to, std::uint32_t mask, Entries entries) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), entries));
}
inline Entries every(NarrowEntry value) { return _mm512_set1_epi32(static_cast<int>(value)); }
inline Entries every(WideEntry value) { return _mm512_set1_epi64(static_cast<long long>(value)); }
inline Entries minus(Entries a, Entries b, NarrowEntry) { return _mm512_sub_epi32(a, b); }
inline Entries minus(Entries a, Entries b, WideEntry) { return _mm512_sub_epi64(a, b); }
inline std::uint32_t less(Entries a, Entries b, NarrowEntry) { return _mm512_cmplt_epu32_mask(a, b); }
inline std::uint32_t less(Entries a, Entries b, WideEntry) { return _mm512_cmplt_epu64_mask(a, b); }

// The mask of the entries from k on that there are.
template <class Entry> std::uint32_t valid_from(Row k, Row rows) {
    return rows - k >= lanes<Entry> ? (1u << lanes<Entry>)-1 : (1u << (rows - k)) - 1;
}

struct Routed {
    Entries entries;      // with their rows' numbers in the children
    std::uint32_t right;  // which of them go right
};
inline Routed route_all(Entries entries, std::uint32_t valid, const Row* route, NarrowEntry) {
    const Entries row_mask = every(NarrowEntry{0xffff}), rows = _mm512_and_si512(entries, row_mask);
    const auto mask = static_cast<__mmask16>(valid);
    const __m512i target = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, rows, route, 4);
    const __m512i moved =
        _mm512_or_si512(_mm512_andnot_si512(row_mask, entries), _mm512_and_si512(target, row_mask));
    return {moved, _mm512_cmplt_epi32_mask(target, _mm512_setzero_si512())};
}
inline Routed route_all(Entries entries, std::uint32_t valid, const Row* route, WideEntry) {
    const Entries row_mask = every(WideEntry{0xffffffff}), rows = _mm512_and_si512(entries, row_mask);
    const __m256i found =
        _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), static_cast<__mmask8>(valid), rows, route, 4);
    const __m512i target = _mm512_and_si512(_mm512_cvtepu32_epi64(found), every(WideEntry{~right_bit}));
    const __m512i moved = _mm512_or_si512(_mm512_andnot_si512(row_mask, entries), target);
    return {moved, _mm256_cmplt_epi32_mask(found, _mm256_setzero_si256())};
}

template <class Entry>
Row partition(const Entry* order, Row rows, const Row* route, Entry* left, Entry* right) {
    const Entry* const begin = left;
    for (Row k = 0; k < rows; k += lanes<Entry>) {
        const std::uint32_t valid = valid_from<Entry>(k, rows);
        const Routed routed = route_all(load(valid, order + k), valid, route, Entry{});
        // GCC 12 with -O1 reads more bytes of a mask of eight bits than it has written.
        const std::uint32_t goes_left = valid & ~routed.right, goes_right = valid & routed.right;
        store_some(left, goes_left, routed.entries);
        store_some(right, goes_right, routed.entries);
        left += _mm_popcnt_u32(goes_left);
        right += _mm_popcnt_u32(goes_right);
    }
    return static_cast<Row>(left - begin);
}

// Which rows lie in [begin, begin + size); without a sign, so that rows before it are beyond.
template <class Entry> std::uint32_t inside(Entries entries, Row begin, Row size) {
    const Entries rows = _mm512_and_si512(entries, every(Packed<Entry>::row_mask));
    return less(minus(rows, every(Entry{begin}), Entry{}), every(Entry{size}), Entry{});
}

template <class Entry>
void filter(const Entry* order, Row rows, Row a, Row a_size, Row b, Row b_size, Entry* to) {
    for (Row k = 0; k < rows; k += lanes<Entry>) {
        const std::uint32_t valid = valid_from<Entry>(k, rows);
        const Entries entries = load(valid, order + k);
        const std::uint32_t kept =
            valid & (inside<Entry>(entries, a, a_size) | inside<Entry>(entries, b, b_size));
        store_some(to, kept, entries);
        to += _mm_popcnt_u32(kept);
    }
}

template <class Entry> void mark_cuts(const Entry* order, Row rows, std::uint64_t* bits) {
    for (Row k = 0; k < rows; k += lanes<Entry>) {
        const std::uint32_t valid = valid_from<Entry>(k, rows);
        const Entries here = load(valid, order + k), next = load(valid, order + k + 1);
        const Entries changed = _mm512_xor_si512(here, next);
        const std::uint64_t cuts = valid & less(every(Packed<Entry>::row_mask), changed, Entry{});
        bits[k / 64] = (k % 64 == 0 ? 0 : bits[k / 64]) | cuts << k % 64;
    }
}

Row number_sides(const std::uint8_t* goes_right, Row rows, Row lefts, Row rights, Row* route) {
    const Row before = rights;
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (Row r = 0; r < rows; r += 16) {
        const auto valid = static_cast<__mmask16>(valid_from<NarrowEntry>(r, rows));
        const __m128i flags = _mm_maskz_loadu_epi8(valid, goes_right + r);
        const __mmask16 right = _mm_test_epi8_mask(flags, flags);
        const auto left = static_cast<__mmask16>(valid & ~right);
        const __m512i to_left = _mm512_add_epi32(count, every(lefts));
        const __m512i to_right = _mm512_add_epi32(count, every(rights | right_bit));
        const __m512i routes = _mm512_maskz_expand_epi32(left, to_left);
        _mm512_mask_storeu_epi32(route + r, valid, _mm512_mask_expand_epi32(routes, right, to_right));
        lefts += static_cast<Row>(_mm_popcnt_u32(left));
        rights += static_cast<Row>(_mm_popcnt_u32(right));
    }
    return rights - before;
}

template <class Entry> constexpr EntryLoops<Entry> loops{partition<Entry>, filter<Entry>, mark_cuts<Entry>};
}  // namespace

constinit const Partitioner avx512_partitioner{loops<NarrowEntry>, loops<WideEntry>, number_sides};
}  // namespace contree

CONTREE_TARGET_END

#endif
