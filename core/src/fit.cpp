// A fit from end to end: ranks, search, tree, check; and the calling thread as its supervisor.
#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "bounds/class_count.hpp"
#include "search/best_first.hpp"
#include "search/first_trees.hpp"
#include "search/given_tree.hpp"
#include "search/paper.hpp"
#include "search/prune.hpp"
#include "search/road.hpp"
#include "search/split_frontier.hpp"
#include "tree/build.hpp"
#include "tree/plain.hpp"

namespace contree {

std::string_view name(Status status) {
    switch (status) {
        case Status::optimal: return "optimal";
        case Status::gap_reached: return "gap_reached";
        case Status::time_limit: return "time_limit";
        case Status::stopped: return "stopped";
        case Status::interrupted: return "interrupted";
        case Status::memory_limit: return "memory_limit";
        case Status::cutoff: return "cutoff";
    }
    return "";
}

namespace {

using Clock = Road::Clock;

constexpr Score most_mass = Score{1} << 60;

// What a search is asked for.
struct Request {
    const Table& table;
    const Options& options;
    const Start& start;
};

// A tree of a plan, not verified; empty after a halt.
template <class Entry>
Tree tree_of(const Request& request, const RankedTable& ranked, const Subproblem<Entry>& root, const Outcome& outcome, Arena& arena, const Halt& halt) {
    const Plan plan = plain_plan(root, outcome.plan, *chosen_kernel().movers, arena, halt);
    return plan.empty() ? Tree{} : build_tree(ranked, request.table, plan, objective_of(request.options), halt);
}

// The tree that a fit returns, built and verified.  On many rows that takes long, so it is done whenever the search
// finds a better one, and a stop has only to hand out the last; on few rows it is done once, at the end.
template <class Entry>
class Delivery {
public:
    Delivery(const Request& request, const RankedTable& ranked, const Subproblem<Entry>& root, const Control& control,
             Road& road, Result& result)
        : request_(request), ranked_(ranked), root_(root), control_(control), road_(road), result_(result),
          at_once_(std::uint64_t{root.rows} * root.features >= many_cells) {}

    bool at_once() const { return at_once_; }

    // Called for each better tree or bound.  Where a stop comes first the result does not follow.
    void improve(const Outcome& incumbent) {
        const bool better = incumbent.upper < best_ || result_.tree.size() == 0;
        if (better && at_once_ && !deliver(incumbent, result_.tree.size() == 0 ? when_abandoned(control_) : when_stopped(control_))) return;
        road_.improved(incumbent.upper, std::min(incumbent.lower, incumbent.upper));
    }
    void finish(const Outcome& outcome) {
        const bool hurried = at_once_ && control_.stopped() && !request_.start.resumable;
        if (result_.tree.size() == 0 || (outcome.upper < best_ && !hurried))
            if (!deliver(outcome, hurried ? when_abandoned(control_) : Halt{})) best_ = outcome.upper;
        const Score lower = std::min(outcome.lower, best_);
        result_.objective = best_ + request_.options.leaf_cost;   // of the leaf that a tree without splits is
        result_.lower_bound = lower + request_.options.leaf_cost;
        road_.end(best_, lower);
    }

    void add_size(const Outcome& outcome) {
        SizedTree size;
        make(outcome, static_cast<Leaves>(result_.sizes.size() + 1), {}, size.tree, size.errors);
        size.lower_bound = std::min(outcome.lower, size.errors);
        result_.sizes.push_back(std::move(size));
    }

private:
    bool deliver(const Outcome& outcome, const Halt& halt) {
        if (!make(outcome, leaves_of(request_.options), halt, result_.tree, result_.errors)) return false;
        best_ = outcome.upper;
        return true;
    }

    // Builds and verifies a tree; after a halt nothing is there.
    bool make(const Outcome& outcome, Leaves leaves, const Halt& halt, Tree& made, Score& made_errors) {
        if (halt()) return false;
        Tree tree = tree_of(request_, ranked_, root_, outcome, arena_, halt);
        if (tree.size() == 0 || halt()) return false;
        const Objective objective = objective_of(request_.options);
        const Score errors = verify(tree, request_.table, ranked_.min_leaf, halt);
        if (halt()) return false;
        const auto splits = static_cast<std::int64_t>(tree.size() / 2);
        if (objective.of(errors, splits) != outcome.upper) throw std::logic_error("contree: the tree's objective is not what the search found");
        if (splits >= leaves) throw std::logic_error("contree: a tree with too many leaves");
        made_errors = errors;
        made = std::move(tree);
        return true;
    }

