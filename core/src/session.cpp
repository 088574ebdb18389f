#include "session.hpp"
#include <stdexcept>
#include <tuple>
#include "depth_two/kernel.hpp"
#include "heuristics/greedy.hpp"
#include "heuristics/schedule.hpp"
#include "heuristics/simplify.hpp"
#include "objective/misclassification.hpp"
#include "objective/squared_error.hpp"
#include "paper/paper_search.hpp"
#include "sample_bound.hpp"
#include "search/levels.hpp"
#include "search/size_path.hpp"
#include "tree/given_tree.hpp"
#include "tree/prune.hpp"

namespace contree {
namespace {
constexpr Score most_mass = Score{1} << 60;

// No score is more than a leaf for all rows and a split; the objective has a leaf's cost besides.
void check(const Table& table, const Options& options) {
    Score mass = table.weights == nullptr ? static_cast<Score>(table.rows) : 0;
    for (std::size_t r = 0; r < table.rows && table.weights != nullptr; ++r) {
        if (table.weights[r] < 1 || table.weights[r] >= most_mass - mass)
            throw std::invalid_argument("weights must be at least 1 and below 2^60 in all");
        mass += table.weights[r];
    }
    const Score loss = table.targets ? SquaredError::most_loss(table, options.score_shift, mass) : mass;
    const bool fits = options.error_cost >= 1 && options.leaf_cost >= 0 &&
                      options.error_cost <= (most_mass - 1) / std::max<Score>(loss, 1) &&
                      options.leaf_cost <= (most_mass - 1 - options.error_cost * loss) / 2;
    if (!fits)
        throw std::invalid_argument(
            "error_cost must be at least 1, leaf_cost at least 0, and the greatest loss (for errors: one on "
            "every row) and two leaves must cost less than 2^60");
    if (options.all_sizes &&
        (options.leaf_cost != 0 || options.error_cost != 1 || options.search == SearchKind::paper))
        throw std::invalid_argument("all_sizes goes with loss alone, and with best_first");
    const bool categorical =
        table.categories != nullptr &&
        std::any_of(table.categories, table.categories + table.features, [](auto k) { return k > 0; });
    if (categorical && options.search == SearchKind::paper)
        throw std::invalid_argument("categorical features need search='best_first'");
    if (options.max_leaves < 0) throw std::invalid_argument("max_leaves must be at least 0");
}

// What a leaf must have, without what follows from the rest: a leaf with the rows may always weigh enough, or
// a leaf that weighs enough always have the rows.
LeafSize leaf_size_of(const Options& options, const RankedTable& ranked) {
    const auto rows = [&](std::int64_t wanted) {
        return static_cast<Row>(std::clamp<std::int64_t>(wanted, 1, std::max<Row>(1, ranked.rows)));
    };
    if (ranked.weights.empty()) return {rows(std::max(options.min_samples_leaf, options.min_weight_leaf)), 0};
    LeafSize leaf{rows(options.min_samples_leaf), options.min_weight_leaf};
    const auto [least, largest] = std::minmax_element(ranked.weights.begin(), ranked.weights.end());
    if (leaf.mass <= *least * leaf.rows) leaf.mass = 0;
    else if ((leaf.mass - 1) / *largest >= leaf.rows - 1) leaf.rows = 1;
    return leaf;
}

RankedTable ranked_table(const Table& table, const Options& options, const Control& control) {
    check(table, options);
    const RowGroups groups = table.targets ? SquaredError::groups() : Misclassification::groups(table);
    RankedTable ranked = rank_columns(table, groups, options.feature_tolerance, control);
    ranked.min_leaf = leaf_size_of(options, ranked);
    return ranked;
}

std::unique_ptr<Objective> objective_of(
    const Table& table, const RankedTable& ranked, const Options& options) {
    const Costs costs = costs_of(options);
    if (table.targets != nullptr)
        return std::make_unique<SquaredError>(table, ranked, costs, options.score_shift);
    return std::make_unique<Misclassification>(table, ranked, costs);
}

// General sweeps are for wide entries alone.
Width width_of(const RankedTable& ranked) {
    constexpr auto limit = Packed<NarrowEntry>::limit;
    const auto fits = [&](const Column& column) { return column.values.lowest.size() < limit; };
    const bool narrow = ranked.weights.empty() && ranked.min_leaf.any() && ranked.rows <= limit &&
                        std::all_of(ranked.columns.begin(), ranked.columns.end(), fits);
    return narrow ? Width::narrow : Width::wide;
}
}  // namespace

Session::Session(const Table& table, const Options& options, const Control& control)
    : partitioner_(*chosen_kernel().partitioner), ranked_(ranked_table(table, options, control)),
      objective_(objective_of(table, ranked_, options)),
      root_(all_rows(ranked_, width_of(ranked_), partitioner_, arena_, when_abandoned(control))),
      cache_(ranked_.rows, options.cache_capacity()) {}

void Session::search(const FitRequest& request, const Control& control, ProgressLog& log, Result& result) {
    const Problem problem{request, *objective_, ranked_, root_};
    ResultBuilder builder(problem, control, log, result);
    const Outcome leaf{0, objective_->leaf_score(root_), {Step{Step::leaf, 0}}};
    if (control.abandoned()) return builder.finish(leaf);  // perhaps before all columns were there
    log.begin(leaf.upper);
    Outcome first = first_outcome(request);
    if (request.options.search == SearchKind::best_first)
        return search_best_first(problem, control, std::move(first), builder, log, result);
    Outcome best = first;
    try {
        best = search_as_in_paper(problem, control, std::move(first), best, builder, result);
    } catch (const std::bad_alloc&) {
        result.status = Status::memory_limit;
        best = better_of_greedy(problem, control, best);
    }
    finish(problem, control, best, builder);
}

// A tree that needs little memory, or time, where it is better than what is known.
Outcome Session::better_of_greedy(const Problem& problem, const Control& control, const Outcome& known) {
    const Options& options = problem.request.options;
    Outcome leaf{known.lower, objective_->leaf_score(root_), {Step{Step::leaf, 0}}};
    const Outcome& best = known.upper <= leaf.upper ? known : leaf;
    try {
        Arena arena;
        const Outcome cart =
            greedy_tree(*objective_, root_, options.max_depth, partitioner_, arena, when_hurried(control));
        const Outcome tree = pruned(*objective_, root_, cart.plan, leaves_of(options));
        return tree.upper < best.upper ? Outcome{known.lower, tree.upper, tree.plan} : best;
    } catch (const std::bad_alloc&) {
        return best;
    }
}

// A tree of many rows that is there already when a stop comes is returned as it is.
void Session::finish(
    const Problem& problem, const Control& control, const Outcome& found, ResultBuilder& builder) {
    if (!has_time(problem, control, builder)) return builder.finish(found);
    builder.finish(simpler(problem, control, found), true);
}

// Is there time to make trees simpler?
bool Session::has_time(const Problem& problem, const Control& control, const ResultBuilder& builder) {
    const Start& start = problem.request.start;
    return !control.hurried() && !(control.stopped() && builder.at_once()) && !start.part && !start.open_only;
}

Outcome Session::simpler(const Problem& problem, const Control& control, const Outcome& found) const {
    constexpr std::uint64_t few_cells = 100'000;  // a depth-two search of them takes some milliseconds
    const Control calm;
    const bool stopped = control.stopped();
    Arena arena;
    Statistics statistics;
    const Simplification task{*objective_, ranked_, root_, chosen_kernel(), problem.request.options,
        stopped ? calm : control, stopped ? few_cells : UINT64_MAX, arena, statistics};
    try {
        return simplified(task, found);
    } catch (const std::bad_alloc&) {
        return found;
    }
}

// The caller's tree and bound, if there are any.
Outcome Session::first_outcome(const FitRequest& request) {
    const Options& options = request.options;
    Outcome first;
    if (request.start.first != nullptr) {
        Arena arena;
        Planter planter{*objective_, *request.start.first, request.table, ranked_, options.max_depth,
            partitioner_, arena};
        first = planter.plant(0, root_);  // `root_` has all features that have a threshold
        first = pruned(*objective_, root_, first.plan, leaves_of(options));
    }
    first.lower = std::max<Score>(0, request.start.lower_bound - options.leaf_cost);
    return first;
}

// The published search; after a stop the result is no worse than CART's tree.  Where a tree after the stop
// would be too late, CART's comes first.
Outcome Session::search_as_in_paper(const Problem& problem, const Control& control, Outcome first,
    Outcome& best, ResultBuilder& builder, Result& result) {
    const Options& options = problem.request.options;
    if (builder.at_once()) first = better_of_greedy(problem, control, first);
    const auto improved = [&](const Outcome& incumbent) {
        Outcome copy = incumbent;
        best = std::move(copy);
        builder.improve(incumbent);
    };
    PaperSearch method(*objective_, root_, options, control, improved, std::move(first));
    Outcome found = method.run();
    result.counters = method.statistics().rows();
    const bool stopped = !found.proved() && control.stopped() && !control.abandoned();
    if (!builder.at_once() && stopped) improved(found = better_of_greedy(problem, control, found));
    return found;
}

void Session::search_best_first(const Problem& problem, const Control& control, Outcome first,
    ResultBuilder& builder, ProgressLog& log, Result& result) {
    const Options& options = problem.request.options;
    const Start& start = problem.request.start;
    const Kernel& kernel = chosen_kernel();
    const TreeSize size(options.max_depth, leaves_of(options), root_.rows);
    const Frontier beginning, &frontier = start.frontier != nullptr ? *start.frontier : beginning;
    check_frontier(root_, size, frontier);

    StopFlags flags(control);
    std::vector<std::unique_ptr<Worker>> workers;
    for (int i = 0; i < std::max(1, options.n_jobs); ++i)
        workers.push_back(std::make_unique<Worker>(*objective_, kernel, options.switches, control));
    Worker& first_worker = *workers.front();
    Crew crew(std::move(workers), flags);
    Incumbent incumbent(options, flags, [&](const Outcome& best) { builder.improve(best); });
    Solver solver(*objective_, root_, options, kernel, cache_, crew, flags);
    Schedule heuristics(root_, options, size, solver, incumbent, cache_, kernel, first_worker);
    const auto early_bound = [&] { return sample_bound(problem.request.table, options, control); };
    Levels levels({root_, options, size, start, frontier, std::move(first), early_bound}, solver, incumbent,
        heuristics, profiles_, crew, log.root_share);
    SizePath sizes(root_, options, solver, incumbent, flags);
    show(&levels);
    const std::unique_ptr<Session, void (*)(Session*)> shown(this, [](Session* one) { one->show(nullptr); });
    const bool had_memory = crew.run([&](Worker& worker) {
        if (options.all_sizes) sizes.run(worker, levels, heuristics);
        else levels.run(worker);
    });
    Statistics statistics = crew.statistics();
    statistics.cache_entries = static_cast<std::int64_t>(cache_.entries());
    result.missing_threads = crew.missing();
    if (!had_memory) {
        result.status = Status::memory_limit;
        cache_.clear();
        crew.release();
        incumbent.offer_tree(better_of_greedy(problem, control, incumbent.best()));
        incumbent.settle();
    }
    finish(problem, control, incumbent.best(), builder);
    if (start.resumable) result.frontier = levels.snapshot().first;
    result.counters = statistics.rows();
    if (has_time(problem, control, builder) && had_memory)
        sizes.simplify(
            !control.stopped(), [&](const Outcome& one) { return simpler(problem, control, one); });
    for (const Outcome& one : sizes.take_sizes()) {
        if (one.plan.empty()) break;  // memory ran out before
        builder.add_size(one);
    }
    if (options.all_sizes && result.sizes.empty()) throw std::bad_alloc();
}

// The search that runs, for `snapshot`.
void Session::show(Levels* levels) {
    std::lock_guard lock(mutex_);
    levels_ = levels;
}

// A tree is built once: a better one has a smaller objective.  The objective is the tree's own, which may be
// a little less than the search counted (Objective::stump_excess).
void Session::snapshot(const FitRequest& request, Snapshot& now) {
    std::lock_guard building(build_mutex_);
    Outcome incumbent;
    {
        std::lock_guard lock(mutex_);
        if (levels_ == nullptr) return;
        std::tie(now.frontier, incumbent) = levels_->snapshot();
    }
    if (incumbent.plan.empty()) return;
    if (built_.first != incumbent.upper) {
        Arena arena;
        built_ = {incumbent.upper, tree_of({request, *objective_, ranked_, root_}, incumbent, arena, {})};
    }
    now.tree = built_.second;
    const Score score = score_of(*objective_, now.tree);
    now.objective = score + request.options.leaf_cost;
    now.lower_bound = std::min(incumbent.lower, score) + request.options.leaf_cost;
}

Frontier Session::split(const Options& options, const Frontier& frontier, std::size_t parts) const {
    return split_frontier(root_, frontier, parts, rules_of(*objective_, options.switches));
}
}  // namespace contree
