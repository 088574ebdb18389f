#include "search/paper.hpp"

#include <deque>
#include <numeric>

#include "bounds/class_count.hpp"
#include "bounds/cost.hpp"
#include "tree/purity.hpp"

namespace contree {

using paper::Evaluated;
using paper::EvaluatedSplits;
using paper::Interval;
using paper::SplitIndex;

namespace {

// Where a feature's thresholds stand, by rows and by what the mass on their left is worth.
struct Thresholds {
    std::vector<Position> position;
    std::vector<Score> z;
};

template <class Entry>
Thresholds thresholds_of(const Subproblem<Entry>& sub, std::uint32_t f, const Objective& objective) {
    Thresholds found;
    for (Position z = 1; z < sub.rows; ++z) {
        if (!sub.cut_behind(f, z - 1) || !sub.allows(f, z)) continue;
        found.position.push_back(z);
        found.z.push_back(objective.error * sub.mass_at(f, z));
    }
    return found;
}

// Errors of the two leaves of a split.
template <class Entry>
SplitErrors leaf_split(const Subproblem<Entry>& sub, const std::vector<std::uint32_t>& class_of, std::uint32_t f, Position z) {
    std::vector<Score> left(sub.classes, 0), right(sub.classes, 0);
    const Entry* const order = sub.order(f);
    for (Row k = 0; k < sub.rows; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
        (k < z ? left : right)[class_of[row]] += sub.weight_of(row);
    }
    const Score mass = sub.mass_at(f, z);
    const Score left_errors = mass - *std::max_element(left.begin(), left.end());
    const Score right_errors = sub.mass - mass - *std::max_element(right.begin(), right.end());
    return {left_errors, right_errors, left_errors, right_errors, left_errors, right_errors};
}

// A side's score as Algorithm 1 uses it: the score found, or the bound that a cut-off side proved.  With a gap
// both may lie up to `gap` above the truth, never more.
Score claimed(const Outcome& side, Score gap) { return std::min(side.upper, side.lower + gap); }

}  // namespace

template <class Entry>
std::vector<std::uint32_t> feature_order(const Subproblem<Entry>& sub, bool by_gini) {
    std::vector<std::uint32_t> order(sub.features);
    std::iota(order.begin(), order.end(), 0u);
    if (!by_gini) return order;
    const auto class_of = classes_of_rows(sub);
    std::vector<double> purity;
    for (std::uint32_t f = 0; f < sub.features; ++f) purity.push_back(purest_threshold(sub, f, class_of).purity);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return purity[a] > purity[b]; });
    return order;
}

template <class Entry>
PaperSearch<Entry>::PaperSearch(const Subproblem<Entry>& root, Row table_rows, const Options& options,
                                const Control& control, Improved improved, Outcome first)
    : root_(root), options_(options), control_(control), improved_(std::move(improved)), first_(std::move(first)),
      objective_(objective_of(options)), cache_(table_rows, options.cache_capacity()) {}

template <class Entry>
Outcome PaperSearch<Entry>::run() {
    return solve(root_, TreeSize(options_.max_depth, leaves_of(options_), root_.rows), unreached, options_.max_gap);
}

template <class Entry>
Statistics PaperSearch<Entry>::statistics() const {
    Statistics statistics = statistics_;
    statistics.arena_bytes = static_cast<std::int64_t>(arena_.bytes());
    statistics.cache_entries = static_cast<std::int64_t>(cache_.entries());
    return statistics;
}

