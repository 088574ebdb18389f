// A subproblem's rows (the paper's D), as every feature's order of them.
//
// Rows have local numbers 0..rows-1, sorted by class, so that a class is a range of numbers.  For each
// feature that still has a threshold, `order(f)` lists entries (rank, row), ascending; the entry after the
// last is a sentinel of the greatest rank, so that "the next value differs" holds there too.  A split is
// stable: children keep the orders, and nothing is ever sorted again.
//
// Rows may weigh more than one, and leaves may have to be of some size.  `mass` is weight, in all or left of a
// threshold; where every row weighs one it is the number of rows, and a position.  Narrow entries are for plain
// problems alone, so that these pay nothing for the general case.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/arena.hpp"
#include "data/halt.hpp"
#include "data/movers.hpp"
#include "data/ranks.hpp"

namespace contree {

// An entry packs rank and row; 32 bits where both fit 16, else 64.
template <class Entry>
struct Packed {
    static constexpr unsigned row_bits = sizeof(Entry) * 4;
    static constexpr Entry row_mask = (Entry{1} << row_bits) - 1;
    static constexpr std::uint64_t limit = row_mask;   // rows, and ranks below the sentinel's

    static Entry make(Rank rank, Row row) { return (static_cast<Entry>(rank) << row_bits) | row; }
    static Row row(Entry entry) { return static_cast<Row>(entry & row_mask); }
    static Rank rank(Entry entry) { return static_cast<Rank>(entry >> row_bits); }
    static Entry sentinel() { return ~row_mask; }
};

using NarrowEntry = std::uint32_t;
using WideEntry = std::uint64_t;

// How many bits are set; without a call where the processor's own instruction is not taken for granted.
inline std::uint32_t count_bits(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
    return static_cast<std::uint32_t>(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL >> 56);
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

// The positions of a feature at which a threshold can stand, as bits with ranks.
// Bit k set: a threshold lies behind the k-th row, at position z = k + 1.
struct Cuts {
    const std::uint64_t* bits;
    const std::uint32_t* before;   // how many bits are set in all words before this one
    std::uint32_t count;
    Row rows;

    // Where no two rows share a value a threshold stands behind every row, and nothing has to be looked up.
    bool everywhere() const { return count + 1 == rows; }
    // How many thresholds have a position < z, for 1 <= z <= rows.
    std::uint32_t below(Position z) const {
        const Position k = z - 1;
        if (everywhere()) return k;
        const std::uint64_t lower = (std::uint64_t{1} << (k % 64)) - 1;
        return before[k / 64] + count_bits(bits[k / 64] & lower);
    }
    // The position of threshold `index`, counted from 0, known to lie in [from, to].
    Position at(std::uint32_t index, Position from, Position to) const {
        if (everywhere()) return index + 1;
        std::size_t low = (from - 1) / 64, high = (to - 1) / 64;
        while (low < high) {
            const std::size_t middle = (low + high + 1) / 2;
            if (before[middle] <= index) low = middle; else high = middle - 1;
        }
        return static_cast<Position>(low * 64 + select_bit(bits[low], index - before[low]) + 1);
    }
};

template <class Entry>
struct Subproblem {
    static constexpr bool may_be_general = sizeof(Entry) == 8;

    Row rows;
    Score mass;                    // what all rows weigh
    std::uint32_t features;        // those with at least one threshold
    std::uint32_t classes;         // those with at least one row
    std::size_t stride;            // entries from one feature's order to the next
    std::size_t words;             // words of a feature's cut bits
    Entry* entries;
    std::uint64_t* cut_bits;
    std::uint32_t* cut_before;
    std::uint32_t* cut_count;      // by feature
    FeatureId* feature;            // the table's number of each feature
    Row* class_begin;              // classes + 1
    const Row* origin;             // the ranked table's number of each row, ascending; may be null
    const Missing* missing;        // the table's, by column
    Score* weight;                 // by row; null where all weigh one
    Score* mass_before;            // like entries: what the first z rows of an order weigh; null like `weight`
    Score* mass_of_class;          // null like `weight`
    LeafSize leaf;                 // what a leaf must have
    const Subproblem* wide;        // the rows that count for the size of a leaf, where these are more than its own

    const Entry* order(std::uint32_t f) const { return entries + f * stride; }
    Cuts cuts(std::uint32_t f) const { return {cut_bits + f * words, cut_before + f * words, cut_count[f], rows}; }
    Row class_size(std::uint32_t c) const { return class_begin[c + 1] - class_begin[c]; }

    bool weighted() const {
        if constexpr (may_be_general) return weight != nullptr;
        else return false;
    }
    // Must leaves be of some size?
    bool limited() const {
        if constexpr (may_be_general) return !leaf.any();
        else return false;
    }
    // Do both sides of a split there have rows enough for a leaf?
    bool allows(std::uint32_t f, Position z) const { return !limited() || (allows_left(f, z) && allows_right(f, z)); }
    bool allows_left(std::uint32_t f, Position z) const { return enough_left(sized_feature(f), sized_left(f, z), strays(f)); }
    bool allows_right(std::uint32_t f, Position z) const { return enough_right(sized_feature(f), sized_right(f, z), strays(f)); }

    // The rows that count for sizes.  Those that are not its own may lie anywhere between two of its own: so the
    // left side of a split may have the first `sized_left` of them, the right side all behind the first `sized_right`.
    const Subproblem& sized() const { return wide != nullptr ? *wide : *this; }
    std::uint32_t sized_feature(std::uint32_t f) const {
        if (wide == nullptr) return f;
        return static_cast<std::uint32_t>(std::lower_bound(wide->feature, wide->feature + wide->features, feature[f]) - wide->feature);
    }
    Position sized_left(std::uint32_t f, Position z) const { return sized_left(f, z, sized_feature(f)); }
    Position sized_left(std::uint32_t f, Position z, std::uint32_t sized_f) const {
        if (wide == nullptr) return z;
        if (z == rows) return wide->rows;
        const Entry* const all = wide->order(sized_f);
        return static_cast<Position>(std::lower_bound(all, all + wide->rows, order(f)[z] & ~Packed<Entry>::row_mask) - all);
    }
    Position sized_right(std::uint32_t f, Position z) const { return sized_right(f, z, sized_feature(f)); }
    Position sized_right(std::uint32_t f, Position z, std::uint32_t sized_f) const {
        if (wide == nullptr || z == 0) return z;
        const Entry* const all = wide->order(sized_f);
        return static_cast<Position>(std::upper_bound(all, all + wide->rows, order(f)[z - 1] | Packed<Entry>::row_mask) - all);
    }

    // Where values are missing, these two do not count all.  Of a set Z between the subproblem's rows and those of `wide`, a threshold may part
    // the subproblem's rows like the one at z, and yet send elsewhere what only Z has:
    // - If the subproblem lacks no value of the feature, Z's missing rows may lie left as well as right.
    // - If it does, Z's missing rows lie where the subproblem's do.  But the threshold that parts them from all others may be one of Z's which sends missing
    //   rows to the side of low values: what lies below all of the subproblem's values then lies with them, on what is the right side here.  These rows
    //   count on the right of all thresholds, so that right sides stay nested.
    struct Strays {
        Position begin = 0, end = 0;   // in the wide set's order of the feature
        bool left = false;             // which of the two sides they may lie on too
        Row rows() const { return end - begin; }
    };
    Strays strays(std::uint32_t f) const {
        if (wide == nullptr || missing[feature[f]] != Missing::last) return {};
        using P = Packed<Entry>;
        const std::uint32_t g = sized_feature(f);
        // Without its second order the wide set lacks nothing, or all its values are the same: there is nothing to stray.
        if (g + 1 == wide->features || wide->feature[g + 1] != feature[f] + 1) return {};
        const Entry* const all = wide->order(g);
        const Rank none = P::rank(all[wide->rows - 1]);
        const auto first_from = [&](Rank rank) { return static_cast<Position>(std::lower_bound(all, all + wide->rows, P::make(rank, 0)) - all); };
        if (P::rank(order(f)[rows - 1]) != none) return {first_from(none), wide->rows, true};
        return {0, first_from(P::rank(order(f)[0])), false};
    }
    // Are the first `end` rows of a wide order, or those from `begin` on, and what strays to them, enough for a leaf?
    bool enough_left(std::uint32_t sized_f, Position end, const Strays& stray) const {
        return enough(end + (stray.left ? stray.rows() : 0), sized().mass_at(sized_f, end) + (stray.left ? sized_mass(sized_f, stray) : 0));
    }
    bool enough_right(std::uint32_t sized_f, Position begin, const Strays& stray) const {
        const Subproblem& all = sized();
        return enough(all.rows - begin + (stray.left ? 0 : stray.rows()), all.mass - all.mass_at(sized_f, begin) + (stray.left ? 0 : sized_mass(sized_f, stray)));
    }
    bool enough(Row leaf_rows, Score leaf_mass) const { return leaf_rows >= leaf.rows && leaf_mass >= leaf.mass; }
    Score sized_mass(std::uint32_t sized_f, const Strays& stray) const {
        return stray.rows() == 0 ? 0 : sized().mass_at(sized_f, stray.end) - sized().mass_at(sized_f, stray.begin);
    }

    Score class_mass(std::uint32_t c) const { return weighted() ? mass_of_class[c] : Score{class_size(c)}; }
    Score weight_of(Row r) const { return weighted() ? weight[r] : 1; }
    // What lies left of position z.
    Score mass_at(std::uint32_t f, Position z) const { return weighted() ? mass_before[f * stride + z] : Score{z}; }
    // The first position that has at least so much mass on its left; for masses up to the whole.
    Position position_of(std::uint32_t f, Score mass_left) const {
        if (!weighted()) return static_cast<Position>(mass_left);
        const Score* const before = mass_before + f * stride;
        return static_cast<Position>(std::lower_bound(before, before + rows, mass_left) - before);
    }
    bool cut_behind(std::uint32_t f, Row k) const { return (cut_bits[f * words + k / 64] >> (k % 64) & 1) != 0; }
    Rank rank_left_of(std::uint32_t f, Position z) const { return Packed<Entry>::rank(order(f)[z - 1]); }
};

// The class of every row.
template <class Entry>
std::vector<std::uint32_t> classes_of_rows(const Subproblem<Entry>& sub) {
    std::vector<std::uint32_t> class_of(sub.rows);
    for (std::uint32_t c = 0; c < sub.classes; ++c)
        for (Row r = sub.class_begin[c]; r < sub.class_begin[c + 1]; ++r) class_of[r] = c;
    return class_of;
}

// All rows.  The orders move here out of the table, column by column, so that memory has few of them twice.  A halt leaves features
// out: what is made of the rows then is a tree, but proves nothing.
template <class Entry>
Subproblem<Entry> root_subproblem(RankedTable& table, const Movers& movers, Arena& arena, const Halt& halt = {});

// D(f <= threshold) and D(f > threshold) for the threshold at position z of feature f of `parent`.  A halt leaves
// features out here too.
template <class Entry>
struct Children {
    Subproblem<Entry> left, right;
};
template <class Entry>
Children<Entry> split_rows(const Subproblem<Entry>& parent, std::uint32_t f, Position z, bool keep_origin,
                           const Movers& movers, Arena& arena, const Halt& halt = {});
// The rows of `parent` parted in any way: `lefts` of them, at least one and not all, have a zero in `goes_right`.
template <class Entry>
Children<Entry> part_rows(const Subproblem<Entry>& parent, const std::uint8_t* goes_right, Row lefts, bool keep_origin,
                          const Movers& movers, Arena& arena, const Halt& halt = {});

extern template Subproblem<NarrowEntry> root_subproblem(RankedTable&, const Movers&, Arena&, const Halt&);
extern template Subproblem<WideEntry> root_subproblem(RankedTable&, const Movers&, Arena&, const Halt&);
extern template Children<NarrowEntry> split_rows(const Subproblem<NarrowEntry>&, std::uint32_t, Position, bool,
                                                 const Movers&, Arena&, const Halt&);
extern template Children<WideEntry> split_rows(const Subproblem<WideEntry>&, std::uint32_t, Position, bool,
                                                 const Movers&, Arena&, const Halt&);
extern template Children<NarrowEntry> part_rows(const Subproblem<NarrowEntry>&, const std::uint8_t*, Row, bool,
                                                const Movers&, Arena&, const Halt&);
extern template Children<WideEntry> part_rows(const Subproblem<WideEntry>&, const std::uint8_t*, Row, bool,
                                              const Movers&, Arena&, const Halt&);

}  // namespace contree
