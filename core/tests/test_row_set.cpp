// A set of rows, and every set that splits make of it, is what sorting its rows anew would give.
#include <algorithm>
#include "data/row_set.hpp"
#include "ranked.hpp"

namespace {

using namespace check;
using namespace contree;

void check_cuts(const RowSet& set, std::uint32_t f) {
    const Order order = set.order(f);
    const Cuts cuts = set.cuts(f);
    std::vector<Position> positions;
    bool below_holds = true;
    for (Position z = 1; z <= set.rows; ++z) {
        below_holds &= cuts.below(z) == positions.size();
        const bool cut = z < set.rows && order.rank(z - 1) != order.rank(z);
        if (cut) positions.push_back(z);
        if (z < set.rows) below_holds &= set.cut_behind(f, z - 1) == cut;
    }
    CHECK(below_holds);
    CHECK_EQUAL(cuts.count, positions.size());
    CHECK_AT_MOST(1, cuts.count);
    bool at_holds = true;
    for (std::uint32_t i = 0; i < positions.size(); ++i) {
        at_holds &= cuts.at(i, 1, set.rows) == positions[i];
        at_holds &= cuts.at(i, positions[i], positions[i]) == positions[i];
        at_holds &= cuts.at(i, positions[i / 2], positions.back()) == positions[i];
    }
    CHECK(at_holds);
}

// Each entry is (rank, row), a sentinel is behind the last, and searches for a rank find its place.
void check_order(
    const Order& order, Width width, const std::vector<std::pair<Rank, Row>>& expected, Random& random) {
    CHECK(order.width == width);
    const auto rows = static_cast<Row>(expected.size());
    bool entries_hold = true;
    with_entry(width, [&](auto entry) {
        using P = Packed<decltype(entry)>;
        const auto* const entries = order.as<decltype(entry)>();
        for (Row k = 0; k < rows; ++k) {
            entries_hold &= entries[k] == P::make(expected[k].first, expected[k].second);
            entries_hold &= order.rank(k) == expected[k].first && order.row(k) == expected[k].second;
            entries_hold &= k == 0 || entries[k - 1] < entries[k];
        }
        entries_hold &= entries[rows] == P::sentinel();
    });
    CHECK(entries_hold);
    const Rank rank = expected[random.below(rows)].first + static_cast<Rank>(random.below(2));
    const auto end = static_cast<Position>(1 + random.below(rows)),
               from = static_cast<Position>(random.below(end));
    Position first = from, behind = from;
    while (first < end && expected[first].first < rank) ++first;
    while (behind < end && expected[behind].first <= rank) ++behind;
    CHECK_EQUAL(order.first_from(rank, from, end), first);
    CHECK_EQUAL(order.first_behind(rank, from, end), behind);
}

Score weight_of(const RankedTable& table, Row row) { return table.weights.empty() ? 1 : table.weights[row]; }

void check_masses(const RankedTable& table, const RowSet& set, const std::vector<Row>& members) {
    Score mass = 0;
    bool weights_hold = true;
    for (Row r = 0; r < set.rows; ++r) {
        mass += weight_of(table, members[r]);
        weights_hold &= set.weight_of(r) == weight_of(table, members[r]);
    }
    CHECK(weights_hold);
    CHECK_EQUAL(set.mass, mass);
    for (std::uint32_t g = 0; g < set.groups; ++g) {
        Score group_mass = 0;
        for (Row r = set.group_begin[g]; r < set.group_begin[g + 1]; ++r) group_mass += set.weight_of(r);
        CHECK_EQUAL(set.group_mass(g), group_mass);
    }
    for (std::uint32_t f = 0; f < set.features; ++f) {
        Score before = 0;
        bool masses_hold = true;
        for (Position z = 0; z < set.rows; before += set.weight_of(set.order(f).row(z++))) {
            masses_hold &= set.mass_at(f, z) == before;
            masses_hold &= set.position_of(f, before) == z;
            if (z > 0) masses_hold &= set.position_of(f, set.mass_at(f, z - 1) + 1) == z;
        }
        CHECK(masses_hold);
    }
}

// `members`: the ranked table's rows that the set should hold, ascending.
void check_set(const RankedTable& table, const RowSet& set, Width width, const std::vector<Row>& members,
    Random& random) {
    CHECK_EQUAL(set.rows, members.size());
    CHECK(std::equal(members.begin(), members.end(), set.origin));
    // Groups are those with rows, in order, each a range.
    std::uint32_t g = 0;
    CHECK_EQUAL(set.group_begin[0], 0);
    for (std::uint32_t all = 0; all < table.groups; ++all) {
        const auto size = std::count_if(members.begin(), members.end(),
            [&](Row r) { return table.group_begin[all] <= r && r < table.group_begin[all + 1]; });
        if (size == 0) continue;
        CHECK(g < set.groups);
        if (g >= set.groups) return;
        CHECK_EQUAL(set.group_size(g), size);
        ++g;
    }
    CHECK_EQUAL(set.groups, g);
    const std::vector<std::uint32_t> group_of = groups_of_rows(set);
    bool groups_hold = group_of.size() == set.rows;
    for (Row r = 0; r < set.rows && groups_hold; ++r)
        groups_hold = set.group_begin[group_of[r]] <= r && r < set.group_begin[group_of[r] + 1];
    CHECK(groups_hold);
    // Features are those that vary, each in its own order.
    std::uint32_t f = 0;
    for (FeatureId all = 0; all < table.columns.size(); ++all) {
        std::vector<std::pair<Rank, Row>> expected;
        for (Row k = 0; k < table.rows; ++k) {
            const auto at = std::lower_bound(members.begin(), members.end(), table.columns[all].order[k]);
            if (at != members.end() && *at == table.columns[all].order[k])
                expected.emplace_back(table.columns[all].ranks[k], static_cast<Row>(at - members.begin()));
        }
        const bool varies = expected.front().first != expected.back().first;
        CHECK_EQUAL(set.number_of(all), varies ? f : set.features);
        if (!varies) continue;
        CHECK(f < set.features);
        if (f >= set.features) return;
        CHECK_EQUAL(set.feature[f], all);
        check_order(set.order(f), width, expected, random);
        check_cuts(set, f);
        ++f;
    }
    CHECK_EQUAL(set.features, f);
    check_masses(table, set, members);
}

void check_descent(
    Root& root, const RowSet& set, Width width, const std::vector<Row>& members, int depth, Random& random) {
    check_set(root.table, set, width, members, random);
    if (depth == 0 || set.features == 0) return;
    Arena::Frame frame(root.arena);
    const auto f = static_cast<std::uint32_t>(random.below(set.features));
    const Cuts cuts = set.cuts(f);
    const Position z = cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, set.rows);
    const Children children = split_rows(set, {f, z}, true, root.partitioner, root.arena);
    std::vector<Row> left, right;
    for (Position k = 0; k < set.rows; ++k) (k < z ? left : right).push_back(members[set.order(f).row(k)]);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    check_descent(root, children.left, width, left, depth - 1, random);
    check_descent(root, children.right, width, right, depth - 1, random);
    // The same without origins.
    Children plain = split_rows(set, {f, z}, false, root.partitioner, root.arena);
    CHECK(plain.left.origin == nullptr && plain.right.origin == nullptr);
    plain.left.origin = left.data();
    plain.right.origin = right.data();
    check_set(root.table, plain.left, width, left, random);
    check_set(root.table, plain.right, width, right, random);
}