// CT(D, d) (Eq. 4), against an upper bound: a score below `ub` that is at most `gap` above the optimum, or the
// proof that the optimum is at least ub - gap.
template <class Entry>
Outcome PaperSearch<Entry>::solve(const Subproblem<Entry>& sub, const TreeSize& size, Score ub, Score gap) {
    ++statistics_.subproblems;
    const std::int64_t depth = size.depth;
    const Score leaf = leaf_score(sub, objective_);
    const bool closed = options_.switches.split_pays && leaf_is_best(leaf, objective_) && leaf > 0;
    statistics_.closed_by_split_cost += closed;
    if (depth == 0 || leaf == 0 || sub.features == 0 || closed) return {leaf, leaf, {Step{Step::leaf, 0}}};
    if (ub <= 0) return {};

    const bool cached = options_.switches.cache && depth >= 2 && &sub != &root_;
    Cache::Key key{};
    if (cached) {
        key = cache_.key(sub.origin, sub.rows, depth);
        Outcome known = cache_.find(key, size.leaves);
        if (known.upper - known.lower <= gap || known.lower >= ub) {
            ++(known.proved() ? statistics_.cache_hits : statistics_.cache_bound_hits);
            return known;
        }
    }

    // The gap is shared out as in the paper: half of it here, the rest evenly over the two sides.  A split
    // pruned here has at least to_beat() - 2 gap_below errors, and one evaluated at most 2 gap_below fewer than
    // its score, so the result lies within gap_here + 2 gap_below = gap of the optimum.
    const bool bottom = depth == 1 || (depth == 2 && options_.switches.depth_two);
    const Score gap_below = bottom ? 0 : gap / 4;
    Incumbent incumbent{&sub, size, gap, gap - 2 * gap_below, gap_below, ub, {}, {}};
    if (leaf < ub) {
        incumbent.ub = incumbent.best.upper = leaf;
        incumbent.best.plan = {Step{Step::leaf, 0}};
        report(incumbent);
    }
    if (&sub == &root_ && first_.upper < incumbent.ub) {
        incumbent.ub = first_.upper;
        incumbent.best = first_;
        report(incumbent);
    }
    if (bottom) incumbent.class_of = classes_of_rows(sub);
    const std::vector<Shape> shapes = shapes_of(size);
    for (const std::uint32_t f : feature_order(sub, options_.switches.gini_order != 0)) {
        for (const Shape& shape : shapes) {
            if (incumbent.to_beat() <= objective_.split || control_.stopped()) break;
            branch(incumbent, f, shape);
        }
    }
    Outcome outcome = std::move(incumbent.best);
    outcome.lower = control_.stopped() ? 0 : std::max<Score>(0, incumbent.ub - gap);
    if (cached && !control_.stopped()) cache_.store(std::move(key), outcome, size.leaves);
    return outcome;
}

// Branch: the best threshold of one feature (Algorithm 1).
//
// `open_intervals` holds the thresholds that may still beat the incumbent.  Each turn takes one interval, cuts it
// with what is already known, evaluates the threshold in its middle and puts back what remains.
template <class Entry>
void PaperSearch<Entry>::branch(Incumbent& incumbent, std::uint32_t f, const Shape& shape) {
    Switches switches = options_.switches;
    // With a minimal leaf size a larger side may have fewer errors (segment.hpp), and none of the theorems holds.
    if (incumbent.sub->limited()) switches.neighbourhood_pruning = switches.interval_shrinking = switches.subinterval_pruning = 0;
    const auto [position, z] = thresholds_of(*incumbent.sub, f, objective_);
    const auto to_beat = [&] { return incumbent.to_beat() - objective_.split; };   // by both sides together
    const auto m = static_cast<SplitIndex>(z.size());
    SplitIndex lowest_useful = 0, highest_useful = m - 1;
    std::deque<Interval> open_intervals{{0, m - 1}};   // first in, first out: wide intervals tell most
    EvaluatedSplits evaluated;
    while (!open_intervals.empty() && !control_.stopped()) {
        Interval interval = open_intervals.front();
        open_intervals.pop_front();
        const paper::Outside outside = nearest_outside(interval, evaluated);
        if (switches.interval_shrinking) {
            const std::int64_t before = interval.size();
            interval = shrink_interval(interval, z, evaluated, outside, to_beat(), lowest_useful, highest_useful);
            statistics_.pruned_interval_shrinking += before - interval.size();
        }
        if (interval.empty()) continue;
        if (switches.subinterval_pruning && prune_subinterval(evaluated, outside, to_beat())) {
            statistics_.pruned_subinterval += interval.size();
            continue;
        }
        const SplitIndex w = (interval.i + interval.j) / 2;
        bool left_is_zero = false, right_is_zero = false;
        const Evaluated theta = split(incumbent, f, position[static_cast<std::size_t>(w)], shape, eta(z, interval, w), left_is_zero, right_is_zero);
        if (left_is_zero) lowest_useful = std::max(lowest_useful, w + 1);
        if (right_is_zero) highest_useful = std::min(highest_useful, w - 1);
        if (to_beat() <= 0) return;
        const Score delta = switches.neighbourhood_pruning ? paper::rows_to_move(theta.theta(), to_beat()) : 1;
        const paper::Halves halves = prune_neighbourhood(interval, z, w, delta);
        statistics_.pruned_neighbourhood += interval.size() - 1 - halves.left.size() - halves.right.size();
        if (!halves.left.empty()) open_intervals.push_back(halves.left);
        if (!halves.right.empty()) open_intervals.push_back(halves.right);
        evaluated.emplace(w, theta);
    }
}

