// Columns to ranks: the orders, the merged values, the groups, and the thresholds between values.
#include <algorithm>
#include <array>
#include "data/ranks.hpp"
#include "ranked.hpp"

namespace {

using namespace check;
using namespace contree;

constexpr double tiny = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

// Rows are numbered group by group; the groups are the classes.
void check_groups(const Instance& data, const RankedTable& table) {
    CHECK_EQUAL(table.rows, data.rows);
    CHECK_EQUAL(table.groups, data.classes);
    CHECK_EQUAL(table.group_begin.size(), static_cast<std::size_t>(data.classes) + 1);
    CHECK_EQUAL(table.group_begin.front(), 0);
    CHECK_EQUAL(table.group_begin.back(), data.rows);
    bool all = true;
    for (std::uint32_t g = 0; g < table.groups; ++g) {
        for (Row r = table.group_begin[g]; r < table.group_begin[g + 1]; ++r) {
            all &= data.labels[table.original[r]] == static_cast<std::int32_t>(g);
            all &= r == table.group_begin[g] || table.original[r - 1] < table.original[r];  // stable
        }
    }
    CHECK(all);
}

// One column, compared with a plain sort of its values.
void check_column(const Instance& data, const RankedTable& table, std::size_t f, double tolerance) {
    std::vector<double> sorted;
    for (std::size_t r = 0; r < data.rows; ++r) sorted.push_back(data.value(r, f));
    std::sort(sorted.begin(), sorted.end());
    const double greatest = sorted.back();
    const contree::Column& column = table.columns[f];
    const Values& values = column.values;
    bool order_holds = true, ranks_hold = true, covers = true;
    std::vector<Rank> expected{0};
    for (std::size_t k = 1; k < sorted.size(); ++k) {
        const bool same = sorted[k] == sorted[k - 1] || sorted[k] - sorted[k - 1] < tolerance;
        expected.push_back(expected.back() + !same);
    }
    for (std::size_t k = 0; k < data.rows; ++k) {
        const Rank rank = column.ranks[k];
        const double value = data.value(table.original[column.order[k]], f);
        ranks_hold &= rank == expected[k];
        covers &= values.lowest[rank] <= value && value <= values.highest_of(rank);
        if (k > 0 && column.ranks[k - 1] == rank) order_holds &= column.order[k - 1] < column.order[k];
    }
    CHECK(order_holds);
    CHECK(ranks_hold);
    CHECK(covers);
    CHECK_EQUAL(values.lowest.size(), expected.back() + 1);
    const auto distinct = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
    const bool merged = distinct > static_cast<std::ptrdiff_t>(values.lowest.size());
    CHECK_EQUAL(values.highest.size(),
        merged ? values.lowest.size() : 0);  // empty where they are the lowest again
    bool apart = true;
    for (std::size_t i = 1; i < values.lowest.size(); ++i)
        apart &= values.highest_of(i - 1) < values.lowest[i] &&
                 !(values.lowest[i] - values.highest_of(i - 1) < tolerance);
    CHECK(apart);
    CHECK_EQUAL(values.lowest.front(), sorted.front());
    CHECK_EQUAL(values.highest_of(values.lowest.size() - 1), greatest);
    std::vector<Row> rows = column.order;
    std::sort(rows.begin(), rows.end());
    bool permutation = true;
    for (Row r = 0; r < table.rows; ++r) permutation &= rows[r] == r;
    CHECK(permutation);
}

void check_ranks(const Instance& data, double tolerance) {
    const RankedTable table = ranked(data, tolerance);
    CHECK(table.complete);
    CHECK_EQUAL(table.columns.size(), data.features);
    check_groups(data, table);
    for (std::size_t f = 0; f < data.features; ++f) check_column(data, table, f, tolerance);
}

void test_small() {
    for_seeds(2000, [](Random& random) {
        check_ranks(nasty(random, {1, 40, 0, 4, 5}), random.pick({0.0, 0.0, 1.5e-9, 1e-7, 0.5, 1.0, 1e10}));
    });
}

// From 1024 rows on the sort is a radix sort.
void test_radix() {
    for_seeds(40, [](Random& random) {
        check_ranks(nasty(random, {1000, 3000, 1, 4, 5}), random.pick({0.0, 0.0, 1e-7, 0.5}));
    });
}

void test_stopped() {
    Random random(1);
    const Instance data = nasty(random, {50, 50, 3, 3, 3});
    Control control;
    control.abandon();
    const RankedTable table = rank_columns(data.table(), Misclassification::groups(data.table()), 0, control);
    CHECK(!table.complete);
    CHECK_EQUAL(table.columns.size(), 0);
    check_groups(data, table);
}

void check_threshold(double left, double right) {
    if (!(left < right)) return;
    const double t = threshold_between(left, right);
    CHECK(left <= t && t < right);
    const auto narrow_left = static_cast<float>(left), narrow_right = static_cast<float>(right);
    if (narrow_left < narrow_right) {
        // scikit-learn compares the float32 value with the float64 threshold.
        CHECK(static_cast<double>(narrow_left) <= t);
        CHECK(t < static_cast<double>(narrow_right));
    }
}

void test_thresholds() {
    const std::array special{0.0, tiny, 2 * tiny, 3 * tiny, 4 * tiny, 5 * tiny,
        std::numeric_limits<double>::min(), 1e-300, 1e-45, 1.4e-45, 1e-40, 1e-38, 0.1, 0.3, 1.0, 1 + 0x1p-52,
        1 + 0x1p-51, 1 + 0x1p-23, 1 + 0x1p-24, 1 + 0x1p-25, 16777216.0, 16777217.0, 16777218.0,
        9007199254740991.0, 9007199254740992.0, 3.4028234663852886e38, 3.4028235677973366e38, 3.5e38, 1e300,
        1e308, 1.7e308, largest};
    for (const double a : special) {
        for (const double b : special) {
            for (const double left : {a, -a, std::nextafter(a, largest), std::nextafter(-a, -largest)}) {
                for (const double right : {b, -b, std::nextafter(b, largest), std::nextafter(-b, -largest)})
                    check_threshold(left, right);
            }
        }
    }
    for_seeds(20000, [](Random& random) {
        const ColumnKind kind = random.pick({ColumnKind::wide_range, ColumnKind::distinct, ColumnKind::huge,
            ColumnKind::denormal, ColumnKind::ids});
        const double left = draw(kind, random, 0, 30);
        check_threshold(left, std::nextafter(left, largest));
        check_threshold(left, left + std::fabs(left) * random.real() * 1e-7);
        check_threshold(
            left, draw(random.pick({ColumnKind::wide_range, ColumnKind::distinct}), random, 0, 30));
        const double narrow = static_cast<double>(static_cast<float>(random.real()));
        check_threshold(narrow, static_cast<double>(std::nextafter(static_cast<float>(narrow), 2.0F)));
    });
    CHECK_EQUAL(threshold_between(1, 2), 1.5);
    CHECK_EQUAL(threshold_between(-3, 5), 1.0);
    CHECK_EQUAL(threshold_between(-largest, largest), 0.0);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("small tables", test_small);
    check::run("radix sort", test_radix);
    check::run("a stop", test_stopped);
    check::run("thresholds", test_thresholds);
    return check::report();
}
