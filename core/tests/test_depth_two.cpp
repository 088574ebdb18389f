// DepthTwo::solve: exact below its target, else a proved bound that reaches it; and the plan is a tree.
#include "depth_two/depth_two.hpp"

#include <chrono>
#include <thread>

#include "depth_two/d2split.hpp"
#include "exhaustive.hpp"
#include "ranked.hpp"
#include "tree/build.hpp"
#include "tree/plain.hpp"

namespace {

using namespace check;
using namespace contree;

template <class Entry>
void check_solve(const Instance& data, Root<Entry>& root, const Kernel& kernel, const Switches& switches, Score lower,
                 Score target, Score optimum) {
    const Control control;
    Statistics statistics;
    DepthTwo<Entry> depth_two(kernel, switches, control);
    Profile learnt;
    const Outcome outcome = depth_two.solve(root.sub, any_leaves, lower, target, Sources{}, &learnt, root.arena, statistics);
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
    const Tree tree = build_tree(root.table, data.table(), plain_plan(root.sub, outcome.plan, root.movers, root.arena, {}));
    CHECK_EQUAL(verify(tree, data.table()), outcome.upper);
}

template <class Entry>
void check_targets(const Instance& data, Score optimum, Random& random) {
    Root<Entry> root(data);
    if (root.sub.features == 0 || root.sub.classes < 2) return;   // the search never asks
    const Score leaf = leaf_errors(data, all_rows(data));
    for (const Score target : {Score{1}, optimum - 1, optimum, optimum + 1, optimum + 3, leaf, leaf + 1, unreached}) {
        if (target < 1) continue;
        const auto& kernels = available_kernels();
        Switches switches;
        switches.monotone = random.chance(0.8);
        switches.similarity = random.chance(0.8);
        const Score lower = random.pick<Score>({0, 0, optimum, std::max<Score>(0, optimum - 1)});
        if (lower >= target) continue;
        check_solve(data, root, *kernels[random.below(kernels.size())], switches, lower, target, optimum);
    }
}

template <class Entry>
void test_small() {
    for_seeds(2500, [](Random& random) {
        const Instance data = nasty(random, {2, 16, 1, 4, 5});
        check_targets<Entry>(data, least_errors(data, 2), random);
    });
}

// Many rounds, many chunks, many class pairs.
void test_middling() {
    for_seeds(250, [](Random& random) {
        const auto classes = static_cast<std::int32_t>(random.pick({2, 2, 3, 4, 5, 9}));
        const Instance data = structured(random, static_cast<std::size_t>(random.between(100, 400)),
                                         static_cast<std::size_t>(random.between(1, 4)), classes,
                                         random.pick<std::uint64_t>({0, 0, 6, 60}), random.pick({0.1, 0.4, 1.0}));
        check_targets<NarrowEntry>(data, Swept(data).least_errors(2), random);
    });
}

// What a solve learns of thresholds are true lower bounds of both sides' best stumps.
void test_learnt_bounds() {
    for_seeds(500, [](Random& random) {
        const Instance data = nasty(random, {2, 14, 1, 3, 5});
        Root<NarrowEntry> root(data);
        if (root.sub.features == 0 || root.sub.classes < 2) return;
        const Score optimum = least_errors(data, 2);
        const Control control;
        Statistics statistics;
        Switches switches;
        switches.monotone = random.chance(0.8);
        switches.similarity = random.chance(0.8);
        DepthTwo<NarrowEntry> depth_two(*available_kernels().front(), switches, control);
        Profile learnt;
        depth_two.solve(root.sub, any_leaves, 0, random.pick<Score>({1, optimum + 1, unreached}), Sources{}, &learnt, root.arena, statistics);
        CHECK_EQUAL(learnt.mass, root.sub.mass);
        for (const ProfilePoint& point : learnt.parts[0].points) {
            std::uint32_t f = 0;
            while (root.sub.feature[f] != point.feature) ++f;
            const Position z = root.sub.position_of(f, point.z);
            CHECK_EQUAL(root.sub.rank_left_of(f, z), point.rank);
            CHECK_AT_MOST(point.left, least_errors(data, root.rows_left_of(f, z), 1));
            CHECK_AT_MOST(point.right, least_errors(data, root.rows_right_of(f, z), 1));
        }
    });
}

// With bounds from solved neighbours in a chain D(f <= t) or D(f > t), whatever was solved before, against which target.
void test_inherited_bounds() {
    for_seeds(1500, [](Random& random) {
        const Instance data = nasty(random, {4, 16, 2, 3, 5});
        Root<NarrowEntry> root(data);
        if (root.sub.features == 0) return;
        const auto f = static_cast<std::uint32_t>(random.below(root.sub.features));
        const std::vector<Position> cuts = root.thresholds(f);
        const bool lefts = random.chance(0.5);
        const Control control;
        Statistics statistics;
        Switches switches;
        switches.monotone = random.chance(0.8);
        switches.similarity = random.chance(0.8);
        DepthTwo<NarrowEntry> depth_two(*available_kernels().front(), switches, control);
        std::vector<std::pair<Row, Profile>> solved;   // by the number of rows: the chain is nested
        for (int i = 0; i < 5; ++i) {
            const Position z = cuts[random.below(cuts.size())];
            const Children<NarrowEntry> children = split_rows(root.sub, f, z, true, root.movers, root.arena);
            const Subproblem<NarrowEntry>& sub = lefts ? children.left : children.right;
            if (sub.features == 0 || sub.classes < 2) continue;
            const RowList rows = lefts ? root.rows_left_of(f, z) : root.rows_right_of(f, z);
            const Score optimum = least_errors(data, rows, 2);
            const Score target = random.pick<Score>({1, std::max<Score>(1, optimum), optimum + 1, unreached});
            Sources sources;
            for (const auto& [size, profile] : solved) {
                if (size < sub.rows && random.chance(0.7)) sources.subset = &profile;
                if (size > sub.rows && random.chance(0.7)) sources.superset = &profile;
            }
            Profile learnt;
            const Outcome outcome = depth_two.solve(sub, any_leaves, 0, target, sources, &learnt, root.arena, statistics);
            CHECK_AT_MOST(outcome.lower, optimum);
            CHECK_AT_MOST(optimum, outcome.upper);
            if (optimum < target) CHECK(outcome.lower == optimum && outcome.upper == optimum);
            else CHECK_AT_MOST(target, outcome.lower);
            solved.emplace_back(sub.rows, std::move(learnt));
        }
    });
}

// Costs, three leaves or four, and a leaf size: whatever a split costs, a leaf is a tree too, and no bound is above it.
void test_costs() {
    for_seeds(4000, [](Random& random) {
        const Instance data = nasty(random, {4, 16, 1, 3, 4});
        Root<WideEntry> root(data);
        if (root.sub.features == 0 || root.sub.classes < 2) return;
        if (random.chance(0.3)) root.sub.leaf.rows = static_cast<Row>(random.between(2, 4));
        const Objective objective{random.between(1, 3), random.between(0, 8)};
        const auto leaves = static_cast<Leaves>(random.between(3, 4));
        Front front = front_of(data, all_rows(data), 2, root.sub.leaf.rows);
        if (front.size() > leaves) front.resize(leaves);
        Score optimum = unreached;
        for (std::size_t k = 0; k < front.size(); ++k) optimum = std::min(optimum, objective.of(front[k], static_cast<std::int64_t>(k)));
        const Control control;
        Statistics statistics;
        DepthTwo<WideEntry> depth_two(*available_kernels().front(), {}, control, objective);
        for (const Score target : {Score{1}, optimum / 2, optimum - 1, optimum, optimum + 1, unreached}) {
            if (target < 1) continue;
            const Outcome outcome = depth_two.solve(root.sub, leaves, 0, target, Sources{}, nullptr, root.arena, statistics);
            CHECK_AT_MOST(outcome.lower, optimum);
            CHECK_AT_MOST(optimum, outcome.upper);
            if (optimum < target) CHECK(outcome.lower == optimum && outcome.upper == optimum);
            else CHECK_AT_MOST(target, outcome.lower);
        }
    });
}

// A stop at once: no tree perhaps, but no false bound.
void test_stopped() {
    for_seeds(300, [](Random& random) {
        const Instance data = nasty(random, {2, 14, 1, 3, 5});
        Root<NarrowEntry> root(data);
        if (root.sub.features == 0 || root.sub.classes < 2) return;
        Control control;
        control.stop();
        Statistics statistics;
        DepthTwo<NarrowEntry> depth_two(*available_kernels().front(), {}, control);
        const Outcome outcome = depth_two.solve(root.sub, any_leaves, 0, unreached, Sources{}, nullptr, root.arena, statistics);
        const Score optimum = least_errors(data, 2);
        CHECK_AT_MOST(outcome.lower, optimum);
        CHECK_AT_MOST(optimum, outcome.upper);
    });
}

// At any moment of a solve: what is half made, orders, takes or words, is not looked at.
void test_stopped_on_the_way() {
    for_seeds(40, [](Random& random) {
        const Instance data = structured(random, 40000, 6, static_cast<std::int32_t>(random.pick({2, 3, 4})), random.pick<std::uint64_t>({0, 60}), 0.4);
        Root<WideEntry> root(data);
        if (random.chance(0.3)) root.sub.leaf.rows = 50;
        Control control;
        Statistics statistics;
        DepthTwo<WideEntry> depth_two(*available_kernels().front(), {}, control);
        const auto delay = std::chrono::microseconds(random.below(20'000));
        std::jthread stopper([&] {
            std::this_thread::sleep_for(delay);
            control.stop();
        });
        const Outcome outcome = depth_two.solve(root.sub, any_leaves, 0, unreached, Sources{}, nullptr, root.arena, statistics);
        CHECK_AT_MOST(outcome.lower, outcome.upper);
        if (outcome.plan.empty() || root.sub.limited()) return;
        const Tree tree = build_tree(root.table, data.table(), plain_plan(root.sub, outcome.plan, root.movers, root.arena, {}));
        CHECK_AT_MOST(verify(tree, data.table()), outcome.upper);
    });
}

// Weights of more than 16 bits, and leaf sizes: no bound is above a split's own errors, and the best split is found.
void test_weighted_batches() {
    for_seeds(1200, [](Random& random) {
        Instance data = structured(random, static_cast<std::size_t>(random.between(20, random.chance(0.1) ? 3000 : 200)), random.between(1, 12), static_cast<std::int32_t>(random.between(2, 5)),
                                   random.pick<std::uint64_t>({0, 9, 60}), random.pick({0.1, 0.4, 1.0}));
        // Features that differ by a few rows have stumps that are nearly as good: only all bits of the weights tell which is better.
        for (std::size_t f = 1; f < data.features; ++f) {
            if (random.chance(0.5)) continue;
            double* const column = data.values.data() + f * data.rows;
            std::copy_n(data.values.data(), data.rows, column);
            for (int i = 0; i < 8; ++i) std::swap(column[random.below(data.rows)], column[random.below(data.rows)]);
        }
        const int kind = static_cast<int>(random.below(7));
        const Score unit = Score{1} << 36;
        for (std::size_t r = 0; r < data.rows; ++r) {
            switch (kind) {
                case 0: data.weights.push_back((Score{1} << 45) + random.between(0, 99)); break;
                case 1: data.weights.push_back(random.between(1, Score{1} << 45)); break;
                case 2: data.weights.push_back(random.pick<Score>({1, 1'000'000})); break;
                case 3: data.weights.push_back(Score{1} << random.between(0, 45)); break;
                case 4: data.weights.push_back(random.pick<Score>({Score{255} << 40, Score{510} << 40})); break;
                case 5: data.weights.push_back(r == 0 ? 511 * unit : r == 1 ? 1 : random.pick<Score>({2 * unit - 1, 2 * unit})); break;
                default: data.weights.push_back(data.labels[r] == 0 ? 300'007 : 100'003); break;
            }
        }
        Root<WideEntry> root(data);
        if (root.sub.features == 0 || root.sub.classes < 2) return;
        if (random.chance(0.15)) root.sub.leaf.rows = static_cast<Row>(random.between(2, 1 + static_cast<std::int64_t>(data.rows) / 5));
        if (random.chance(0.15)) root.sub.leaf.mass = random.between(1, root.sub.mass / 5);
        std::vector<Lane> lanes;
        const double wanted = random.pick({2.0, 30.0});
        for (std::uint32_t f = 0; f < root.sub.features; ++f)
            for (const Position z : root.thresholds(f))
                if (random.chance(wanted / (static_cast<double>(root.sub.features) * static_cast<double>(data.rows))) && lanes.size() < lane_count) lanes.push_back({f, z, 0, z, z});
        if (lanes.empty()) return;
        const auto class_of = classes_of_rows(root.sub);
        std::vector<SplitErrors> errors;
        for (const Lane& lane : lanes) errors.push_back(d2split(root.sub, class_of, lane.f, lane.z));
        for (const Kernel* kernel : available_kernels()) {
            Arena arena;
            Statistics statistics;
            Batches<WideEntry> batches(*kernel);
            Batch<WideEntry>& batch = batches.start(root.sub, arena, statistics);
            batch.lanes = lanes;
            batch.with_leaves = random.chance(0.3);
            Score best = unreached;
            for (std::size_t t = 0; t < lanes.size(); ++t)
                if (root.sub.allows_left(lanes[t].f, lanes[t].z) && root.sub.allows_right(lanes[t].f, lanes[t].z)) best = std::min(best, errors[t].left + errors[t].right);
            const SplitErrors& some = errors[random.below(errors.size())];
            for (const Score ub : {unreached, best + 1, best, best - best / 8, some.left + some.right, random.between((some.relaxed_left + some.relaxed_right) / 2, some.relaxed_left + some.relaxed_right)}) {
                CHECK(batch.evaluate(ub));
                Score found = unreached;
                for (std::size_t t = 0; t < lanes.size(); ++t) {
                    CHECK(batch.proved_left(t) <= errors[t].left && batch.proved_right(t) <= errors[t].right);
                    CHECK(batch.near_left(t) <= errors[t].left && batch.near_right(t) <= errors[t].right);
                    CHECK_AT_MOST(errors[t].left + errors[t].right, batch.reached(t));
                    if (batch.with_leaves) CHECK(batch.leaf_left(t) == errors[t].leaf_left && batch.leaf_right(t) == errors[t].leaf_right);
                    if (batch.allows(t)) found = std::min(found, batch.reached(t));
                }
                if (best < ub) CHECK_EQUAL(found, best);
            }
        }
    });
}

// So many rows that a feature is swept in parts, which end between values.
void test_many_rows() {
    for_seeds(3, [](Random& random) {
        const auto classes = static_cast<std::int32_t>(random.pick({2, 3}));
        const Instance data = structured(random, 300'000, 3, classes, random.pick<std::uint64_t>({0, 3, 1000}), 0.4);
        Root<WideEntry> root(data);
        const auto class_of = classes_of_rows(root.sub);
        Arena arena;
        Statistics statistics;
        Batches<WideEntry> batches(chosen_kernel());
        Batch<WideEntry>& batch = batches.start(root.sub, arena, statistics);
        for (std::uint32_t f = 0; f < root.sub.features; ++f) {
            const Cuts cuts = root.sub.cuts(f);
            batch.lanes.push_back({f, cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, root.sub.rows), 0});
        }
        CHECK(batch.evaluate(unreached));
        for (std::size_t t = 0; t < batch.lanes.size(); ++t) {
            const SplitErrors errors = d2split(root.sub, class_of, batch.lanes[t].f, batch.lanes[t].z);
            CHECK_EQUAL(batch.reached_left(t), errors.left);
            CHECK_EQUAL(batch.reached_right(t), errors.right);
        }
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("small sets, narrow entries", test_small<NarrowEntry>);
    check::run("small sets, wide entries", test_small<WideEntry>);
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
