// DepthTwo::solve is exact below its target and else proves a bound that reaches it.  Its plan is a tree.
#include <chrono>
#include "data/joining_thread.hpp"
#include "depth_two/depth_two.hpp"
#include "depth_two/kernel.hpp"
#include "exhaustive.hpp"
#include "ranked.hpp"
#include "tree/build.hpp"
#include "tree/locate.hpp"

namespace {

using namespace check;
using namespace contree;

Switches draw_switches(Random& random) {
    Switches switches;
    switches.similarity = random.chance(0.8);
    return switches;
}

// The errors of a plan's tree, counted on the raw values.
Score errors_of(const Instance& data, Root& root, const Plan& plan) {
    const Plan plain = plain_plan(root.objective, root.set, plan, root.partitioner, root.arena, {});
    return verify(root.objective, build_tree(root.objective, root.table, data.table(), plain), data.table());
}

void check_solve(const Instance& data, Root& root, const Kernel& kernel, const Switches& switches,
    Score lower, Score target, Score optimum) {
    const Control control;
    Statistics statistics;
    DepthTwo depth_two(root.objective, kernel, switches, control);
    Profile learnt;
    const Outcome outcome =
        depth_two.solve(root.set, any_leaves, lower, target, Sources{}, &learnt, root.arena, statistics);
    CHECK_AT_MOST(outcome.lower, optimum);
    if (optimum < target) {
        CHECK_EQUAL(outcome.upper, optimum);
        CHECK_EQUAL(outcome.lower, optimum);
    } else {
        CHECK_AT_MOST(target, outcome.lower);
        CHECK_AT_MOST(optimum, outcome.upper);
    }
    CHECK_EQUAL(outcome.plan.empty(), outcome.upper == unreached);
    if (outcome.plan.empty()) return;
    CHECK_EQUAL(errors_of(data, root, outcome.plan), outcome.upper);
}

void check_targets(const Instance& data, Width width, Score optimum, Random& random) {
    Root root(data, width);
    if (root.set.features == 0 || root.set.groups < 2) return;  // the search never asks
    const Score leaf = leaf_errors(data, all_rows(data));
    for (const Score target :
        {Score{1}, optimum - 1, optimum, optimum + 1, optimum + 3, leaf, leaf + 1, unreached}) {
        if (target < 1) continue;
        const auto& kernels = available_kernels();
        const Switches switches = draw_switches(random);
        const Score lower = random.pick<Score>({0, 0, optimum, std::max<Score>(0, optimum - 1)});
        if (lower >= target) continue;
        check_solve(data, root, *kernels[random.below(kernels.size())], switches, lower, target, optimum);
    }
}

void test_small(Width width) {
    for_seeds(1200, [&](Random& random) {
        const Instance data = nasty(random, {2, 16, 1, 4, 5});
        check_targets(data, width, least_errors(data, 2), random);
    });
}

// Many rounds, many chunks, many class pairs.
void test_middling() {
    for_seeds(90, [](Random& random) {
        const auto classes = static_cast<std::int32_t>(random.pick({2, 2, 3, 4, 5, 9}));
        const Instance data = structured(random, static_cast<std::size_t>(random.between(100, 400)),
            static_cast<std::size_t>(random.between(1, 4)), classes,
            random.pick<std::uint64_t>({0, 0, 6, 60}), random.pick({0.1, 0.4, 1.0}));
        check_targets(data, Width::narrow, Swept(data).least_errors(2), random);
    });
}

// What a solve learns of a threshold are true lower bounds of both sides' best stumps.
void test_learnt_bounds() {
    for_seeds(500, [](Random& random) {
        const Instance data = nasty(random, {2, 14, 1, 3, 5});
        Root root(data, Width::narrow);
        if (root.set.features == 0 || root.set.groups < 2) return;
        const Score optimum = least_errors(data, 2);
        const Control control;
        Statistics statistics;
        DepthTwo depth_two(root.objective, chosen_kernel(), draw_switches(random), control);
        Profile learnt;
        depth_two.solve(root.set, any_leaves, 0, random.pick<Score>({1, optimum + 1, unreached}), Sources{},
            &learnt, root.arena, statistics);
        CHECK_EQUAL(learnt.mass, root.set.mass);
        for (const ProfilePoint& point : learnt.parts[0].points) {
            std::uint32_t f = 0;
            while (root.set.feature[f] != point.feature) ++f;
            const Position z = root.set.position_of(f, point.z);
            CHECK_EQUAL(root.set.rank_left_of(f, z), point.rank);
            CHECK_AT_MOST(point.left, least_errors(data, root.rows_left_of(f, z), 1));
            CHECK_AT_MOST(point.right, least_errors(data, root.rows_right_of(f, z), 1));
        }
    });
}

// With bounds from solved neighbours in a chain D(f <= t) or D(f > t), in any order and against any target.
void test_inherited_bounds() {
    for_seeds(800, [](Random& random) {
        const Instance data = nasty(random, {4, 16, 2, 3, 5});
        Root root(data, Width::narrow);
        if (root.set.features == 0) return;
        const auto f = static_cast<std::uint32_t>(random.below(root.set.features));
        const std::vector<Position> cuts = root.thresholds(f);
        const bool lefts = random.chance(0.5);
        const Control control;
        Statistics statistics;
        DepthTwo depth_two(root.objective, chosen_kernel(), draw_switches(random), control);
        std::vector<std::pair<Row, Profile>> solved;  // by the number of rows: the chain is nested
        for (int i = 0; i < 5; ++i) {
            const Position z = cuts[random.below(cuts.size())];
            const Children children = split_rows(root.set, {f, z}, true, root.partitioner, root.arena);
            const RowSet& set = lefts ? children.left : children.right;
            if (set.features == 0 || set.groups < 2) continue;
            const RowList rows = lefts ? root.rows_left_of(f, z) : root.rows_right_of(f, z);
            const Score optimum = least_errors(data, rows, 2);
            const Score target = random.pick<Score>({1, std::max<Score>(1, optimum), optimum + 1, unreached});
            Sources sources;
            for (const auto& [size, profile] : solved) {
                if (size < set.rows && random.chance(0.7)) sources.subset = &profile;
                if (size > set.rows && random.chance(0.7)) sources.superset = &profile;
            }
            Profile learnt;
            const Outcome outcome =
                depth_two.solve(set, any_leaves, 0, target, sources, &learnt, root.arena, statistics);
            CHECK_AT_MOST(outcome.lower, optimum);
            CHECK_AT_MOST(optimum, outcome.upper);
            if (optimum < target) CHECK(outcome.lower == optimum && outcome.upper == optimum);
            else CHECK_AT_MOST(target, outcome.lower);
            solved.emplace_back(set.rows, std::move(learnt));
        }
    });
}

// Costs of splits, three leaves or four, and a leaf size.  A leaf is always a tree, so no bound is above it.
void test_costs() {
    for_seeds(1000, [](Random& random) {
        const Instance data = nasty(random, {4, 16, 1, 3, 4});
        const Costs costs{random.between(1, 3), random.between(0, 8)};
        const bool own_costs = random.chance(0.5);  // the objective's, or others that DepthTwo is given
        Root root(
            data, random.pick({Width::narrow, Width::wide}), chosen_kernel(), own_costs ? costs : Costs{});
        if (root.set.features == 0 || root.set.groups < 2) return;
        if (root.set.width == Width::wide && random.chance(0.5))
            root.set.leaf.rows = static_cast<Row>(random.between(2, 4));
        const auto leaves = static_cast<Leaves>(random.between(3, 4));
        Front front = front_of(data, all_rows(data), 2, root.set.leaf.rows);
        if (front.size() > leaves) front.resize(leaves);
        Score optimum = unreached;
        for (std::size_t k = 0; k < front.size(); ++k)
            optimum = std::min(optimum, costs.of(front[k], static_cast<std::int64_t>(k)));
        const Control control;
        Statistics statistics;
        DepthTwo depth_two(root.objective, chosen_kernel(), {}, control, &costs);
        for (const Score target : {Score{1}, optimum / 2, optimum - 1, optimum, optimum + 1, unreached}) {
            if (target < 1) continue;
            const Outcome outcome =
                depth_two.solve(root.set, leaves, 0, target, Sources{}, nullptr, root.arena, statistics);
            CHECK_AT_MOST(outcome.lower, optimum);
            CHECK_AT_MOST(optimum, outcome.upper);
            if (optimum < target) CHECK(outcome.lower == optimum && outcome.upper == optimum);
            else CHECK_AT_MOST(target, outcome.lower);
        }
    });
}

// A stop before the start: perhaps no tree, but no false bound.
void test_stopped() {
    for_seeds(300, [](Random& random) {
        const Instance data = nasty(random, {2, 14, 1, 3, 5});
        Root root(data, Width::narrow);
        if (root.set.features == 0 || root.set.groups < 2) return;
        Control control;
        control.stop();
        Statistics statistics;
        DepthTwo depth_two(root.objective, chosen_kernel(), {}, control);
        const Outcome outcome =
            depth_two.solve(root.set, any_leaves, 0, unreached, Sources{}, nullptr, root.arena, statistics);
        const Score optimum = least_errors(data, 2);
        CHECK_AT_MOST(outcome.lower, optimum);
        CHECK_AT_MOST(optimum, outcome.upper);
    });
}

// A stop at any moment of a solve: nobody looks at orders, masks or words that are half made.
void test_stopped_on_the_way() {
    for_seeds(40, [](Random& random) {
        const auto classes = static_cast<std::int32_t>(random.pick({2, 3, 4}));
        const Instance data = structured(random, 40000, 6, classes, random.pick<std::uint64_t>({0, 60}), 0.4);
        Root root(data);
        if (random.chance(0.3)) root.set.leaf.rows = 50;
        Control control;
        Statistics statistics;
        DepthTwo depth_two(root.objective, chosen_kernel(), {}, control);
        const auto delay = std::chrono::microseconds(random.below(20'000));
        JoiningThread stopper([&] {
            std::this_thread::sleep_for(delay);
            control.stop();
        });
        const Outcome outcome =
            depth_two.solve(root.set, any_leaves, 0, unreached, Sources{}, nullptr, root.arena, statistics);
        CHECK_AT_MOST(outcome.lower, outcome.upper);
        if (outcome.plan.empty() || root.set.has_leaf_size()) return;
        CHECK_AT_MOST(errors_of(data, root, outcome.plan), outcome.upper);
    });
}

// Weights of one kind.  Several need all their bits to tell which of two splits is better.
void draw_long_weights(Instance& data, Random& random) {
    const int kind = static_cast<int>(random.below(7));
    const Score unit = Score{1} << 36;
    const auto draw_weight = [&](std::size_t r) -> Score {
        switch (kind) {
            case 0: return (Score{1} << 45) + random.between(0, 99);
            case 1: return random.between(1, Score{1} << 45);
            case 2: return random.pick<Score>({1, 1'000'000});
            case 3: return Score{1} << random.between(0, 45);
            case 4: return random.pick<Score>({Score{255} << 40, Score{510} << 40});
            case 5: return r == 0 ? 511 * unit : r == 1 ? 1 : random.pick<Score>({2 * unit - 1, 2 * unit});
            default: return data.labels[r] == 0 ? 300'007 : 100'003;
        }
    };
    for (std::size_t r = 0; r < data.rows; ++r) data.weights.push_back(draw_weight(r));
}

// Rows with such weights.  Some features differ from the first in few rows: their stumps are nearly as good.
Instance draw_weighted(Random& random) {
    const auto rows = static_cast<std::size_t>(random.between(20, random.chance(0.1) ? 3000 : 200));
    const auto features = static_cast<std::size_t>(random.between(1, 12));
    const auto classes = static_cast<std::int32_t>(random.between(2, 5));
    Instance data = structured(random, rows, features, classes, random.pick<std::uint64_t>({0, 9, 60}),
        random.pick({0.1, 0.4, 1.0}));
    for (std::size_t f = 1; f < data.features; ++f) {
        if (random.chance(0.5)) continue;
        double* const column = data.values.data() + f * data.rows;
        std::copy_n(data.values.data(), data.rows, column);
        for (int i = 0; i < 8; ++i)
            std::swap(column[random.below(data.rows)], column[random.below(data.rows)]);
    }
    draw_long_weights(data, random);
    return data;
}

std::vector<Lane> draw_lanes(const Root& root, Random& random) {
    std::vector<Lane> lanes;
    const double share = random.pick({2.0, 30.0}) / static_cast<double>(root.set.cells());
    for (std::uint32_t f = 0; f < root.set.features; ++f)
        for (const Position z : root.thresholds(f))
            if (random.chance(share) && lanes.size() < lane_count) lanes.push_back({f, z, 0, z, z});
    return lanes;
}

// After an evaluation for losses below `ub`, no bound is above a split's loss, and the best split is found.
void check_lanes(const Batch& batch, const std::vector<SplitLosses>& losses, Score best, Score ub) {
    Score found = unreached;
    for (std::size_t t = 0; t < batch.lanes.size(); ++t) {
        CHECK(batch.proved_left(t) <= losses[t].left && batch.proved_right(t) <= losses[t].right);
        CHECK(batch.near_left(t) <= losses[t].left && batch.near_right(t) <= losses[t].right);
        CHECK_AT_MOST(losses[t].left + losses[t].right, batch.reached(t));
        if (batch.with_leaves)
            CHECK(batch.leaf_left(t) == losses[t].leaf_left && batch.leaf_right(t) == losses[t].leaf_right);
        if (batch.allows(t)) found = std::min(found, batch.reached(t));
    }
    if (best < ub) CHECK_EQUAL(found, best);
}

// Batches of weighted rows, some with a leaf size.
void test_weighted_batches() {
    for_seeds(500, [](Random& random) {
        const Instance data = draw_weighted(random);
        Root root(data);
        if (root.set.features == 0 || root.set.groups < 2) return;
        const auto most_rows = 1 + static_cast<std::int64_t>(data.rows) / 5;
        if (random.chance(0.15)) root.set.leaf.rows = static_cast<Row>(random.between(2, most_rows));
        if (random.chance(0.15)) root.set.leaf.mass = random.between(1, root.set.mass / 5);
        const std::vector<Lane> lanes = draw_lanes(root, random);
        if (lanes.empty()) return;
        std::vector<SplitLosses> losses;
        Score best = unreached;
        for (const Lane& lane : lanes) {
            losses.push_back(root.objective.stumps_of_split(root.set, lane.f, lane.z));
            if (root.set.allows(lane.f, lane.z))
                best = std::min(best, losses.back().left + losses.back().right);
        }
        for (const Kernel* kernel : available_kernels()) {
            Arena arena;
            Statistics statistics;
            const std::unique_ptr<Batches> batches = root.objective.make_batches(*kernel, {});
            Batch& batch = batches->start(root.set, arena, statistics);
            batch.lanes = lanes;
            batch.with_leaves = random.chance(0.3);
            const SplitLosses& some = losses[random.below(losses.size())];
            const Score relaxed = some.relaxed_left + some.relaxed_right;
            for (const Score ub : {unreached, best + 1, best, best - best / 8, some.left + some.right,
                     random.between(relaxed / 2, relaxed)}) {
                CHECK(batch.evaluate(ub));
                check_lanes(batch, losses, best, ub);
            }
        }
    });
}

// More rows than are swept at once: a feature is swept in parts, which end between values.
void test_many_rows() {
    for_seeds(2, [](Random& random) {
        const auto classes = static_cast<std::int32_t>(random.pick({2, 3}));
        const Instance data =
            structured(random, 300'000, 3, classes, random.pick<std::uint64_t>({0, 3, 1000}), 0.4);
        Root root(data);
        Arena arena;
        Statistics statistics;
        const std::unique_ptr<Batches> batches = root.objective.make_batches(chosen_kernel(), {});
        Batch& batch = batches->start(root.set, arena, statistics);
        for (std::uint32_t f = 0; f < root.set.features; ++f) {
            const Cuts cuts = root.set.cuts(f);
            const auto index = static_cast<std::uint32_t>(random.below(cuts.count));
            batch.lanes.push_back({f, cuts.at(index, 1, root.set.rows), 0});
        }
        CHECK(batch.evaluate(unreached));
        for (std::size_t t = 0; t < batch.lanes.size(); ++t) {
            const SplitLosses losses =
                root.objective.stumps_of_split(root.set, batch.lanes[t].f, batch.lanes[t].z);
            CHECK_EQUAL(batch.reached_left(t), losses.left);
            CHECK_EQUAL(batch.reached_right(t), losses.right);
        }
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("small sets, narrow entries", [] { test_small(Width::narrow); });
    check::run("small sets, wide entries", [] { test_small(Width::wide); });
    check::run("middling sets", test_middling);
    check::run("learnt bounds", test_learnt_bounds);
    check::run("inherited bounds", test_inherited_bounds);
    check::run("costs and limits", test_costs);
    check::run("stopped", test_stopped);
    check::run("stopped on the way", test_stopped_on_the_way);
    check::run("weighted batches", test_weighted_batches);
    check::run("many rows", test_many_rows);
    return check::report();
}