    static constexpr std::uint64_t many_cells = 2'000'000;   // a tree for fewer takes some milliseconds
    const Request& request_;
    const RankedTable& ranked_;
    const Subproblem<Entry>& root_;
    const Control& control_;
    Road& road_;
    Result& result_;
    const bool at_once_;
    Score best_ = 0;   // of result_.tree
    Arena arena_;
};

// Ranked rows, and what searches of them leave behind.
class Session {
public:
    virtual ~Session() = default;
    virtual void search(const Request& request, const Control& control, Road& road, Result& result) = 0;
    virtual void snapshot(const Request& request, Snapshot& now) = 0;
    virtual Frontier split(const Options& options, const Frontier& frontier, std::size_t parts) const = 0;
};

template <class Entry>
class SessionOf : public Session {
public:
    SessionOf(RankedTable ranked, const Options& options, const Control& control)
        : ranked_(std::move(ranked)), root_(root_subproblem<Entry>(ranked_, movers_, arena_, when_abandoned(control))),
          cache_(ranked_.rows, options.cache_capacity()) {}

    void search(const Request& request, const Control& control, Road& road, Result& result) override {
        const Options& options = request.options;
        Arena arena;
        Delivery<Entry> delivery(request, ranked_, root_, control, road, result);
        const Outcome leaf{0, leaf_score(root_, objective_of(options)), {Step{Step::leaf, 0}}};
        if (control.abandoned()) return delivery.finish(leaf);   // perhaps before all columns were there: nothing can be proved
        road.begin(leaf.upper);
        Outcome first;
        if (request.start.first != nullptr) {
            first = given_tree(*request.start.first, request.table, ranked_, root_, options.max_depth, movers_, arena);
            first = pruned(root_, first.plan, objective_of(options), leaves_of(options));
        }
        first.lower = std::max<Score>(0, request.start.lower_bound - options.leaf_cost);
        const auto improved = [&](const Outcome& incumbent) { delivery.improve(incumbent); };
        if (options.search == SearchKind::paper) {
            // The published search, until it is stopped; then the result is no worse than CART's tree, as in the other search.
            // Where a tree that comes after the stop is too late, CART's is there before.
            const auto better_of = [&](const Outcome& known) {
                const Outcome cart = greedy_tree(root_, options.max_depth, objective_of(options), movers_, arena, when_hurried(control));
                const Outcome tree = pruned(root_, cart.plan, objective_of(options), leaves_of(options));
                return tree.upper < known.upper ? Outcome{known.lower, tree.upper, tree.plan} : known;
            };
            if (delivery.at_once()) first = better_of(first);
            PaperSearch<Entry> method(root_, ranked_.rows, options, control, improved, std::move(first));
            Outcome found = method.run();
            if (!delivery.at_once() && !found.proved() && control.stopped() && !control.abandoned()) improved(found = better_of(found));
            delivery.finish(found);
            result.counters = method.statistics().rows();
            return;
        }
        const Frontier whole;
        BestFirst<Entry> method(root_, cache_, memories_, options, control, improved, std::move(first),
                                request.start.frontier != nullptr ? *request.start.frontier : whole, request.start, road.root_share);
        const Shown shown(*this, method);
        delivery.finish(method.run());
        if (request.start.resumable) result.frontier = method.snapshot().first;
        result.counters = method.statistics().rows();
        for (const Outcome& size : method.sizes()) delivery.add_size(size);
    }

    // A tree is built once: a better one has a smaller objective.
    void snapshot(const Request& request, Snapshot& now) override {
        std::lock_guard building(build_mutex_);
        Outcome incumbent;
        {
            std::lock_guard lock(mutex_);
            if (method_ == nullptr) return;
            std::tie(now.frontier, incumbent) = method_->snapshot();
        }
        if (incumbent.plan.empty()) return;
        if (built_.first != incumbent.upper) {
            Arena arena;
            built_ = {incumbent.upper, tree_of(request, ranked_, root_, incumbent, arena, {})};
        }
        now.tree = built_.second;
        now.objective = incumbent.upper + request.options.leaf_cost;
        now.lower_bound = std::min(incumbent.lower, incumbent.upper) + request.options.leaf_cost;
    }

    Frontier split(const Options& options, const Frontier& frontier, std::size_t parts) const override {
        return split_frontier(root_, options, frontier, parts);
    }

private:
    // A running search, for `snapshot`.
    struct Shown {
        Shown(SessionOf& session, BestFirst<Entry>& method) : session_(session) {
            std::lock_guard lock(session_.mutex_);
            session_.method_ = &method;
        }
        ~Shown() {
            std::lock_guard lock(session_.mutex_);
            session_.method_ = nullptr;
        }
        Shown(const Shown&) = delete;
        SessionOf& session_;
    };

