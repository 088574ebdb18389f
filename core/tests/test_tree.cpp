// From plans to trees: what a plan says is built, nothing useless is kept, and verify sees a wrong tree.
#include "exhaustive.hpp"
#include "fit_checks.hpp"
#include "ranked.hpp"
#include "tree/build.hpp"
#include "tree/locate.hpp"

namespace {

using namespace check;
using namespace contree;

// A random plan that splits wherever it can, down to `depth`; and the errors of its tree, where a subtree
// that saves nothing counts as a leaf, and stumps are the best there are.
Score draw_plan(Random& random, const Instance& data, const RankedTable& table, const RowList& rows,
    int depth, Plan& plan) {
    const Score leaf = leaf_errors(data, rows);
    const double kind = random.real();
    if (depth == 0 || kind < 0.1) {
        plan.push_back({Step::leaf, 0});
        return leaf;
    }
    if (depth == 1 && kind < 0.5) {
        plan.push_back({Step::stump, 0});
        return least_errors(data, rows, 1);
    }
    for (int attempt = 0; attempt < 5; ++attempt) {
        if (data.features == 0) break;
        const std::size_t f = random.below(data.features);
        const auto& values = table.columns[f].values;
        const std::size_t rank = random.below(values.lowest.size());
        const auto [left, right] = parted(data, rows, f, values.highest_of(rank));
        if (left.empty() || right.empty()) continue;
        plan.push_back({static_cast<std::int32_t>(f), static_cast<Rank>(rank)});
        const Score of_left = draw_plan(random, data, table, left, depth - 1, plan);
        const Score of_right = draw_plan(random, data, table, right, depth - 1, plan);
        return std::min(leaf, of_left + of_right);
    }
    plan.push_back({Step::leaf, 0});
    return leaf;
}

struct Built {
    Tree tree;
    Score errors;
};

Built draw_tree(Random& random, const Instance& data, Root& root) {
    Plan plan;
    const Score errors = draw_plan(random, data, root.table, all_rows(data), 3, plan);
    const Plan plain = plain_plan(root.objective, root.set, plan, root.partitioner, root.arena, {});
    return {build_tree(root.objective, root.table, data.table(), plain), errors};
}

void test_built_trees(Width width) {
    for_seeds(2000, [&](Random& random) {
        const Instance data = nasty(random, {1, 25, 0, 4, 5});
        Root root(data, width);
        const Built built = draw_tree(random, data, root);
        CHECK_EQUAL(verify(root.objective, built.tree, data.table()), built.errors);
        std::string faults;
        std::size_t next = 0;
        CHECK_EQUAL(recount(built.tree, data, 0, all_rows(data), {}, 3, next, faults).errors, built.errors);
        CHECK_EQUAL(faults, "");  // no split that saves no error among them
        CHECK_EQUAL(next, built.tree.size());
    });
}

void test_impossible_plans() {
    Instance data;
    data.rows = 4, data.features = 2, data.classes = 2;
    data.values = {1, 2, 3, 4, 5, 5, 5, 5};
    data.labels = {0, 1, 0, 1};
    const Root root(data);
    const auto build = [&](const Plan& plan) {
        return build_tree(root.objective, root.table, data.table(), plan);
    };
    const Step leaf{Step::leaf, 0};
    CHECK_THROWS(std::logic_error, build(Plan{{1, 0}, leaf, leaf}));  // constant
    CHECK_THROWS(std::logic_error, build(Plan{{0, 3}, leaf, leaf}));  // nothing right
    CHECK_THROWS(std::logic_error, build(Plan{{0, 1}, {0, 1}, leaf, leaf, leaf}));
    CHECK_THROWS(std::logic_error, build(Plan{{Step::stump, 0}}));
}

// Any change that moves a row or miscounts one is seen.
void test_verify_sees_wrong_trees() {
    for_seeds(2000, [](Random& random) {
        const Instance data = nasty(random, {4, 25, 1, 4, 4});
        Root root(data);
        const Tree tree = draw_tree(random, data, root).tree;
        const auto verified = [&](const Tree& other) { return verify(root.objective, other, data.table()); };
        Tree wrong = tree;
        ++wrong.counts[random.below(wrong.counts.size())];
        CHECK_THROWS(std::logic_error, verified(wrong));
        if (tree.size() < 3) return;
        std::size_t node = random.below(tree.size());
        while (tree.children_left[node] < 0) node = random.below(tree.size());
        wrong = tree;
        std::swap(wrong.children_left[node], wrong.children_right[node]);
        const auto counts = [&](std::int64_t of) {
            const auto begin = tree.counts.begin() + of * 2 * data.classes;
            return std::vector<std::int64_t>(begin, begin + 2 * data.classes);
        };
        if (counts(tree.children_left[node]) != counts(tree.children_right[node]))
            CHECK_THROWS(std::logic_error, verified(wrong));
        wrong = tree;
        wrong.threshold[node] = -std::numeric_limits<double>::infinity();  // all rows right
        CHECK_THROWS(std::logic_error, verified(wrong));
        if (node == 0) {  // the next row across the root's threshold
            double above = std::numeric_limits<double>::infinity();
            for (std::size_t r = 0; r < data.rows; ++r) {
                const double value = data.value(r, static_cast<std::size_t>(tree.feature[0]));
                if (value > tree.threshold[0]) above = std::min(above, value);
            }
            wrong = tree;
            wrong.threshold[0] = above;
            CHECK_THROWS(std::logic_error, verified(wrong));
        }
    });
}

void test_stumps(Width width) {
    for_seeds(2000, [&](Random& random) {
        const Instance data = nasty(random, {1, 30, 0, 4, 5});
        const Root root(data, width);
        const Stump stump = root.objective.best_stump(root.set, {});
        CHECK_EQUAL(stump.loss, least_errors(data, 1));
        if (stump.z == 0) {
            CHECK_EQUAL(stump.loss, check::leaf_errors(data, all_rows(data)));
            return;
        }
        CHECK_EQUAL(check::leaf_errors(data, root.rows_left_of(stump.f, stump.z)) +
                        check::leaf_errors(data, root.rows_right_of(stump.f, stump.z)),
            stump.loss);
        CHECK(root.set.rank_left_of(stump.f, stump.z) != root.set.rank_left_of(stump.f, stump.z + 1));
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("built trees, narrow entries", [] { test_built_trees(Width::narrow); });
    check::run("built trees, wide entries", [] { test_built_trees(Width::wide); });
    check::run("impossible plans", test_impossible_plans);
    check::run("verify sees wrong trees", test_verify_sees_wrong_trees);
    check::run("stumps, narrow entries", [] { test_stumps(Width::narrow); });
    check::run("stumps, wide entries", [] { test_stumps(Width::wide); });
    return check::report();
}
