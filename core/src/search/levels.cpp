#include "search/levels.hpp"
#include <cmath>
#include "bounds/irreducible.hpp"
#include "bounds/subset.hpp"
#include "search/apart.hpp"
#include "search/category_bound.hpp"

namespace contree {
namespace {
constexpr std::size_t most_soon_solved = 20;  // categories of a feature, at depth three
constexpr std::int64_t cheap_depth = 3;       // up to here looking for equal rows costs more than it saves
// From so many cells on CART's tree comes first: it costs next to nothing beside what follows.  On fewer it
// is made after a stop, in some milliseconds.
constexpr std::uint64_t many_cells_deep = 20'000, many_cells = 500'000;
// From so many cells on the first bound of the search takes seconds.
constexpr std::uint64_t most_cells_without_early_bound = 2'000'000;
}  // namespace

Levels::Levels(Request request, Solver& solver, Incumbent& incumbent, Improver& improver,
    RootProfiles& profiles, Crew& crew, RootShare& share)
    : request_(std::move(request)), solver_(solver), incumbent_(incumbent), improver_(improver),
      profiles_(profiles), crew_(crew), share_(share), flags_(solver.flags()),
      irreducible_(request_.first.lower), level_{request_.frontier.depth, request_.frontier.depth > 0},
      frontier_(request_.frontier) {
    if (!level_.resumed) level_.depth = std::min<std::int64_t>(2, request_.size.depth);
}

// Whatever ends it, the result is no worse than CART's tree.
void Levels::run(Worker& worker) {
    const Control& control = flags_.control;
    const bool resumed = level_.resumed;
    incumbent_.raise_bound(request_.first.lower);
    incumbent_.offer_tree(request_.first);
    if (greedy_first()) offer_greedy(worker, when_hurried(control));
    const bool many_rows = request_.root.cells() > most_cells_without_early_bound;
    if (many_rows && request_.early_bound && !resumed && !flags_.stopping())
        incumbent_.raise_bound(irreducible_ = std::max(irreducible_, request_.early_bound()));
    deepen(worker);
    const bool stopped = !incumbent_.finished() && control.stopped() && !control.abandoned();
    if (stopped && !resumed && !greedy_first()) offer_greedy(worker, when_abandoned(control));
    incumbent_.offer_tree({0, solver_.objective().leaf_score(request_.root), {Step{Step::leaf, 0}}});
    incumbent_.settle();
}

void Levels::offer_greedy(Worker& worker, const Halt& halt) {
    const Outcome tree = improver_.greedy(worker, request_.options.max_depth, halt);
    incumbent_.offer_tree(improver_.to_size(tree));
}

bool Levels::greedy_first() const {
    const bool deep = request_.size.depth > cheap_depth;
    return request_.frontier.depth == 0 && request_.root.cells() >= (deep ? many_cells_deep : many_cells);
}

// Stops at the depth asked for, or where no tree of any depth is better.
void Levels::deepen(Worker& worker) {
    if (level_.resumed && !request_.first.plan.empty() && !flags_.stopping()) improver_.before_resuming();
    for (;;) {
        const std::int64_t before = worker.statistics.row_visits;
        const Outcome outcome = solve(worker);
        if (!keep(outcome)) return;
        improve(worker, worker.statistics.row_visits - before, has_endless_sets(outcome));
        if (flags_.stopping()) return;
        level_ = {level_.depth + 1, false, outcome, std::move(level_.profile)};
    }
}

// A shallower level is solved only up to half the score of the best tree so far: a bound that high serves the
// next level nearly as well as the exact score.
Outcome Levels::solve(Worker& worker) {
    const RowSet& root = request_.root;
    const Options& options = request_.options;
    if (level_.resumed && request_.frontier.intervals.empty()) {
        const Score floor = without_leaf(request_.frontier.floor, options.leaf_cost);
        return {std::max(irreducible_, std::min(floor, solver_.objective().leaf_score(root))), unreached, {}};
    }
    const Outcome best = incumbent_.best();
    SolveRequest request{root, {level_.depth, request_.size.leaves, root.rows}, irreducible_};
    if (!is_last() && !is_first())
        request.target = (std::min(best.upper, cutoff()) + 1) / 2 + options.max_gap;
    request.gap = options.max_gap;
    request.listener = this;
    request.profiles = &profiles_;
    if ((!is_last() || options.all_sizes) && solver_.remembers(root, level_.depth))
        request.learnt = &level_.profile;
    if (level_.resumed) request.start = &request_.frontier;
    else if (!is_first()) request.shallow = &level_.shallow;
    if (!level_.shallow_profile.empty()) request.shallow_learnt = &level_.shallow_profile;
    if (is_last()) request.incumbent = &best;
    // Sets of categories may take without end, and what is asked for lies deeper.
    if (root.categorical > 0 && is_first() && !is_last())
        return solver_.solve_within(worker, request, visits_for_sets(root));
    return solver_.solve(worker, request);
}

// Takes what a level found; false where it is the end.
bool Levels::keep(const Outcome& outcome) {
    incumbent_.offer_tree(outcome);
    if (is_last()) incumbent_.raise_bound(outcome.lower);
    if (!flags_.stopping() && !left_open_ && !(is_last() && request_.start.open_only)) {
        std::lock_guard lock(mutex_);
        frontier_ = {level_.depth, with_leaf(outcome.lower, request_.options.leaf_cost), {}};
    }
    return !is_last() && !left_open_ && !request_.start.part && !flags_.stopping();
}

// Are there so many categories that the next level may say nothing for long?
bool Levels::has_endless_sets(const Outcome& shallow) const {
    const RowSet& root = request_.root;
    return is_first() && root.categorical > 0 &&
           (!shallow.proved() || most_categories(root) > most_soon_solved);
}

// Between two levels: what no tree of any depth is below, and better trees.
void Levels::improve(Worker& worker, std::int64_t level_work, bool endless_sets) {
    const Halt stop = when_stopped(flags_.control);
    if (is_first() && request_.size.depth > cheap_depth) {
        const Score loss = irreducible_loss(solver_.objective(), request_.root, stop);
        irreducible_ = std::max(irreducible_, solver_.rules().worth(loss));
    }
    if (endless_sets) {
        level_work = std::max(level_work, visits_for_sets(request_.root));
        const Score bound =
            bound_by_categories(solver_, worker, request_.root, request_.size.depth, level_work);
        irreducible_ = std::max(irreducible_, bound);
    }
    incumbent_.raise_bound(irreducible_);
    if (!incumbent_.finished()) improver_.after_level(level_.depth, level_work, endless_sets);
    const bool deep = is_first() && request_.size.depth > cheap_depth;
    if (deep && !incumbent_.finished() && !incumbent_.best().plan.empty()) bound_early(worker, level_work);
    // Other heuristics look no deeper; CART's tree parts all rows that can be, if by a chain.
    const bool chain = level_.depth == cheap_depth && request_.size.depth > deepest_first_tree;
    if (chain && !greedy_first() && !incumbent_.finished())
        offer_greedy(worker, when_hurried(flags_.control));
}

// Of small targets that double the first ones take a tiny part of the proof, and show how far it is.
void Levels::bound_early(Worker& worker, std::int64_t level_work) {
    const Objective& objective = solver_.objective();
    const std::int64_t end =
        std::exchange(worker.work_end, worker.work() + improver_.early_bound_budget(level_work));
    Apart apart(solver_, worker, request_.root, incumbent_.best().plan);
    const Score row = solver_.rules().worth(static_cast<Score>(objective.typical_loss(request_.root)));
    for (Score target = std::max<Score>(1, row); apart.prove(request_.size.depth, irreducible_ + target);) {
        incumbent_.raise_bound(irreducible_ += target);
        target = irreducible_;
    }
    worker.work_end = end;
}

std::pair<Frontier, Outcome> Levels::snapshot() {
    std::pair<Frontier, Outcome> now;
    {
        std::lock_guard lock(mutex_);  // the tree is read last: what the frontier leaves out, it reaches
        now.first = node_ != nullptr ? frontier_of(*node_, request_.options.leaf_cost) : frontier_;
    }
    now.second = incumbent_.best();
    return now;
}

void Levels::opened(Node& node) {
    std::lock_guard lock(mutex_);
    node_ = &node;
}

// Without memory for the frontier the last one stays, which holds as well.
void Levels::closed(Node& node) {
    const auto forget_node = [this](Node*) {
        std::lock_guard lock(mutex_);
        node_ = nullptr;  // what follows in the node is its own
    };
    const std::unique_ptr<Node, decltype(forget_node)> open(&node, forget_node);
    Frontier frontier = frontier_of(node, request_.options.leaf_cost);
    left_open_ = leave_open(node) && node.has_task();
    std::lock_guard lock(mutex_);
    frontier_ = std::move(frontier);
}

// Shall the rest of a level be left to others?
bool Levels::leave_open(const Node& node) const {
    const Start& start = request_.start;
    if (start.open_only && is_last()) return true;
    return flags_.control.handing_back() || (start.splits > 0 && node.begun >= start.splits);
}

// Keeps profiles for searches that go on; with leaf sizes they are of this very threshold alone.  Counts the
// open thresholds if anybody has asked.
void Levels::landed(const Node& node, const Segment& segment, const Point& at) {
    const RowSet& set = *node.set;
    if (at.profile >= 0 && !set.has_leaf_size()) profiles_.note(segment.f, segment.budget, at.z, at.profile);
    if (!is_last() || !share_.wanted.exchange(false, std::memory_order_relaxed)) return;
    // Of the sets of a feature's categories each node has a share, that counts like so many cuts.
    auto open = static_cast<double>(node.thresholds_in_flight);
    double all = 0;
    for (const Segment& one : node.queue)
        if (one.bound < node.limit())
            open += one.subset != no_subset ? std::ldexp(set.cuts(one.f).count, static_cast<int>(1 - one.u.z))
                                            : live_run(one, set, node.limit(), solver_.rules()).size();
    for (std::uint32_t f = 0; f < set.columns(); ++f)
        all += static_cast<double>(node.budgets.size()) * set.cuts(f).count;
    share_.closed = std::max(0.0, 1 - open / all);
}

// What the queue proves now, if this is the depth asked for; then the heuristics' slice.
void Levels::next_task(Worker& worker, Node& node) {
    if (is_last()) {
        std::unique_lock lock(node.mutex);
        const Score bound = node.bound();
        lock.unlock();
        incumbent_.raise_bound(bound);
    }
    if (!crew_.is_first(worker) || flags_.stopping()) return;
    improver_.between_tasks(node.depth);
    const Outcome best = incumbent_.best();
    std::lock_guard lock(node.mutex);
    if (best.upper >= node.ub) return;
    node.ub = best.upper;
    // What is found for a shallower level must be a tree of that level.
    if (is_last()) node.best = {0, best.upper, best.plan};
}
}  // namespace contree
