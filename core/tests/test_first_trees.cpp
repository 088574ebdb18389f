// The heuristics: every tree is what it says it is, polishing never makes one worse, and the search's answer does not
// depend on them.
#include "exhaustive.hpp"
#include "fit_checks.hpp"
#include "search/first_trees.hpp"
#include "search/line_search.hpp"
#include "search/local_search.hpp"
#include "search/look_ahead.hpp"
#include "search/polish.hpp"
#include "shop.hpp"

namespace {

using namespace check;
using namespace contree;

Instance draw(Random& random) {
    return random.chance(0.5) ? nasty(random, {2, 40, 1, 4, 4}) : structured(random, 150, 4, static_cast<std::int32_t>(random.between(2, 4)), 0, 0.6);
}

template <class Entry>
void test_every_stage() {
    for_seeds(150, [](Random& random) {
        const Instance data = draw(random);
        Shop<Entry> shop(data);
        if (shop.root.sub.features == 0 || shop.root.sub.classes < 2) return;
        const std::int64_t depth = random.between(1, 6);
        Bench<Entry>& bench = shop.bench;
        const Subproblem<Entry>& root = shop.root.sub;
        shop.check_tree(greedy_tree(root, depth, {}, shop.root.movers, shop.root.arena, when_abandoned(shop.control)), depth);
        for (const Outcome& tree : {rollout_tree(bench, root, depth),
                                    look_ahead_tree(bench, root, depth, bench.work() + 100'000)}) {
            shop.check_tree(tree, depth);
            const Outcome plain = bench.plain(root, tree.plan);
            CHECK_EQUAL(plain.upper, tree.upper);
            CHECK_EQUAL(bench.errors(root, plain.plan), tree.upper);   // its leaves know their classes
            const Outcome polished = polish(bench, root, depth, plain);
            shop.check_tree(polished, depth);
            CHECK_AT_MOST(polished.upper, plain.upper);
            Outcome best = polished;
            LocalSearch<Entry> search(bench, root, depth, random.below(1000));
            Outcome told;
            bench.tell = [&](const Outcome& better) { told = better; };
            for (int slice = 0; slice < 3; ++slice) {
                const Score before = best.upper;
                search.run(best, bench.work() + 20'000);
                CHECK_AT_MOST(best.upper, before);
                if (best.upper < before) CHECK_EQUAL(told.upper, best.upper);   // at once, not at the end of the slice
            }
            bench.tell = {};
            if (!told.plan.empty()) shop.check_tree(told, depth);
            shop.check_tree(best, depth);
        }
        if (depth == 1) CHECK_EQUAL(rollout_tree(bench, root, depth).upper, Swept(data).least_errors(depth));
        if (depth == 2) {
            const Score least = Swept(data).least_errors(depth), rough = rollout_tree(bench, root, depth).upper;
            CHECK_EQUAL(bench.plain_two(root).upper, least);
            CHECK_AT_MOST(rough - rough * 2 / 64, least);
        }
    });
}

// A random tree, and one whose splits were moved: the step at an inner node must find its way back, or better.
void test_polish_moves_splits() {
    long better = 0;
    for_seeds(150, [&](Random& random) {
        const Instance data = structured(random, 300, 4, 3, 0, 0.7);
        Shop<NarrowEntry> shop(data);
        const auto& root = shop.root.sub;
        const auto f = static_cast<std::uint32_t>(random.below(root.features));
        const Cuts cuts = root.cuts(f);
        const Split at{f, cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, root.rows)};
        const Children<NarrowEntry> children = shop.bench.split(root, at);
        const Outcome left = shop.bench.plain_two(children.left), right = shop.bench.plain_two(children.right);
        const Outcome tree{0, left.upper + right.upper, join(shop.bench.step_at(root, at), left.plan, right.plan)};
        const Outcome once = polish_once(shop.bench, root, 3, tree.plan.data());
        shop.check_tree(once, 3);
        CHECK_AT_MOST(once.upper, tree.upper);
        better += once.upper < tree.upper;
    });
    CHECK(better > 0);
}

// A tree of depth three, bettered along the features: what it says it is, and no worse.
void test_better_three() {
    long better = 0;
    for_seeds(150, [&](Random& random) {
        const Instance data = draw(random);
        Shop<NarrowEntry> shop(data);
        const auto& root = shop.root.sub;
        if (root.features == 0 || root.classes < 2) return;
        const Outcome tree = shop.bench.plain(root, rollout_tree(shop.bench, root, 3).plan);
        const Outcome found = better_three(shop.bench, root, tree);
        shop.check_tree(found, 3);
        CHECK_EQUAL(shop.bench.errors(root, found.plan), found.upper);
        CHECK_AT_MOST(found.upper, tree.upper);
        CHECK_EQUAL(better_three(shop.bench, root, tree).upper, found.upper);   // kept
        shop.bench.along_features = true;
        const Outcome polished = polish(shop.bench, root, 5, shop.bench.plain(root, rollout_tree(shop.bench, root, 5).plan), 3);
        shop.check_tree(polished, 5);
        better += found.upper < tree.upper;
    });
    CHECK(better > 0);
}

// Other places for a split are allowed ones, far enough from the present one; and a tree moved there is one.
void test_other_places() {
    long moved = 0;
    for_seeds(150, [&](Random& random) {
        const Instance data = draw(random);
        Shop<WideEntry> shop(data);
        const auto& root = shop.root.sub;
        if (root.features == 0 || root.classes < 2) return;
        const std::int64_t depth = random.between(3, 5);
        const Outcome tree = shop.bench.plain(root, rollout_tree(shop.bench, root, depth).plan);
        if (tree.plan.size() < 3) return;
        const Split present = place_of(root, tree.plan.front());
        const auto distance = static_cast<Row>(random.between(1, 5));
        std::vector<int> of_feature(root.features, 0);
        for (const Split& at : other_places(shop.bench, root, tree.plan.data(), distance)) {
            CHECK(root.allows(at.f, at.z) && root.cut_behind(at.f, at.z - 1));
            CHECK_EQUAL(++of_feature[at.f], 1);
            if (at.f == present.f) CHECK_AT_MOST(distance, at.z > present.z ? at.z - present.z : present.z - at.z);
            const Outcome other = polish_below(shop.bench, root, depth, at, tree.plan);
            CHECK_EQUAL(shop.bench.errors(root, other.plan), other.upper);
            const Outcome polished = polish(shop.bench, root, depth, other);
            shop.check_tree(polished, depth);
            CHECK_AT_MOST(polished.upper, other.upper);
            ++moved;
        }
    });
    CHECK(moved > 0);
}

// Subtrees of depth three solved by a search that is given: never worse, the search's answer where that is better, and
// asked once for the same rows.
void test_exact() {
    for_seeds(60, [](Random& random) {
        const Instance data = structured(random, 60, 3, 3, 0, 0.6);
        Shop<NarrowEntry> shop(data);
        Bench<NarrowEntry>& bench = shop.bench;
        const auto& root = shop.root.sub;
        const Outcome first = bench.plain(root, rollout_tree(bench, root, 3).plan);
        CHECK_EQUAL(bench.exact(root, 3, first).upper, first.upper);   // no search: as it was
        int asked = 0;
        bench.exact_budget = 1000;
        bench.solve_exact = [&](const Subproblem<NarrowEntry>& sub, std::int64_t, Score target, std::int64_t budget) {
            ++asked;
            CHECK_EQUAL(target, first.upper);
            CHECK_EQUAL(budget, 1000);   // all rows: the whole budget
            return look_ahead_tree(bench, sub, 3, bench.work() + 1'000'000);
        };
        const Outcome better = bench.exact(root, 3, first);
        shop.check_tree(better, 3);
        CHECK_EQUAL(better.upper, std::min(first.upper, look_ahead_tree(bench, root, 3, bench.work() + 1'000'000).upper));
        CHECK_EQUAL(bench.exact(root, 3, first).upper, better.upper);
        CHECK_EQUAL(asked, first.upper == 0 ? 0 : 1);
        const Outcome polished = polish(bench, root, 3, first, 3);
        shop.check_tree(polished, 3);
        CHECK_AT_MOST(polished.upper, better.upper);
    });
}

// Where there are many rows, so that small subtrees are searched along the features: better and better trees, and what they say they are.
void test_local_search_on_many_rows() {
    for_seeds(2, [](Random& random) {
        const Instance data = structured(random, 13'000, 4, 3, 0, 0.7);
        Shop<NarrowEntry> shop(data);
        const auto& root = shop.root.sub;
        CHECK(!shop.bench.few_cells());
        const std::int64_t depth = random.between(4, 5);
        Outcome best = shop.bench.plain(root, rollout_tree(shop.bench, root, depth).plan);
        LocalSearch<NarrowEntry> search(shop.bench, root, depth, random.below(1000));
        for (int slice = 0; slice < 4; ++slice) {
            const Score before = best.upper;
            search.run(best, shop.bench.work() + 20'000'000);
            CHECK_AT_MOST(best.upper, before);
            shop.check_tree(best, depth);
        }
    });
}

// A stop at any moment, also inside a stage: no exception, and what is called better is a tree.
void test_stopped_stages() {
    for_seeds(100, [](Random& random) {
        const Instance data = structured(random, 300, 4, 3, 0, 0.6);
        Options options;
        options.max_depth = random.between(4, 6);
        options.time_limit = 1e-4 * static_cast<double>(random.below(60));
        options.n_jobs = random.pick({1, 2});
        Control control;
        const Result result = fit(data.table(), options, control);
        CHECK_EQUAL(result_faults(result, data, options, {}), "");
        Root<NarrowEntry> root(data);
        CHECK_AT_MOST(result.errors, greedy_tree(root.sub, options.max_depth, {}, root.movers, root.arena, when_abandoned(control)).upper);
    });
}

// With and without heuristics and incumbent targets the optimum is the same, and bounds of the history are true.
void test_same_optimum() {
    for_seeds(60, [](Random& random) {
        const Instance data = structured(random, random.between(20, 60), 3, static_cast<std::int32_t>(random.between(2, 3)), 3, 0.7);
        Options options;
        options.max_depth = 4;
        options.n_jobs = random.pick({1, 2});
        const Score optimum = Swept(data).least_errors(4);
        for (const std::int32_t first_trees : {0, 1}) {
            for (const std::int32_t targets : {0, 1}) {
                options.switches.first_trees = first_trees;
                options.switches.incumbent_targets = targets;
                check_fit(data, options, optimum);
            }
        }
    });
}

// From depth five on small targets come first, as part of the heuristics, and change nothing but the road, whatever the
// time limit.
void test_small_targets() {
    Score most = 0;
    for_seeds(20, [&](Random& random) {
        const Instance data = structured(random, 100, 2, 3, 0, 1);
        Options options;
        options.max_depth = 5;
        Control control, other;
        options.switches.first_trees = 0;
        const Result plain = fit(data.table(), options, control);
        options.switches.first_trees = 1;
        options.time_limit = random.pick<double>({30, 300, std::numeric_limits<double>::infinity()});
        options.n_jobs = random.pick({1, 2});
        const Result climbed = fit(data.table(), options, other);
        CHECK_EQUAL(result_faults(climbed, data, options, {}), "");
        CHECK(climbed.status == contree::Status::optimal);
        CHECK_EQUAL(climbed.objective, plain.objective);
        for (const auto& moment : climbed.history) CHECK_AT_MOST(moment.lower_bound, plain.objective);
        most = std::max(most, plain.objective);
    });
    CHECK(most >= 8);   // or no target was above nothing
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("every stage, narrow entries", test_every_stage<NarrowEntry>);
    check::run("every stage, wide entries", test_every_stage<WideEntry>);
    check::run("polish moves splits", test_polish_moves_splits);
    check::run("better trees of depth three", test_better_three);
    check::run("other places for a split", test_other_places);
    check::run("exact subtrees", test_exact);
    check::run("local search on many rows", test_local_search_on_many_rows);
    check::run("stopped stages", test_stopped_stages);
    check::run("the same optimum", test_same_optimum);
    check::run("small targets first", test_small_targets);
    return check::report();
}
