// One feature's order of some rows: entries (rank, row), ascending, and a sentinel of the greatest rank
// behind the last, so that "the next value differs" holds there too.  An entry packs rank and row into 32
// bits where both fit 16, else into 64.  Only the loops that move or sweep entries are compiled for both.
#pragma once
#include <algorithm>
#include "types.hpp"

namespace contree {
template <class Entry> struct Packed {
    static constexpr unsigned row_bits = sizeof(Entry) * 4;
    static constexpr Entry row_mask = (Entry{1} << row_bits) - 1;
    static constexpr std::uint64_t limit = row_mask;  // rows, and ranks below the sentinel's

    static Entry make(Rank rank, Row row) { return (static_cast<Entry>(rank) << row_bits) | row; }
    static Row row(Entry entry) { return static_cast<Row>(entry & row_mask); }
    static Rank rank(Entry entry) { return static_cast<Rank>(entry >> row_bits); }
    static Entry sentinel() { return ~row_mask; }
};

using NarrowEntry = std::uint32_t;
using WideEntry = std::uint64_t;

enum class Width : std::uint8_t { narrow = sizeof(NarrowEntry), wide = sizeof(WideEntry) };

// action(Entry{}) for the entry type of a width.
template <class Action> decltype(auto) with_entry(Width width, const Action& action) {
    return width == Width::narrow ? action(NarrowEntry{}) : action(WideEntry{});
}

struct Order {
    const void* entries;
    Width width;

    template <class Entry> const Entry* as() const { return static_cast<const Entry*>(entries); }
    Row row(Position k) const {
        return with_entry(width, [&](auto e) { return Packed<decltype(e)>::row(as<decltype(e)>()[k]); });
    }
    Rank rank(Position k) const {
        return with_entry(width, [&](auto e) { return Packed<decltype(e)>::rank(as<decltype(e)>()[k]); });
    }
    // The first position in [from, end) whose rank is at least `rank`; `end` if there is none.
    Position first_from(Rank rank, Position from, Position end) const {
        return with_entry(width, [&](auto e) {
            const auto* const all = as<decltype(e)>();
            const auto least = Packed<decltype(e)>::make(rank, 0);
            return static_cast<Position>(std::lower_bound(all + from, all + end, least) - all);
        });
    }
    // The first whose rank is greater; `rank` is below the sentinel's.
    Position first_behind(Rank rank, Position from, Position end) const {
        return first_from(rank + 1, from, end);
    }
};

// The loops that move entries.  They may write up to `partition_padding` entries behind what they fill.
inline constexpr std::size_t partition_padding = 32;
// A row's route is its number in its child; the bit tells that it goes right.
inline constexpr Row right_bit = Row{1} << 31;

template <class Entry> struct EntryLoops {
    // Stable partition of (a part of) an order by each row's route.  Returns how many go left.
    Row (*partition)(const Entry* order, Row rows, const Row* route, Entry* left, Entry* right);
    // The entries whose row lies in [a, a + a_size) or [b, b + b_size), in their order.
    void (*filter)(const Entry* order, Row rows, Row a, Row a_size, Row b, Row b_size, Entry* to);
    // Bit k of `bits`: entries k and k + 1 differ in rank; for k < rows, the sentinel included.
    void (*mark_cuts)(const Entry* order, Row rows, std::uint64_t* bits);
};

struct Partitioner {
    EntryLoops<NarrowEntry> narrow;
    EntryLoops<WideEntry> wide;
    // The routes of rows with goes_right[r] = 0 or 1; numbers go on from `lefts` and `rights`.  Returns how
    // many go right.
    Row (*number_sides)(const std::uint8_t* goes_right, Row rows, Row lefts, Row rights, Row* route);

    template <class Entry> const EntryLoops<Entry>& of() const {
        if constexpr (sizeof(Entry) == sizeof(NarrowEntry)) return narrow;
        else return wide;
    }
};

extern const Partitioner scalar_partitioner;  // plain loops, which are the meaning
extern const Partitioner avx512_partitioner;  // on x86-64
}  // namespace contree
