// Categorical features beside the oracle of test_category_oracle.cpp: many categories, given trees, stops,
// and what is refused.
#include "fit_checks.hpp"
#include "ranked.hpp"

namespace {

using namespace check;
using contree::Control;
using contree::Options;
using contree::Result;

// Rows of so many categories and two numbers; the label follows the category on one side of the first number,
// and its opposite on the other.
Instance crossed(Random& random, std::size_t rows, std::int32_t categories, double noise) {
    Instance data;
    data.rows = rows;
    data.features = 3;
    data.classes = 2;
    data.categories = {categories, 0, 0};
    data.values.resize(3 * rows);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto category = random.below(static_cast<std::uint64_t>(categories));
        data.values[r] = static_cast<double>(category);
        for (std::size_t f = 1; f < 3; ++f) data.values[f * rows + r] = random.real();
        const bool flips = data.value(r, 1) > 0.5;
        const bool label = random.chance(noise) ? random.chance(0.5) : (category % 3 == 0) != flips;
        data.labels.push_back(label);
    }
    return data;
}

Result fitted(const Instance& data, const Options& options, const contree::Tree* first = nullptr) {
    Control control;
    return contree::fit(data.table(), options, control, {}, first);
}

// Each category goes where it errs least, for every pair of labels.
Score stump_errors(const Instance& data) {
    Score best = leaf_errors(data, all_rows(data));
    for (std::int32_t a = 0; a < data.classes; ++a)
        for (std::int32_t b = 0; b < a; ++b) {
            Score errors = 0;
            for (std::int32_t c = 0; c <= data.categories[0]; ++c) {
                Score not_a = 0, not_b = 0;
                for (std::size_t r = 0; r < data.rows; ++r) {
                    if (category_of(data, r, 0) != static_cast<std::size_t>(c)) continue;
                    not_a += data.labels[r] == a ? 0 : data.weight(r);
                    not_b += data.labels[r] == b ? 0 : data.weight(r);
                }
                errors += std::min(not_a, not_b);
            }
            best = std::min(best, errors);
        }
    return best;
}

void test_many_categories() {
    for_seeds(60, [](Random& random) {
        Instance data;
        data.rows = static_cast<std::size_t>(random.between(50, 400));
        data.features = 1;
        data.classes = static_cast<std::int32_t>(random.between(2, random.chance(0.2) ? 60 : 5));
        data.categories = {static_cast<std::int32_t>(random.between(50, 200))};
        for (std::size_t r = 0; r < data.rows; ++r) {
            data.values.push_back(
                static_cast<double>(random.below(static_cast<std::uint64_t>(data.categories[0]))));
            data.labels.push_back(
                static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(data.classes))));
        }
        if (random.chance(0.3)) draw_missing(data, random);
        if (random.chance(0.3)) draw_weights(data, random);
        Options options;
        options.max_depth = 1;
        check_fit(data, options, stump_errors(data));
    });
}

// The crossed effect is found whole, beyond 64 categories too, and a search that is stopped is sound.
void test_crossed() {
    for (const std::int32_t categories : {10, 64, 65, 130}) {
        Random random(static_cast<std::uint64_t>(categories));
        const Instance data = crossed(random, 1500, categories, 0);
        Options options;
        options.max_depth = 2;
        options.time_limit = 20;
        const Result result = fitted(data, options);
        CHECK_EQUAL(result.loss, Score{0});
        CHECK(result.status == contree::Status::optimal);
        CHECK(result_faults(result, data, options, 0).empty());
    }
    for_seeds(12, [](Random& random) {
        const Instance data = crossed(random, 600, random.pick({20, 80}), 0.5);
        Options options;
        options.max_depth = random.between(2, 4);
        options.time_limit = random.pick({0.0, 0.01, 0.1});
        options.n_jobs = random.pick({1, 2});
        const std::string faults = result_faults(fitted(data, options), data, options, {});
        if (!faults.empty()) fail("stopped", 0, faults);
        else ++passed;
    });
}

// The result's own tree, given back, is what a fit without time returns at the worst.
void test_given_tree() {
    for_seeds(150, [](Random& random) {
        const std::int64_t depth = random.between(1, 4);
        const Instance data = draw_mixed(random, depth);
        Options options = draw_options(random, depth, data);
        options.max_gap = 0;
        const Result best = fitted(data, options);
        options.time_limit = 0;
        const Result again = fitted(data, options, &best.tree);
        CHECK_EQUAL(again.objective, best.objective);
        CHECK(result_faults(again, data, options, best.objective).empty());
    });
}

void test_refused() {
    Random random(1);
    Instance data = crossed(random, 20, 3, 0);
    Options options;
    options.search = contree::SearchKind::paper;
    CHECK_THROWS(std::invalid_argument, fitted(data, options));
    options.search = contree::SearchKind::best_first;
    for (const double value : {3.0, -1.0, 0.5, 1e300}) {
        data.values[0] = value;
        CHECK_THROWS(std::invalid_argument, fitted(data, options));
    }
}

// Children hold the rows of their categories, in every order, and numbers of sets are shared.
void test_row_sets() {
    for_seeds(200, [](Random& random) {
        const Instance data = draw_mixed(random, 2);
        const Root root(data);
        for (std::uint32_t f = root.set.features; f < root.set.columns(); ++f) {
            contree::SubsetWords left = root.set.categories->none();
            const contree::Rank first = root.set.order(f).rank(0);
            contree::insert(left.data(), first);
            const contree::Split at = root.set.split_of(f, left);
            CHECK_EQUAL(root.set.split_of(f, left).subset, at.subset);
            contree::Arena arena;
            const contree::Children sides = contree::split_rows(root.set, at, true, root.partitioner, arena);
            CHECK_EQUAL(sides.left.rows + sides.right.rows, root.set.rows);
            const double code = root.table.columns[root.set.feature[f]].values.lowest[first];
            for (const contree::RowSet* const side : {&sides.left, &sides.right})
                for (contree::Row r = 0; r < side->rows; ++r) {
                    const auto feature =
                        static_cast<std::size_t>(root.table.columns[root.set.feature[f]].feature);
                    const double value = data.value(root.table.original[side->origin[r]], feature);
                    const bool same = value == code || (std::isnan(value) && std::isnan(code));
                    CHECK_EQUAL(same, side == &sides.left);
                }
        }
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("many categories", test_many_categories);
    check::run("crossed effects", test_crossed);
    check::run("given trees", test_given_tree);
    check::run("refused", test_refused);
    check::run("row sets", test_row_sets);
    return check::report();
}
