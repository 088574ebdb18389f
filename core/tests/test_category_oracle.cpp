// Categorical features against the oracle, which tries every subset: up to six categories, with numbers and
// missing values beside them, and all that a fit can be asked for.
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Options;

void test_oracles_agree() {
    for_seeds(200, [](Random& random) {
        const std::int64_t depth = random.between(1, 2);
        Instance data = draw_mixed(random, 4);
        CHECK(Remembered(data).front(depth).back() == least_errors(data, depth));
    });
}

void test_defaults(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_mixed(random, depth);
        Options options;
        options.max_depth = depth;
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_options(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_mixed(random, depth);
        const Options options = draw_options(random, depth, data);
        check_fit(data, options, optimum_of(data, options));
    });
}

void test_all_sizes(std::int64_t depth, double count) {
    for_seeds(count, [&](Random& random) {
        const Instance data = draw_mixed(random, depth);
        Options options = draw_options(random, depth, data);
        options.all_sizes = true;
        options.error_cost = 1;
        options.leaf_cost = options.max_gap = 0;
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        Front front =
            Remembered(data, static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf)
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
    check::run("oracles agree", test_oracles_agree);
    check::run("defaults of depth one", [] { test_defaults(1, 300); });
    check::run("defaults of depth two", [] { test_defaults(2, 700); });
    check::run("defaults of depth three", [] { test_defaults(3, 700); });
    check::run("options of depth two", [] { test_options(2, 1000); });
    check::run("options of depth three", [] { test_options(3, 1000); });
    check::run("options of depth four", [] { test_options(4, 300); });
    check::run("options of depth five", [] { test_options(5, 100); });
    check::run("all sizes of depth two", [] { test_all_sizes(2, 200); });
    check::run("all sizes of depth three", [] { test_all_sizes(3, 200); });
    return check::report();
}