    const Movers& movers_ = *chosen_kernel().movers;
    RankedTable ranked_;
    Arena arena_;
    const Subproblem<Entry> root_;
    Cache cache_;
    RootMemories memories_;
    std::mutex mutex_;
    BestFirst<Entry>* method_ = nullptr;
    std::mutex build_mutex_;
    std::pair<Score, Tree> built_{unreached, {}};   // the last tree that `snapshot` has built, and what it scores
};

void check_weights(const Table& table) {
    if (table.weights == nullptr) return;
    Score mass = 0;
    for (std::size_t r = 0; r < table.rows; ++r) {
        if (table.weights[r] < 1 || table.weights[r] >= most_mass - mass)
            throw std::invalid_argument("weights must be at least 1 and below 2^60 in all");
        mass += table.weights[r];
    }
}

// No score on the way is more than a leaf for all rows and a split, and the objective has a leaf's cost besides.
void check_costs(const Table& table, const Options& options) {
    Score mass = static_cast<Score>(table.rows);
    if (table.weights != nullptr) mass = std::accumulate(table.weights, table.weights + table.rows, Score{0});
    const bool fits = options.error_cost >= 1 && options.leaf_cost >= 0 && options.error_cost <= (most_mass - 1) / mass &&
                      options.leaf_cost <= (most_mass - 1 - options.error_cost * mass) / 2;
    if (!fits) throw std::invalid_argument("error_cost must be at least 1, leaf_cost at least 0, and an error on every row and two leaves must cost less than 2^60");
    if (options.all_sizes && (options.leaf_cost != 0 || options.error_cost != 1 || options.search == SearchKind::paper))
        throw std::invalid_argument("all_sizes goes with errors alone, and with best_first");
    if (options.max_leaves < 0) throw std::invalid_argument("max_leaves must be at least 0");
}

// What a leaf must have, without what follows from the rest: rows that weigh one each are counted, and a leaf that has the
// rows may weigh enough in any case, or the other way round.
LeafSize leaf_size_of(const Options& options, const RankedTable& ranked) {
    const auto rows = [&](std::int64_t wanted) { return static_cast<Row>(std::clamp<std::int64_t>(wanted, 1, std::max<Row>(1, ranked.rows))); };
    if (ranked.weights.empty()) return {rows(std::max(options.min_samples_leaf, options.min_weight_leaf)), 0};
    LeafSize leaf{rows(options.min_samples_leaf), options.min_weight_leaf};
    const auto [least, largest] = std::minmax_element(ranked.weights.begin(), ranked.weights.end());
    if (leaf.mass <= *least * leaf.rows) leaf.mass = 0;
    else if ((leaf.mass - 1) / *largest >= leaf.rows - 1) leaf.rows = 1;
    return leaf;
}

void check_start(const Options& options, const Start& start) {
    if (options.search == SearchKind::paper && (start.frontier != nullptr || start.open_only || start.resumable))
        throw std::invalid_argument("a frontier goes with best_first alone");
    if (options.all_sizes && (start.frontier != nullptr || start.open_only || start.resumable))
        throw std::invalid_argument("a frontier goes with one size, not with all_sizes");
}

std::unique_ptr<Session> open_session(const Table& table, const Options& options, const Control& control) {
    check_weights(table);
    check_costs(table, options);
    RankedTable ranked = rank_columns(table, options.feature_tolerance, control);
    ranked.min_leaf = leaf_size_of(options, ranked);
    const auto fits_narrow = [&] {
        const auto limit = Packed<NarrowEntry>::limit;
        return ranked.weights.empty() && ranked.min_leaf.any() && ranked.rows <= limit &&
               std::all_of(ranked.columns.begin(), ranked.columns.end(),
                           [&](const Column& column) { return column.values.lowest.size() < limit; });
    };
    if (fits_narrow()) return std::make_unique<SessionOf<NarrowEntry>>(std::move(ranked), options, control);
    return std::make_unique<SessionOf<WideEntry>>(std::move(ranked), options, control);
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

// Runs `action` in a thread and watches over it from this one: the deadline and the poll end it early.  A deadline
// that is past already stops it before it starts, so that what it does does not depend on who is first.  After the
// deadline the poll may still abandon what is left to do.
template <class Action>
std::optional<Status> supervise(const Options& options, Control& control, const Poll& poll, Road& road,
                                Clock::time_point start, const Action& action) {
    std::exception_ptr failure;
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::optional<Status> ended;
    const bool limited = options.time_limit < 1e9;
    const auto deadline = limited ? start + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(options.time_limit))
                                  : Clock::time_point::max();
    const auto look_at_clock = [&] {
        if (ended || Clock::now() < deadline) return;
        ended = Status::time_limit;
        control.stop();
    };
    look_at_clock();
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
    std::unique_lock lock(mutex);
    while (!done) {
        const auto next_look = Clock::now() + interval;
        finished.wait_until(lock, ended ? next_look : std::min(deadline, next_look), [&] { return done; });
        if (done) break;
        lock.unlock();
        look_at_clock();
        const bool wanted = poll && (!ended || ended == Status::time_limit);
        const Verdict verdict = wanted ? poll(road.look()) : Verdict::go_on;
        if (verdict == Verdict::abandon) control.abandon();
        else if (verdict == Verdict::interrupt) control.hurry();
        else if (verdict == Verdict::stop) control.stop();
        if (!ended || verdict == Verdict::abandon) ended = status_of(verdict);
        lock.lock();
    }
    lock.unlock();
    worker.join();
    if (failure) std::rethrow_exception(failure);
    return ended;
}

}  // namespace

class Searcher::Implementation {
public:
    Implementation(const Table& table, const Options& options) : table_(table), options_(options) {}

