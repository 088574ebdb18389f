// The cache: keys are exact, bounds only get better, and memory stays within the given limit.
#include <algorithm>
#include <map>
#include "check.hpp"
#include "counting_new.hpp"
#include "search/cache.hpp"

namespace {

using namespace check;
using namespace contree;

std::vector<Row> draw_rows(Random& random, Row table_rows) {
    const double share = random.pick({0.02, 0.1, 0.5, 1.0});
    std::vector<Row> rows;
    for (Row r = 0; r < table_rows; ++r)
        if (random.chance(share)) rows.push_back(r);
    if (rows.empty()) rows.push_back(static_cast<Row>(random.below(table_rows)));
    return rows;
}

Cache::Key key_of(const Cache& cache, const std::vector<Row>& rows, std::int64_t depth) {
    return cache.key(rows.data(), static_cast<Row>(rows.size()), depth);
}

// Keys are equal exactly where rows and depth are, whether they are lists of rows or bit sets.
void test_keys() {
    for_seeds(3000, [](Random& random) {
        const auto table_rows =
            static_cast<Row>(random.pick<std::int64_t>({1, 2, 31, 32, 33, 63, 64, 65, 96, 320, 1000, 3200}));
        const Cache cache(table_rows, 1000);
        const std::vector<Row> a = draw_rows(random, table_rows);
        std::vector<Row> b = random.chance(0.5) ? draw_rows(random, table_rows) : a;
        if (random.chance(0.5)) {  // one row more or less
            const auto row = static_cast<Row>(random.below(table_rows));
            const auto at = std::lower_bound(b.begin(), b.end(), row);
            if (at != b.end() && *at == row) b.erase(at);
            else b.insert(at, row);
        }
        if (b.empty()) return;
        const std::int64_t depth_a = random.between(1, 3), depth_b = random.between(1, 3);
        const Cache::Key of_a = key_of(cache, a, depth_a), of_b = key_of(cache, b, depth_b);
        CHECK_EQUAL(of_a == of_b, a == b && depth_a == depth_b);
        if (of_a == of_b) CHECK_EQUAL(of_a.hash, of_b.hash);
    });
}

// A hash finds the place and proves nothing.
void test_colliding_hashes() {
    Cache cache(100, 1 << 20);
    for (Row r = 0; r < 50; ++r) {
        Cache::Key key = key_of(cache, {r, r + 1}, 3);
        key.hash = 7;
        cache.store(key, {Score{r}, Score{r}, {Step{Step::leaf, 0}}});
    }
    CHECK_EQUAL(cache.entries(), 50);
    for (Row r = 0; r < 52; ++r) {
        Cache::Key key = key_of(cache, {r, r + 1}, 3);
        key.hash = 7;
        const Outcome found = cache.find(key);
        CHECK_EQUAL(found.upper, r < 50 ? Score{r} : unreached);
        CHECK_EQUAL(found.lower, r < 50 ? Score{r} : 0);
    }
}

// Compared with a plain map, with memory enough and with too little.
void test_against_a_map() {
    for_seeds(150, [](Random& random) {
        const auto table_rows = static_cast<Row>(random.pick({20, 40, 100, 1000}));
        const bool plenty = random.chance(0.5);
        const std::size_t capacity =
            plenty ? 1 << 24 : static_cast<std::size_t>(random.pick({0, 500, 2000, 20000}));
        Cache cache(table_rows, capacity);
        std::vector<std::vector<Row>> sets;
        for (int i = 0; i < 60; ++i) sets.push_back(draw_rows(random, table_rows));
        std::map<std::pair<std::vector<Row>, std::int64_t>, Outcome> model;
        for (int i = 0; i < 400; ++i) {
            const std::vector<Row>& rows = sets[random.below(sets.size())];
            const std::int64_t depth = random.between(3, 4);
            Outcome& known = model[{rows, depth}];
            // Some true score for this set: bounds below it and trees above it.
            const Score truth = static_cast<Score>(rows.size() * 7 % 50);
            if (random.chance(0.5)) {
                Outcome outcome;
                outcome.lower = random.between(0, truth);
                if (random.chance(0.5)) {
                    outcome.upper = truth + random.between(0, 5);
                    outcome.plan.assign(static_cast<std::size_t>(outcome.upper - truth + 1),
                        Step{Step::leaf, static_cast<Rank>(outcome.upper)});
                }
                cache.store(key_of(cache, rows, depth), outcome);
                known.lower = std::max(known.lower, outcome.lower);
                known.upper = std::min(known.upper, outcome.upper);
            } else {
                const Outcome found = cache.find(key_of(cache, rows, depth));
                CHECK_EQUAL(found.plan.empty(), found.upper == unreached);
                if (!found.plan.empty())
                    CHECK_EQUAL(found.plan.front().rank, found.upper);  // the plan of that score
                CHECK_AT_MOST(found.lower, known.lower);
                CHECK_AT_MOST(known.upper, found.upper);
                if (plenty) CHECK_EQUAL(found.lower, known.lower);
                if (plenty) CHECK_EQUAL(found.upper, known.upper);
            }
            if (capacity < 100) CHECK_EQUAL(cache.entries(), 0);
        }
    });
}

// A bound holds for fewer leaves too, and a tree serves every number of leaves that it does not exceed.
void test_leaves() {
    for_seeds(300, [](Random& random) {
        Cache cache(100, 1 << 20);
        const Cache::Key key = key_of(cache, {1, 2, 3}, 4);
        constexpr Leaves most = 8;
        std::vector<Score> truth(most + 1, 40);  // by the number of leaves allowed
        for (Leaves l = 2; l <= most; ++l) truth[l] = truth[l - 1] - random.between(0, 4);
        std::vector<Score> lower(most + 1, 0), upper(most + 1, unreached);
        for (int i = 0; i < 12; ++i) {
            const auto allowed = static_cast<Leaves>(random.between(1, most));
            const auto used = static_cast<Leaves>(random.between(1, allowed));  // leaves of the tree
            Outcome outcome;
            outcome.lower = random.between(0, truth[allowed]);
            if (random.chance(0.5)) {
                outcome.upper = truth[used] + random.between(0, 2);
                outcome.plan.assign(used, Step{Step::leaf, 0});
            }
            cache.store(key, outcome, allowed);
            for (Leaves l = 1; l <= allowed; ++l) lower[l] = std::max(lower[l], outcome.lower);
            for (Leaves l = allowed; l <= most; ++l) upper[l] = std::min(upper[l], outcome.upper);
            for (Leaves l = 1; l <= most; ++l) {
                const Outcome found = cache.find(key, l);
                CHECK_EQUAL(found.lower, lower[l]);
                CHECK_AT_MOST(found.lower, truth[l]);
                CHECK_AT_MOST(truth[l], found.upper);
                CHECK_AT_MOST(found.upper, upper[l]);
                CHECK_AT_MOST(found.plan.size(), l);
                CHECK_EQUAL(found.plan.empty(), found.upper == unreached);
            }
        }
    });
}

// The memory in use, measured: most of the limit, and little more than it.
void test_memory() {
    for (const Row table_rows : {100U, 5000U, 100000U}) {
        Random random(table_rows);
        const long capacity = 1 << 20, before = bytes_in_use;
        Cache cache(table_rows, static_cast<std::size_t>(capacity));
        long most = 0;
        for (int i = 0; i < (table_rows > 50000 ? 500 : 5000); ++i) {
            Outcome outcome{1, 2, {}};
            outcome.plan.assign(random.below(15) + 1, Step{0, 0});
            cache.store(key_of(cache, draw_rows(random, table_rows), random.between(3, 5)), outcome);
            CHECK_AT_MOST(cache.bytes(), static_cast<std::size_t>(capacity));
            most = std::max(most, bytes_in_use - before);
        }
        CHECK_AT_MOST(most, capacity + capacity / 4);
        CHECK_AT_MOST(capacity / 2, most);
    }
}

// Entries that were asked for outlive others.  A plan that grows does not break the limit.
void test_second_chance() {
    Cache cache(1000, 20000);
    const Cache::Key asked = key_of(cache, {1, 2, 3}, 3);
    cache.store(asked, {4, 4, {Step{Step::leaf, 0}}});
    for (Row r = 0; r < 500; ++r) {
        CHECK_EQUAL(cache.find(asked).upper, 4);
        const Cache::Key other = key_of(cache, {r, r + 1}, 3);
        cache.store(other, {0, 9, {Step{Step::leaf, 0}}});
        cache.store(other, {0, 8, Plan(60, Step{Step::leaf, 0})});
        CHECK_AT_MOST(cache.bytes(), 20000);
    }
    CHECK_AT_MOST(cache.entries(), 100);
    CHECK_EQUAL(cache.find(key_of(cache, {0, 1}, 3)).upper, unreached);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("keys", test_keys);
    check::run("colliding hashes", test_colliding_hashes);
    check::run("against a map", test_against_a_map);
    check::run("numbers of leaves", test_leaves);
    check::run("memory", test_memory);
    check::run("second chance", test_second_chance);
    return check::report();
}
