// The heuristics: every tree is what it says it is, polishing never makes one worse, and the search's answer
// does not depend on them.
#include "heuristics.hpp"
#include "heuristics/greedy.hpp"
#include "heuristics/local_search.hpp"
#include "heuristics/look_ahead.hpp"
#include "heuristics/polish.hpp"
#include "heuristics/rollout.hpp"

namespace {

using namespace check;
using namespace contree;

Instance draw(Random& random) {
    return random.chance(0.5)
               ? nasty(random, {2, 40, 1, 4, 4})
               : structured(random, 150, 4, static_cast<std::int32_t>(random.between(2, 4)), 0, 0.6);
}

void test_every_heuristic(Width width) {
    for_seeds(150, [&](Random& random) {
        const Instance data = draw(random);
        Heuristics all(data, width);
        if (!all.worth_splitting()) return;
        const std::int64_t depth = random.between(1, 6);
        HeuristicContext& context = all.context;
        const RowSet& root = all.root.set;
        all.check_tree(
            greedy_tree(all.root.objective, root, depth, all.root.partitioner, all.root.arena, {}), depth);
        for (const Outcome& tree : {rollout_tree(context, root, depth),
                 look_ahead_tree(context, root, depth, context.work() + 100'000)}) {
            all.check_tree(tree, depth);
            const Outcome plain = context.plain(root, tree.plan);
            CHECK_EQUAL(plain.upper, tree.upper);
            CHECK_EQUAL(context.loss(root, plain.plan), tree.upper);  // its leaves know their classes
            const Outcome polished = polish(context, root, depth, plain);
            all.check_tree(polished, depth);
            CHECK_AT_MOST(polished.upper, plain.upper);
            Outcome best = polished;
            LocalSearch search(context, root, depth, random.below(1000));
            Outcome told;
            context.listener = [&](const Outcome& better) { told = better; };
            for (int slice = 0; slice < 3; ++slice) {
                const Score before = best.upper;
                search.run(best, context.work() + 20'000);
                CHECK_AT_MOST(best.upper, before);
                if (best.upper < before)
                    CHECK_EQUAL(told.upper, best.upper);  // at once, not at the end of the slice
            }
            context.listener = {};
            if (!told.plan.empty()) all.check_tree(told, depth);
            all.check_tree(best, depth);
        }
        if (depth == 1)
            CHECK_EQUAL(rollout_tree(context, root, depth).upper, Swept(data).least_errors(depth));
        if (depth == 2) {
            const Score least = Swept(data).least_errors(depth),
                        rough = rollout_tree(context, root, depth).upper;
            CHECK_EQUAL(context.plain_two(root).upper, least);
            CHECK_AT_MOST(rough - rough * 2 / 64, least);
        }
    });
}

// A random tree, and one whose splits were moved: the step at an inner node must find its way back, or
// better.
void test_polish_moves_splits() {
    long better = 0;
    for_seeds(150, [&](Random& random) {
        const Instance data = structured(random, 300, 4, 3, 0, 0.7);
        Heuristics all(data);
        const RowSet& root = all.root.set;
        const auto f = static_cast<std::uint32_t>(random.below(root.features));
        const Cuts cuts = root.cuts(f);
        const Split at{f, cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, root.rows)};
        const Children children = all.context.split(root, at);
        const Outcome left = all.context.plain_two(children.left),
                      right = all.context.plain_two(children.right);
        const Outcome tree{0, left.upper + right.upper, join(step_at(root, at), left.plan, right.plan)};
        const Outcome once = polish_once(all.context, root, 3, tree.plan.data());
        all.check_tree(once, 3);
        CHECK_AT_MOST(once.upper, tree.upper);
        better += once.upper < tree.upper;
    });
    if (all_seeds()) CHECK(better > 0);
}

// Other places for a split are allowed ones, far enough from the present one; and a tree moved there is one.
void test_other_places() {
    long moved = 0;
    for_seeds(150, [&](Random& random) {
        const Instance data = draw(random);
        Heuristics all(data, Width::wide);
        const RowSet& root = all.root.set;
        if (!all.worth_splitting()) return;
        const std::int64_t depth = random.between(3, 5);
        const Outcome tree = all.context.plain(root, rollout_tree(all.context, root, depth).plan);
        if (tree.plan.size() < 3) return;
        const Split present = place_of(root, tree.plan.front());
        const auto distance = static_cast<Row>(random.between(1, 5));
        std::vector<int> of_feature(root.features, 0);
        for (const Split& at : other_places(all.context, root, tree.plan.data(), distance)) {
            CHECK(root.allows(at.f, at.z) && root.cut_behind(at.f, at.z - 1));
            CHECK_EQUAL(++of_feature[at.f], 1);
            if (at.f == present.f)
                CHECK_AT_MOST(distance, at.z > present.z ? at.z - present.z : present.z - at.z);
            const Outcome other = polish_below(all.context, root, depth, at, tree.plan);
            CHECK_EQUAL(all.context.loss(root, other.plan), other.upper);
            const Outcome polished = polish(all.context, root, depth, other);
            all.check_tree(polished, depth);
            CHECK_AT_MOST(polished.upper, other.upper);
            ++moved;
        }
    });
    if (all_seeds()) CHECK(moved > 0);
}

// Subtrees of depth three solved by a search that is given: never worse, the search's answer where that is
// better, and asked once for the same rows.  Without a search a tree stays as it was.
void test_exact() {
    for_seeds(60, [](Random& random) {
        const Instance data = structured(random, 60, 3, 3, 0, 0.6);
        Heuristics without(data);
        const auto rolled_out = [](Heuristics& any) {
            return any.context.plain(any.root.set, rollout_tree(any.context, any.root.set, 3).plan);
        };
        const Outcome first = rolled_out(without);
        CHECK_EQUAL(without.context.exact(without.root.set, 3, first).upper, first.upper);

        int asked = 0;
        HeuristicContext* own = nullptr;
        const auto looked_ahead = [&](const RowSet& set) {
            return look_ahead_tree(*own, set, 3, own->work() + 1'000'000);
        };
        Heuristics all(
            data, Width::narrow, [&](const RowSet& set, std::int64_t, Score target, std::int64_t budget) {
                ++asked;
                CHECK_EQUAL(target, first.upper);
                CHECK_EQUAL(budget, 1000);  // all rows: the whole budget
                return looked_ahead(set);
            });
        own = &all.context;
        HeuristicContext& context = all.context;
        const RowSet& root = all.root.set;
        CHECK_EQUAL(rolled_out(all).upper, first.upper);
        context.exact_budget = 1000;
        const Outcome better = context.exact(root, 3, first);
        all.check_tree(better, 3);
        CHECK_EQUAL(better.upper, std::min(first.upper, looked_ahead(root).upper));
        CHECK_EQUAL(context.exact(root, 3, first).upper, better.upper);
        CHECK_EQUAL(asked, first.upper == 0 ? 0 : 1);
        const Outcome polished = polish(context, root, 3, first, 3);
        all.check_tree(polished, 3);
        CHECK_AT_MOST(polished.upper, better.upper);
    });
}

// Where there are many rows, so that small subtrees are searched along the features: better and better trees,
// and what they say they are.
void test_local_search_on_many_rows() {
    for_seeds(2, [](Random& random) {
        const Instance data = structured(random, 13'000, 4, 3, 0, 0.7);
        Heuristics all(data);
        const RowSet& root = all.root.set;
        CHECK(!all.context.few_cells());
        const std::int64_t depth = random.between(4, 5);
        Outcome best = all.context.plain(root, rollout_tree(all.context, root, depth).plan);
        LocalSearch search(all.context, root, depth, random.below(1000));
        for (int slice = 0; slice < 4; ++slice) {
            const Score before = best.upper;
            search.run(best, all.context.work() + 20'000'000);
            CHECK_AT_MOST(best.upper, before);
            all.check_tree(best, depth);
        }
    });
}

// A stop at any moment, also inside a heuristic: no exception, and what is called better is a tree.
void test_stopped() {
    for_seeds(100, [](Random& random) {
        const Instance data = structured(random, 300, 4, 3, 0, 0.6);
        Options options;
        options.max_depth = random.between(4, 6);
        options.time_limit = 1e-4 * static_cast<double>(random.below(60));
        options.n_jobs = random.pick({1, 2});
        Control control;
        const Result result = fit(data.table(), options, control);
        CHECK_EQUAL(result_faults(result, data, options, {}), "");
        Root root(data);
        const Outcome greedy =
            greedy_tree(root.objective, root.set, options.max_depth, root.partitioner, root.arena, {});
        CHECK_AT_MOST(result.loss, greedy.upper);
    });
}

// With and without heuristics the optimum is the same, and bounds of the history are true.
void test_same_optimum() {
    for_seeds(60, [](Random& random) {
        const Instance data = structured(
            random, random.between(20, 60), 3, static_cast<std::int32_t>(random.between(2, 3)), 3, 0.7);
        Options options;
        options.max_depth = 4;
        options.n_jobs = random.pick({1, 2});
        const Score optimum = Swept(data).least_errors(4);
        for (const std::int32_t heuristics : {0, 1}) {
            options.switches.heuristics = heuristics;
            check_fit(data, options, optimum);
        }
    });
}

// From depth five on the heuristics shorten shallower levels and mind the time limit: the optimum stays the
// same.
void test_depth_five() {
    Score most = 0;
    for_seeds(20, [&](Random& random) {
        const Instance data = structured(random, 100, 2, 3, 0, 1);
        Options options;
        options.max_depth = 5;
        Control control, other;
        options.switches.heuristics = 0;
        const Result plain = fit(data.table(), options, control);
        options.switches.heuristics = 1;
        options.time_limit = random.pick<double>({30, 300, std::numeric_limits<double>::infinity()});
        options.n_jobs = random.pick({1, 2});
        const Result helped = fit(data.table(), options, other);
        CHECK_EQUAL(result_faults(helped, data, options, {}), "");
        CHECK(helped.status == contree::Status::optimal);
        CHECK_EQUAL(helped.objective, plain.objective);
        for (const auto& moment : helped.history) CHECK_AT_MOST(moment.lower_bound, plain.objective);
        most = std::max(most, plain.objective);
    });
    CHECK(most >= 8);  // or the levels have no targets
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("every heuristic, narrow entries", [] { test_every_heuristic(Width::narrow); });
    check::run("every heuristic, wide entries", [] { test_every_heuristic(Width::wide); });
    check::run("polish moves splits", test_polish_moves_splits);
    check::run("other places for a split", test_other_places);
    check::run("exact subtrees", test_exact);
    check::run("local search on many rows", test_local_search_on_many_rows);
    check::run("stopped", test_stopped);
    check::run("the same optimum", test_same_optimum);
    check::run("the same optimum at depth five", test_depth_five);
    return check::report();
}
