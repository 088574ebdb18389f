// A fit from end to end: ranks, search, tree, check; and the calling thread as its supervisor.
#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "bounds/class_count.hpp"
#include "search/best_first.hpp"
#include "search/given_tree.hpp"
#include "search/paper.hpp"
#include "search/road.hpp"
#include "tree/build.hpp"

namespace contree {

std::string_view name(Status status) {
    switch (status) {
        case Status::optimal: return "optimal";
        case Status::gap_reached: return "gap_reached";
        case Status::time_limit: return "time_limit";
        case Status::stopped: return "stopped";
        case Status::interrupted: return "interrupted";
        case Status::memory_limit: return "memory_limit";
    }
    return "";
}

namespace {

using Clock = Road::Clock;

// What a fit is asked for.
struct Request {
    const Table& table;
    const Options& options;
    const Tree* first;   // may be null
};

template <class Entry>
void search(const Request& request, const RankedTable& ranked, bool complete, const Control& control, Road& road,
            Result& result) {
    const Options& options = request.options;
    Arena arena;
    const Movers& movers = *chosen_kernel().movers;
    const auto root = root_subproblem<Entry>(ranked, movers, arena);
    road.begin(leaf_errors(root));
    Outcome first;
    if (request.first != nullptr && complete)
        first = given_tree(*request.first, request.table, ranked, root, options.max_depth, movers, arena);
    const auto improved = [&](Score objective, Score lower_bound) {
        road.improved(objective, complete ? lower_bound : 0);
    };
    const auto run_with = [&](auto&& method) {
        const Outcome outcome = method.run();
        result.counters = method.statistics().rows();
        return outcome;
    };
    const Outcome outcome =
        options.search == SearchKind::paper
            ? run_with(PaperSearch<Entry>(root, ranked.rows, options, control, improved, std::move(first)))
            : run_with(BestFirst<Entry>(root, ranked.rows, options, control, improved, std::move(first), road.root_share));
    result.tree = build_tree(ranked, root, outcome.plan, arena);
    result.objective = outcome.upper;
    result.lower_bound = outcome.lower;
}

void run(const Request& request, const Control& control, Road& road, Result& result) {
    const Table& table = request.table;
    const RankedTable ranked = rank_columns(table, request.options.feature_tolerance, control);
    // Abandoned before all columns are sorted: features are left out, and nothing is proved.
    const bool complete = ranked.features == table.features;
    const auto fits_narrow = [&] {
        const auto limit = Packed<NarrowEntry>::limit;
        return ranked.rows <= limit && std::all_of(ranked.values.begin(), ranked.values.end(),
                                                   [&](const Values& v) { return v.lowest.size() < limit; });
    };
    if (fits_narrow()) search<NarrowEntry>(request, ranked, complete, control, road, result);
    else search<WideEntry>(request, ranked, complete, control, road, result);
    if (!complete) result.lower_bound = 0;
    result.errors = verify(result.tree, table);
    if (result.errors != result.objective)
        throw std::logic_error("contree: the tree's errors are not what the search found");
    road.improved(result.objective, result.lower_bound);
}

std::optional<Status> status_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::go_on: return {};
        case Verdict::stop: return Status::stopped;
        case Verdict::interrupt:
        case Verdict::abandon: return Status::interrupted;
    }
    return {};
}

// Runs `action` in a thread and watches over it from this one: the deadline and the poll end it early.
template <class Action>
std::optional<Status> supervise(const Options& options, Control& control, const Poll& poll, Road& road,
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
        const Verdict verdict = poll ? poll(road.look()) : Verdict::go_on;
        ended = status_of(verdict);
        if (!ended && Clock::now() >= deadline) ended = Status::time_limit;
        if (verdict == Verdict::abandon) control.abandon();
        else if (ended) control.stop();
        lock.lock();
    }
    lock.unlock();
    worker.join();
    if (failure) std::rethrow_exception(failure);
    return ended;
}

}  // namespace

Result fit(const Table& table, const Options& options, Control& control, const Poll& poll, const Tree* first) {
    const auto start = Clock::now();
    Result result;
    Road road(start);
    const Request request{table, options, first};
    const auto ended = supervise(options, control, poll, road, start, [&] { run(request, control, road, result); });
    const Score gap = result.objective - result.lower_bound;
    if (gap == 0) result.status = Status::optimal;
    else if (gap <= options.max_gap) result.status = Status::gap_reached;
    else result.status = ended.value_or(Status::interrupted);
    result.seconds = road.seconds();
    // A last look, unless the poll itself has ended the search.
    if (poll && (!ended || ended == Status::time_limit)) {
        Progress last = road.look();
        if (gap <= options.max_gap) last.root_closed = 1;
        poll(last);
    }
    result.history = std::move(road).history();
    return result;
}

}  // namespace contree
