// A fit from end to end: ranks, search, tree, check; and the calling thread as its supervisor.
#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "bounds/class_count.hpp"
#include "search/best_first.hpp"
#include "search/paper.hpp"
#include "tree/build.hpp"
#include "tree/plain.hpp"

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

// The tree that a fit returns, built and verified.  On many rows that takes long, so it is done whenever the search
// finds a better one, and a stop has only to hand out the last; on few rows it is done once, at the end.
template <class Entry>
class Delivery {
public:
    Delivery(const Table& table, const RankedTable& ranked, const Subproblem<Entry>& root, const Options& options,
             const Control& control, Result& result)
        : table_(table), ranked_(ranked), root_(root), options_(options), control_(control), result_(result),
          at_once_(std::uint64_t{root.rows} * root.features >= many_cells) {}

    // Called for each better tree or bound.  Did the result follow?  Not where a stop came first.
    bool improve(const Outcome& incumbent) {
        const bool better = incumbent.upper < result_.objective || result_.tree.size() == 0;
        if (better && at_once_) return deliver(incumbent, result_.tree.size() == 0 ? Halt{} : when_stopped(control_));
        return true;
    }
    void finish(const Outcome& outcome) {
        if (result_.tree.size() == 0 || (outcome.upper < result_.objective && !(at_once_ && control_.stopped())))
            deliver(outcome, {});
        result_.lower_bound = std::min(outcome.lower, result_.objective);
    }

private:
    bool deliver(const Outcome& outcome, const Halt& halt) {
        const Plan plan = plain_plan(root_, outcome.plan, *chosen_kernel().movers, arena_, halt);
        if (plan.empty()) return false;
        Tree tree = build_tree(ranked_, table_, plan, halt);
        if (halt()) return false;
        result_.errors = verify(tree, table_, options_.min_samples_leaf);
        if (result_.errors != outcome.upper)
            throw std::logic_error("contree: the tree's errors are not what the search found");
        result_.tree = std::move(tree);
        result_.objective = outcome.upper;
        return true;
    }

    static constexpr std::uint64_t many_cells = 2'000'000;   // a tree for fewer takes some milliseconds
    const Table& table_;
    const RankedTable& ranked_;
    const Subproblem<Entry>& root_;
    const Options& options_;
    const Control& control_;
    Result& result_;
    const bool at_once_;
    Arena arena_;
};

template <class Entry>
void search(const Table& table, RankedTable& ranked, const Options& options, const Control& control,
            Clock::time_point start, Result& result) {
    Arena arena;
    const auto root = root_subproblem<Entry>(ranked, *chosen_kernel().movers, arena, when_abandoned(control));
    for (Column& column : ranked.columns) {   // the subproblem has them
        column.order = {};
        column.ranks = {};
    }
    Delivery<Entry> delivery(table, ranked, root, options, control, result);
    if (control.abandoned())   // perhaps before all columns were there: nothing can be proved
        return delivery.finish({0, leaf_errors(root), {Step{Step::leaf, 0}}});
    // Every better tree, and better bounds as often as anyone can follow.
    const auto improved = [&](const Outcome& incumbent) {
        constexpr double pause = 0.05;
        if (!delivery.improve(incumbent)) return;
        const double now = seconds_since(start);
        const bool soon = !result.history.empty() && now < result.history.back().seconds + pause;
        if (soon && result.history.back().objective == incumbent.upper) return;
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
    delivery.finish(outcome);
}

void run(const Table& table, const Options& options, const Control& control, Clock::time_point start, Result& result) {
    RankedTable ranked = rank_columns(table, options.feature_tolerance, control);
    ranked.min_leaf = static_cast<Row>(std::clamp<std::int64_t>(options.min_samples_leaf, 1, ranked.rows));
    const bool plain = ranked.weights.empty() && ranked.min_leaf == 1;
    if (!plain && options.search == SearchKind::paper)
        throw std::invalid_argument("the paper's search takes neither weights nor a minimal leaf size");
    const auto fits_narrow = [&] {
        const auto limit = Packed<NarrowEntry>::limit;
        return plain && ranked.rows <= limit &&
               std::all_of(ranked.columns.begin(), ranked.columns.end(),
                           [&](const Column& column) { return column.values.lowest.size() < limit; });
    };
    if (fits_narrow()) search<NarrowEntry>(table, ranked, options, control, start, result);
    else search<WideEntry>(table, ranked, options, control, start, result);
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
