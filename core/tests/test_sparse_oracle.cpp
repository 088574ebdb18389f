// A cost of leaves and a limit of their number against the oracle: each alone, and with all else.
#include <cmath>
#include "fit_checks.hpp"
#include "forced_kernel.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SwitchRow;

struct With {
    bool cost, limit;
    bool weights = false, min_leaf = false, missing = false, min_mass = false;
};

Instance small_instance(Random& random, std::int64_t depth, const With& with) {
    Instance data = depth >= 4   ? nasty(random, {1, 9, 0, 2, 4})
                    : depth == 3 ? nasty(random, {1, 13, 0, 3, 5})
                                 : nasty(random, {1, 22, 0, 4, 5});
    if (with.weights) draw_weights(data, random);
    if (with.missing) draw_missing(data, random);
    return data;
}

// Costs around what splits save, so that they matter; at times nothing, or more than any split can save.
void draw_cost(Random& random, const Instance& data, Options& options) {
    const Score mass = mass_of(data, all_rows(data)),
                row = std::max<Score>(1, mass / static_cast<Score>(data.rows));
    options.error_cost = mass < (Score{1} << 50) ? random.pick<Score>({1, 1, 2, 3, 7, 16}) : 1;
    switch (random.below(5)) {
        case 0: options.leaf_cost = random.between(0, 2 * options.error_cost); break;
        case 1: options.leaf_cost = options.error_cost * row; break;
        case 2: options.leaf_cost = options.error_cost * mass; break;
        default: options.leaf_cost = random.between(1, 3 * options.error_cost * row); break;
    }
}

Options draw_options(Random& random, std::int64_t depth, const Instance& data, const With& with) {
    Options options;
    options.max_depth = depth;
    if (with.cost) draw_cost(random, data, options);
    if (with.limit)
        options.max_leaves = random.between(
            1, 1 + std::min<std::int64_t>(std::int64_t{1} << depth, static_cast<std::int64_t>(data.rows)));
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
    if (random.chance(0.3)) options.max_gap = random.pick<std::int64_t>({1, 3, 100000});
    return options;
}

