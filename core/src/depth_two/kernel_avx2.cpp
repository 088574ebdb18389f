// 64 sides in two registers of bytes; a row's bits are spread over the bytes by a shuffle and a compare.
#include <algorithm>
#include <array>
#include <cstring>
#include "data/simd.hpp"
#include "depth_two/kernel.hpp"

#if CONTREE_X86_KERNELS

CONTREE_TARGET_BEGIN(CONTREE_AVX2)

namespace contree {
namespace {
constexpr Row chunk_rows = 120;  // bytes hold the sums of so many rows
constexpr Row most_kept = 4096;  // a cache line for each: what a second-level cache of 512 KB has room for
constexpr unsigned wide_registers = side_count / 8;

// spread gives -1: the first 32 turn its sign, for rows that count +1; the others do not.
alignas(32) constexpr auto turn_sign = [] {
    std::array<std::int8_t, 64> made{};
    for (unsigned i = 0; i < 64; ++i) made[i] = i < 32 ? -1 : 1;
    return made;
}();

// -1 in every byte whose bit of the word's half is set, 0 in the others.
inline __m256i spread(const std::uint64_t& word, unsigned half) {
    const __m256i byte_of = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit_of = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m128i bits = _mm_loadu_si32(reinterpret_cast<const char*>(&word) + 4 * half);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_broadcastd_epi32(bits), byte_of);
    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of), bit_of);
}

// What a row adds to the bytes of a half.
inline __m256i step_of(const std::uint64_t& word, unsigned half, bool counts_down) {
    const std::int8_t* const sign = turn_sign.data() + 32 * counts_down;
    return _mm256_sign_epi8(spread(word, half), _mm256_load_si256(reinterpret_cast<const __m256i*>(sign)));
}

// Sums of a chunk relative to its start, left and right sides; bytes are greater by 128, and so have no sign:
// then 0 and 255 are what changes no maximum and no minimum.
struct Bytes {
    __m256i sum[2], high[2], low[2];
};
constexpr int bias = 128;

inline __m256i complement(__m256i bytes) { return _mm256_xor_si256(bytes, _mm256_set1_epi8(-1)); }

// Spreading takes four instructions of seven.  So the first feature keeps what it has spread, a cache line
// for each row, and the others load it.
enum class Steps { spread, keep, load };

template <Ties ties, Steps steps, class Entry>
inline Bytes add_rows(const Sweep& input, const Entry* order, const std::uint8_t* mask, Row begin, Row end) {
    const __m256i start = _mm256_set1_epi8(static_cast<char>(bias)), zero = _mm256_setzero_si256();
    __m256i sum0 = start, sum1 = start, high0 = zero, high1 = zero;
    // The least sum is the greatest complement, and zero changes neither: so irregular ties keep that.
    __m256i low0 = ties == Ties::irregular ? zero : complement(zero), low1 = low0;
    CONTREE_UNROLL(2)
    for (Row k = begin; k < end; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
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
            const __m256i take = _mm256_set1_epi8(static_cast<char>(mask[k]));
            high0 = _mm256_max_epu8(high0, _mm256_and_si256(sum0, take));
            high1 = _mm256_max_epu8(high1, _mm256_and_si256(sum1, take));
            low0 = _mm256_max_epu8(low0, _mm256_andnot_si256(sum0, take));
            low1 = _mm256_max_epu8(low1, _mm256_andnot_si256(sum1, take));
        } else if (ties == Ties::none || mask[k] != 0) {
            high0 = _mm256_max_epu8(high0, sum0), high1 = _mm256_max_epu8(high1, sum1);
            low0 = _mm256_min_epu8(low0, sum0), low1 = _mm256_min_epu8(low1, sum1);
        }
    }
    if constexpr (ties == Ties::irregular) low0 = complement(low0), low1 = complement(low1);
    return {{sum0, sum1}, {high0, high1}, {low0, low1}};
}

// Eight 32-bit lanes from bytes 8r .. 8r+7 of the 64.
inline __m256i widen(const __m256i* bytes, unsigned r) {
    return _mm256_cvtepu8_epi32(_mm_loadu_si64(reinterpret_cast<const char*>(bytes) + 8 * r));
}

