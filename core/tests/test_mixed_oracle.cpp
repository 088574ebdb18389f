// All that a fit can be asked for, drawn at once, against the oracle: costs, limits, weights, leaf sizes, missing values, all
// sizes, and search options that make every rule work on few rows.
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SwitchRow;

// As many rows as the oracle can take.
Instance draw_data(Random& random, std::int64_t depth) {
    const std::int64_t features = random.between(1, 3);
    const auto rows = [&]() -> std::int64_t {
        if (depth == 2) return random.between(10, 60);
        if (depth == 3) return features == 1 ? random.between(20, 70) : features == 2 ? random.between(12, 30) : random.between(10, 20);
        if (depth == 4) return features == 1 ? random.between(16, 30) : features == 2 ? random.between(8, 15) : random.between(8, 10);
        return features == 1 ? random.between(15, 26) : features == 2 ? random.between(6, 11) : random.between(5, 8);
    }();
    Instance data = random.chance(0.15) ? nasty(random, {rows / 2, rows, 1, features, 4})
                                        : structured(random, static_cast<std::size_t>(rows), static_cast<std::size_t>(features),
                                                     static_cast<std::int32_t>(random.between(2, 4)), random.pick<std::uint64_t>({0, 0, 3, 9}),
                                                     random.pick({0.05, 0.3, 0.6, 1.0}));
    if (random.chance(0.35)) draw_weights(data, random);
    if (random.chance(0.3)) draw_missing(data, random);
    return data;
}

Options draw_options(Random& random, std::int64_t depth, const Instance& data) {
    Options options;
    options.max_depth = depth;
    const Score mass = mass_of(data, all_rows(data)), row = std::max<Score>(1, mass / static_cast<Score>(data.rows));
    if (random.chance(0.5)) {
        options.error_cost = mass < (Score{1} << 50) ? random.pick<Score>({1, 1, 2, 3, 7, 16}) : 1;
        options.leaf_cost = random.between(0, 3 * options.error_cost * row);
    }
    if (random.chance(0.35)) options.max_leaves = random.between(2, 1 + (std::int64_t{1} << depth));
    if (random.chance(0.4)) options.min_samples_leaf = random.between(2, 2 + static_cast<std::int64_t>(data.rows) / 5);
    if (random.chance(0.2)) options.min_weight_leaf = random.between(1, 1 + mass / random.pick<Score>({4, 10, 30, 100}));
    options.n_jobs = random.pick({1, 1, 1, 2});
    if (random.chance(0.5)) options.time_limit = 29;   // a short one, which has its own way to bounds; never reached
    if (random.chance(0.7)) options.switches.strip_cells = 0;
    options.switches.strip_rows = random.pick({1, 2, 3, 5, 128});
    options.switches.wide_leaves = random.pick({0, 25, 50, 100, 100});
    options.switches.inheritance_cells = random.pick({0, 0, 20000});
    if (random.chance(0.3))
        for (const SwitchRow& option : contree::switch_rows())
            if (random.chance(0.15))
                options.switches.*option.field = option.high > 8 ? option.low : static_cast<std::int32_t>(random.between(option.low, option.high));
    if (random.chance(0.15)) options.max_gap = random.pick<std::int64_t>({1, 3, 100000});
    return options;
}

void test_one_tree(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_data(random, depth);
        const Options options = draw_options(random, depth, data);
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_all_sizes(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_data(random, depth);
        Options options = draw_options(random, depth, data);
        options.all_sizes = true;
        options.error_cost = 1;
        options.leaf_cost = options.max_gap = 0;
        options.switches.monotone = 1;   // without it, and without a cache, all sizes take so long that the limit is reached
        options.switches.cache_bytes = contree::Switches{}.cache_bytes;
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        Front front = Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf).front(depth);
        if (options.max_leaves > 0 && std::cmp_less(options.max_leaves, front.size())) front.resize(static_cast<std::size_t>(options.max_leaves));
        while (front.size() > 1 && front.back() == front[front.size() - 2]) front.pop_back();
        Front errors, bounds;
        for (const contree::SizedTree& size : result.sizes) {
            errors.push_back(size.errors);
            bounds.push_back(size.lower_bound);
        }
        CHECK(errors == front);
        CHECK(bounds == front);
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("depth two", [] { test_one_tree(2, 1000); });
    check::run("depth three", [] { test_one_tree(3, 1000); });
    check::run("depth four", [] { test_one_tree(4, 300); });
    check::run("depth five", [] { test_one_tree(5, 80); });
    check::run("all sizes of depth two", [] { test_all_sizes(2, 300); });
    check::run("all sizes of depth three", [] { test_all_sizes(3, 300); });
    check::run("all sizes of depth four", [] { test_all_sizes(4, 150); });
    check::run("all sizes of depth five", [] { test_all_sizes(5, 40); });
    return check::report();
}
