// What is said of sets of categories before all are tried: bounds are never above the least score, trees
// never below it, and both are worth having.
#include "exhaustive.hpp"
#include "fit_checks.hpp"
#include "one_solver.hpp"
#include "search/category_bound.hpp"

namespace {

using namespace check;
using namespace contree;

Options draw_costs(Random& random, std::int64_t depth) {
    Options options;
    options.max_depth = depth;
    options.leaf_cost = random.pick({0, 0, 1, 2});
    options.error_cost = random.pick({1, 1, 3});
    return options;
}

void test_never_above_the_optimum() {
    int proved = 0, tight = 0;
    for_seeds(1500, [&](Random& random) {
        const std::int64_t depth = random.between(2, 3);
        const Instance data = draw_mixed(random, depth);
        const Options options = draw_costs(random, depth);
        const Score optimum = optimum_of(data, options) - options.leaf_cost;
        OneSolver search(data, options);
        const std::int64_t budget = random.pick<std::int64_t>({0, 300, 20'000, 1 << 30});
        const Score bound =
            bound_by_categories(search.solver, *search.worker, search.root.set, depth, budget);
        CHECK(bound <= optimum);
        CHECK_EQUAL(search.worker->work_end, Worker::endless);
        proved += bound > 0;
        tight += bound > 0 && bound == optimum;
    });
    CHECK(proved > 150 * scale());
    CHECK(tight > 10 * scale());
}

// Depth two that ends after any number of row visits: the optimum lies between its bound and its tree.
void test_around_the_optimum() {
    int open = 0;
    for_seeds(1500, [&](Random& random) {
        const Instance data = draw_mixed(random, 2);
        const Options options = draw_costs(random, 2);
        const Score optimum = optimum_of(data, options) - options.leaf_cost;
        OneSolver search(data, options);
        const RowSet& root = search.root.set;
        const Outcome found = search.solver.solve_within(
            *search.worker, {root, {2, 4, root.rows}}, random.pick<std::int64_t>({1, 30, 100, 300, 1000}));
        CHECK(found.lower <= optimum);
        CHECK(found.upper >= optimum);
        open += found.lower < optimum;
    });
    CHECK(open > 100 * scale());
}

// Coins: no tree of depth three tells 2,000 of them apart.
Instance coins(Random& random, std::int32_t categories) {
    Instance data;
    data.rows = 2000;
    data.features = 3;
    data.classes = 2;
    data.categories = {categories, 0, 0};
    for (std::size_t r = 0; r < data.rows; ++r)
        data.values.push_back(static_cast<double>(random.below(static_cast<std::uint64_t>(categories))));
    for (std::size_t i = 0; i < 2 * data.rows; ++i) data.values.push_back(random.real());
    for (std::size_t r = 0; r < data.rows; ++r) data.labels.push_back(random.chance(0.5));
    return data;
}

// Depth two that is cut short has a sound bound and a good tree.  Depth three, which would take without end,
// soon has a bound and a better tree.
void test_cut_short() {
    Random random(1);
    const Instance data = coins(random, 60);
    OneSolver search(data, {});
    const RowSet& root = search.root.set;
    const auto solve = [&](std::int64_t visits) {
        return search.solver.solve_within(*search.worker, {root, {2, 4, root.rows}}, visits);
    };
    const Outcome first = solve(1), more = solve(visits_for_sets(root));
    CHECK(more.upper <= first.upper);
    CHECK(more.lower > 0);
    CHECK(std::max(first.lower, more.lower) <= more.upper);

    Options options;
    options.max_depth = 3;
    options.time_limit = 300;
    Control control;
    const contree::Poll poll = [&](const contree::Progress& now) {
        const bool enough = now.lower_bound > 0 && now.objective < more.upper;
        return enough ? contree::Verdict::stop : contree::Verdict::go_on;
    };
    const contree::Result result = contree::fit(data.table(), options, control, poll);
    CHECK_EQUAL(result.status, contree::Status::stopped);
    CHECK(result.lower_bound > 0);
    CHECK(result.lower_bound <= result.objective);
    CHECK(result.objective < more.upper);
}

}  // namespace

int main() {
    check::run("never above the optimum", test_never_above_the_optimum);
    check::run("around the optimum", test_around_the_optimum);
    check::run("cut short", test_cut_short);
    return check::report();
}
