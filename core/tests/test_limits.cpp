// A search that is ended early returns a valid tree and true bounds, soon, whatever the moment and the
// thread.
#include <chrono>
#include <ctime>
#include <thread>
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Control;
using contree::Options;
using contree::Progress;
using contree::Result;
using contree::SearchKind;
using contree::Status;
using contree::Verdict;

// The processor time of all threads: a busy machine takes none of it away.
double processor_seconds_since(std::clock_t start) {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// How much work may follow a stop: the promise is 50 ms, but sanitizers and emulators are slow.
constexpr double patience = CONTREE_TEST_SCALE < 1 ? 3.0 : 0.5;

constexpr SearchKind searches[] = {SearchKind::best_first, SearchKind::paper};

struct Known {
    Instance data;
    Options options;
    Score optimum;
    double seconds;  // of a full run
};

// Sets that take some milliseconds, with their optimum.
std::vector<Known> known_cases() {
    std::vector<Known> cases;
    Random random(7);
    for (const std::int32_t classes : {2, 3}) {
        for (const std::int64_t depth : {2, 3, 4}) {
            Known known;
            known.data = structured(random, depth == 4 ? 120 : 800, 4, classes, 0, 0.6);
            known.options.max_depth = depth;
            Control control;
            const Result result = contree::fit(known.data.table(), known.options, control);
            CHECK_EQUAL(result_faults(result, known.data, known.options, {}), "");
            CHECK(result.status == Status::optimal);
            known.optimum = result.objective;
            known.seconds = result.seconds;
            std::printf("     depth %d, %d classes: %.1f ms\n", static_cast<int>(depth),
                static_cast<int>(classes), 1e3 * result.seconds);
            cases.push_back(std::move(known));
        }
    }
    return cases;
}

const std::vector<Known>& known() {
    static const std::vector<Known> cases = known_cases();
    return cases;
}

void check_ended(const Result& result, const Known& known, const Options& options, Status reason) {
    const std::string faults = result_faults(result, known.data, options, known.optimum);
    if (!faults.empty()) fail("ended early", 0, faults + described(options));
    else ++passed;
    CHECK(result.status == Status::optimal || result.status == reason);
}

Known draw_case(Random& random) {
    Known chosen = known()[random.below(known().size())];
    chosen.options.n_jobs = random.pick({1, 2});
    chosen.options.search = random.pick({SearchKind::best_first, SearchKind::paper});
    return chosen;
}

void test_stop_from_another_thread() {
    for_seeds(120, [](Random& random) {
        const Known chosen = draw_case(random);
        Control control;
        const auto wait = std::chrono::duration<double>(chosen.seconds * random.real() * 1.2);
        const auto end = random.pick({&Control::stop, &Control::hurry, &Control::abandon});
        std::clock_t stopped = 0;
        std::thread other([&] {
            std::this_thread::sleep_for(wait);
            stopped = std::clock();
            (control.*end)();
        });
        const Result result = contree::fit(chosen.data.table(), chosen.options, control);
        const std::clock_t ended = std::clock();
        other.join();
        check_ended(result, chosen, chosen.options, Status::interrupted);
        CHECK_AT_MOST(static_cast<double>(ended - stopped) / CLOCKS_PER_SEC, patience);
    });
}

void test_stopped_before() {
    for_seeds(30, [](Random& random) {
        const Known chosen = draw_case(random);
        Control control;
        (control.*random.pick({&Control::stop, &Control::hurry, &Control::abandon}))();
        check_ended(contree::fit(chosen.data.table(), chosen.options, control), chosen, chosen.options,
            Status::interrupted);
    });
}

void test_time_limits() {
    for_seeds(120, [](Random& random) {
        const Known chosen = draw_case(random);
        Options options = chosen.options;
        options.time_limit = random.chance(0.2) ? 0 : chosen.seconds * random.real() * 1.2;
        Control control;
        const std::clock_t start = std::clock();
        const Result result = contree::fit(chosen.data.table(), options, control);
        CHECK_AT_MOST(processor_seconds_since(start), options.n_jobs * options.time_limit + patience);
        check_ended(result, chosen, options, Status::time_limit);
    });
}

// A limit that is past already: the same result every time.
void test_no_time() {
    for_seeds(30, [](Random& random) {
        const Instance data = structured(random, 200, 4, 3, 0, 0.6);
        Options options;
        options.max_depth = random.between(2, 6);
        options.time_limit = 0;
        Control control;
        const Result first = fit(data.table(), options, control);
        for (int again = 0; again < 3; ++again) {
            Control other;
            const Result second = fit(data.table(), options, other);
            CHECK(second.tree.feature == first.tree.feature && second.tree.threshold == first.tree.threshold);
            CHECK_EQUAL(second.lower_bound, first.lower_bound);
            CHECK(second.status == first.status);
        }
    });
}

// Whatever the verdict, it is obeyed at once and asked for no more; and what a poll is shown holds at that
// moment.
void test_poll() {
    for_seeds(40, [](Random& random) {
        const Known chosen = draw_case(random);
        const Verdict verdict = random.pick({Verdict::stop, Verdict::interrupt, Verdict::abandon});
        const int last = static_cast<int>(random.between(1, 3));
        const auto caller = std::this_thread::get_id();
        Control control;
        int calls = 0;
        bool own_thread = true, in_order = true;
        Progress before{0, contree::no_objective, 0, 0};
        const Result result =
            contree::fit(chosen.data.table(), chosen.options, control, [&](const Progress& now) {
                own_thread &= std::this_thread::get_id() == caller;
                in_order &= before.seconds <= now.seconds && now.objective <= before.objective &&
                            before.lower_bound <= now.lower_bound && now.lower_bound <= chosen.optimum &&
                            chosen.optimum <= now.objective && 0 <= now.root_closed && now.root_closed <= 1;
                before = now;
                return ++calls >= last ? verdict : Verdict::go_on;
            });
        CHECK(own_thread);
        CHECK(in_order);
        CHECK_AT_MOST(calls, last);
        CHECK_AT_MOST(1, calls);
        check_ended(
            result, chosen, chosen.options, verdict == Verdict::stop ? Status::stopped : Status::interrupted);
    });
}

// The last look shows the result; the root's share is counted on the way there, on sets that take long enough
// for a look.
void test_last_look() {
    for (const int jobs : {1, 2}) {
        double shown = 0;
        for (std::size_t rows = 100; shown == 0 && rows <= 64'000; rows *= 2) {
            Random random(3);
            const Instance data = structured(random, rows, 8, 2, 0, 0.6);
            Options options;
            options.n_jobs = jobs;
            Control control;
            Progress last{};
            const Result result = contree::fit(data.table(), options, control, [&](const Progress& now) {
                if (now.root_closed < 1) shown = std::max(shown, now.root_closed);
                last = now;
                return Verdict::go_on;
            });
            CHECK(result.status == Status::optimal);
            CHECK_EQUAL(last.objective, result.objective);
            CHECK_EQUAL(last.lower_bound, result.lower_bound);
            CHECK_EQUAL(last.root_closed, 1.0);
        }
        CHECK(shown > 0);
    }
}

// Sets that no search ends on: each stage, from the first sort on, must see the stop.
void test_large_sets() {
    for_seeds(2, [](Random& random) {
        Known large;
        large.data = structured(random, 30000, 12, static_cast<std::int32_t>(random.pick({2, 5})), 0, 0.5);
        large.optimum = 0;
        for (const double limit : {0.0, 0.005, 0.03, 0.1, 0.3}) {
            for (const SearchKind search : searches) {
                Options options;
                options.search = search;
                options.max_depth = random.between(2, 6);
                options.n_jobs = random.pick({1, 2});
                options.time_limit = limit;
                Control control;
                const std::clock_t start = std::clock();
                const Result result = contree::fit(large.data.table(), options, control);
                const double taken = processor_seconds_since(start);
                CHECK_AT_MOST(taken, options.n_jobs * (limit + 2 * patience));
                CHECK_EQUAL(result_faults(result, large.data, options, {}), "");
                CHECK(result.status == Status::optimal || result.status == Status::time_limit);
            }
        }
    });
}

// Whoever is in a hurry does not wait for CART's tree: what is split by then is kept, the rest are leaves.
// Before the start that is a leaf; with more and more time, however slow the machine, it becomes a tree.
void test_hurry() {
    Random random(11);
    const Instance data = structured(random, 20000, 12, 3, 0, 0.5);
    Options options;
    options.max_depth = 6;
    const auto hurried_after = [&](std::chrono::duration<double> delay) {
        Control control;
        if (delay.count() == 0) control.hurry();
        std::thread other([&] {
            std::this_thread::sleep_for(delay);
            control.hurry();
        });
        const std::clock_t start = std::clock();
        const Result result = contree::fit(data.table(), options, control);
        const double taken = processor_seconds_since(start);
        other.join();
        CHECK_AT_MOST(taken, delay.count() + patience);
        CHECK_EQUAL(result_faults(result, data, options, {}), "");
        CHECK(result.status == Status::interrupted);
        return result.tree.size();
    };
    using Milliseconds = std::chrono::duration<double, std::milli>;
    CHECK_EQUAL(hurried_after(Milliseconds(0)), std::size_t{1});
    std::size_t most = 1;
    for (double delay = 1; most <= 3 && delay < 60'000; delay *= 1.6)
        most = hurried_after(Milliseconds(delay));
    CHECK(most > 3);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("full runs", [] { known(); });
    check::run("a stop from another thread", test_stop_from_another_thread);
    check::run("a stop before the start", test_stopped_before);
    check::run("time limits", test_time_limits);
    check::run("no time at all", test_no_time);
    check::run("poll", test_poll);
    check::run("last look", test_last_look);
    check::run("large sets", test_large_sets);
    check::run("in a hurry", test_hurry);
    return check::report();
}
