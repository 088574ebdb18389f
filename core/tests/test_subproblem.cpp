// A subproblem and all its descendants are what sorting their rows anew would give.
#include "data/subproblem.hpp"

#include <algorithm>

#include "ranked.hpp"

namespace {

using namespace check;
using namespace contree;

template <class Entry>
void check_cuts(const Subproblem<Entry>& sub, std::uint32_t f) {
    using P = Packed<Entry>;
    const Entry* const order = sub.order(f);
    const Cuts cuts = sub.cuts(f);
    std::vector<Position> positions;
    bool below_holds = true;
    for (Position z = 1; z <= sub.rows; ++z) {
        below_holds &= cuts.below(z) == positions.size();
        if (z < sub.rows && P::rank(order[z - 1]) != P::rank(order[z])) positions.push_back(z);
    }
    CHECK(below_holds);
    CHECK_EQUAL(cuts.count, positions.size());
    CHECK_AT_MOST(1, cuts.count);
    bool at_holds = true;
    for (std::uint32_t i = 0; i < positions.size(); ++i) {
        at_holds &= cuts.at(i, 1, sub.rows) == positions[i];
        at_holds &= cuts.at(i, positions[i], positions[i]) == positions[i];
        at_holds &= cuts.at(i, positions[i / 2], positions.back()) == positions[i];
    }
    CHECK(at_holds);
}

// `members`: the ranked table's rows that the subproblem should hold, ascending.
template <class Entry>
void check_subproblem(const RankedTable& table, const Subproblem<Entry>& sub, const std::vector<Row>& members) {
    using P = Packed<Entry>;
    CHECK_EQUAL(sub.rows, members.size());
    CHECK(std::equal(members.begin(), members.end(), sub.origin));
    // Classes are those with rows, in order, each a range.
    std::uint32_t c = 0;
    CHECK_EQUAL(sub.class_begin[0], 0);
    for (std::uint32_t all = 0; all < table.classes; ++all) {
        const auto size = std::count_if(members.begin(), members.end(),
                                        [&](Row r) { return table.class_begin[all] <= r && r < table.class_begin[all + 1]; });
        if (size == 0) continue;
        CHECK(c < sub.classes);
        if (c >= sub.classes) return;
        CHECK_EQUAL(sub.class_size(c), size);
        ++c;
    }
    CHECK_EQUAL(sub.classes, c);
    // Features are those that vary, each in its own order.
    std::uint32_t f = 0;
    for (FeatureId all = 0; all < table.columns.size(); ++all) {
        std::vector<Entry> expected;
        for (Row k = 0; k < table.rows; ++k) {
            const auto at = std::lower_bound(members.begin(), members.end(), table.columns[all].order[k]);
            if (at != members.end() && *at == table.columns[all].order[k])
                expected.push_back(P::make(table.columns[all].ranks[k], static_cast<Row>(at - members.begin())));
        }
        if (P::rank(expected.front()) == P::rank(expected.back())) continue;
        CHECK(f < sub.features);
        if (f >= sub.features) return;
        CHECK_EQUAL(sub.feature[f], all);
        CHECK(std::equal(expected.begin(), expected.end(), sub.order(f)));
        CHECK(std::is_sorted(sub.order(f), sub.order(f) + sub.rows));
        CHECK_EQUAL(sub.order(f)[sub.rows], P::sentinel());
        check_cuts(sub, f);
        ++f;
    }
    CHECK_EQUAL(sub.features, f);
}

template <class Entry>
void check_descent(const RankedTable& table, const Subproblem<Entry>& sub, const std::vector<Row>& members, int depth,
                   Random& random, const Movers& movers, Arena& arena) {
    check_subproblem(table, sub, members);
    if (depth == 0 || sub.features == 0) return;
    using P = Packed<Entry>;
    Arena::Frame frame(arena);
    const auto f = static_cast<std::uint32_t>(random.below(sub.features));
    const Cuts cuts = sub.cuts(f);
    const Position z = cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, sub.rows);
    const Children<Entry> children = split_rows(sub, f, z, true, movers, arena);
    std::vector<Row> left, right;
    for (Position k = 0; k < sub.rows; ++k) (k < z ? left : right).push_back(members[P::row(sub.order(f)[k])]);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    check_descent(table, children.left, left, depth - 1, random, movers, arena);
    check_descent(table, children.right, right, depth - 1, random, movers, arena);
    // The same without origins.
    Children<Entry> plain = split_rows(sub, f, z, false, movers, arena);
    CHECK(plain.left.origin == nullptr && plain.right.origin == nullptr);
    plain.left.origin = left.data();
    plain.right.origin = right.data();
    check_subproblem(table, plain.left, left);
    check_subproblem(table, plain.right, right);
}

template <class Entry>
void check_all(const Instance& data, int depth, Random& random) {
    std::vector<Row> members(data.rows);
    for (Row r = 0; r < members.size(); ++r) members[r] = r;
    for (const Kernel* kernel : available_kernels()) {
        Root<Entry> root(data, *kernel);
        check_descent(root.table, root.sub, members, depth, random, root.movers, root.arena);
    }
}

template <class Entry>
void test_small() {
    for_seeds(800, [](Random& random) { check_all<Entry>(nasty(random, {1, 40, 0, 4, 5}), 3, random); });
}

// Sizes about the words of the cut bits and the registers of a partition.
template <class Entry>
void test_sizes() {
    for_seeds(150, [](Random& random) {
        const auto rows = random.pick<std::int64_t>({15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 256, 320, 1000});
        check_all<Entry>(nasty(random, {rows, rows, 1, 4, 5}), 4, random);
    });
}

// More rows than are moved without a look for a stop.
template <class Entry>
void test_stretches() {
    for_seeds(6, [](Random& random) {
        const auto rows = random.pick<std::int64_t>({32768, 32769, 50000, 65534});
        check_all<Entry>(nasty(random, {rows, rows, 2, 2, 3}), 2, random);
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
                Random same(seed);   // the same sizes again fit the same memory
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
    check::run("small sets, narrow entries", test_small<NarrowEntry>);
    check::run("small sets, wide entries", test_small<WideEntry>);
    check::run("sizes about words, narrow entries", test_sizes<NarrowEntry>);
    check::run("sizes about words, wide entries", test_sizes<WideEntry>);
    check::run("many rows, narrow entries", test_stretches<NarrowEntry>);
    check::run("many rows, wide entries", test_stretches<WideEntry>);
    check::run("arena", test_arena);
    return check::report();
}
