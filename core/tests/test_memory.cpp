// When memory runs out, at any allocation and in any thread, fit throws std::bad_alloc.  It does not hang,
// leak or crash, and the next fit is as good as ever.
#include "counting_new.hpp"
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SearchKind;

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
        return result.objective == optimum ? result_faults(result, data, options, optimum)
                                           : "not the optimum";
    } catch (const std::bad_alloc&) {
        fail_at = -1;
        return at < 0 ? "ran out of memory by itself" : "";
    }
}

void check_failures(const Options& options, std::int32_t classes) {
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
    return check::report();
}
