// Squared error with categories against exhaustive search over all sets of categories, in exact fractions.
#include <numeric>
#include "objective/target_table.hpp"
#include "squared_checks.hpp"

namespace {

using namespace check;
using contree::Options;

// W times the squared error of both leaves of a stump, each over its own W, as one fraction.
struct Fraction {
    Wide over, under;
    Score units(int shift) const {
        Wide whole = over;
        for (; shift > 0; --shift) whole *= 2;
        whole /= under;
        for (; shift < 0 && whole > 0; ++shift) whole /= 2;
        return static_cast<Score>(whole);
    }
};
Fraction error_of(const Instance& data, const RowList& rows) {
    Wide weight = 0, sum = 0, squares = 0;
    for (const std::size_t r : rows) {
        const Wide w = data.weight(r), y = data.targets[r];
        weight += w, sum += w * y, squares += w * y * y;
    }
    return {weight * squares - sum * sum, weight};
}
Score stump_loss(const Instance& data, const RowList& left, const RowList& right, int shift) {
    const Fraction a = error_of(data, left), b = error_of(data, right);
    return Fraction{a.over * b.under + b.over * a.under, a.under * b.under}.units(shift);
}

// So small that a stump's fraction, scaled, fits 128 bits.
Instance draw_small(Random& random, std::int64_t depth, Options& options) {
    Instance data = draw_mixed(random, depth);
    for (Score& weight : data.weights) weight = random.between(1, 9);
    const Score most = random.pick<Score>({1, 3, 50, 3000});
    for (std::size_t r = 0; r < data.rows; ++r)
        data.targets.push_back(random.chance(0.5) ? data.labels[r] : random.between(-most, most));
    options.max_depth = depth;
    options.score_shift = static_cast<int>(random.between(-3, 30));
    return data;
}

// Stumps of one feature: every way to part its categories.
void test_tables() {
    for_seeds(3000, [](Random& random) {
        const auto count = static_cast<std::size_t>(random.between(1, 8));
        const contree::SquaredLoss loss{static_cast<int>(random.between(-3, 20))};
        Instance data;
        std::vector<RowList> rows_of(count);
        contree::TargetTable table(count, loss);
        const Score most = random.pick<Score>({1, 2, 10, 1000}), heaviest = random.pick<Score>({1, 1, 3, 20});
        const std::int64_t largest = random.between(1, 4);
        for (std::size_t c = 0; c < count; ++c) {
            for (std::int64_t n = random.between(0, largest); n > 0; --n) {
                rows_of[c].push_back(data.rows++);
                data.targets.push_back(random.between(-most, most));
                data.weights.push_back(random.between(1, heaviest));
                contree::Moments one;
                one.add(data.weights.back(), data.targets.back());
                table.add(c, one);
            }
        }
        if (data.rows == 0) return;
        contree::LeafSize leaf;
        if (random.chance(0.6)) leaf.rows = static_cast<contree::Row>(random.between(1, 6));
        if (random.chance(0.4)) leaf.mass = random.between(0, 5 * heaviest);
        const Score as_leaf = leaf_loss(data, all_rows(data), loss.shift),
                    limit = random.chance(0.5) ? as_leaf : random.between(0, as_leaf + 1);
        Score least = limit, relaxed = as_leaf;
        for (std::size_t mask = 1; mask + 1 < std::size_t{1} << count; ++mask) {
            RowList sides[2];
            for (std::size_t c = 0; c < count; ++c)
                sides[mask >> c & 1].insert(sides[mask >> c & 1].end(), rows_of[c].begin(), rows_of[c].end());
            if (sides[0].empty() || sides[1].empty()) continue;
            const Score now = stump_loss(data, sides[1], sides[0], loss.shift);
            relaxed = std::min(relaxed, now);
            bool allowed = true;
            for (const RowList& side : sides)
                allowed &= side.size() >= leaf.rows && mass_of(data, side) >= leaf.mass;
            if (allowed) least = std::min(least, now);
        }
        const contree::TargetTable::Best found = table.best(leaf, limit);
        CHECK_EQUAL(found.relaxed, relaxed);
        CHECK_EQUAL(found.loss, least);
        CHECK_EQUAL(found.left.empty(), least == limit);
        if (found.left.empty()) return;
        RowList sides[2];
        for (std::size_t c = 0; c < count; ++c)
            sides[found.left[c]].insert(sides[found.left[c]].end(), rows_of[c].begin(), rows_of[c].end());
        CHECK_EQUAL(stump_loss(data, sides[1], sides[0], loss.shift), least);
        for (const RowList& side : sides)
            CHECK(!side.empty() && side.size() >= leaf.rows && mass_of(data, side) >= leaf.mass);
    });
}

// What is proved is what the search counts: with one floor for a stump of categories.  The tree is between
// the least sum of floors and that.
void test_defaults(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        Options options;
        const Instance data = draw_small(random, depth, options);
        if (random.chance(0.3)) options.min_samples_leaf = random.between(2, 4);
        const auto leaf = [&](const Instance& of, const RowList& rows) {
            return leaf_loss(of, rows, options.score_shift);
        };
        const auto stump = [&](const Instance& of, const RowList& left, const RowList& right) {
            return stump_loss(of, left, right, options.score_shift);
        };
        const auto rows = static_cast<std::size_t>(options.min_samples_leaf);
        const Score counted = Remembered(data, rows, 0, leaf, stump).front(depth).back(),
                    least = squared_front(data, options).back();
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        CHECK_AT_MOST(least, result.objective);
        CHECK_AT_MOST(result.objective, counted);
        CHECK_EQUAL(result.lower_bound, result.objective);
        CHECK(faults_of(data, options, squared_front(data, options)).empty());
    });
}

