// The vector loops that move entries do what the plain loops do, and write no further than they may.
#include <algorithm>
#include "check.hpp"
#include "data/partitioner.hpp"
#include "depth_two/kernel.hpp"

namespace {

using namespace check;
using namespace contree;

template <class Entry> std::vector<Entry> draw_order(Random& random, Row rows) {
    using P = Packed<Entry>;
    std::vector<Row> numbers(rows);
    for (Row r = 0; r < rows; ++r) numbers[r] = r;
    for (Row k = rows; k-- > 1;) std::swap(numbers[k], numbers[random.below(k + 1)]);
    const double step = random.pick({0.0, 0.05, 0.5, 1.0});
    std::vector<Entry> order;
    Rank rank = random.chance(0.5) ? 0 : static_cast<Rank>(P::limit - rows - 1);
    for (Row k = 0; k < rows; ++k) order.push_back(P::make(rank += random.chance(step), numbers[k]));
    std::sort(order.begin(), order.end());
    order.push_back(P::sentinel());
    return order;
}

// Are the first `count` the same?  The padding behind them may hold anything.
template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b, std::size_t count) {
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin());
}

template <class Entry> void compare_loops(Random& random, Row rows) {
    const std::vector<Entry> order = draw_order<Entry>(random, rows);
    std::vector<Row> route;
    Row lefts = 0, rights = 0;
    const double share = random.pick({0.0, 0.1, 0.5, 0.9, 1.0});
    for (Row r = 0; r < rows; ++r) route.push_back(random.chance(share) ? rights++ | right_bit : lefts++);
    const Row a = static_cast<Row>(random.below(rows)), a_size = static_cast<Row>(random.below(rows - a + 1));
    const Row b = a + a_size == rows ? a : a + a_size + static_cast<Row>(random.below(rows - a - a_size));
    const Row b_size = static_cast<Row>(random.below(rows - b + 1));
    std::size_t kept = 0;
    for (Row r = 0; r < rows; ++r) kept += r - a < a_size || r - b < b_size;

    const EntryLoops<Entry>& plain = scalar_partitioner.of<Entry>();
    std::vector<Entry> left(lefts + partition_padding), right(rights + partition_padding),
        filtered(kept + partition_padding);
    std::vector<std::uint64_t> bits((rows + 63) / 64);
    CHECK_EQUAL(plain.partition(order.data(), rows, route.data(), left.data(), right.data()), lefts);
    plain.filter(order.data(), rows, a, a_size, b, b_size, filtered.data());
    plain.mark_cuts(order.data(), rows, bits.data());
    std::vector<std::uint8_t> mask(rows + 7, 0x5a);
    const Row tied = spread_cuts(bits.data(), rows, mask.data());
    CHECK_EQUAL(tied, std::count(mask.begin(), mask.begin() + rows, 0));
    for (const Kernel* kernel : available_kernels()) {
        const EntryLoops<Entry>& loops = kernel->partitioner->of<Entry>();
        const auto garbage = static_cast<Entry>(random.next());
        std::vector<Entry> left2(left.size(), garbage), right2(right.size(), garbage),
            filtered2(filtered.size(), garbage);
        std::vector<std::uint64_t> bits2(bits.size(), random.next());
        CHECK_EQUAL(loops.partition(order.data(), rows, route.data(), left2.data(), right2.data()), lefts);
        loops.filter(order.data(), rows, a, a_size, b, b_size, filtered2.data());
        loops.mark_cuts(order.data(), rows, bits2.data());
        CHECK(same(left, left2, lefts));
        CHECK(same(right, right2, rights));
        CHECK(same(filtered, filtered2, kept));
        CHECK(bits == bits2);
    }
    // The plain loops do what partitioner.hpp says.
    std::size_t l = 0, r = 0, f = 0;
    bool moved = true;
    for (Row k = 0; k < rows; ++k) {
        const Row row = Packed<Entry>::row(order[k]), target = route[row];
        const Entry expected = Packed<Entry>::make(Packed<Entry>::rank(order[k]), target & ~right_bit);
        moved &= ((target & right_bit) != 0 ? right[r++] : left[l++]) == expected;
        if (row - a < a_size || row - b < b_size) moved &= filtered[f++] == order[k];
        const bool cut = Packed<Entry>::rank(order[k]) != Packed<Entry>::rank(order[k + 1]);
        moved &= (bits[k / 64] >> k % 64 & 1) == cut;
        moved &= mask[k] == (cut ? 0xff : 0);
    }
    CHECK(moved);
}

template <class Entry> void test_loops() {
    for_seeds(2500, [](Random& random) {
        const std::int64_t about = random.pick<std::int64_t>({1, 8, 16, 24, 32, 64, 128, 500});
        const std::int64_t rows = std::max<std::int64_t>(1, about + random.between(-2, 2));
        compare_loops<Entry>(random, static_cast<Row>(rows));
    });
}

void test_numbers() {
    for_seeds(500, [](Random& random) {
        const auto rows = static_cast<Row>(1 + random.below(200));
        const auto lefts = static_cast<Row>(random.below(1u << 30)),
                   rights = static_cast<Row>(random.below(1u << 30));
        std::vector<std::uint8_t> goes_right(rows);
        for (std::uint8_t& flag : goes_right) flag = random.chance(0.4);
        for (const Kernel* kernel : available_kernels()) {
            std::vector<Row> route(rows);
            const Row moved =
                kernel->partitioner->number_sides(goes_right.data(), rows, lefts, rights, route.data());
            CHECK_EQUAL(moved, std::count(goes_right.begin(), goes_right.end(), 1));
            Row l = lefts, r = rights;
            bool numbered = true;
            for (Row k = 0; k < rows; ++k) numbered &= route[k] == (goes_right[k] ? r++ | right_bit : l++);
            CHECK(numbered);
        }
    });
}

void test_many_rows() {
    for_seeds(2, [](Random& random) {
        for (const Row rows : {32767U, 32769U, 65533U}) compare_loops<NarrowEntry>(random, rows);
        for (const Row rows : {32769U, 65536U, 70000U}) compare_loops<WideEntry>(random, rows);
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("narrow entries", test_loops<NarrowEntry>);
    check::run("wide entries", test_loops<WideEntry>);
    check::run("numbers of two sides", test_numbers);
    check::run("many rows", test_many_rows);
    return check::report();
}
