// A tree that the caller has is the first incumbent: the result is never worse than its tests are for the
// rows.
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Control;
using contree::Options;
using contree::Result;
using contree::SearchKind;
using contree::Tree;

// Any tests in preorder, some of them on values that no row has, or beyond all of them.
void grow(Tree& tree, const Instance& data, Random& random, std::int64_t depth) {
    const std::size_t node = tree.size();
    const bool leaf = depth == 0 || data.features == 0 || random.chance(0.1);
    tree.children_left.push_back(-1);
    tree.children_right.push_back(-1);
    tree.feature.push_back(-2);
    tree.threshold.push_back(-2);
    tree.missing_left.push_back(0);
    if (leaf) return;
    const std::size_t f = random.below(data.features);
    const double value = data.value(random.below(data.rows), f);
    tree.feature[node] = static_cast<std::int64_t>(f);
    const double infinity = std::numeric_limits<double>::infinity();
    tree.threshold[node] =
        std::isnan(value)
            ? 0
            : random.pick({value, value, value, value + 0.3, -1e300, 1e300, infinity, -infinity});
    tree.missing_left[node] = random.chance(0.5);
    tree.children_left[node] = static_cast<std::int64_t>(tree.size());
    grow(tree, data, random, depth - 1);
    tree.children_right[node] = static_cast<std::int64_t>(tree.size());
    grow(tree, data, random, depth - 1);
}

// Errors of the given tests, those that part no rows left out, cut at `depth` and where a side is too small,
// with the majority in every leaf.
Score given_errors(const Tree& tree, const Instance& data, std::size_t node, const RowList& rows,
    std::int64_t depth, const Options& options) {
    if (depth == 0 || tree.children_left[node] < 0) return leaf_errors(data, rows);
    const auto [left, right] = parted(data, rows, static_cast<std::size_t>(tree.feature[node]),
        tree.threshold[node], tree.missing_left[node] != 0);
    const auto left_child = static_cast<std::size_t>(tree.children_left[node]);
    const auto right_child = static_cast<std::size_t>(tree.children_right[node]);
    if (left.empty()) return given_errors(tree, data, right_child, rows, depth, options);
    if (right.empty()) return given_errors(tree, data, left_child, rows, depth, options);
    if (std::cmp_less(std::min(left.size(), right.size()), options.min_samples_leaf))
        return leaf_errors(data, rows);
    return given_errors(tree, data, left_child, left, depth - 1, options) +
           given_errors(tree, data, right_child, right, depth - 1, options);
}

Result fit_from(const Tree& first, const Instance& data, const Options& options) {
    Control control;
    return contree::fit(data.table(), options, control, {}, &first);
}

void test_never_worse() {
    for_seeds(1500, [](Random& random) {
        Instance data = nasty(random, {.most_rows = 40});
        Options options;
        options.max_depth = random.between(0, 4);
        options.search = random.pick({SearchKind::best_first, SearchKind::paper});
        if (random.chance(0.5)) draw_missing(data, random);
        if (options.search == SearchKind::best_first && random.chance(0.5)) {
            draw_weights(data, random);
            options.min_samples_leaf = random.between(1, 4);
        }
        options.n_jobs = random.pick({1, 1, 2});
        Tree first;
        grow(first, data, random, random.between(0, 6));
        const Score given = given_errors(first, data, 0, all_rows(data), options.max_depth, options);
        options.time_limit = 0;  // stopped at once: the given tree is all that there is
        const Result stopped = fit_from(first, data, options);
        CHECK_EQUAL(result_faults(stopped, data, options, {}), "");
        CHECK_AT_MOST(stopped.objective, given);
    });
}

void test_the_optimum_stays() {
    for_seeds(300, [](Random& random) {
        const Instance data = nasty(random, {.most_rows = 16});
        Options options;
        options.max_depth = random.between(0, 3);
        options.max_gap = random.pick({0, 0, 1});
        options.search = random.pick({SearchKind::best_first, SearchKind::paper});
        Tree first;
        grow(first, data, random, random.between(0, 4));
        const Result result = fit_from(first, data, options);
        CHECK_EQUAL(result_faults(result, data, options, least_errors(data, options.max_depth)), "");
        CHECK_AT_MOST(
            result.objective, given_errors(first, data, 0, all_rows(data), options.max_depth, options));
        CHECK(result.objective - result.lower_bound <= options.max_gap);
    });
}

// Values that count as equal are not parted, wherever the given threshold lies among them.
void test_tolerance() {
    for_seeds(300, [](Random& random) {
        const Instance data = nasty(random, {.most_rows = 40});
        Options options;
        options.max_depth = 3;
        options.feature_tolerance = random.pick({1e-9, 0.5, 2.0});
        options.time_limit = 0;
        Tree first;
        grow(first, data, random, 4);
        CHECK_EQUAL(result_faults(fit_from(first, data, options), data, options, {}), "");
    });
}

// From the optimum nothing is left to find: the first incumbent is the last.
void test_from_the_optimum() {
    Random random(5);
    const Instance data = structured(random, 300, 4, 3, 0, 0.5);
    Options options;
    Control control;
    const Result best = contree::fit(data.table(), options, control);
    for (const SearchKind search : {SearchKind::best_first, SearchKind::paper}) {
        options.search = search;
        const Result again = fit_from(best.tree, data, options);
        CHECK_EQUAL(again.objective, best.objective);
        CHECK(again.tree.threshold == best.tree.threshold);
        CHECK(again.tree.feature == best.tree.feature);
    }
    options.search = SearchKind::best_first;
    CHECK_EQUAL(fit_from(best.tree, data, options).history.front().objective, best.objective);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("never worse", test_never_worse);
    check::run("the optimum stays", test_the_optimum_stays);
    check::run("tolerance", test_tolerance);
    check::run("from the optimum", test_from_the_optimum);
    return check::report();
}
