#include "data/row_set.hpp"
#include <numeric>

namespace contree {
namespace {
RowSet allocate(
    Row rows, Width width, std::uint32_t features, std::uint32_t groups, bool weighted, Arena& arena) {
    RowSet set{};
    set.rows = rows;
    set.mass = rows;
    set.width = width;
    set.stride = rows + partition_padding;
    set.words = rows / 64 + 1;
    set.entries = arena.take<std::byte>(features * set.stride * static_cast<std::size_t>(width));
    set.cut_bits = arena.take<std::uint64_t>(features * set.words);
    set.cut_before = arena.take<std::uint32_t>(features * set.words);
    set.cut_count = arena.take<std::uint32_t>(features);
    set.feature = arena.take<FeatureId>(features);
    set.group_begin = arena.take<Row>(groups + 1);
    set.group = arena.take<std::uint32_t>(groups);
    set.group_begin[0] = 0;
    if (!weighted) return set;
    set.weight = arena.take<Score>(rows);
    set.mass_before = arena.take<Score>(features * set.stride);
    set.mass_of_group = arena.take<Score>(groups);
    return set;
}

template <class Entry> Entry* order_of(const RowSet& set, std::uint32_t f) {
    return reinterpret_cast<Entry*>(set.entries) + f * set.stride;
}

// Appends the table's group of that number, which ends there, unless it is empty.
void end_group(RowSet& set, std::uint32_t group, Row end) {
    if (end == set.group_begin[set.groups]) return;
    set.group[set.groups] = group;
    set.group_begin[++set.groups] = end;
}

// Adds up the rows' weights, for all and for each group.
void sum_weights(RowSet& set) {
    set.mass = 0;
    for (std::uint32_t g = 0; g < set.groups; ++g) {
        const Score *const begin = set.weight + set.group_begin[g], *const end = begin + set.group_size(g);
        set.mass += set.mass_of_group[g] = std::accumulate(begin, end, Score{0});
    }
}

// Ends the order that was written into the next free slot: sentinel, cuts, and the slot is kept unless the
// feature is constant here.  A constant feature splits nothing in any subset either.
template <class Entry> void finish_feature(RowSet& set, FeatureId feature, const Partitioner& partitioner) {
    using P = Packed<Entry>;
    const std::uint32_t f = set.columns();
    Entry* const order = order_of<Entry>(set, f);
    order[set.rows] = P::sentinel();
    if (P::rank(order[0]) == P::rank(order[set.rows - 1])) return;
    std::uint64_t* const bits = set.cut_bits + f * set.words;
    bits[set.words - 1] = 0;
    partitioner.of<Entry>().mark_cuts(order, set.rows, bits);
    const auto clear = [&](Row k) { bits[k / 64] &= ~(std::uint64_t{1} << (k % 64)); };
    clear(set.rows - 1);  // no cut behind the last row
    // The order with missing values first is left out where no row lacks one, and so is its threshold behind
    // the missing rows: the feature's other order has the same.
    if (set.missing[feature] == Missing::first) {
        if (P::rank(order[0]) != 0) return;
        clear(set.order(f).first_behind(0, 0, set.rows) - 1);
    }
    std::uint32_t count = 0;
    for (std::size_t w = 0; w < set.words; ++w) {
        set.cut_before[f * set.words + w] = count;
        count += count_bits(bits[w]);
    }
    if (count == 0) return;
    if (set.weighted()) {
        Score* const mass = set.mass_before + f * set.stride;
        mass[0] = 0;
        for (Row k = 0; k < set.rows; ++k) mass[k + 1] = mass[k] + set.weight[P::row(order[k])];
    }
    set.cut_count[f] = count;
    set.feature[f] = feature;
    ++(set.categories->is_categorical(feature) ? set.categorical : set.features);
}

// Where each row of the parent goes; the smaller side is looked up in the order of the split's feature.
Row* route_rows(
    const RowSet& parent, const Split& at, Children& children, const Partitioner& partitioner, Arena& arena) {
    auto* const goes_right = arena.take<std::uint8_t>(parent.rows);
    const bool right_is_smaller = at.z > parent.rows / 2 && at.subset == no_subset;
    std::fill_n(goes_right, parent.rows, !right_is_smaller);
    with_entry(parent.width, [&](auto entry) {
        const auto* const order = order_of<decltype(entry)>(parent, at.f);
        const auto send = [&](Position k) {
            goes_right[Packed<decltype(entry)>::row(order[k])] = right_is_smaller;
        };
        if (!right_is_smaller) parent.for_left(at, send);
        else
            for (Position k = at.z; k < parent.rows; ++k) send(k);
    });
    Row* const route = arena.take<Row>(parent.rows);
    Row lefts = 0, rights = 0;
    for (std::uint32_t g = 0; g < parent.groups; ++g) {
        const Row begin = parent.group_begin[g], size = parent.group_size(g);
        const Row moved = partitioner.number_sides(goes_right + begin, size, lefts, rights, route + begin);
        end_group(children.right, parent.group[g], rights += moved);
        end_group(children.left, parent.group[g], lefts += size - moved);
    }
    return route;
}

template <class T> void send(const T* values, Row rows, const Row* route, T* to_left, T* to_right) {
    for (Row r = 0; r < rows; ++r)
        (route[r] & right_bit ? to_right : to_left)[route[r] & ~right_bit] = values[r];
}
}  // namespace

std::vector<std::uint32_t> groups_of_rows(const RowSet& set) {
    std::vector<std::uint32_t> group_of(set.rows);
    for (std::uint32_t g = 0; g < set.groups; ++g)
        std::fill_n(group_of.begin() + set.group_begin[g], set.group_size(g), g);
    return group_of;
}

RowSet all_rows(
    RankedTable& table, Width width, const Partitioner& partitioner, Arena& arena, const Halt& halt) {
    const auto columns = static_cast<FeatureId>(table.columns.size());
    RowSet set = allocate(table.rows, width, columns, table.groups, !table.weights.empty(), arena);
    set.leaf = table.min_leaf;
    set.by_number = table.by_number;
    set.categories = table.categories.get();
    for (std::uint32_t g = 0; g < table.groups; ++g) end_group(set, g, table.group_begin[g + 1]);
    std::copy(table.weights.begin(), table.weights.end(), set.weight);
    if (set.weighted()) sum_weights(set);
    auto* const missing = arena.take<Missing>(columns);
    set.missing = missing;
    with_entry(width, [&](auto entry) {
        using Entry = decltype(entry);
        for (FeatureId f = 0; f < columns; ++f) {
            Column& column = table.columns[f];
            missing[f] = column.missing;
            Entry* const order = order_of<Entry>(set, set.columns());
            in_chunks(table.rows, halt, [&](Row begin, Row end) {
                for (Row k = begin; k < end; ++k)
                    order[k] = Packed<Entry>::make(column.ranks[k], column.order[k]);
            });
            if (halt()) break;
            finish_feature<Entry>(set, f, partitioner);
            column.order = {};
            column.ranks = {};
        }
    });
    Row* const origin = arena.take<Row>(table.rows);
    std::iota(origin, origin + table.rows, Row{0});
    set.origin = origin;
    return set;
}

Children split_rows(const RowSet& parent, const Split& at, bool keep_origin, const Partitioner& partitioner,
    Arena& arena, const Halt& halt) {
    assert(0 < at.z && at.z < parent.rows);
    const auto child_of = [&](Row rows) {
        return allocate(rows, parent.width, parent.columns(), parent.groups, parent.weighted(), arena);
    };
    Children children{child_of(at.z), child_of(parent.rows - at.z)};
    RowSet &left = children.left, &right = children.right;
    const Row* const route = route_rows(parent, at, children, partitioner, arena);
    left.missing = right.missing = parent.missing;
    left.leaf = right.leaf = parent.leaf;
    left.by_number = right.by_number = parent.by_number;
    left.categories = right.categories = parent.categories;
    if (parent.weighted()) {
        send(parent.weight, parent.rows, route, left.weight, right.weight);
        sum_weights(left);
        sum_weights(right);
    }
    if (keep_origin || parent.by_number) {
        Row *const lefts = arena.take<Row>(left.rows), *const rights = arena.take<Row>(right.rows);
        send(parent.origin, parent.rows, route, lefts, rights);
        left.origin = lefts;
        right.origin = rights;
    }
    with_entry(parent.width, [&](auto entry) {
        using Entry = decltype(entry);
        for (std::uint32_t g = 0; g < parent.columns(); ++g) {
            const Entry* const from = order_of<Entry>(parent, g);
            Entry* to_left = order_of<Entry>(left, left.columns());
            Entry* to_right = order_of<Entry>(right, right.columns());
            in_chunks(parent.rows, halt, [&](Row begin, Row end) {
                const Row moved =
                    partitioner.of<Entry>().partition(from + begin, end - begin, route, to_left, to_right);
                to_left += moved;
                to_right += end - begin - moved;
            });
            if (halt()) break;
            finish_feature<Entry>(left, parent.feature[g], partitioner);
            finish_feature<Entry>(right, parent.feature[g], partitioner);
        }
    });
    return children;
}

bool RowSet::enough(std::uint32_t sized_f, Position begin, Position end, const Strays& more) const {
    const auto before = [&](Position z) { return sized().mass_at(sized_f, z); };
    return end - begin + more.rows() >= leaf.rows &&
           before(end) - before(begin) + before(more.end) - before(more.begin) >= leaf.mass;
}

bool RowSet::allows(std::uint32_t f, Position z) const {
    if (!has_leaf_size()) return true;
    const std::uint32_t g = sized_feature(f);
    const Strays stray = strays(f);
    return enough_left(g, sized_left(f, z, g), stray) && enough_right(g, sized_right(f, z, g), stray);
}

Position RowSet::sized_left(std::uint32_t f, Position z, std::uint32_t sized_f) const {
    if (leaf_size_rows == nullptr) return z;
    if (z == rows) return leaf_size_rows->rows;
    return leaf_size_rows->order(sized_f).first_from(order(f).rank(z), 0, leaf_size_rows->rows);
}

Position RowSet::sized_right(std::uint32_t f, Position z, std::uint32_t sized_f) const {
    if (leaf_size_rows == nullptr || z == 0) return z;
    return leaf_size_rows->order(sized_f).first_behind(order(f).rank(z - 1), 0, leaf_size_rows->rows);
}

// A threshold of a set Z between this set and the larger one may part this set's rows like the one at z, and
// yet send elsewhere what only Z has.  If this set lacks no value of the feature, Z's missing rows may lie
// left as well as right.  If it does, they lie where this set's do.  But Z's threshold may send missing rows
// to the side of low values: what lies below all of this set's values then lies with them, on the right.
RowSet::Strays RowSet::strays(std::uint32_t f) const {
    if (leaf_size_rows == nullptr || missing[feature[f]] != Missing::last) return {};
    const RowSet& all = *leaf_size_rows;
    const std::uint32_t g = sized_feature(f);
    // Without its second order the larger set lacks nothing, or all its values are the same: nothing strays.
    if (g + 1 == all.features || all.feature[g + 1] != feature[f] + 1) return {};
    const auto first_from = [&](Rank rank) { return all.order(g).first_from(rank, 0, all.rows); };
    const Rank none = all.order(g).rank(all.rows - 1);
    if (order(f).rank(rows - 1) != none) return {first_from(none), all.rows, true};
    return {0, first_from(order(f).rank(0)), false};
}
}  // namespace contree
