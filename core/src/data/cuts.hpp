// The positions of a feature at which a threshold can stand, as bits with ranks.
#pragma once
#include <algorithm>
#include <bit>
#include "types.hpp"

namespace contree {
// How many bits are set; std::popcount is a call where the processor may lack the instruction.
inline std::uint32_t count_bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
    return static_cast<std::uint32_t>(
        ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL >> 56);
}

// The place of the `index`-th set bit, counted from 0.
inline unsigned select_bit(std::uint64_t word, std::uint32_t index) {
    unsigned place = 0;
    for (unsigned half = 32; half >= 8; half /= 2) {
        const std::uint32_t below = count_bits(word & ((std::uint64_t{1} << half) - 1));
        if (index < below) continue;
        index -= below;
        word >>= half;
        place += half;
    }
    for (; index > 0; --index) word &= word - 1;
    return place + static_cast<unsigned>(std::countr_zero(word));
}

// Bit k set: a threshold lies behind the k-th row, at position z = k + 1.
struct Cuts {
    const std::uint64_t* bits;
    const std::uint32_t* before;  // how many bits are set in all words before this one
    std::uint32_t count;
    Row rows;

    // Where no two rows share a value, nothing has to be looked up.
    bool everywhere() const { return count + 1 == rows; }
    // How many thresholds have a position < z, for 1 <= z <= rows.
    std::uint32_t below(Position z) const {
        const Position k = z - 1;
        if (everywhere()) return k;
        return before[k / 64] + count_bits(bits[k / 64] & ((std::uint64_t{1} << k % 64) - 1));
    }
    // The position of threshold `index`, counted from 0, known to lie in [from, to].
    Position at(std::uint32_t index, Position from, Position to) const {
        if (everywhere()) return index + 1;
        const auto* const after = std::upper_bound(before + (from + 63) / 64, before + (to + 63) / 64, index);
        const auto word = static_cast<std::size_t>(after - before) - 1;
        return static_cast<Position>(word * 64 + select_bit(bits[word], index - before[word]) + 1);
    }
};
}  // namespace contree
