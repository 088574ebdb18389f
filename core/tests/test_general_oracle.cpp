// Weights, a minimal leaf size and missing values against the oracle: each alone, and all together.
#include "fit_checks.hpp"
#include "forced_kernel.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SwitchRow;

struct With {
    bool weights, min_leaf, missing, min_mass = false;
};

Instance small_instance(Random& random, std::int64_t depth, With with) {
    Instance data = depth >= 4   ? nasty(random, {1, 10, 0, 2, 4})
                    : depth == 3 ? nasty(random, {1, 14, 0, 3, 5})
                                 : nasty(random, {1, 22, 0, 4, 5});
    if (with.weights) draw_weights(data, random);
    if (with.missing) draw_missing(data, random);
    return data;
}

Options draw_options(Random& random, std::int64_t depth, const Instance& data, With with) {
    Options options;
    options.max_depth = depth;
    if (with.min_leaf)
        options.min_samples_leaf = random.between(2, 2 + static_cast<std::int64_t>(data.rows) / 3);
    if (with.min_mass)
        options.min_weight_leaf =
            random.between(1, 1 + mass_of(data, all_rows(data)) / random.pick<Score>({2, 4, 10, 100}));
    options.n_jobs = random.pick({1, 1, 1, 2});
    if (random.chance(0.5))
        options.time_limit = 29;  // a short one, which has its own way to bounds; never reached
    if (random.chance(0.5)) return options;
    for (const SwitchRow& row : contree::switch_rows())
        if (random.chance(0.3))
            options.switches.*row.field =
                row.high > 8 ? row.low : static_cast<std::int32_t>(random.between(row.low, row.high));
    options.switches.wide_leaves = random.pick({0, 1});
    if (random.chance(0.3)) options.max_gap = random.pick<std::int64_t>({1, 3, 100000});
    return options;
}

void against_the_oracle(double count, With with) {
    for_seeds(count, [&](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 5);
        const Instance data = small_instance(random, depth, with);
        const Options options = draw_options(random, depth, data, with);
        check_fit(data, options,
            Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
                .least_errors(depth));
    });
}

void test_oracles_agree() {
    for_seeds(300, [](Random& random) {
        const std::int64_t depth = random.between(0, 3);
        Instance data = nasty(random, {1, 8, 0, 3, 5});
        draw_weights(data, random);
        draw_missing(data, random);
        const std::size_t min_leaf = static_cast<std::size_t>(random.between(1, 3));
        const Score min_mass = random.chance(0.5) ? 0 : random.between(1, mass_of(data, all_rows(data)));
        CHECK_EQUAL(Swept(data, min_leaf, min_mass).least_errors(depth),
            least_errors(data, depth, min_leaf, min_mass));
    });
}

// A row of weight w is w equal rows.
void test_weights_are_repetitions() {
    for_seeds(300, [](Random& random) {
        const std::int64_t depth = random.between(1, 3);
        Instance data = nasty(random, {1, 60, 1, 3, 4});
        Instance repeated = data;
        repeated.values.clear();
        repeated.labels.clear();
        for (std::size_t r = 0; r < data.rows; ++r) data.weights.push_back(random.between(1, 4));
        for (std::size_t f = 0; f < data.features; ++f)
            for (std::size_t r = 0; r < data.rows; ++r)
                repeated.values.insert(
                    repeated.values.end(), static_cast<std::size_t>(data.weights[r]), data.value(r, f));
        for (std::size_t r = 0; r < data.rows; ++r)
            repeated.labels.insert(
                repeated.labels.end(), static_cast<std::size_t>(data.weights[r]), data.labels[r]);
        repeated.rows = repeated.labels.size();
        Options options;
        options.max_depth = depth;
        contree::Control control;
        const contree::Result weighted = contree::fit(data.table(), options, control);
        const contree::Result plain = contree::fit(repeated.table(), options, control);
        CHECK_EQUAL(weighted.objective, plain.objective);
        // Of several best trees the two may find different ones: each is as good on the other's rows.
        const auto errors_on = [&](const Instance& rows, const contree::Tree& tree) {
            std::string other_counts;
            std::size_t next = 0;
            return recount(tree, rows, 0, all_rows(rows), options, depth, next, other_counts).errors;
        };
        CHECK_EQUAL(errors_on(repeated, weighted.tree), plain.objective);
        CHECK_EQUAL(errors_on(data, plain.tree), weighted.objective);
    });
}