// The bound against real squared errors, in units so fine that they are whole for every leaf.
void test_real_errors(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        Options options;
        Instance data = draw_small(random, depth, options);
        data.weights.clear();
        for (std::int64_t& target : data.targets) target %= 10;
        options.score_shift = static_cast<int>(random.between(0, 3));
        if (random.chance(0.5)) options.leaf_cost = random.between(0, 40);
        if (random.chance(0.5)) options.max_leaves = random.between(2, 6);
        if (random.chance(0.3)) options.min_samples_leaf = random.between(2, 4);
        if (random.chance(0.3)) options.max_gap = random.between(1, 20);
        Score fine = 1;
        for (std::size_t n = 1; n <= data.rows; ++n) fine = std::lcm(fine, static_cast<Score>(n));
        const auto leaf = [&](const Instance& of, const RowList& rows) {
            const Fraction error = error_of(of, rows);
            return static_cast<Score>((error.over << options.score_shift) * fine / error.under);
        };
        const Front real =
            Remembered(data, static_cast<std::size_t>(options.min_samples_leaf), 0, leaf).front(depth);
        Options own = options;
        own.leaf_cost = options.leaf_cost * fine;
        const Score least = least_objective(real, own);
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        CHECK_AT_MOST(static_cast<Wide>(result.lower_bound) * fine, static_cast<Wide>(least));
        CHECK_AT_MOST(static_cast<Wide>(result.objective - options.max_gap) * fine, static_cast<Wide>(least));
        CHECK(result.objective - result.lower_bound <= options.max_gap);
        CHECK(faults_of(data, options, squared_front(data, options)).empty());
    });
}

void test_options(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        Options options;
        options.max_depth = depth;
        Instance data = draw_mixed(random, depth);
        draw_targets(data, random, options);
        draw_squared_options(random, data, options);
        options.search = contree::SearchKind::best_first;
        if (random.chance(0.4)) draw_costs(data, random, options);
        check_squared(data, options);
    });
}

void test_all_sizes() {
    for_seeds(200, [](Random& random) {
        Options options;
        options.max_depth = random.between(1, 3);
        Instance data = draw_mixed(random, options.max_depth);
        draw_targets(data, random, options);
        if (random.chance(0.5)) draw_squared_options(random, data, options);
        options.all_sizes = true;
        options.max_gap = options.max_leaves = 0;
        options.search = contree::SearchKind::best_first;
        check_squared(data, options);
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("tables", test_tables);
    check::run("defaults of depth one", [] { test_defaults(1, 200); });
    check::run("defaults of depth two", [] { test_defaults(2, 400); });
    check::run("defaults of depth three", [] { test_defaults(3, 300); });
    check::run("real errors of depth two", [] { test_real_errors(2, 300); });
    check::run("real errors of depth three", [] { test_real_errors(3, 200); });
    check::run("options of depth two", [] { test_options(2, 600); });
    check::run("options of depth three", [] { test_options(3, 400); });
    check::run("options of depth four", [] { test_options(4, 150); });
    check::run("all sizes", test_all_sizes);
    return check::report();
}
