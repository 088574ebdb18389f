// The loops that move entries: plain versions, which are the meaning, and vector versions for one machine.
//
// All of them may write up to `mover_padding` entries behind the end of what they fill.
#pragma once

#include "types.hpp"

namespace contree {

inline constexpr std::size_t mover_padding = 32;
inline constexpr Row right_bit = Row{1} << 31;   // in a route: the row goes right

template <class Entry>
struct EntryMovers {
    // Stable partition of an order, or of a part of it.  route[row] is the row's number in its child, with
    // right_bit for the right one. Returns how many go left.
    Row (*partition)(const Entry* order, Row rows, const Row* route, Entry* left, Entry* right);
    // The entries whose row lies in [a, a + a_size) or [b, b + b_size), in their order.
    void (*filter)(const Entry* order, Row rows, Row a, Row a_size, Row b, Row b_size, Entry* to);
    // Bit k of `bits`: entries k and k + 1 differ in rank; for k < rows, the sentinel included.
    void (*mark_cuts)(const Entry* order, Row rows, std::uint64_t* bits);
};

struct Movers {
    EntryMovers<std::uint32_t> narrow;
    EntryMovers<std::uint64_t> wide;
    // Numbers rows on two sides, each side counted on from `lefts` and `rights`: route[r] for goes_right[r] =
    // 0 or 1. Returns how many go right.
    Row (*number_sides)(const std::uint8_t* goes_right, Row rows, Row lefts, Row rights, Row* route);

    template <class Entry>
    const EntryMovers<Entry>& of() const {
        if constexpr (sizeof(Entry) == 4) return narrow;
        else return wide;
    }
};

extern const Movers scalar_movers;
#if defined(__x86_64__)
extern const Movers avx2_movers;
extern const Movers avx512_movers;
#endif

}  // namespace contree
