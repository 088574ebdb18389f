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

// Sums of one chunk of some features, relative to its start.  `any` tells whether a threshold stood in it.
template <unsigned streams>
struct Bytes {
    __m512i sum[streams], high[streams], low[streams];
    bool any[streams];
};

// Some features' orders, to be swept together.
template <class Entry, unsigned streams>
struct Features {
    const Entry* order[streams];
    const std::uint8_t* takes[streams];
};

// Which unit a row takes: 64 bytes on, where its number reaches the boundary.  Cheaper than a comparison's flag.
inline std::size_t unit_offset(Row boundary, Row row) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(std::int64_t{boundary} - 1 - std::int64_t{row}) >> 57 & 64);
}

// The sums of one feature wait for each other; several features at once keep the units busy: 0.96 ns a row with
// one, 0.78 with two, 0.73 with four.
template <Ties ties, unsigned streams, class Entry>
inline void add_rows(const Sweep<Entry>& input, const Features<Entry, streams>& features, Row begin, Row end, Bytes<streams>& bytes) {
    using P = Packed<Entry>;
    Bytes<streams> b = bytes;
    if (ties == Ties::none)
        for (bool& any : b.any) any = true;
    const char* const units = reinterpret_cast<const char*>(unit);
    const std::uint64_t* const words = input.words;
    const Row boundary = input.boundary;
#pragma GCC unroll 2
    for (Row k = begin; k < end; ++k) {
#pragma GCC unroll 4
        for (unsigned s = 0; s < streams; ++s) {
            const Row row = P::row(features.order[s][k]);
            const __m512i step = _mm512_load_si512(units + unit_offset(boundary, row));
            b.sum[s] = _mm512_mask_add_epi8(b.sum[s], _cvtu64_mask64(words[row]), b.sum[s], step);
            if constexpr (ties == Ties::none) {
                b.high[s] = _mm512_max_epi8(b.high[s], b.sum[s]);
                b.low[s] = _mm512_min_epi8(b.low[s], b.sum[s]);
            } else if constexpr (ties == Ties::irregular) {
                const auto take = static_cast<std::int64_t>(static_cast<std::int8_t>(features.takes[s][k]));
                const __mmask64 all = _cvtu64_mask64(static_cast<std::uint64_t>(take));
                b.any[s] |= take != 0;
                b.high[s] = _mm512_mask_max_epi8(b.high[s], all, b.high[s], b.sum[s]);
                b.low[s] = _mm512_mask_min_epi8(b.low[s], all, b.low[s], b.sum[s]);
            } else if (features.takes[s][k] != 0) {
                b.any[s] = true;
                b.high[s] = _mm512_max_epi8(b.high[s], b.sum[s]);
                b.low[s] = _mm512_min_epi8(b.low[s], b.sum[s]);
            }
        }
    }
    bytes = b;
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

// The wide sums of all features so far, and of the last one its total.
template <unsigned registers>
struct Extremes {
    __m512i high[registers], low[registers], end[registers];
};

template <unsigned registers, Ties ties, unsigned streams, class Entry>
void sweep_features(const Sweep<Entry>& input, const Features<Entry, streams>& features, Extremes<registers>& extremes) {
    using W = Wide<registers>;
    __m512i base[streams][registers];
    for (unsigned s = 0; s < streams; ++s)
        for (unsigned r = 0; r < registers; ++r) base[s][r] = _mm512_setzero_si512();
    for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
        const Row end = std::min(input.rows, begin + chunk_rows);
        Bytes<streams> bytes;
        for (unsigned s = 0; s < streams; ++s) {
            bytes.sum[s] = _mm512_setzero_si512();
            bytes.high[s] = _mm512_set1_epi8(-128);
            bytes.low[s] = _mm512_set1_epi8(127);
            bytes.any[s] = false;
        }
        add_rows<ties>(input, features, begin, end, bytes);
        for (unsigned s = 0; s < streams; ++s) {
            for (unsigned r = 0; r < registers; ++r) {
                if (bytes.any[s]) {
                    extremes.high[r] = W::max(extremes.high[r], W::add(base[s][r], W::widen(bytes.high[s], r)));
                    extremes.low[r] = W::min(extremes.low[r], W::add(base[s][r], W::widen(bytes.low[s], r)));
                }
                base[s][r] = W::add(base[s][r], W::widen(bytes.sum[s], r));
            }
        }
    }
    for (unsigned r = 0; r < registers; ++r) extremes.end[r] = base[0][r];
}

