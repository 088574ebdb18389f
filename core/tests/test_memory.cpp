// When memory runs out, at any allocation and in any thread, fit returns the best tree by then with honest
// bounds, or throws std::bad_alloc.  It does not hang, leak or crash, and the next fit is as good as ever.
#include "counting_new.hpp"
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SearchKind;

long trees_kept = 0;  // by fits that ran out of memory

// Runs a fit in which allocation number `at` and the next `times - 1` fail; -1: none fails.  Returns what is
// wrong with its result.  A fit may also end well: a sort, say, can do without the memory that it asks for.
std::string failing_fit(const Instance& data, const Options& options, Score optimum, long at, long times) {
    contree::Control control;
    allocations = 0;
    fail_for = times;
    fail_at = at;
    try {
        const contree::Result result = contree::fit(data.table(), options, control);
        fail_at = -1;
        const bool ended_early = result.status == contree::Status::memory_limit;
        trees_kept += ended_early;
        if (!ended_early && result.objective != optimum) return "not the optimum";
        return result_faults(result, data, options, optimum);
    } catch (const std::bad_alloc&) {
        fail_at = -1;
        return at < 0 ? "ran out of memory by itself" : "";
    }
}

void check_failures(const Options& options, std::int32_t classes) {
    const long kept_before = trees_kept;
    for_seeds(30, [&](Random& random) {
        const Instance data = structured(random, 60, 3, classes, 0, 0.5);
        contree::Control control;
        const Score optimum = contree::fit(data.table(), options, control).objective;
        CHECK_EQUAL(failing_fit(data, options, optimum, -1, 1), "");
        const auto needed = static_cast<std::uint64_t>(allocations.load());
        for (int i = 0; i < 10; ++i) {
            const long before = bytes_in_use;
            const auto at = static_cast<long>(random.below(needed));
            CHECK_EQUAL(failing_fit(data, options, optimum, at, random.chance(0.5) ? 1 : 1 << 30), "");
            CHECK_EQUAL(bytes_in_use.load(), before);
        }
        check_fit(data, options, optimum);
    });
    if (all_seeds()) CHECK(trees_kept > kept_before);
}

// One failure in the middle of a search costs no tree, and a searcher can be run again.
void test_a_searcher_goes_on() {
    for_seeds(20, [](Random& random) {
        const Instance data = structured(random, 60, 3, 2, 0, 0.5);
        Options options;
        options.max_depth = 4;
        contree::Searcher searcher(data.table(), options);
        contree::Control control;
        allocations = 0;
        const Score optimum = searcher.run({}, control).objective;
        const long needed = allocations;
        fail_for = 1;
        allocations = 0;
        fail_at = needed / 4 + static_cast<long>(random.below(static_cast<std::uint64_t>(needed / 2)));
        contree::Result part;
        try {
            part = searcher.run({.resumable = true}, control);
        } catch (const std::bad_alloc&) {  // while the search was set up
        }
        fail_at = -1;
        const bool any = part.tree.size() > 0;
        if (any) CHECK_EQUAL(result_faults(part, data, options, optimum), std::string());
        const contree::Result rest = searcher.run(
            any ? contree::Start{&part.tree, &part.frontier, part.lower_bound} : contree::Start{}, control);
        CHECK_EQUAL(rest.objective, optimum);
        CHECK(rest.status == contree::Status::optimal);
    });
}

void test_one_thread() {
    Options options;
    check_failures(options, 2);
    check_failures(options, 3);
    options.max_depth = 4;
    check_failures(options, 2);
}

void test_paper() {
    Options options;
    options.search = SearchKind::paper;
    check_failures(options, 3);
}

void test_two_threads() {
    Options options;
    options.n_jobs = 2;
    check_failures(options, 2);
    options.max_depth = 4;
    check_failures(options, 3);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("one thread", test_one_thread);
    check::run("the paper's search", test_paper);
    check::run("two threads", test_two_threads);
    check::run("a searcher goes on", test_a_searcher_goes_on);
    return check::report();
}