// The scale of the weights does not matter, nor do weights that are all the same.
void test_scaled_weights() {
    for_seeds(200, [](Random& random) {
        const Instance plain = nasty(random, {1, 80, 1, 3, 4});
        Instance data = plain;
        const Score scale = random.pick<Score>({1, 3, 1000000, Score{1} << 50});
        data.weights.assign(data.rows, scale);
        Options options;
        options.max_depth = random.between(1, 3);
        contree::Control control;
        CHECK_EQUAL(contree::fit(data.table(), options, control).objective,
            scale * contree::fit(plain.table(), options, control).objective);
    });
}

// Large weights that differ in their last bits alone: scores lie closer together than what coarse steps can
// tell apart.
void test_close_weights() {
    const auto against_oracle = [](Random& random) {
        const std::int64_t depth = random.chance(0.2) ? 3 : 2;
        Instance data = structured(random, depth == 3 ? 16 : 40, random.between(1, 3), random.pick({2, 2, 3}),
            random.pick<std::uint64_t>({0, 9}), random.pick({0.3, 1.0}));
        const Score base = Score{1} << random.between(40, 52), spread = base >> random.between(11, 19);
        for (std::size_t r = 0; r < data.rows; ++r) data.weights.push_back(base + random.between(0, spread));
        Options options;
        options.max_depth = depth;
        options.min_samples_leaf = random.pick<std::int64_t>({1, 2, 4});
        if (random.chance(0.7)) options.min_weight_leaf = base * random.between(1, 4);
        if (random.chance(0.3)) options.leaf_cost = random.between(1, 2 * base);
        if (random.chance(0.3)) options.max_leaves = 3;
        check_fit(data, options, optimum_of(data, options));
    };
    for_seeds(1000, against_oracle);
    Random rare(seed = 12972);  // a lane that coarse steps close only just
    against_oracle(rare);
}

// More classes than pairs are formed for.
void test_many_classes() {
    for_seeds(30, [](Random& random) {
        Instance data = structured(random, 70, 2, 60, 0, 0.7);
        draw_weights(data, random);
        if (random.chance(0.5)) draw_missing(data, random);
        Options options;
        options.max_depth = 2;
        options.min_samples_leaf = random.between(1, 6);
        check_fit(
            data, options, Swept(data, static_cast<std::size_t>(options.min_samples_leaf)).least_errors(2));
    });
}

// More rows than where every rule is drawn: runs are longer than leaves, so that rows that may lie on either
// side matter.
void test_leaf_rules() {
    for_seeds(1000, [](Random& random) {
        const std::int64_t depth = random.chance(0.15) ? 3 : 2;
        Instance data = structured(random, depth == 3 ? 24 : 45, random.between(1, depth == 3 ? 2 : 3),
            static_cast<std::int32_t>(random.between(2, 4)), random.pick<std::uint64_t>({0, 0, 9}),
            random.pick({0.05, 0.2, 0.5}));
        if (random.chance(0.4)) draw_weights(data, random);
        if (random.chance(0.3)) draw_missing(data, random);
        Options options;
        options.max_depth = depth;
        if (random.chance(0.8)) options.min_samples_leaf = random.pick<std::int64_t>({2, 3, 5, 9, 15});
        if (random.chance(0.3))
            options.min_weight_leaf = mass_of(data, all_rows(data)) / random.pick<Score>({5, 10, 30});
        options.switches.wide_leaves = random.pick({0, 1});
        options.switches.inheritance_cells = random.pick({0, 20000});
        check_fit(data, options,
            Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
                .least_errors(depth));
    });
}

// A threshold of a larger set may send missing rows to a side that no threshold of the smaller one sends them
// to: bounds of leaf sizes that are counted by the smaller set's thresholds are above the optimum here, which
// is none.
void test_missing_and_leaf_sizes() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const Instance data{8, 2, 3, {0, 4, 2, 1, 5, nan, 3, 6, 3, 2, 2, 0, nan, nan, 1, 1},
        {0, 0, 1, 2, 2, 0, 1, 0}, {2, 2, 2, 1, 2, 3, 3, 1}};
    for (const std::int64_t gap : {0, 1}) {
        Options options;
        options.max_depth = 3;
        options.min_samples_leaf = 2;
        options.min_weight_leaf = 3;
        options.max_gap = gap;
        CHECK_EQUAL(optimum_of(data, options), 0);
        check_fit(data, options, 0);
    }
}

