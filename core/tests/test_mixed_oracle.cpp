// All that a fit can be asked for, drawn at once, against the oracle: costs, limits, weights, leaf sizes,
// missing values, all sizes, and search options that make every rule work on few rows.
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Options;

void test_one_tree(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_data(random, depth);
        Options options = draw_options(random, depth, data);
        if (random.chance(0.5))
            options.time_limit = 29;  // a short one, which has its own way to bounds; never reached
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_all_sizes(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_data(random, depth);
        Options options = draw_options(random, depth, data);
        options.all_sizes = true;
        options.error_cost = 1;
        options.leaf_cost = options.max_gap = 0;
        // Without a cache all sizes take so long that the limit is reached.
        options.switches.cache_bytes = contree::Switches{}.cache_bytes;
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        Front front = Swept(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
                          .front(depth);
        if (options.max_leaves > 0 && std::cmp_less(options.max_leaves, front.size()))
            front.resize(static_cast<std::size_t>(options.max_leaves));
        while (front.size() > 1 && front.back() == front[front.size() - 2]) front.pop_back();
        Front errors, bounds;
        for (const contree::SizedTree& size : result.sizes) {
            errors.push_back(size.loss);
            bounds.push_back(size.lower_bound);
        }
        CHECK(errors == front);
        CHECK(bounds == front);
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("depth two", [] { test_one_tree(2, 1000); });
    check::run("depth three", [] { test_one_tree(3, 1000); });
    check::run("depth four", [] { test_one_tree(4, 300); });
    check::run("depth five", [] { test_one_tree(5, 80); });
    check::run("all sizes of depth two", [] { test_all_sizes(2, 300); });
    check::run("all sizes of depth three", [] { test_all_sizes(3, 300); });
    check::run("all sizes of depth four", [] { test_all_sizes(4, 150); });
    check::run("all sizes of depth five", [] { test_all_sizes(5, 40); });
    return check::report();
}
