#include "paper/paper_search.hpp"
#include <deque>
#include <numeric>
#include "bounds/split_cost.hpp"
#include "tree/locate.hpp"

namespace contree {
using paper::Interval, paper::SplitIndex, paper::rows_to_move;

namespace {
// The positions of a feature's thresholds.
std::vector<Position> thresholds_of(const RowSet& set, std::uint32_t f) {
    std::vector<Position> found;
    for (Position z = 1; z < set.rows; ++z)
        if (set.cut_behind(f, z - 1) && set.allows(f, z)) found.push_back(z);
    return found;
}

// A side's score as Algorithm 1 uses it: the score found, or the bound that a cut-off side proved; at most
// `gap` above the truth.
Score claimed(const Outcome& side, Score gap) { return std::min(side.upper, side.lower + gap); }

// The slack on the right side's bound: "the length of the longest side" in the text, the shortest in
// Algorithm 1.  Any value is exact; it trades early cut-offs against knowledge for pruning.
Score eta_of(std::int32_t kind, const std::vector<Score>& z, const Interval& interval, SplitIndex w) {
    const auto at = [&](SplitIndex index) { return z[static_cast<std::size_t>(index)]; };
    const auto [shorter, longer] = std::minmax({at(w) - at(interval.i), at(interval.j) - at(w)});
    return kind == 1 ? shorter : kind == 2 ? longer : 0;
}

// The features by the best Gini impurity that one threshold of each reaches, or as they stand.
std::vector<std::uint32_t> feature_order(const Objective& objective, const RowSet& set, bool by_gini) {
    std::vector<std::uint32_t> order(set.features);
    std::iota(order.begin(), order.end(), 0u);
    std::vector<double> impurity;
    for (std::uint32_t f = 0; by_gini && f < set.features; ++f)
        impurity.push_back(-purest_threshold(objective, set, f).purity);
    if (by_gini) std::ranges::stable_sort(order, {}, [&](std::uint32_t f) { return impurity[f]; });
    return order;
}
}  // namespace

PaperSearch::PaperSearch(const Objective& objective, const RowSet& root, const Options& options,
    const Control& control, Improved improved, Outcome first)
    : objective_(objective), root_(root), options_(options), control_(control),
      improved_(std::move(improved)), first_(std::move(first)), cache_(root.rows, options.cache_capacity()) {}

Outcome PaperSearch::run() {
    return solve(
        root_, TreeSize(options_.max_depth, leaves_of(options_), root_.rows), unreached, options_.max_gap);
}

Statistics PaperSearch::statistics() const {
    Statistics all = statistics_;
    all.arena_bytes = static_cast<std::int64_t>(arena_.bytes());
    all.cache_entries = static_cast<std::int64_t>(cache_.entries());
    return all;
}

// CT(D, d) (Eq. 4): a score below `ub` at most `gap` above the optimum, or the proof that it is >= ub - gap.
Outcome PaperSearch::solve(const RowSet& set, const TreeSize& size, Score ub, Score gap) {
    ++statistics_.subproblems;
    const std::int64_t depth = size.depth;
    const Score leaf = objective_.leaf_score(set);
    const bool closed = options_.switches.split_pays && leaf_is_best(leaf, objective_.costs) && leaf > 0;
    statistics_.closed_by_split_cost += closed;
    if (depth == 0 || leaf == 0 || set.columns() == 0 || closed) return {leaf, leaf, {Step{Step::leaf, 0}}};
    if (ub <= 0) return {};

    const bool cached = options_.switches.cache && depth >= 2 && &set != &root_;
    Cache::Key key{};
    if (cached) {
        key = cache_.key(set.origin, set.rows, depth);
        Outcome known = cache_.find(key, size.leaves);
        if (known.upper - known.lower <= gap || known.lower >= ub) {
            ++(known.proved() ? statistics_.cache_hits : statistics_.cache_bound_hits);
            return known;
        }
    }

    // As in the paper, half the gap is for here, a quarter for each side.  A split pruned here has at least
    // to_beat() - 2 gap_below errors, and one evaluated at most 2 gap_below fewer than its score, so the
    // result lies within gap_here + 2 gap_below = gap of the optimum.
    const bool bottom = depth == 1 || (depth == 2 && options_.switches.depth_two);
    const Score gap_below = bottom ? 0 : gap / 4;
    Subproblem sub{set, size, gap - 2 * gap_below, gap_below, ub, {}};
    if (leaf < ub) improve(sub, leaf, {Step{Step::leaf, 0}});
    if (&set == &root_ && first_.upper < sub.ub) improve(sub, first_.upper, first_.plan);
    const std::vector<LeafBudget> budgets = leaf_budgets(size);
    for (const std::uint32_t f : feature_order(objective_, set, options_.switches.gini_order != 0)) {
        for (const LeafBudget& budget : budgets) {
            if (sub.to_beat() <= objective_.costs.split || control_.stopped()) break;
            branch(sub, f, budget);
        }
    }
    sub.best.lower = control_.stopped() ? 0 : std::max<Score>(0, sub.ub - gap);
    if (cached && !control_.stopped()) cache_.store(std::move(key), sub.best, size.leaves);
    return std::move(sub.best);
}

// Branch: the best threshold of one feature (Algorithm 1).  Each turn takes an interval of thresholds that
// may still beat the incumbent, cuts it with what is known, evaluates its middle and puts back what remains.
void PaperSearch::branch(Subproblem& sub, std::uint32_t f, const LeafBudget& budget) {
    Switches switches = options_.switches;
    // With a minimal leaf size a larger side may lose less (segment.hpp), and none of the theorems holds.
    if (sub.set.has_leaf_size()) switches.subinterval_pruning = 0;
    if (sub.set.has_leaf_size() || !objective_.similar)
        switches.neighbourhood_pruning = switches.interval_shrinking = 0;
    const std::vector<Position> position = thresholds_of(sub.set, f);
    std::vector<Score> z(position.size());  // what the mass on their left is worth
    const Score worth = objective_.similar ? objective_.costs.loss : 1;
    std::ranges::transform(position, z.begin(), [&](Position at) { return worth * sub.set.mass_at(f, at); });
    const auto to_beat = [&] { return sub.to_beat() - objective_.costs.split; };  // by both sides together
    Interval useful{0, static_cast<SplitIndex>(z.size()) - 1};
    std::deque<Interval> open_intervals{useful};  // first in, first out: wide intervals tell most
    paper::EvaluatedSplits evaluated;
    while (!open_intervals.empty() && !control_.stopped()) {
        Interval interval = open_intervals.front();
        open_intervals.pop_front();
        const paper::Outside outside = nearest_outside(interval, evaluated);
        if (switches.interval_shrinking) {
            const std::int64_t before = interval.size();
            interval = shrink_interval(interval, z, evaluated, outside, to_beat(), useful.i, useful.j);
            statistics_.pruned_interval_shrinking += before - interval.size();
        }
        if (interval.empty()) continue;
        if (switches.subinterval_pruning && prune_subinterval(evaluated, outside, to_beat())) {
            statistics_.pruned_subinterval += interval.size();
            continue;
        }
        const SplitIndex w = (interval.i + interval.j) / 2;
        const auto [theta, left_is_zero, right_is_zero] = split(
            sub, f, position[static_cast<std::size_t>(w)], budget, eta_of(switches.eta, z, interval, w));
        if (left_is_zero) useful.i = std::max(useful.i, w + 1);
        if (right_is_zero) useful.j = std::min(useful.j, w - 1);
        if (to_beat() <= 0) return;
        const Score delta = switches.neighbourhood_pruning ? rows_to_move(theta.theta(), to_beat()) : 1;
        const auto [left, right] = prune_neighbourhood(interval, z, w, delta);
        statistics_.pruned_neighbourhood += interval.size() - 1 - left.size() - right.size();
        if (!left.empty()) open_intervals.push_back(left);
        if (!right.empty()) open_intervals.push_back(right);
        evaluated.emplace(w, theta);
    }
}

// Split(D, d, f, tau) (Eq. 6).
PaperSearch::Sides PaperSearch::split(
    Subproblem& sub, std::uint32_t f, Position z, const LeafBudget& budget, Score eta) {
    const std::int64_t depth = sub.size.depth - 1;
    if (depth == 0 || (depth == 1 && options_.switches.depth_two)) return split_small(sub, f, z, budget);
    ++statistics_.splits_evaluated;
    Arena::Frame frame(arena_);
    const auto [rows_left, rows_right] = split_rows(sub.set, {f, z}, true, scalar_partitioner, arena_);
    const bool bounded = options_.switches.upper_bounds != 0;
    const Score gap = sub.gap_below, split_cost = objective_.costs.split;
    const Score ub = bounded ? sub.ub - split_cost : unreached;  // for both sides together
    const Outcome left = solve(rows_left, TreeSize(depth, budget.left, rows_left.rows), ub, gap);
    const Score theta_left = claimed(left, gap);
    // Where the left side alone is too bad the right one is not solved: nothing but 0 is known of it.
    const Score ub_right = bounded ? std::max(ub - theta_left, eta) : unreached;
    if (ub_right <= 0) return {{theta_left, 0}, left.upper == 0, false};
    const Outcome right = solve(rows_right, TreeSize(depth, budget.right, rows_right.rows), ub_right, gap);
    if (const Score score = left.upper + right.upper + split_cost; score < sub.ub)
        improve(sub, score, join(step_at(sub.set, {f, z}), left.plan, right.plan));
    return {{theta_left, claimed(right, gap)}, left.upper == 0, right.upper == 0};
}

// The same where both sides are leaves, or stumps that D2Split finds.
PaperSearch::Sides PaperSearch::split_small(
    Subproblem& sub, std::uint32_t f, Position z, const LeafBudget& budget) {
    const bool by_d2split = sub.size.depth == 2;
    statistics_.d2split_calls += by_d2split;
    const SplitLosses losses =
        by_d2split ? objective_.stumps_of_split(sub.set, f, z) : objective_.leaves_of_split(sub.set, f, z);
    const Costs& costs = objective_.costs;
    const Score left = small_tree(losses.left, losses.leaf_left, budget.left, costs);
    const Score right = small_tree(losses.right, losses.leaf_right, budget.right, costs);
    const auto plan = [&](Score side, Score leaf) {
        return Plan{Step{side == costs.loss * leaf ? Step::leaf : Step::stump, 0}};
    };
    if (const Score score = left + right + costs.split; score < sub.ub)
        improve(sub, score,
            join(step_at(sub.set, {f, z}), plan(left, losses.leaf_left), plan(right, losses.leaf_right)));
    return {{left, right}, left == 0, right == 0};
}

void PaperSearch::improve(Subproblem& sub, Score score, Plan plan) {
    sub.ub = score;
    sub.best = {0, score, std::move(plan)};
    if (&sub.set == &root_) improved_(sub.best);
}
}  // namespace contree
