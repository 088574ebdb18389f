// A sample's bound holds for all rows, whatever the objective, the weights, the leaf sizes and the costs.
#include "fit_checks.hpp"
#include "sample_bound.hpp"

namespace {

using namespace check;
using contree::Control;
using contree::Options;
using contree::sample_bound;

// Noise, so that no tree is perfect; values tie, and some are missing.
Instance noise(Random& random) {
    Instance data;
    data.rows = 33 + random.below(170);
    data.features = 1 + random.below(3);
    data.classes = 2;
    const bool targets = random.chance(0.5), weights = random.chance(0.3);
    for (std::size_t i = 0; i < data.rows * data.features; ++i)
        data.values.push_back(random.chance(0.1) ? NAN : static_cast<double>(random.below(40)));
    for (std::size_t r = 0; r < data.rows; ++r) {
        data.labels.push_back(static_cast<std::int32_t>(random.below(2)));
        if (targets) data.targets.push_back(random.between(-10, 10));
        if (weights) data.weights.push_back(random.between(1, 9));
    }
    return data;
}

void test_bound_holds() {
    int above_zero = 0;
    for_seeds(30, [&](Random& random) {
        const Instance data = noise(random);
        Options options;
        options.max_depth = random.between(1, 4);
        options.min_samples_leaf = random.pick({1, 1, 6});
        options.max_leaves = random.pick({0, 0, 3});
        options.leaf_cost = random.pick({0, 0, 2});
        Control control;
        const Score bound = sample_bound(data.table(), options, control);
        CHECK(bound <= contree::fit(data.table(), options, control).objective - options.leaf_cost);
        above_zero += bound > 0;
    });
    CHECK(above_zero > 0);
}

void test_no_bound() {
    Random random(3);
    const Instance data = noise(random);
    Options options;
    Control control;
    options.max_depth = 5;
    CHECK_EQUAL(sample_bound(data.table(), options, control), 0);
    options.max_depth = 1;
    control.stop();
    CHECK_EQUAL(sample_bound(data.table(), options, control), 0);
}

}  // namespace

int main() {
    check::run("it holds", test_bound_holds);
    check::run("none for deep trees or after a stop", test_no_bound);
    return check::report();
}
