// A fit from end to end: the calling thread supervises a session in another one.
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include "data/joining_thread.hpp"
#include "session.hpp"

namespace contree {
std::string_view name(Status status) {
    constexpr std::string_view names[] = {
        "optimal", "gap_reached", "time_limit", "stopped", "interrupted", "memory_limit", "cutoff"};
    return names[static_cast<std::size_t>(status)];
}

namespace {
using Clock = ProgressLog::Clock;

constexpr auto poll_interval = std::chrono::milliseconds(20);

void check_start(const Options& options, const Start& start) {
    const bool frontier = start.frontier != nullptr || start.open_only || start.resumable;
    if (options.search == SearchKind::paper && frontier)
        throw std::invalid_argument("a frontier goes with best_first alone");
    if (options.all_sizes && frontier)
        throw std::invalid_argument("a frontier goes with one size, not with all_sizes");
}

// Does what the caller wants of a running search; the status that it then ends with.
std::optional<Status> obey(Verdict verdict, Control& control) {
    if (verdict == Verdict::go_on) return {};
    if (verdict == Verdict::stop) return control.stop(), Status::stopped;
    if (verdict == Verdict::interrupt) return control.hurry(), Status::interrupted;
    return control.abandon(), Status::interrupted;
}

// Runs `action` in this thread, which also calls `look` as often as another one would.
template <class Action, class Look>
void run_unwatched(Control& control, const Action& action, const Look& look) {
    auto next_look = Clock::now();
    control.watch_by([&, self = std::this_thread::get_id()] {
        if (std::this_thread::get_id() != self || Clock::now() < next_look) return;
        next_look = Clock::time_point::max();  // `look` does not look
        look();
        next_look = Clock::now() + poll_interval;
    });
    action();
    control.watch_by({});
}

// Runs `action` in a thread and watches over it: the deadline and the poll end it early.  A deadline in the
// past stops it before it starts, so that there is no race.  After the deadline the poll may still abandon
// the rest.
template <class Action> std::optional<Status> supervise(const Options& options, Control& control,
    const Poll& poll, ProgressLog& log, Clock::time_point start, const Action& action) {
    std::exception_ptr failure;
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::optional<Status> ended;
    const std::chrono::duration<double> limit(options.time_limit);
    const auto deadline = options.time_limit < 1e9
                              ? start + std::chrono::duration_cast<Clock::duration>(limit)
                              : Clock::time_point::max();
    const auto look_at_clock = [&] {
        if (ended || Clock::now() < deadline) return;
        ended = Status::time_limit;
        control.stop();
    };
    const auto look = [&] {
        look_at_clock();
        const bool wanted = poll && (!ended || ended == Status::time_limit);
        const Verdict verdict = wanted ? poll(log.look()) : Verdict::go_on;
        const std::optional<Status> now = obey(verdict, control);
        if (!ended || verdict == Verdict::abandon) ended = now;
    };
    const auto caught = [&] {
        try {
            action();
        } catch (...) {
            failure = std::current_exception();
        }
    };
    look_at_clock();
    JoiningThread worker;
    try {
        worker = JoiningThread([&] {
            caught();
            std::lock_guard lock(mutex);
            done = true;
            finished.notify_one();
        });
    } catch (const std::system_error&) {
        run_unwatched(control, caught, look);
        done = true;
    }
    std::unique_lock lock(mutex);
    while (!done) {
        const auto next_look = Clock::now() + poll_interval;
        finished.wait_until(lock, ended ? next_look : std::min(deadline, next_look), [&] { return done; });
        if (done) break;
        lock.unlock();
        look();
        lock.lock();
    }
    lock.unlock();
    if (worker.joinable()) worker.join();
    if (failure) std::rethrow_exception(failure);
    return ended;
}

void conclude(Result& result, const Options& options, const Control& control, const Start& start,
    std::optional<Status> ended) {
    Score gap = result.objective - result.lower_bound;
    for (const SizedTree& size : result.sizes) gap = std::max(gap, size.loss - size.lower_bound);
    if (gap == 0) result.status = Status::optimal;
    else if (gap <= options.max_gap) result.status = Status::gap_reached;
    else if (control.cutoff() - options.max_gap <= result.lower_bound) result.status = Status::cutoff;
    else if (result.status != Status::memory_limit)
        result.status = ended.value_or(start.open_only ? Status::stopped : Status::interrupted);
    const bool closed = gap <= options.max_gap || result.status == Status::cutoff;
    if (start.resumable && closed) result.frontier = {result.frontier.depth, result.lower_bound, {}};
}
}  // namespace

struct Searcher::Implementation {
    // What was abandoned while it was made may not be whole, and serves this once.
    std::shared_ptr<Session> session(const Control& control) {
        if (made != nullptr) return made;
        auto now = std::make_shared<Session>(table, options, control);
        if (control.abandoned()) return now;
        std::lock_guard lock(mutex);
        return made = std::move(now);
    }

    const Table table;
    const Options options;
    std::mutex mutex = {};
    std::shared_ptr<Session> made = {};
};

Searcher::Searcher(const Table& table, const Options& options)
    : implementation_(new Implementation{table, options}) {}
Searcher::~Searcher() = default;

Result Searcher::run(const Start& start, Control& control, double time_limit, const Poll& poll) {
    const auto begin = Clock::now();
    Result result;
    Options options = implementation_->options;
    options.time_limit = time_limit;
    ProgressLog log(begin, options.leaf_cost);
    const auto ended = supervise(options, control, poll, log, begin, [&] {
        check_start(options, start);
        implementation_->session(control)->search(
            {implementation_->table, options, start}, control, log, result);
    });
    conclude(result, options, control, start, ended);
    result.seconds = log.seconds();
    // A last look, unless the poll itself has ended the search.
    if (poll && (!ended || ended == Status::time_limit)) {
        Progress last = log.look();
        if (result.status == Status::optimal || result.status == Status::gap_reached) last.root_closed = 1;
        poll(last);
    }
    result.history = std::move(log).history();
    return result;
}

Snapshot Searcher::snapshot() {
    Snapshot now{{}, no_objective, 0, {}};
    std::unique_lock lock(implementation_->mutex);
    const std::shared_ptr<Session> session = implementation_->made;
    lock.unlock();
    if (session != nullptr) session->snapshot({implementation_->table, implementation_->options, {}}, now);
    return now;
}

Frontier Searcher::split(const Frontier& frontier, std::size_t parts) {
    return implementation_->session(Control())->split(implementation_->options, frontier, parts);
}

Result fit(
    const Table& table, const Options& options, Control& control, const Poll& poll, const Tree* first) {
    return Searcher(table, options).run({.first = first}, control, options.time_limit, poll);
}
}  // namespace contree