// Up to 127 rows nothing overflows a byte, and nothing is widened before the end.
template <Ties ties, unsigned streams, class Entry>
void sweep_features(const Sweep<Entry>& input, const Features<Entry, streams>& features, Extremes<1>& extremes) {
    Bytes<streams> bytes;
    for (unsigned s = 0; s < streams; ++s) bytes.sum[s] = bytes.high[s] = bytes.low[s] = _mm512_setzero_si512();
    for (bool& any : bytes.any) any = false;
    add_rows<ties>(input, features, 0, input.rows, bytes);
    for (unsigned s = 0; s < streams; ++s) {
        extremes.high[0] = _mm512_max_epi8(extremes.high[0], bytes.high[s]);
        extremes.low[0] = _mm512_min_epi8(extremes.low[0], bytes.low[s]);
    }
    extremes.end[0] = bytes.sum[0];
}

template <unsigned registers, Ties ties, unsigned streams, class Entry>
void sweep_group(const Sweep<Entry>& input, const std::uint32_t* f, Extremes<registers>& extremes) {
    Features<Entry, streams> features;
    for (unsigned s = 0; s < streams; ++s) {
        features.order[s] = input.entries + f[s] * input.stride;
        features.takes[s] = input.takes + f[s] * input.stride;
    }
    if constexpr (registers == 1) sweep_features<ties, streams>(input, features, extremes);
    else sweep_features<registers, ties, streams>(input, features, extremes);
}

// All features with ties of one kind, four at a time, then the rest.
template <unsigned registers, Ties ties, class Entry>
void sweep_kind(const Sweep<Entry>& input, Extremes<registers>& extremes) {
    std::uint32_t group[4];
    unsigned waiting = 0;
    for (std::uint32_t f = 0; f < input.features; ++f) {
        if (input.ties[f] != ties) continue;
        group[waiting++] = f;
        if (waiting < 4) continue;
        sweep_group<registers, ties, 4>(input, group, extremes);
        waiting = 0;
    }
    if (waiting >= 2) sweep_group<registers, ties, 2>(input, group, extremes);
    if (waiting % 2 == 1) sweep_group<registers, ties, 1>(input, group + (waiting - 1), extremes);
}

template <unsigned registers, class Entry>
Extremes<registers> sweep_all(const Sweep<Entry>& input) {
    Extremes<registers> extremes;
    for (unsigned r = 0; r < registers; ++r) extremes.high[r] = extremes.low[r] = extremes.end[r] = _mm512_setzero_si512();
    sweep_kind<registers, Ties::none>(input, extremes);
    sweep_kind<registers, Ties::regular>(input, extremes);
    sweep_kind<registers, Ties::irregular>(input, extremes);
    return extremes;
}

template <unsigned registers, class Entry>
void sweep_chunks(const Sweep<Entry>& input, SideSums& sums) {
    using W = Wide<registers>;
    const Extremes<registers> extremes = sweep_all<registers>(input);
    for (unsigned r = 0; r < registers; ++r) {
        W::store(sums.high + r * W::lanes, extremes.high[r]);
        W::store(sums.low + r * W::lanes, extremes.low[r]);
        W::store(sums.end + r * W::lanes, extremes.end[r]);
    }
}

