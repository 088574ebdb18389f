// A fit from end to end: ranks, search, tree, check; and the calling thread as its supervisor.
#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "search/best_first.hpp"
#include "search/paper.hpp"
#include "tree/build.hpp"

namespace contree {

std::string_view name(Status status) {
    switch (status) {
        case Status::optimal: return "optimal";
        case Status::gap_reached: return "gap_reached";
        case Status::time_limit: return "time_limit";
        case Status::interrupted: return "interrupted";
        case Status::memory_limit: return "memory_limit";
    }
    return "";
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class Entry>
void search(const RankedTable& ranked, const Options& options, const Control& control, Clock::time_point start,
            Result& result) {
    Arena arena;
    const auto root = root_subproblem<Entry>(ranked, *chosen_kernel().movers, arena);
    // Every better tree, and better bounds as often as anyone can follow.
    const auto improved = [&](const Outcome& incumbent) {
        constexpr double pause = 0.05;
        const double now = seconds_since(start);
        if (!result.history.empty() && result.history.back().objective == incumbent.upper && now < result.history.back().seconds + pause)
            return;
        result.history.push_back({now, incumbent.upper, std::min(incumbent.lower, incumbent.upper)});
    };
    const auto run_with = [&](auto&& method) {
        const Outcome outcome = method.run();
        result.counters = method.statistics().rows();
        return outcome;
    };
    const Outcome outcome = options.search == SearchKind::paper
                                ? run_with(PaperSearch<Entry>(root, ranked.rows, options, control, improved))
                                : run_with(BestFirst<Entry>(root, ranked.rows, options, control, improved));
    result.tree = build_tree(ranked, root, outcome.plan, arena);
    result.objective = outcome.upper;
    result.lower_bound = outcome.lower;
}

void run(const Table& table, const Options& options, const Control& control, Clock::time_point start, Result& result) {
    const RankedTable ranked = rank_columns(table, options.feature_tolerance, control);
    // Abandoned before all columns are sorted: features are left out, and nothing is proved.
    const bool complete = ranked.features == table.features;
    const auto fits_narrow = [&] {
        const auto limit = Packed<NarrowEntry>::limit;
        return ranked.rows <= limit && std::all_of(ranked.values.begin(), ranked.values.end(),
                                                   [&](const Values& v) { return v.lowest.size() < limit; });
    };
    if (fits_narrow()) search<NarrowEntry>(ranked, options, control, start, result);
    else search<WideEntry>(ranked, options, control, start, result);
    if (!complete) result.lower_bound = 0;
    result.errors = verify(result.tree, table);
    if (result.errors != result.objective)
        throw std::logic_error("contree: the tree's errors are not what the search found");
    result.history.push_back({seconds_since(start), result.objective, result.lower_bound});
}

// Runs `action` in a thread and watches over it from this one: the deadline and the poll end it early.
template <class Action>
std::optional<Status> supervise(const Options& options, Control& control, const std::function<bool()>& poll,
                                Clock::time_point start, const Action& action) {
    std::exception_ptr failure;
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::optional<Status> ended;
    std::jthread worker([&] {
        try {
            action();
        } catch (...) {
            failure = std::current_exception();
        }
        std::lock_guard lock(mutex);
        done = true;
        finished.notify_one();
    });
    constexpr auto interval = std::chrono::milliseconds(20);
    const bool limited = options.time_limit < 1e9;
    const auto deadline = limited ? start + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(options.time_limit))
                                  : Clock::time_point::max();
    std::unique_lock lock(mutex);
    while (!done) {
        finished.wait_until(lock, std::min(deadline, Clock::now() + interval), [&] { return done; });
        if (done || ended) continue;
        lock.unlock();
        if (poll && poll()) ended = Status::interrupted;
        else if (Clock::now() >= deadline) ended = Status::time_limit;
        if (ended == Status::interrupted) control.abandon();
        else if (ended) control.stop();
        lock.lock();
    }
    lock.unlock();
    worker.join();
    if (failure) std::rethrow_exception(failure);
    return ended;
}

}  // namespace

Result fit(const Table& table, const Options& options, Control& control, const std::function<bool()>& poll) {
    const auto start = Clock::now();
    Result result;
    const auto ended = supervise(options, control, poll, start, [&] { run(table, options, control, start, result); });
    if (result.lower_bound == result.objective) result.status = Status::optimal;
    else if (result.objective - result.lower_bound <= options.max_gap) result.status = Status::gap_reached;
    else result.status = ended.value_or(Status::interrupted);
    result.seconds = seconds_since(start);
    return result;
}

}  // namespace contree
