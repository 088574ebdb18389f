#include "data/subproblem.hpp"

#include <algorithm>
#include <numeric>

namespace contree {

namespace {

template <class Entry>
Subproblem<Entry> allocate(Row rows, std::uint32_t features, std::uint32_t classes, Arena& arena) {
    Subproblem<Entry> sub{};
    sub.rows = rows;
    sub.stride = rows + mover_padding;
    sub.words = rows / 64 + 1;
    sub.entries = arena.take<Entry>(features * sub.stride);
    sub.cut_bits = arena.take<std::uint64_t>(features * sub.words);
    sub.cut_before = arena.take<std::uint32_t>(features * sub.words);
    sub.cut_count = arena.take<std::uint32_t>(features);
    sub.feature = arena.take<FeatureId>(features);
    sub.class_begin = arena.take<Row>(classes + 1);
    sub.mass = rows;
    sub.leaf = {};
    return sub;
}

// The parts of a subproblem that only weights need.
template <class Entry>
void allocate_weights(Subproblem<Entry>& sub, std::uint32_t features, std::uint32_t classes, Arena& arena) {
    sub.weight = arena.take<Score>(sub.rows);
    sub.mass_before = arena.take<Score>(features * sub.stride);
    sub.mass_of_class = arena.take<Score>(classes);
}

// Adds up the rows' weights, for all and for each class.
template <class Entry>
void sum_weights(Subproblem<Entry>& sub) {
    sub.mass = 0;
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        sub.mass_of_class[c] = std::accumulate(sub.weight + sub.class_begin[c], sub.weight + sub.class_begin[c + 1], Score{0});
        sub.mass += sub.mass_of_class[c];
    }
}

// Of a feature's two orders the one with missing values first is left out where no row has one: the other is the
// same.  The threshold behind the missing rows parts them from the others; so does one of the other order.
template <class Entry>
bool drop_missing_first(const Subproblem<Entry>& sub, const Entry* order, std::uint64_t* bits) {
    using P = Packed<Entry>;
    if (P::rank(order[0]) != 0) return true;
    const auto present = std::partition_point(order, order + sub.rows, [](Entry entry) { return P::rank(entry) == 0; });
    const auto k = static_cast<std::size_t>(present - order) - 1;
    bits[k / 64] &= ~(std::uint64_t{1} << (k % 64));
    return false;
}

// Ends the order that was written into the next free slot: sentinel, cuts, and the slot is kept unless
// the feature is constant here.  A constant feature splits nothing in any subset either.
template <class Entry>
void finish_feature(Subproblem<Entry>& sub, FeatureId feature, const Movers& movers) {
    using P = Packed<Entry>;
    const std::uint32_t f = sub.features;
    Entry* const order = sub.entries + f * sub.stride;
    order[sub.rows] = P::sentinel();
    if (P::rank(order[0]) == P::rank(order[sub.rows - 1])) return;
    std::uint64_t* const bits = sub.cut_bits + f * sub.words;
    std::uint32_t* const before = sub.cut_before + f * sub.words;
    bits[sub.words - 1] = 0;
    movers.of<Entry>().mark_cuts(order, sub.rows, bits);
    bits[(sub.rows - 1) / 64] &= ~(std::uint64_t{1} << ((sub.rows - 1) % 64));   // no cut behind the last row
    if (sub.missing[feature] == Missing::first && drop_missing_first(sub, order, bits)) return;
    std::uint32_t count = 0;
    for (std::size_t w = 0; w < sub.words; ++w) {
        before[w] = count;
        count += count_bits(bits[w]);
    }
    if (count == 0) return;
    if (sub.weighted()) {
        Score* const mass = sub.mass_before + f * sub.stride;
        mass[0] = 0;
        for (Row k = 0; k < sub.rows; ++k) mass[k + 1] = mass[k] + sub.weight[P::row(order[k])];
    }
    sub.cut_count[f] = count;
    sub.feature[f] = feature;
    ++sub.features;
}

// Which rows lie right of the threshold at position z of feature f.
template <class Entry>
std::uint8_t* sides_of(const Subproblem<Entry>& parent, std::uint32_t f, Position z, Arena& arena) {
    using P = Packed<Entry>;
    auto* const goes_right = arena.take<std::uint8_t>(parent.rows);
    const Entry* const order = parent.order(f);
    const bool right_is_smaller = z > parent.rows / 2;
    std::memset(goes_right, right_is_smaller ? 0 : 1, parent.rows);
    if (right_is_smaller)
        for (Position k = z; k < parent.rows; ++k) goes_right[P::row(order[k])] = 1;
    else
        for (Position k = 0; k < z; ++k) goes_right[P::row(order[k])] = 0;
    return goes_right;
}

// Where each row of the parent goes: its number in the child, and the right bit.
template <class Entry>
Row* route_rows(const Subproblem<Entry>& parent, const std::uint8_t* goes_right, Subproblem<Entry>& left,
                Subproblem<Entry>& right, const Movers& movers, Arena& arena) {
    Row* const route = arena.take<Row>(parent.rows);
    Row lefts = 0, rights = 0;
    left.class_begin[0] = right.class_begin[0] = 0;
    for (std::uint32_t c = 0; c < parent.classes; ++c) {
        const Row begin = parent.class_begin[c], size = parent.class_size(c);
        const Row moved = movers.number_sides(goes_right + begin, size, lefts, rights, route + begin);
        rights += moved;
        lefts += size - moved;
        if (lefts > left.class_begin[left.classes]) left.class_begin[++left.classes] = lefts;
        if (rights > right.class_begin[right.classes]) right.class_begin[++right.classes] = rights;
    }
    return route;
}

template <class Entry>
void part_weights(const Subproblem<Entry>& parent, const Row* route, Subproblem<Entry>& left, Subproblem<Entry>& right,
                  Arena& arena) {
    allocate_weights(left, parent.features, parent.classes, arena);
    allocate_weights(right, parent.features, parent.classes, arena);
    for (Row r = 0; r < parent.rows; ++r)
        (route[r] & right_bit ? right : left).weight[route[r] & ~right_bit] = parent.weight[r];
    sum_weights(left);
    sum_weights(right);
}

template <class Entry>
void keep_origins(const Subproblem<Entry>& parent, const Row* route, Subproblem<Entry>& left,
                  Subproblem<Entry>& right, Arena& arena) {
    Row* const lefts = arena.take<Row>(left.rows);
    Row* const rights = arena.take<Row>(right.rows);
    for (Row r = 0; r < parent.rows; ++r)
        (route[r] & right_bit ? rights : lefts)[route[r] & ~right_bit] = parent.origin[r];
    left.origin = lefts;
    right.origin = rights;
}

}  // namespace