inline __m256i* wide(std::int32_t* lanes) { return reinterpret_cast<__m256i*>(lanes); }

// The wide sums live in memory: they are touched once in 120 rows.
template <Ties ties, Steps steps, class Entry>
void sweep_feature(const Sweep& input, std::uint32_t f, SideSums& sums) {
    const Entry* const order = input.order(f).as<Entry>();
    const std::uint8_t* const mask = input.threshold_mask + f * input.stride;
    const __m256i offset = _mm256_set1_epi32(bias);
    __m256i *const high = wide(sums.high), *const low = wide(sums.low), *const base = wide(sums.end);
    std::fill_n(sums.end, side_count, -bias);
    for (Row begin = 0; begin < input.rows; begin += chunk_rows) {
        const Row end = std::min(input.rows, begin + chunk_rows);
        const Bytes bytes = add_rows<ties, steps>(input, order, mask, begin, end);
        const bool any = _mm256_testz_si256(bytes.high[0], bytes.high[0]) == 0;  // has it a threshold?
        for (unsigned r = 0; r < wide_registers; ++r) {
            if (any) {
                high[r] = _mm256_max_epi32(high[r], _mm256_add_epi32(base[r], widen(bytes.high, r)));
                low[r] = _mm256_min_epi32(low[r], _mm256_add_epi32(base[r], widen(bytes.low, r)));
            }
            base[r] = _mm256_add_epi32(base[r], _mm256_sub_epi32(widen(bytes.sum, r), offset));
        }
    }
    for (unsigned r = 0; r < wide_registers; ++r) base[r] = _mm256_add_epi32(base[r], offset);
}

template <Steps steps, class Entry> void sweep_ties(const Sweep& input, std::uint32_t f, SideSums& sums) {
    const Ties ties = input.ties[f];
    ties == Ties::none      ? sweep_feature<Ties::none, steps, Entry>(input, f, sums)
    : ties == Ties::regular ? sweep_feature<Ties::regular, steps, Entry>(input, f, sums)
                            : sweep_feature<Ties::irregular, steps, Entry>(input, f, sums);
}

void sweep(const Sweep& input, SideSums& sums) {
    sums = {};
    with_entry(input.width, [&](auto entry) {
        using Entry = decltype(entry);
        for (std::uint32_t f = 0; f < input.features; ++f)
            input.steps == nullptr  ? sweep_ties<Steps::spread, Entry>(input, f, sums)
            : f == 0 && !input.kept ? sweep_ties<Steps::keep, Entry>(input, f, sums)
                                    : sweep_ties<Steps::load, Entry>(input, f, sums);
    });
}

constexpr unsigned register_bytes = 32;

// There are no mask registers: a row's bits are copied to all lanes, and each tests its own.
template <class Step> struct Lanes {
    using Sides = __m256i;  // all bits set in the lanes of the sides that the row lies on

    // The sides from `from` on; their bits are loaded to all lanes at once where they are whole bytes.
    static Sides sides(const std::uint64_t& word, unsigned from) {
        const char* const at = reinterpret_cast<const char*>(&word) + from / 8;
        if constexpr (sizeof(Step) == 1) {
            return spread(word, from / 32);
        } else if constexpr (sizeof(Step) == 2) {
            const __m256i own = _mm256_setr_epi16(
                1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
            const __m256i bits = _mm256_broadcastw_epi16(_mm_loadu_si16(at));
            return _mm256_cmpeq_epi16(_mm256_and_si256(bits, own), own);
        } else if constexpr (sizeof(Step) == 4) {
            const __m256i own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi8(*at), own), own);
        } else {
            const __m256i own = _mm256_setr_epi64x(1, 2, 4, 8);
            const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(word >> from));
            return _mm256_cmpeq_epi64(_mm256_and_si256(bits, own), own);
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

CONTREE_TARGET_END

const contree::Kernel contree::avx2_kernel{
    "avx2", has_avx2, sweep, weigh_sides, weighted, &scalar_partitioner, most_kept, &squared_avx2};

#endif
