// More of a budget is never worse: more work, a greater depth, more leaves.  The budget is a number of
// allocations, because that is the same on every machine; the search is stopped at the last one.
#include "counting_new.hpp"
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Control;
using contree::Options;
using contree::Result;

// Which moments are in the history depends on the clock, so their memory does; it is far less than this.
constexpr long slack = 40;

std::atomic<Control*> running{nullptr};

Result stopped_fit(const Instance& data, const Options& options, long budget) {
    Control control;
    running = &control;
    called = [] { running.load()->stop(); };
    allocations = 0;
    call_at = budget;
    Result result = contree::fit(data.table(), options, control);
    call_at = -1;
    return result;
}

// The best objective of the search itself: what is returned is simplified, and may be better by chance.
Score found_by_search(const Result& result) {
    const std::size_t moments = result.history.size();
    return moments < 2 ? result.objective : result.history[moments - 2].objective;
}

// How many allocations a whole fit takes.
long needed(const Instance& data, const Options& options) {
    stopped_fit(data, options, -1);
    return allocations;
}

Instance draw_instance(Random& random) {
    Instance data = structured(random, random.between(25, 60), random.between(2, 4), 3, 0, 0.5);
    if (!random.chance(0.3)) return data;
    for (std::size_t r = 0; r < data.rows; ++r)
        data.targets.push_back(3 * data.labels[r] + random.between(-2, 2));
    return data;
}

Options path_options(std::int64_t depth, std::int64_t leaves = 0) {
    Options options;
    options.all_sizes = true;
    options.max_depth = depth;
    options.max_leaves = leaves;
    return options;
}

Score loss_of(const Result& path, std::size_t leaves) {
    return path.sizes[std::min(leaves, path.sizes.size()) - 1].loss;
}

// A path of more sizes cuts each tree back to more of them, and that takes memory, but next to no time.
long with_more_sizes(long budget) { return 4 * budget + 2000; }

// Is no size of `path` worse than the same of `other`?
void check_no_worse(const char* what, const Result& path, const Result& other) {
    for (std::size_t leaves = 1; leaves <= other.sizes.size(); ++leaves)
        if (loss_of(path, leaves) > loss_of(other, leaves))
            fail(what, 0,
                std::to_string(leaves) + " leaves lose " + std::to_string(loss_of(path, leaves)) + " > " +
                    std::to_string(loss_of(other, leaves)));
        else ++passed;
}

long some_budget(Random& random, long most) {
    return static_cast<long>(std::pow(static_cast<double>(most), random.real()));
}

void test_fits_with_more_work() {
    for_seeds(40, [](Random& random) {
        const Instance data = draw_instance(random);
        Options options;
        options.max_depth = random.between(2, 4);
        options.max_leaves = random.chance(0.3) ? random.between(4, 9) : 0;
        options.leaf_cost = random.chance(0.3) ? 1 : 0;
        const long most = needed(data, options);
        const long less = some_budget(random, most), more = less + slack + some_budget(random, most);
        CHECK_AT_MOST(found_by_search(stopped_fit(data, options, more)),
            found_by_search(stopped_fit(data, options, less)));
    });
}

void test_paths_with_more_work() {
    for_seeds(40, [](Random& random) {
        const Instance data = draw_instance(random);
        const Options options = path_options(random.between(2, 4), random.chance(0.3) ? 6 : 0);
        const long most = needed(data, options);
        const long less = some_budget(random, most), more = less + slack + some_budget(random, most);
        check_no_worse("more work", stopped_fit(data, options, more), stopped_fit(data, options, less));
    });
}

void test_deeper_paths() {
    for_seeds(80, [](Random& random) {
        const Instance data = draw_instance(random);
        const std::int64_t depth = random.between(1, 3);
        const Options shallow = path_options(depth), deep = path_options(random.between(depth + 1, 4));
        const long budget = some_budget(random, 2 * needed(data, shallow));
        check_no_worse("more depth", stopped_fit(data, deep, with_more_sizes(budget)),
            stopped_fit(data, shallow, budget));
    });
}

void test_paths_of_more_leaves() {
    for_seeds(40, [](Random& random) {
        const Instance data = draw_instance(random);
        const std::int64_t leaves = random.between(1, 7);
        const Options few = path_options(3, leaves), many = path_options(3, random.between(leaves + 1, 8));
        const long budget = some_budget(random, 2 * needed(data, few));
        check_no_worse(
            "more leaves", stopped_fit(data, many, with_more_sizes(budget)), stopped_fit(data, few, budget));
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("fits with more work", test_fits_with_more_work);
    check::run("paths with more work", test_paths_with_more_work);
    check::run("deeper paths", test_deeper_paths);
    check::run("paths of more leaves", test_paths_of_more_leaves);
    return check::report();
}