template <class Entry>
Subproblem<Entry> root_subproblem(RankedTable& table, const Movers& movers, Arena& arena, const Halt& halt) {
    const auto columns = static_cast<FeatureId>(table.columns.size());
    auto root = allocate<Entry>(table.rows, columns, table.classes, arena);
    root.leaf = table.min_leaf;
    root.class_begin[0] = 0;
    for (std::uint32_t c = 0; c < table.classes; ++c)
        if (table.class_begin[c + 1] > table.class_begin[c]) root.class_begin[++root.classes] = table.class_begin[c + 1];
    if (!table.weights.empty()) {
        allocate_weights(root, columns, table.classes, arena);
        std::copy(table.weights.begin(), table.weights.end(), root.weight);
        sum_weights(root);
    }
    auto* const missing = arena.take<Missing>(columns);
    root.missing = missing;
    for (FeatureId f = 0; f < columns; ++f) {
        Column& column = table.columns[f];
        missing[f] = column.missing;
        Entry* const order = root.entries + root.features * root.stride;
        in_stretches(table.rows, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) order[k] = Packed<Entry>::make(column.ranks[k], column.order[k]);
        });
        if (halt()) break;
        finish_feature(root, f, movers);
        column.order = {};
        column.ranks = {};
    }
    Row* const origin = arena.take<Row>(table.rows);
    for (Row r = 0; r < table.rows; ++r) origin[r] = r;
    root.origin = origin;
    return root;
}

template <class Entry>
Children<Entry> split_rows(const Subproblem<Entry>& parent, std::uint32_t f, Position z, bool keep_origin,
                           const Movers& movers, Arena& arena, const Halt& halt) {
    return part_rows(parent, sides_of(parent, f, z, arena), z, keep_origin, movers, arena, halt);
}

template <class Entry>
Children<Entry> part_rows(const Subproblem<Entry>& parent, const std::uint8_t* goes_right, Row lefts, bool keep_origin,
                          const Movers& movers, Arena& arena, const Halt& halt) {
    assert(0 < lefts && lefts < parent.rows);
    Children<Entry> children{allocate<Entry>(lefts, parent.features, parent.classes, arena),
                             allocate<Entry>(parent.rows - lefts, parent.features, parent.classes, arena)};
    Subproblem<Entry>&left = children.left, &right = children.right;
    const Row* const route = route_rows(parent, goes_right, left, right, movers, arena);
    left.missing = right.missing = parent.missing;
    left.leaf = right.leaf = parent.leaf;
    if (parent.weighted()) part_weights(parent, route, left, right, arena);
    if (keep_origin) keep_origins(parent, route, left, right, arena);
    for (std::uint32_t g = 0; g < parent.features; ++g) {
        Entry* to_left = left.entries + left.features * left.stride;
        Entry* to_right = right.entries + right.features * right.stride;
        in_stretches(parent.rows, halt, [&](Row begin, Row end) {
            const Row moved = movers.of<Entry>().partition(parent.order(g) + begin, end - begin, route, to_left, to_right);
            to_left += moved;
            to_right += end - begin - moved;
        });
        if (halt()) break;
        finish_feature(left, parent.feature[g], movers);
        finish_feature(right, parent.feature[g], movers);
    }
    return children;
}

template Subproblem<NarrowEntry> root_subproblem(RankedTable&, const Movers&, Arena&, const Halt&);
template Subproblem<WideEntry> root_subproblem(RankedTable&, const Movers&, Arena&, const Halt&);
template Children<NarrowEntry> split_rows(const Subproblem<NarrowEntry>&, std::uint32_t, Position, bool, const Movers&, Arena&,
                                                 const Halt&);
template Children<WideEntry> split_rows(const Subproblem<WideEntry>&, std::uint32_t, Position, bool, const Movers&, Arena&,
                                                 const Halt&);
template Children<NarrowEntry> part_rows(const Subproblem<NarrowEntry>&, const std::uint8_t*, Row, bool, const Movers&, Arena&,
                                         const Halt&);
template Children<WideEntry> part_rows(const Subproblem<WideEntry>&, const std::uint8_t*, Row, bool, const Movers&, Arena&,
                                       const Halt&);

}  // namespace contree
