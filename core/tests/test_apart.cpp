// What sets apart prove is never above the least score, with the driver forced down to stumps; and a deep
// search has a bound from it, the same every time.
#include "exhaustive.hpp"
#include "heuristics/greedy.hpp"
#include "one_solver.hpp"
#include "search/apart.hpp"

namespace {

using namespace check;
using namespace contree;

Plan greedy(OneSolver& search) {
    const RowSet& set = search.root.set;
    return greedy_tree(search.root.objective, set, 3, search.root.partitioner, search.worker->arena, {}).plan;
}

void test_never_above_the_optimum() {
    int proved = 0, tight = 0;
    for_seeds(3000, [&](Random& random) {
        Instance data = nasty(random);
        if (random.chance(0.3)) draw_weights(data, random);
        if (random.chance(0.3)) draw_missing(data, random);
        Options options;
        options.max_depth = random.between(2, 3);
        options.leaf_cost = random.pick({0, 0, 1, 2});
        options.error_cost = random.pick({1, 1, 3});
        const Score optimum = optimum_of(data, options) - options.leaf_cost;
        OneSolver prover(data, options);
        const Plan tree = random.chance(0.5) ? greedy(prover) : Plan{Step{Step::leaf, 0}};
        Apart apart(prover.solver, *prover.worker, prover.root.set, tree, random.between(1, 2));
        for (Score target = 1; target <= optimum + 3; target += 1 + target / 3) {
            if (!apart.prove(options.max_depth, target)) continue;
            CHECK(target <= optimum);
            ++proved;
            tight += target == optimum;
        }
    });
    if (!all_seeds()) return;
    CHECK(proved > 300);
    CHECK(tight > 50);
}

// Coins: no tree of depth five tells 600 of them apart.
Instance coins(Random& random) {
    Instance data;
    data.rows = 600;
    data.features = 4;
    data.classes = 2;
    for (std::size_t i = 0; i < data.rows * data.features; ++i)
        data.values.push_back(static_cast<double>(random.below(1000)));
    for (std::size_t r = 0; r < data.rows; ++r) data.labels.push_back(random.chance(0.5));
    return data;
}

void test_proves_deep_bounds() {
    Random random(1);
    const Instance data = coins(random);
    Options options;
    options.max_depth = 5;
    std::int64_t work = 0;
    for (int again = 0; again < 2; ++again) {
        OneSolver prover(data, options);
        Apart apart(prover.solver, *prover.worker, prover.root.set, greedy(prover));
        CHECK(apart.prove(5, 1));
        if (again == 0) work = prover.worker->work();
        CHECK_EQUAL(prover.worker->work(), work);
    }
}

void test_proves_nothing_after_a_stop() {
    Random random(1);
    const Instance data = coins(random);
    Options options;
    options.max_depth = 5;
    OneSolver prover(data, options);
    Apart apart(prover.solver, *prover.worker, prover.root.set, greedy(prover));
    prover.worker->work_end = prover.worker->work() + 1000;
    CHECK(!apart.prove(5, 1));
    prover.worker->work_end = Worker::endless;
    prover.control.stop();
    CHECK(!apart.prove(5, 1));
}

}  // namespace

int main() {
    check::run("never above the optimum", test_never_above_the_optimum);
    check::run("deep bounds", test_proves_deep_bounds);
    check::run("nothing after a stop", test_proves_nothing_after_a_stop);
    return check::report();
}