// Bounds of runs above depth two, where rows that are not on a side for certain lack values: depth three has
// such runs at its root, depth four below it.
void test_strays() {
    for_seeds(800, [](Random& random) {
        const std::int64_t depth = random.chance(0.15) ? 4 : 3;
        Instance data = structured(random, depth == 4 ? 14 : static_cast<std::size_t>(random.between(12, 26)),
            random.between(1, 2), static_cast<std::int32_t>(random.between(2, 4)),
            random.pick<std::uint64_t>({0, 5, 9}), random.pick({0.1, 0.3, 0.6}));
        if (random.chance(0.3)) draw_weights(data, random);
        draw_missing(data, random);
        Options options;
        options.max_depth = depth;
        if (random.chance(0.85)) options.min_samples_leaf = random.pick<std::int64_t>({2, 2, 3, 4});
        if (random.chance(0.3))
            options.min_weight_leaf = mass_of(data, all_rows(data)) / random.pick<Score>({5, 10, 20});
        options.switches.inheritance_cells = random.pick({0, 20000});
        check_fit(data, options,
            Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
                .least_errors(depth));
    });
}

// Missing values with weights, leaf sizes, costs and limits of leaves, at depth three and four.
void test_missing_values() {
    for_seeds(400, [](Random& random) {
        const std::int64_t depth = random.chance(0.15) ? 4 : 3;
        Instance data = structured(random, depth == 4 ? 14 : static_cast<std::size_t>(random.between(12, 28)),
            random.between(1, 3), static_cast<std::int32_t>(random.between(2, 4)),
            random.pick<std::uint64_t>({0, 5, 9}), random.pick({0.1, 0.3, 0.6, 1.0}));
        if (random.chance(0.3)) draw_weights(data, random);
        draw_missing(data, random);
        Options options;
        options.max_depth = depth;
        if (random.chance(0.3)) options.min_samples_leaf = random.pick<std::int64_t>({2, 3, 4});
        if (random.chance(0.2)) options.leaf_cost = random.between(1, 3);
        if (random.chance(0.2)) options.max_leaves = random.between(3, 7);
        options.n_jobs = random.pick({1, 1, 2});
        options.switches.inheritance_cells = random.pick({0, 20000});
        options.switches.similarity = random.pick({0, 1, 1});
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_kernels() {
    for (const std::string& kernel : contree::kernels()) {
        const ForcedKernel forced(kernel);
        against_the_oracle(300, {true, true, true});
        for_seeds(20, [](Random& random) {  // sets with more rows, where the kernels' blocks are full
            Instance data = structured(random, 90, 3, static_cast<std::int32_t>(random.between(2, 4)),
                random.pick<std::uint64_t>({0, 9}), 0.2);
            if (random.chance(0.6)) draw_weights(data, random);
            if (random.chance(0.4)) draw_missing(data, random);
            Options options;
            options.max_depth = 2;
            options.min_samples_leaf = random.pick<std::int64_t>({1, 2, 5, 20});
            check_fit(data, options,
                Swept(data, static_cast<std::size_t>(options.min_samples_leaf)).least_errors(2));
        });
    }
}

void test_bad_weights() {
    Random random(1);
    Instance data = nasty(random, {10, 10, 2, 2, 3});
    contree::Control control;
    for (const Score bad : {Score{0}, Score{-1}, Score{1} << 60, (Score{1} << 60) - 9}) {
        data.weights.assign(data.rows, 1);
        data.weights[3] = bad;
        CHECK_THROWS(std::invalid_argument, contree::fit(data.table(), {}, control));
    }
}

// The paper's search takes all of it too, though with a leaf size it prunes nothing.
void test_paper() {
    for_seeds(1500, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 4);
        const With with{random.chance(0.5), random.chance(0.3), random.chance(0.5), random.chance(0.3)};
        const Instance data = small_instance(random, depth, with);
        Options options = draw_options(random, depth, data, with);
        options.search = contree::SearchKind::paper;
        check_fit(data, options,
            Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
                .least_errors(depth));
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("the two oracles agree", test_oracles_agree);
    check::run("weights", [] { against_the_oracle(800, {true, false, false}); });
    check::run("minimal leaf size", [] { against_the_oracle(800, {false, true, false}); });
    check::run("missing values", [] { against_the_oracle(800, {false, false, true}); });
    check::run("weights and a minimal leaf size", [] { against_the_oracle(800, {true, true, false}); });
    check::run("minimal weight of a leaf", [] { against_the_oracle(800, {true, false, false, true}); });
    check::run("all together", [] { against_the_oracle(800, {true, true, true, true}); });
    check::run("missing values and leaf sizes", test_missing_and_leaf_sizes);
    check::run("missing values in bounds of leaf sizes", test_strays);
    check::run("missing values at depth three and four", test_missing_values);
    check::run("weights are repetitions", test_weights_are_repetitions);
    check::run("scaled weights", test_scaled_weights);
    check::run("weights close to each other", test_close_weights);
    check::run("many classes", test_many_classes);
    check::run("the rules of leaf sizes", test_leaf_rules);
    check::run("every kernel", test_kernels);
    check::run("weights out of range", test_bad_weights);
    check::run("all of it in the paper's search", test_paper);
    return check::report();
}
