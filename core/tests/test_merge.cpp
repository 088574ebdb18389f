// Merging: the best tree of a few splits, by all ways to put them together; and the pool that they come from.
#include "search/first_trees.hpp"
#include "search/merge.hpp"
#include "shop.hpp"

namespace {

using namespace check;
using namespace contree;

// Merging against all ways to put a few splits together, without bounds: the same errors, whatever rows weigh.  Where work is short and where the tree is
// deeper, what it says it is and no worse.
template <class Entry>
void test_merged() {
    long better = 0;
    for_seeds(150, [&](Random& random) {
        Instance data = structured(random, 120, 3, static_cast<std::int32_t>(random.between(2, 3)), 0, 0.6);
        if (sizeof(Entry) == 8)
            for (std::size_t r = 0; r < data.rows; ++r) data.weights.push_back(random.between(1, 5));
        Shop<Entry> shop(data);
        Bench<Entry>& bench = shop.bench;
        const Subproblem<Entry>& root = shop.root.sub;
        if (root.features == 0 || root.classes < 2) return;
        std::vector<Step> splits;
        for (std::int64_t i = random.between(1, 6); i > 0; --i) {
            const auto f = static_cast<std::uint32_t>(random.below(root.features));
            const Cuts cuts = root.cuts(f);
            splits.push_back(bench.step_at(root, {f, cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, root.rows)}));
        }
        const auto least = [&](auto&& self, const Subproblem<Entry>& sub, std::int64_t depth) -> Score {
            if (depth == 2 || sub.features == 0) return bench.plain_two(sub).upper;
            Score errors = unreached;
            for (const Step& split : splits) {
                const Split at = place_of(sub, split);
                if (at.z == 0 || at.z == sub.rows) continue;
                Arena::Frame frame(bench.arena);
                const Children<Entry> children = bench.split(sub, at);
                errors = std::min(errors, self(self, children.left, depth - 1) + self(self, children.right, depth - 1));
            }
            return errors == unreached ? self(self, sub, depth - 1) : errors;
        };
        constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t depth : {3, 4, 6}) {
            const Outcome tree = bench.plain(root, greedy_tree(root, depth, Objective{}, shop.root.movers, shop.root.arena, Halt{}).plan);
            if (tree.plan.size() < 3) continue;
            const Outcome merged = merged_tree(bench, root, depth, tree, splits, depth > 4 ? bench.work() + 100'000 : endless);
            const Outcome hasty = merged_tree(bench, root, depth, tree, splits, bench.work() + static_cast<std::int64_t>(random.below(3000)));
            if (depth <= 4) CHECK_EQUAL(merged.upper, std::min(tree.upper, least(least, root, depth)));
            for (const Outcome& one : {merged, hasty}) {
                shop.check_tree(one, depth);
                CHECK_EQUAL(bench.errors(root, one.plan), one.upper);
                CHECK_AT_MOST(one.upper, tree.upper);
            }
            better += merged.upper < tree.upper;
        }
    });
    CHECK(better > 0);
}

// A pool has the upper splits of plans alone, those of the best trees first, and of close ones the best.
void test_pool() {
    Random random(1);
    Instance data = structured(random, 2000, 2, 2, 0, 0.6);
    for (std::size_t r = 0; r < data.rows; ++r) data.values[r] = static_cast<double>(r);   // every row has a rank of its own
    const Root<NarrowEntry> root(data);
    const auto feature = static_cast<std::int32_t>(root.sub.feature[0]);
    const Step leaf{Step::leaf, 0};
    const auto tree = [&](Rank first, Rank second) { return Plan{{feature, first}, leaf, {feature, second}, leaf, leaf}; };
    SplitPool pool;
    pool.note(root.sub, tree(100, 900), 3, 50);      // the second is of the last two levels
    pool.note(root.sub, tree(500, 1500), 4, 40);
    pool.note(root.sub, tree(103, 1498), 4, 45);     // beside the first, and better; beside another, and worse
    CHECK(pool.best() == (std::vector<Step>{{feature, 500}, {feature, 1500}, {feature, 103}}));
    for (Rank rank = 10; rank < 1900; rank += 20) pool.note(root.sub, tree(rank, rank), 3, 100);
    CHECK_EQUAL(pool.best().size(), 40);
    CHECK(pool.best().front() == (Step{feature, 500}));
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("merged trees, narrow entries", test_merged<NarrowEntry>);
    check::run("merged trees, wide entries", test_merged<WideEntry>);
    check::run("the pool of splits", test_pool);
    return check::report();
}