void check_all(const Instance& data, Width width, int depth, Random& random) {
    std::vector<Row> members(data.rows);
    for (Row r = 0; r < members.size(); ++r) members[r] = r;
    for (const Kernel* kernel : available_kernels()) {
        Root root(data, width, *kernel);
        check_descent(root, root.set, width, members, depth, random);
    }
}

void test_small(Width width) {
    for_seeds(800, [&](Random& random) {
        Instance data = nasty(random, {1, 40, 0, 4, 5});
        if (random.chance(0.3)) draw_weights(data, random);
        check_all(data, width, 3, random);
    });
}

// Sizes about the words of the cut bits and the registers of a partition.
void test_sizes(Width width) {
    for_seeds(100, [&](Random& random) {
        const auto rows = random.pick<std::int64_t>(
            {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 256, 320, 1000});
        Instance data = nasty(random, {rows, rows, 1, 4, 5});
        if (random.chance(0.3)) draw_weights(data, random);
        check_all(data, width, 4, random);
    });
}

// More rows than one chunk, which is moved without a look for a stop.
void test_chunks(Width width) {
    for_seeds(2, [&](Random& random) {
        const auto rows = random.pick<std::int64_t>({32768, 32769, 50000, 65534});
        check_all(nasty(random, {rows, rows, 2, 2, 3}), width, 2, random);
    });
}

void test_arena() {
    for_seeds(50, [](Random& random) {
        Arena arena;
        std::vector<std::pair<std::uint64_t*, std::size_t>> taken;
        const auto take = [&] {
            const std::size_t count = random.below(random.pick<std::uint64_t>({10, 1000, 60000}));
            auto* const memory = arena.take<std::uint64_t>(count);
            CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(memory) % 64, 0);
            for (std::size_t i = 0; i < count; ++i) memory[i] = taken.size();
            taken.emplace_back(memory, count);
        };
        for (int i = 0; i < 10; ++i) take();
        const std::size_t outside = taken.size();
        std::size_t bytes = 0;
        for (int round = 0; round < 3; ++round) {
            {
                const Arena::Frame frame(arena);
                Random same(seed);  // the same sizes again fit the same memory
                std::swap(random, same);
                for (int i = 0; i < 20; ++i) take();
                std::swap(random, same);
            }
            if (round == 0) bytes = arena.bytes();
            CHECK_EQUAL(arena.bytes(), bytes);
            taken.resize(outside);
        }
        bool intact = true;
        for (std::size_t t = 0; t < outside; ++t)
            for (std::size_t i = 0; i < taken[t].second; ++i) intact &= taken[t].first[i] == t;
        CHECK(intact);
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    for (const Width width : {Width::narrow, Width::wide}) {
        const bool narrow = width == Width::narrow;
        check::run(
            narrow ? "small sets, narrow entries" : "small sets, wide entries", [&] { test_small(width); });
        check::run(
            narrow ? "sizes about words, narrow" : "sizes about words, wide", [&] { test_sizes(width); });
        check::run(narrow ? "many rows, narrow" : "many rows, wide", [&] { test_chunks(width); });
    }
    check::run("arena", test_arena);
    return check::report();
}