    Result run(const Start& start, Control& control, double time_limit, const Poll& poll) {
        const auto begin = Clock::now();
        Result result;
        Options options = options_;
        options.time_limit = time_limit;
        Road road(begin, options.leaf_cost);
        const Request request{table_, options, start};
        const auto ended = supervise(options, control, poll, road, begin, [&] {
            check_start(options, start);
            session(control)->search(request, control, road, result);
        });
        conclude(result, options, control, start, ended);
        result.seconds = road.seconds();
        // A last look, unless the poll itself has ended the search.
        if (poll && (!ended || ended == Status::time_limit)) {
            Progress last = road.look();
            if (result.status == Status::optimal || result.status == Status::gap_reached) last.root_closed = 1;
            poll(last);
        }
        result.history = std::move(road).history();
        return result;
    }

    Snapshot snapshot() {
        Snapshot now{{}, no_objective, 0, {}};
        std::shared_ptr<Session> session;
        {
            std::lock_guard lock(mutex_);
            session = session_;
        }
        if (session != nullptr) session->snapshot({table_, options_, {}}, now);
        return now;
    }

    Frontier split(const Frontier& frontier, std::size_t parts) { return session(Control())->split(options_, frontier, parts); }

private:
    // What was abandoned while it was made may not be whole, and serves this once.
    std::shared_ptr<Session> session(const Control& control) {
        if (session_ != nullptr) return session_;
        std::shared_ptr<Session> made = open_session(table_, options_, control);
        if (control.abandoned()) return made;
        std::lock_guard lock(mutex_);
        return session_ = std::move(made);
    }

    static void conclude(Result& result, const Options& options, const Control& control, const Start& start, std::optional<Status> ended) {
        Score gap = result.objective - result.lower_bound;
        for (const SizedTree& size : result.sizes) gap = std::max(gap, size.errors - size.lower_bound);
        if (gap == 0) result.status = Status::optimal;
        else if (gap <= options.max_gap) result.status = Status::gap_reached;
        else if (control.cutoff() - options.max_gap <= result.lower_bound) result.status = Status::cutoff;
        else result.status = ended.value_or(start.open_only ? Status::stopped : Status::interrupted);
        const bool closed = gap <= options.max_gap || result.status == Status::cutoff;
        if (start.resumable && closed) result.frontier = {result.frontier.depth, result.lower_bound, {}};
    }

    const Table table_;
    const Options options_;
    std::mutex mutex_;
    std::shared_ptr<Session> session_;
};

Searcher::Searcher(const Table& table, const Options& options) : implementation_(std::make_unique<Implementation>(table, options)) {}
Searcher::~Searcher() = default;

Result Searcher::run(const Start& start, Control& control, double time_limit, const Poll& poll) {
    return implementation_->run(start, control, time_limit, poll);
}
Snapshot Searcher::snapshot() { return implementation_->snapshot(); }
Frontier Searcher::split(const Frontier& frontier, std::size_t parts) { return implementation_->split(frontier, parts); }

Result fit(const Table& table, const Options& options, Control& control, const Poll& poll, const Tree* first) {
    Start start;
    start.first = first;
    return Searcher(table, options).run(start, control, options.time_limit, poll);
}

}  // namespace contree