template <class Entry>
void sweep_small(const Sweep<Entry>& input, SideSums& sums) {
    const Extremes<1> extremes = sweep_all<1>(input);
    for (unsigned r = 0; r < 4; ++r) {
        _mm512_store_si512(sums.high + r * 16, Wide<4>::widen(extremes.high[0], r));
        _mm512_store_si512(sums.low + r * 16, Wide<4>::widen(extremes.low[0], r));
        _mm512_store_si512(sums.end + r * 16, Wide<4>::widen(extremes.end[0], r));
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

constexpr Registers registers{64, 4, 2};

// A row's bits are a mask register.
template <class Step>
struct Lanes {
    static constexpr unsigned count = registers.bytes / sizeof(Step);   // of one register
    typedef Step Vector __attribute__((vector_size(64)));
    using Sides = std::conditional_t<sizeof(Step) == 1, __mmask64, std::conditional_t<sizeof(Step) == 2, __mmask32, std::conditional_t<sizeof(Step) == 4, __mmask16, __mmask8>>>;

    static constexpr Step bias = 0;

    static Sides sides(const std::uint64_t& word, unsigned from) { return static_cast<Sides>(word >> from); }
    static void add(Vector& sum, Sides inside, Step step) {
        const auto all = reinterpret_cast<__m512i>(sum);
        if constexpr (sizeof(Step) == 1) sum = reinterpret_cast<Vector>(_mm512_mask_add_epi8(all, inside, all, _mm512_set1_epi8(step)));
        else if constexpr (sizeof(Step) == 2) sum = reinterpret_cast<Vector>(_mm512_mask_add_epi16(all, inside, all, _mm512_set1_epi16(step)));
        else if constexpr (sizeof(Step) == 4) sum = reinterpret_cast<Vector>(_mm512_mask_add_epi32(all, inside, all, _mm512_set1_epi32(step)));
        else sum = reinterpret_cast<Vector>(_mm512_mask_add_epi64(all, inside, all, _mm512_set1_epi64(step)));
    }
    static void add_one(Vector& sum, Sides inside) { add(sum, inside, 1); }
    static void take(const Vector& sum, Vector& high, Vector& low) {
        high = sum > high ? sum : high;
        low = sum < low ? sum : low;
    }
    // The same in the lanes whose place is at most the range, both without a sign.
    static void take(const Vector& sum, const Vector& place, const Vector& range, Vector& high, Vector& low) {
        const auto w = reinterpret_cast<__m512i>(sum), at = reinterpret_cast<__m512i>(place), to = reinterpret_cast<__m512i>(range),
                   h = reinterpret_cast<__m512i>(high), l = reinterpret_cast<__m512i>(low);
        if constexpr (sizeof(Step) == 1) {
            const __mmask64 in = _mm512_cmple_epu8_mask(at, to);
            high = reinterpret_cast<Vector>(_mm512_mask_max_epi8(h, in, h, w)), low = reinterpret_cast<Vector>(_mm512_mask_min_epi8(l, in, l, w));
        } else if constexpr (sizeof(Step) == 2) {
            const __mmask32 in = _mm512_cmple_epu16_mask(at, to);
            high = reinterpret_cast<Vector>(_mm512_mask_max_epi16(h, in, h, w)), low = reinterpret_cast<Vector>(_mm512_mask_min_epi16(l, in, l, w));
        } else if constexpr (sizeof(Step) == 4) {
            const __mmask16 in = _mm512_cmple_epu32_mask(at, to);
            high = reinterpret_cast<Vector>(_mm512_mask_max_epi32(h, in, h, w)), low = reinterpret_cast<Vector>(_mm512_mask_min_epi32(l, in, l, w));
        } else {
            const __mmask8 in = _mm512_cmple_epu64_mask(at, to);
            high = reinterpret_cast<Vector>(_mm512_mask_max_epi64(h, in, h, w)), low = reinterpret_cast<Vector>(_mm512_mask_min_epi64(l, in, l, w));
        }
    }
};

#include "depth_two/weighted_sweep.inl"

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
    sweep<NarrowEntry>, sweep<WideEntry>, count_sides,
    sweep_weighted<std::int8_t>, sweep_weighted<std::int16_t>, sweep_weighted<std::int32_t>, sweep_weighted<std::int64_t>, weigh_sides, &avx512_movers, registers, 0};

}  // namespace contree

#endif
