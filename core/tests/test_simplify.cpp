// No leaf of a returned tree is needless, as far as the two levels below each node go.
#include "squared_checks.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::Tree;

std::int64_t height(const Tree& tree, std::size_t node) {
    if (tree.children_left[node] < 0) return 0;
    return 1 + std::max(height(tree, static_cast<std::size_t>(tree.children_left[node])),
                   height(tree, static_cast<std::size_t>(tree.children_right[node])));
}

Score loss_of_leaf(const Instance& data, const RowList& rows) {
    return data.targets.empty() ? leaf_errors(data, rows) : leaf_loss(data, rows, 0);
}

Counted counted(const Tree& tree, const Instance& data, std::size_t node, const RowList& rows) {
    if (tree.children_left[node] < 0) return {loss_of_leaf(data, rows), 1};
    const auto [left, right] = sides_of(tree, data, node, rows);
    const Counted a = counted(tree, data, static_cast<std::size_t>(tree.children_left[node]), left);
    const Counted b = counted(tree, data, static_cast<std::size_t>(tree.children_right[node]), right);
    return {a.errors + b.errors, a.leaves + b.leaves};
}

// Looks at every subtree of height one or two: has a tree of depth two with fewer leaves as small an
// objective?
void check_subtrees(
    const Tree& tree, const Instance& data, const Options& options, std::size_t node, const RowList& rows) {
    if (tree.children_left[node] < 0) return;
    if (height(tree, node) <= 2) {
        const Counted own = counted(tree, data, node, rows);
        const Front front = front_of(data, rows, std::min<std::int64_t>(2, options.max_depth),
            static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf, &loss_of_leaf);
        for (Score leaves = 1; leaves < own.leaves; ++leaves) {
            const Score errors = front[std::min(static_cast<std::size_t>(leaves), front.size()) - 1];
            const Counted other{errors, leaves};
            if (other.objective(options) <= own.objective(options))
                fail("fewer leaves", 0,
                    shown(own.errors) + " errors need " + shown(leaves) + " leaves, not " +
                        shown(own.leaves) + " with " + described(options) + "\n" + shown(data));
        }
        ++passed;
    }
    const auto [left, right] = sides_of(tree, data, node, rows);
    check_subtrees(tree, data, options, static_cast<std::size_t>(tree.children_left[node]), left);
    check_subtrees(tree, data, options, static_cast<std::size_t>(tree.children_right[node]), right);
}

// The tree of a fit after all of a search or after a stop, and those of a path that are proved.
void check_trees(const Instance& data, const Options& options, bool stopped) {
    contree::Control control;
    if (stopped) control.stop();
    const contree::Result result = contree::fit(data.table(), options, control);
    check_subtrees(result.tree, data, options, 0, all_rows(data));
    for (const contree::SizedTree& size : result.sizes)
        if (size.loss == size.lower_bound) check_subtrees(size.tree, data, options, 0, all_rows(data));
    for (std::size_t k = 1; k < result.sizes.size(); ++k)
        CHECK_AT_MOST(result.sizes[k].loss, result.sizes[k - 1].loss);
}

void test_no_needless_leaf() {
    for_seeds(1500, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(1 + seed % 4);
        const Instance data = draw_data(random, depth);
        Options options = draw_options(random, depth, data);
        if (random.chance(0.5)) options.search = contree::SearchKind::paper;
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        const std::string faults = result_faults(result, data, options, {});
        CHECK_EQUAL(faults, std::string());
        check_subtrees(result.tree, data, options, 0, all_rows(data));
    });
}

// After a stop too, on as few rows.
void test_no_needless_leaf_after_a_stop() {
    for_seeds(300, [](Random& random) {
        const Instance data = draw_data(random, 3);
        const Options options = draw_options(random, 3, data);
        contree::Control control;
        control.stop();
        const contree::Result result = contree::fit(data.table(), options, control);
        CHECK_EQUAL(result_faults(result, data, options, {}), std::string());
        check_subtrees(result.tree, data, options, 0, all_rows(data));
    });
}

void test_categories() {
    for_seeds(600, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(2 + seed % 3);
        const Instance data = draw_mixed(random, depth);
        check_trees(data, draw_options(random, depth, data), random.chance(0.3));
    });
}

void test_squared_error() {
    for_seeds(400, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(2 + seed % 3);
        Instance data = draw_data(random, depth);
        if (mass_of(data, all_rows(data)) >= Score{1} << 40) data.weights.clear();  // too wide for targets
        for (std::size_t r = 0; r < data.rows; ++r)
            data.targets.push_back(3 * data.labels[r] + random.between(-1, 1));
        check_trees(data, draw_options(random, depth, data), random.chance(0.3));
    });
}

void test_paths_of_sizes() {
    for_seeds(600, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(2 + seed % 3);
        const Instance data = random.chance(0.3) ? draw_mixed(random, depth) : draw_data(random, depth);
        Options options = draw_options(random, depth, data);
        options.all_sizes = true;
        options.error_cost = 1;
        options.leaf_cost = options.max_gap = 0;
        check_trees(data, options, random.chance(0.3));
    });
}

// Of the thresholds 1 to 2, 3 to 7 and 8 to 9 only the second parts the labels of the first column; both
// columns part them, and the second one has the wider margin for its range.
void test_the_widest_gap_wins() {
    Instance data;
    data.rows = 4, data.features = 2, data.classes = 2;
    data.values = {0, 1, 2, 3, 0, 1, 9, 10};
    data.labels = {0, 0, 1, 1};
    contree::Control control;
    Options options;
    options.max_depth = 1;
    const contree::Result result = contree::fit(data.table(), options, control);
    CHECK_EQUAL(result.tree.feature[0], std::int64_t{1});
    CHECK_EQUAL(result.tree.threshold[0], 5.0);
}

// Both columns err once; the second one's leaves are purer.
void test_the_purer_tree_wins() {
    Instance data;
    data.rows = 8, data.features = 2, data.classes = 2;
    data.values = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1};
    data.labels = {0, 0, 0, 0, 0, 0, 1, 1};
    contree::Control control;
    Options options;
    options.max_depth = 1;
    const contree::Result result = contree::fit(data.table(), options, control);
    CHECK_EQUAL(result.loss, Score{1});
    CHECK_EQUAL(result.tree.feature[0], std::int64_t{1});
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("no needless leaf", test_no_needless_leaf);
    check::run("no needless leaf after a stop", test_no_needless_leaf_after_a_stop);
    check::run("categories", test_categories);
    check::run("squared error", test_squared_error);
    check::run("paths of sizes", test_paths_of_sizes);
    check::run("the widest gap", test_the_widest_gap_wins);
    check::run("the purer tree", test_the_purer_tree_wins);
    return check::report();
}
