// A set of rows (the paper's D), as every feature's order of them.  Rows have local numbers 0..rows-1 in the
// objective's row order: rows of one group (for errors: one class) are a range of numbers.  A split is
// stable: children keep the orders, and nothing is ever sorted again.  `mass` is weight, in all or left of a
// threshold; where every row weighs one it is a number of rows.
//
// `features` counts those with thresholds.  Categorical features come behind them: they have orders and cuts
// as well, but what lies between two cuts is a category.
#pragma once
#include "data/arena.hpp"
#include "data/cuts.hpp"
#include "data/halt.hpp"
#include "data/partitioner.hpp"
#include "data/ranks.hpp"

namespace contree {
// A split.  Of a number: a threshold with z rows on its left.  Of categories: the ranks that go left.
struct Split {
    std::uint32_t f;  // the set's number of the feature
    Position z;       // how many rows go left; 0: no split
    SubsetId subset = no_subset;
};

struct RowSet {
    Row rows;
    Score mass;                 // what all rows weigh
    Width width;                // of the entries
    std::uint32_t features;     // those with at least one threshold
    std::uint32_t categorical;  // and those with at least two categories, behind them
    std::uint32_t groups;       // those with at least one row
    std::size_t stride;         // entries from one feature's order to the next
    std::size_t words;          // words of a feature's cut bits
    std::byte* entries;
    std::uint64_t* cut_bits;
    std::uint32_t* cut_before;
    std::uint32_t* cut_count;  // by feature
    FeatureId* feature;        // the table's number of each feature
    Row* group_begin;          // groups + 1
    std::uint32_t* group;      // the table's number of each group
    const Row* origin;         // the ranked table's number of each row, ascending; may be null unless
    bool by_number;            // the objective asks for it
    const Missing* missing;    // the table's, by column
    Categories* categories;    // the table's
    Score* weight;             // by row; null where all weigh one
    Score* mass_before;        // like entries: what the first z rows of an order weigh; null like `weight`
    Score* mass_of_group;      // null like `weight`
    LeafSize leaf;             // what a leaf must have
    const RowSet* leaf_size_rows;  // the rows that count for leaf sizes, where these are more than its own

    Order order(std::uint32_t f) const {
        return {entries + f * stride * static_cast<std::size_t>(width), width};
    }
    Cuts cuts(std::uint32_t f) const {
        return {cut_bits + f * words, cut_before + f * words, cut_count[f], rows};
    }
    bool cut_behind(std::uint32_t f, Row k) const {
        return (cut_bits[f * words + k / 64] >> (k % 64) & 1) != 0;
    }
    Rank rank_left_of(std::uint32_t f, Position z) const { return order(f).rank(z - 1); }
    std::uint32_t columns() const { return features + categorical; }
    std::uint64_t cells() const { return std::uint64_t{rows} * columns(); }
    // This set's number of a column; `columns()` where it has none.
    std::uint32_t number_of(FeatureId column) const {
        const FeatureId* const end = feature + columns();
        const FeatureId* const at = std::lower_bound(static_cast<const FeatureId*>(feature), end, column);
        return static_cast<std::uint32_t>((at != end && *at == column ? at : end) - feature);
    }

    bool weighted() const { return weight != nullptr; }
    Score weight_of(Row r) const { return weighted() ? weight[r] : 1; }
    Row group_size(std::uint32_t g) const { return group_begin[g + 1] - group_begin[g]; }
    Score group_mass(std::uint32_t g) const { return weighted() ? mass_of_group[g] : Score{group_size(g)}; }
    // What lies left of position z.
    Score mass_at(std::uint32_t f, Position z) const {
        return weighted() ? mass_before[f * stride + z] : Score{z};
    }
    // The first position that has at least so much mass on its left; for masses up to the whole.
    Position position_of(std::uint32_t f, Score mass_left) const {
        if (!weighted()) return static_cast<Position>(mass_left);
        const Score* const before = mass_before + f * stride;
        return static_cast<Position>(std::lower_bound(before, before + rows, mass_left) - before);
    }

    // action(rank, begin, end) for every category of a categorical feature, in the order of ranks.
    template <class Action> void for_categories(std::uint32_t f, const Action& action) const {
        const Order all = order(f);
        for (Position begin = 0, end; begin < rows; begin = end) {
            const Rank rank = all.rank(begin);
            end = all.first_behind(rank, begin, rows);
            action(rank, begin, end);
        }
    }
    // The ranks of some of these categories, a flag for each; without flags none.
    SubsetWords ranks_of_categories(std::uint32_t f, const std::vector<std::uint8_t>& chosen) const;
    // The split that sends these ranks left.
    Split split_of(std::uint32_t f, const SubsetWords& left) const;
    // action(k) for every place k of the order of a split's feature whose row goes left.
    template <class Action> void for_left(const Split& at, const Action& action) const {
        const std::uint64_t* const left = at.subset == no_subset ? nullptr : categories->words_of(at.subset);
        if (left == nullptr)
            for (Position k = 0; k < at.z; ++k) action(k);
        else
            for_categories(at.f, [&](Rank rank, Position begin, Position end) {
                for (Position k = begin; k < end && contains(left, rank); ++k) action(k);
            });
    }
    Score mass_left(const Split& at) const;

    bool has_leaf_size() const { return !leaf.any(); }
    // Do both sides of a split there have rows enough for a leaf?
    bool allows(std::uint32_t f, Position z) const;
    bool allows(const Split& at) const;

    // The rows that count for sizes.  Those between two of its own may lie on either side: the left side of a
    // split may have the first `sized_left` of them, the right side all behind the first `sized_right`.
    const RowSet& sized() const { return leaf_size_rows != nullptr ? *leaf_size_rows : *this; }
    std::uint32_t sized_feature(std::uint32_t f) const {
        return leaf_size_rows == nullptr ? f : leaf_size_rows->number_of(feature[f]);
    }
    Position sized_left(std::uint32_t f, Position z, std::uint32_t sized_f) const;
    Position sized_right(std::uint32_t f, Position z, std::uint32_t sized_f) const;

    // Rows of the larger set that may lie on another side than its order says, where values are missing.
    struct Strays {
        Position begin = 0, end = 0;  // in the larger set's order of the feature
        bool left = false;            // which of the two sides they may lie on too
        Row rows() const { return end - begin; }
    };
    Strays strays(std::uint32_t f) const;
    // Are rows of the larger set's order, and those that stray to them, enough for a leaf?
    bool enough(std::uint32_t sized_f, Position begin, Position end, const Strays& more) const;
    bool enough_left(std::uint32_t sized_f, Position end, const Strays& stray) const {
        return enough(sized_f, 0, end, stray.left ? stray : Strays{});
    }
    bool enough_right(std::uint32_t sized_f, Position begin, const Strays& stray) const {
        return enough(sized_f, begin, sized().rows, stray.left ? Strays{} : stray);
    }
};

// The group of every row.
std::vector<std::uint32_t> groups_of_rows(const RowSet& set);

// All rows.  The orders move here out of the table, column by column, so that memory has few of them twice.
// A halt leaves features out: what is made of the rows then is a tree, but proves nothing.
RowSet all_rows(
    RankedTable& table, Width width, const Partitioner& partitioner, Arena& arena, const Halt& halt = {});

// The two sides of a split.  After a halt features are missing here too.
struct Children {
    RowSet left, right;
};
Children split_rows(const RowSet& parent, const Split& at, bool keep_origin, const Partitioner& partitioner,
    Arena& arena, const Halt& halt = {});
}  // namespace contree