// The slack on the right side's bound: "the length of the longest side" in the text, the shortest in
// Algorithm 1.  Any value is exact; it trades early cut-offs against knowledge for pruning.
template <class Entry>
Score PaperSearch<Entry>::eta(const std::vector<Score>& z, const Interval& interval, SplitIndex w) const {
    const auto at = [&](SplitIndex index) { return z[static_cast<std::size_t>(index)]; };
    const Score to_left = at(w) - at(interval.i), to_right = at(interval.j) - at(w);
    switch (options_.switches.eta) {
        case 1: return std::min(to_left, to_right);
        case 2: return std::max(to_left, to_right);
        default: return 0;
    }
}

// Split(D, d, f, tau) (Eq. 6): both sides' scores, or bounds where a side was cut off.
template <class Entry>
Evaluated PaperSearch<Entry>::split(Incumbent& incumbent, std::uint32_t f, Position z, const Shape& shape, Score eta,
                                    bool& left_is_zero, bool& right_is_zero) {
    const Subproblem<Entry>& sub = *incumbent.sub;
    const Score split_cost = objective_.split;
    const bool by_d2split = incumbent.size.depth == 2 && options_.switches.depth_two;
    if (by_d2split || incumbent.size.depth == 1) {
        if (by_d2split) ++statistics_.d2split_calls;
        const SplitErrors errors = by_d2split ? d2split(sub, incumbent.class_of, f, z) : leaf_split(sub, incumbent.class_of, f, z);
        const Score left = small_tree(errors.left, errors.leaf_left, shape.left, objective_);
        const Score right = small_tree(errors.right, errors.leaf_right, shape.right, objective_);
        const auto plan = [&](Score side, Score leaf) { return Plan{Step{side == objective_.error * leaf ? Step::leaf : Step::stump, 0}}; };
        left_is_zero = left == 0;
        right_is_zero = right == 0;
        if (left + right + split_cost < incumbent.ub)
            improve(incumbent, f, z, left + right + split_cost, plan(left, errors.leaf_left), plan(right, errors.leaf_right));
        return {left, right};
    }

    ++statistics_.splits_evaluated;
    Arena::Frame frame(arena_);
    const Children<Entry> children = split_rows(sub, f, z, options_.switches.cache != 0, scalar_movers, arena_);
    const bool bounded = options_.switches.upper_bounds != 0;
    const Score gap = incumbent.gap_below;
    const std::int64_t depth = incumbent.size.depth - 1;
    const Score ub = bounded ? incumbent.ub - split_cost : unreached;   // for both sides together
    const Outcome left = solve(children.left, TreeSize(depth, shape.left, children.left.rows), ub, gap);
    const Score theta_left = claimed(left, gap);
    left_is_zero = left.upper == 0;
    // Where the left side alone is too bad the right one is not solved: nothing but 0 is known of it.
    const Score ub_right = bounded ? std::max(ub - theta_left, eta) : unreached;
    if (ub_right <= 0) return {theta_left, 0};
    const Outcome right = solve(children.right, TreeSize(depth, shape.right, children.right.rows), ub_right, gap);
    right_is_zero = right.upper == 0;
    if (const Score score = left.upper + right.upper + split_cost; score < incumbent.ub)
        improve(incumbent, f, z, score, left.plan, right.plan);
    return {theta_left, claimed(right, gap)};
}

template <class Entry>
void PaperSearch<Entry>::improve(Incumbent& incumbent, std::uint32_t f, Position z, Score score, const Plan& left,
                                 const Plan& right) {
    const Subproblem<Entry>& sub = *incumbent.sub;
    incumbent.ub = incumbent.best.upper = score;
    incumbent.best.plan = join({static_cast<std::int32_t>(sub.feature[f]), sub.rank_left_of(f, z)}, left, right);
    report(incumbent);
}

template <class Entry>
void PaperSearch<Entry>::report(const Incumbent& incumbent) {
    if (incumbent.sub == &root_) improved_({0, incumbent.ub, incumbent.best.plan});
}

template std::vector<std::uint32_t> feature_order(const Subproblem<NarrowEntry>&, bool);
template std::vector<std::uint32_t> feature_order(const Subproblem<WideEntry>&, bool);
template class PaperSearch<NarrowEntry>;
template class PaperSearch<WideEntry>;

}  // namespace contree