void against_the_oracle(double count, const With& with) {
    for_seeds(count, [&](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 5);
        const Instance data = small_instance(random, depth, with);
        const Options options = draw_options(random, depth, data, with);
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_oracles_agree() {
    for_seeds(300, [](Random& random) {
        const std::int64_t depth = random.between(0, 3);
        Instance data = nasty(random, {1, 8, 0, 3, 5});
        draw_weights(data, random);
        draw_missing(data, random);
        const std::size_t min_leaf = static_cast<std::size_t>(random.between(1, 3));
        Front swept = Swept(data, min_leaf).front(depth),
              plain = front_of(data, all_rows(data), depth, min_leaf);
        swept.resize(20, swept.back());  // the one ends where nothing is left to gain
        plain.resize(20, plain.back());
        CHECK(swept == plain);
    });
}

void test_kernels() {
    for (const std::string& kernel : contree::kernels()) {
        const ForcedKernel forced(kernel);
        against_the_oracle(300, {true, true});
        against_the_oracle(200, {true, true, true, true, true});
        for_seeds(20, [](Random& random) {  // sets with more rows, where the kernels' blocks are full
            Instance data = structured(random, 90, 3, static_cast<std::int32_t>(random.between(2, 4)),
                random.pick<std::uint64_t>({0, 9}), 0.2);
            if (random.chance(0.4)) draw_weights(data, random);
            Options options;
            options.max_depth = 2;
            draw_cost(random, data, options);
            options.max_leaves = random.pick<std::int64_t>({0, 3});
            check_fit(data, options, optimum_of(data, options));
        });
    }
}

// More classes than pairs are formed for.
void test_many_classes() {
    for_seeds(40, [](Random& random) {
        Instance data = structured(random, 70, 2, 60, 0, 0.7);
        if (random.chance(0.5)) draw_weights(data, random);
        Options options;
        options.max_depth = 2;
        draw_cost(random, data, options);
        options.max_leaves = random.between(0, 4);
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_paper() {
    for_seeds(1500, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 4);
        const With with{random.chance(0.7), random.chance(0.6), random.chance(0.3), random.chance(0.2),
            random.chance(0.3), random.chance(0.2)};
        const Instance data = small_instance(random, depth, with);
        Options options = draw_options(random, depth, data, with);
        options.search = contree::SearchKind::paper;
        check_fit(data, options, optimum_of(data, options));
    });
}

// Deep enough for the heuristics, and stopped at any time: bounds that hold, trees that are allowed, and no
// worse than a tree that was given, pruned.
void test_stopped_and_given() {
    for_seeds(60, [](Random& random) {
        const Instance data = structured(random, 60, 3, static_cast<std::int32_t>(random.between(2, 4)),
            random.pick<std::uint64_t>({0, 9}), 0.3);
        Options options;
        options.max_depth = random.between(1, 6);
        contree::Control control;
        const contree::Tree given = contree::fit(data.table(), options, control).tree;
        draw_cost(random, data, options);
        options.max_leaves = random.between(0, 9);
        options.n_jobs = random.pick({1, 2});
        contree::Control stopped;
        if (random.chance(0.5)) stopped.stop();
        int polls = random.chance(0.5) ? 0 : 1000;
        const contree::Poll poll = [&](const contree::Progress&) {
            return polls-- > 0 ? contree::Verdict::go_on : contree::Verdict::stop;
        };
        const contree::Result result =
            contree::fit(data.table(), options, stopped, poll, random.chance(0.5) ? &given : nullptr);
        const std::string faults = result_faults(result, data, options, {});
        if (!faults.empty()) fail("stopped", 0, faults + "with " + described(options));
        else ++passed;
    });
}

// Every size at once: the front of the oracle, trees that are allowed, and bounds that hold, stopped or not.
void test_all_sizes() {
    for_seeds(1500, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 5);
        const With with{false, random.chance(0.2), random.chance(0.3), random.chance(0.3), random.chance(0.3),
            random.chance(0.1)};
        const Instance data = small_instance(random, depth, with);
        Options options = draw_options(random, depth, data, with);
        options.all_sizes = true;
        options.max_gap = 0;
        if (random.chance(0.3)) options.time_limit = 1e6;
        contree::Control control;
        const bool stopped = random.chance(0.2);
        if (stopped) control.stop();
        const contree::Result result = contree::fit(data.table(), options, control);
        Front front = Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
                          .front(depth);
        if (options.max_leaves > 0 && std::cmp_less(options.max_leaves, front.size()))
            front.resize(static_cast<std::size_t>(options.max_leaves));
        while (front.size() > 1 && front.back() == front[front.size() - 2]) front.pop_back();
        if (!stopped) CHECK_EQUAL(result.sizes.size(), front.size());
        CHECK_EQUAL(result.sizes.empty(), false);
        for (std::size_t k = 0; k < result.sizes.size(); ++k) {
            const contree::SizedTree& size = result.sizes[k];
            const Score best = front[std::min(k, front.size() - 1)];
            Options own = options;
            own.max_leaves = static_cast<std::int64_t>(k + 1);
            std::string faults;
            std::size_t next = 0;
            const Counted counted = recount(size.tree, data, 0, all_rows(data), own, depth, next, faults);
            CHECK_EQUAL(faults, std::string());
            CHECK_AT_MOST(counted.leaves, own.max_leaves);
            CHECK_EQUAL(counted.errors, size.loss);
            CHECK_AT_MOST(size.lower_bound, best);
            CHECK_AT_MOST(best, size.loss);
            if (k > 0) CHECK_AT_MOST(size.loss, result.sizes[k - 1].loss);
            if (k > 0) CHECK_AT_MOST(size.lower_bound, result.sizes[k - 1].lower_bound);
            if (!stopped) CHECK_EQUAL(size.loss, best);
            if (!stopped) CHECK_EQUAL(size.lower_bound, best);
        }
    });
}

// The same where the search has more to do, against one fit for each size.
void test_all_sizes_against_fits() {
    for_seeds(10, [](Random& random) {
        const Instance data = structured(random, 50, 3, static_cast<std::int32_t>(random.between(2, 4)),
            random.pick<std::uint64_t>({0, 12}), 0.2);
        Options options;
        options.max_depth = random.between(2, 4);
        options.all_sizes = true;
        options.n_jobs = random.pick({1, 2});
        options.min_samples_leaf = random.pick<std::int64_t>({1, 1, 3});
        options.switches.inheritance_cells = random.pick<std::int32_t>({0, 20000});
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        CHECK(result.status == contree::Status::optimal);
        options.all_sizes = false;
        for (std::size_t k = 0; k < result.sizes.size(); ++k) {
            options.max_leaves = static_cast<std::int64_t>(k + 1);
            CHECK_EQUAL(contree::fit(data.table(), options, control).loss, result.sizes[k].loss);
        }
    });
}

void test_bad_costs() {
    Random random(1);
    const Instance data = nasty(random, {10, 10, 2, 2, 3});
    contree::Control control;
    const auto refused = [&](std::int64_t error_cost, std::int64_t leaf_cost, std::int64_t max_leaves) {
        Options options;
        options.error_cost = error_cost;
        options.leaf_cost = leaf_cost;
        options.max_leaves = max_leaves;
        CHECK_THROWS(std::invalid_argument, contree::fit(data.table(), options, control));
    };
    refused(0, 0, 0);
    refused(-1, 0, 0);
    refused(1, -1, 0);
    refused(Score{1} << 59, 0, 0);
    refused(1, Score{1} << 59, 0);
    refused(1, 0, -1);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("the two oracles agree", test_oracles_agree);
    check::run("a cost of leaves", [] { against_the_oracle(2000, {true, false}); });
    check::run("a limit of leaves", [] { against_the_oracle(2000, {false, true}); });
    check::run("a cost and a limit", [] { against_the_oracle(1500, {true, true}); });
    check::run(
        "with weights and a minimal leaf size", [] { against_the_oracle(1500, {true, true, true, true}); });
    check::run("all together", [] { against_the_oracle(1500, {true, true, true, true, true, true}); });
    check::run("many classes", test_many_classes);
    check::run("every kernel", test_kernels);
    check::run("stopped, and trees given", test_stopped_and_given);
    check::run("all sizes", test_all_sizes);
    check::run("all sizes against one fit for each", test_all_sizes_against_fits);
    check::run("costs out of range", test_bad_costs);
    check::run("in the paper's search", test_paper);
    return check::report();
}
