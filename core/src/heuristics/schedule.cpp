#include "heuristics/schedule.hpp"
#include "heuristics/greedy.hpp"
#include "heuristics/look_ahead.hpp"
#include "heuristics/polish.hpp"
#include "heuristics/rollout.hpp"
#include "tree/prune.hpp"

namespace contree {
namespace {
// What heuristics may cost is a small part of what the proof must take, measured on the paper's data sets.
// From depth five on, in solves of depth two of all rows: a proof takes thousands.
constexpr std::int64_t deep_look_ahead = 200, deep_near = 400;
// At depth four a proof takes at least six times level three's work, hundreds where that is above this.
constexpr std::int64_t distant_level_work = 4'000'000, distant_look_ahead = 40, distant_near = 30;
constexpr std::int64_t most_near = 300'000'000;
// With endless sets a proof is far, and nobody else betters the tree.
constexpr std::int64_t endless_look_ahead = 10, endless_near = 40;
// Slices between tasks: at first so many times the search's own work, while that is a small part of the
// proof; later nearly all is the proof's.
constexpr double first_share_deep = 10, first_share = 5, later_share = 0.03, share_of_proof = 0.08,
                 most_early = 2.5e9;
constexpr double slice_cells = 500, most_slice = 4e7;  // a slice, in passes over all cells and in row visits
// The least work of a proof, in units of depth two of all rows for each unit of loss between tree and bound.
constexpr double proof_units_deep = 1000, proof_units = 20;
// The first bound of deep trees, as a share of the least proof, and at most.
constexpr double bound_share = 0.03, most_early_bound = 1e9;
}  // namespace

Schedule::Schedule(const RowSet& root, const Options& options, const TreeSize& size, Solver& solver,
    Incumbent& incumbent, Cache& cache, const Kernel& kernel, Worker& worker)
    : root_(root), options_(options), size_(size), depth_(std::min(size.depth, deepest_first_tree)),
      solver_(solver), incumbent_(incumbent), cache_(cache), kernel_(kernel), worker_(worker) {}

Outcome Schedule::greedy(Worker& worker, std::int64_t depth, const Halt& halt) {
    return greedy_tree(solver_.objective(), root_, depth, solver_.partitioner(), worker.arena, halt);
}

Outcome Schedule::to_size(const Outcome& tree) const {
    if (solver_.objective().costs.plain() && leaves_of(tree.plan) <= size_.leaves) return tree;
    return pruned(solver_.objective(), root_, tree.plan, size_.leaves);
}

// Heuristics ask the search for little loss alone, so where more counts they cannot.
void Schedule::prepare() {
    SolveWithin solve_within;
    if (solver_.objective().costs.plain())
        solve_within = [this](const RowSet& set, std::int64_t depth, Score target, std::int64_t budget) {
            return solver_.solve_within(worker_, {set, {depth, any_leaves, set.rows}, 0, target}, budget);
        };
    context_ = std::make_unique<HeuristicContext>(solver_.objective(), root_, kernel_, options_.switches,
        cache_, worker_.arena, worker_.statistics, solver_.flags().control, std::move(solve_within));
    context_->listener = [this](const Outcome& tree) { offer(tree); };
    local_search_ = std::make_unique<LocalSearch>(*context_, root_, depth_, options_.seed);
}

void Schedule::offer(const Outcome& tree) {
    if (tree.plan.empty()) return;
    incumbent_.offer_tree(to_size(tree));
    if (!loss_alone() && tree.upper < best_.upper) best_ = tree;
}

void Schedule::offer_polished(const Outcome& tree) {
    offer(polish(*context_, root_, depth_, context_->plain(root_, tree.plan)));
}

// The heuristics that may shorten the next level.
void Schedule::after_level(std::int64_t depth, std::int64_t level_work, bool endless_sets) {
    if (!wanted() && !(endless_sets && options_.switches.heuristics != 0)) return;
    const std::int64_t before = worker_.statistics.row_visits;
    if (depth == cheap_depth - 1) {
        depth_two_cost_ = level_work;
        prepare();
        if (!incumbent_.finished()) offer_polished(rollout_tree(*context_, root_, depth_));
        if (deep()) improve(deep_look_ahead * level_work, deep_near * level_work);
        else if (endless_sets) improve(endless_look_ahead * level_work, endless_near * level_work);
    } else if (depth == cheap_depth && !deep() && context_ != nullptr) {
        const bool distant = level_work >= distant_level_work;
        improve((distant ? distant_look_ahead : 1) * level_work, (distant ? distant_near : 1) * level_work);
    }
    own_visits_ += worker_.statistics.row_visits - before;
}

// Slices of local search.  At depth four they wait for looking ahead, after level three, which finds better
// trees to start from.  No limit of time counts here, so that more time is never worse.
void Schedule::between_tasks(std::int64_t level_depth) {
    if (context_ == nullptr || beside_ || (level_depth == cheap_depth && !deep())) return;
    const double slice = std::min(most_slice, slice_cells * static_cast<double>(root_.cells()));
    const auto own = static_cast<double>(worker_.work() - own_visits_);
    const double share = deep() ? first_share_deep : first_share;
    const double early = std::min(most_early, share_of_proof * least_proof(depth_two_cost_));
    if (static_cast<double>(own_visits_) + slice > std::min(share * own, std::max(later_share * own, early)))
        return;
    const std::int64_t before = worker_.work(), visits = worker_.statistics.row_visits,
                       end = worker_.work_end;
    beside_ = true;
    search_near(static_cast<std::int64_t>(slice));
    beside_ = false;
    own_visits_ += worker_.statistics.row_visits - visits;
    if (end != Worker::endless) worker_.work_end = end + (worker_.work() - before);  // not the search's own
}

std::int64_t Schedule::early_bound_budget(std::int64_t level_work) const {
    return static_cast<std::int64_t>(std::min(most_early_bound, bound_share * least_proof(level_work)));
}

double Schedule::least_proof(std::int64_t depth_two_cost) const {
    const Objective& objective = solver_.objective();
    const double rows = static_cast<double>(incumbent_.open_gap()) /
                        static_cast<double>(objective.costs.loss) / objective.typical_loss(root_);
    return (deep() ? proof_units_deep : proof_units) * rows * static_cast<double>(depth_two_cost);
}

void Schedule::improve(std::int64_t look_ahead_budget, std::int64_t near_budget) {
    if (!incumbent_.finished())
        offer_polished(look_ahead_tree(*context_, root_, depth_, context_->work() + look_ahead_budget));
    search_near(std::min(near_budget, most_near));
}

// A slice of local search.  Where more than loss counts, it betters the heuristics' own tree of least loss.
void Schedule::search_near(std::int64_t budget) {
    if (incumbent_.finished()) return;
    if (loss_alone() || best_.plan.empty()) {
        const Outcome tree = incumbent_.best();
        if (tree.plan.empty()) return;
        if (tree.upper < best_.upper || best_.plan.empty()) best_ = context_->plain(root_, tree.plan);
    }
    local_search_->run(best_, context_->work() + budget);
    offer(best_);
}
}  // namespace contree
