#include "heuristics/simplify.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include "bounds/subset.hpp"
#include "depth_two/depth_two.hpp"
#include "tree/locate.hpp"
#include "tree/prune.hpp"

namespace contree {
namespace {
constexpr std::size_t most_categories = 10;  // of a feature, where sets of them are solved

Step* end_of(Step* step) { return step + (end_of(static_cast<const Step*>(step)) - step); }

std::int64_t height_of(const Step* step) {
    if (step->feature < 0) return step->feature == Step::stump ? 1 : 0;
    return 1 + std::max(height_of(step + 1), height_of(end_of(step + 1)));
}

// How good a place for a split is, among places that lose as little.
struct Place {
    Split at;
    double purity = 0, margin = 0;
    bool is_better_than(const Place& other) const {
        if (purity * but_for_rounding > other.purity) return true;
        return purity >= other.purity * but_for_rounding && margin > other.margin;
    }
};

class Simplifier {
public:
    explicit Simplifier(const Simplification& task)
        : task_(task), depth_two_(task.objective, task.kernel, task.options.switches, task.control) {}

    // From the root downwards, so that a subtree is solved again for the rows that it has in the end.
    Plan simplify(const RowSet& set, Plan plan) {
        if (plan.size() == 1 || stopped()) return plan;
        if (height_of(plan.data()) == 2)
            if (Plan smaller = with_fewer_leaves(set, plan); !smaller.empty()) plan = std::move(smaller);
        if (plan.size() == 1) return plan;
        plan.front() = step_at(set, better_place(set, plan));
        return with_sides(set, plan);
    }
private:
    bool stopped() const { return task_.control.stopped(); }
    Children split(const RowSet& set, const Split& at) const {
        return split_rows(set, at, true, *task_.kernel.partitioner, task_.arena, when_stopped(task_.control));
    }

    // The split of `plan` over its sides made simpler.  After a stop the plan as it is.
    Plan with_sides(const RowSet& set, const Plan& plan) {
        if (plan.size() == 3) return plan;
        const Step *const left = &plan[1], *const right = end_of(left), *const end = end_of(right);
        Arena::Frame frame(task_.arena);
        const Children children = split(set, place_of(set, plan.front()));
        if (stopped()) return plan;
        return join(
            plan.front(), simplify(children.left, {left, right}), simplify(children.right, {right, end}));
    }

    // A tree of height two that is no worse and has fewer leaves; empty if there is none.
    Plan with_fewer_leaves(const RowSet& set, const Plan& plan) {
        const Objective& objective = task_.objective;
        if (set.cells() > task_.most_cells) return {};
        const Score score = score_of(set, plan);
        Plan found;
        if (leaves_of(plan) == 3) {  // only a stump has fewer leaves
            const Stump stump = objective.best_stump(set, when_stopped(task_.control));
            if (stump.z > 0 && objective.costs.of(stump.loss, 1) <= score)
                found = {step_at(set, stump.split()), {Step::leaf, 0}, {Step::leaf, 0}};
        } else if (has_few_subsets(set)) {
            found = depth_two_.solve(set, 3, 0, score + 1, {}, nullptr, task_.arena, task_.statistics).plan;
        }
        if (stopped() || found.empty()) return {};
        return plain_plan(objective, set, found, *task_.kernel.partitioner, task_.arena, {});
    }

    // Sets of many categories may take minutes, and nothing waits for the gain.
    static bool has_few_subsets(const RowSet& set) {
        for (std::uint32_t f = set.features; f < set.columns(); ++f)
            if (ranks_of(set, f).size() > most_categories) return false;
        return true;
    }

    Score score_of(const RowSet& set, const Plan& plan) const {
        return pruned(task_.objective, set, plan, any_leaves).upper;
    }

    // The split stays where it is unless another place is better for the two subtrees that it has.  Above
    // other splits it keeps its feature.  A set of categories stays as it is.
    Split better_place(const RowSet& set, const Plan& plan) {
        const Split present = place_of(set, plan.front());
        if (present.subset != no_subset) return present;
        const std::vector<Score> gain = gains(set, plan);
        const bool parts_leaves = plan.size() == 3;
        Place best{present, 0, margin(set, present)};
        Score least = 0;
        for (Position k = 0; k < present.z; ++k) least += gain[set.order(present.f).row(k)];
        std::vector<double> purities;
        if (parts_leaves) {
            task_.objective.purities(set, present.f, {}, purities);
            best.purity = purities[present.z];
        }
        for (std::uint32_t f = 0; f < set.features && !stopped(); ++f) {
            if (!parts_leaves && f != present.f) continue;
            purities.clear();
            const Order order = set.order(f);
            Score loss = 0;
            for (Position z = 1; z < set.rows; ++z) {
                loss += gain[order.row(z - 1)];
                if (loss > least || !set.cut_behind(f, z - 1) || !set.allows(f, z)) continue;
                Place place{{f, z}, 0, margin(set, {f, z})};
                if (parts_leaves) {
                    if (purities.empty()) task_.objective.purities(set, f, {}, purities);
                    place.purity = purities[z];
                }
                if (place.is_better_than(best)) best = place;
            }
        }
        if (best.at.f == present.f && best.at.z == present.z) return present;
        Plan moved = plan;
        moved.front() = step_at(set, best.at);
        const bool as_good = fits(set, moved.data()) && score_of(set, moved) <= score_of(set, plan);
        return as_good ? best.at : present;
    }

    // By row: what it loses more in the left subtree than in the right one, whose leaves say what is best for
    // the rows that they have now.
    std::vector<Score> gains(const RowSet& set, Plan plan) {
        std::vector<Row> rows(set.rows);
        std::iota(rows.begin(), rows.end(), Row{0});
        send(set, plan.data(), rows, [&](Step& leaf, std::span<const Row> own) {
            leaf.rank = own.empty() ? 0 : task_.objective.prediction(set, own);
        });
        std::vector<Score> gain(set.rows, 0);
        const auto add = [&](Step* side, Score sign) {
            send(set, side, rows, [&](const Step& leaf, std::span<const Row> all) {
                for (const Row row : all)
                    gain[row] += sign * task_.objective.row_loss(set.origin[row], leaf.rank);
            });
        };
        add(&plan[1], 1);
        add(end_of(&plan[1]), -1);
        return gain;
    }
    // at_leaf(leaf, rows) for each leaf of a plan and those of the rows that it gets, which change places.
    template <class Action>
    void send(const RowSet& set, Step* step, std::span<Row> rows, const Action& at_leaf) {
        if (step->feature == Step::leaf) return at_leaf(*step, rows);
        const std::vector<Rank>& ranks = column_ranks(step->feature);
        const GoesLeft left = set.categories->goes_left(static_cast<FeatureId>(step->feature), step->rank);
        const auto goes_left = [&](Row row) { return left(ranks[set.origin[row]]); };
        const std::size_t middle = rows.size() - std::ranges::partition(rows, goes_left).size();
        send(set, step + 1, rows.first(middle), at_leaf);
        send(set, end_of(step + 1), rows.subspan(middle), at_leaf);
    }
    // Of all rows, by their number in the ranked table.
    const std::vector<Rank>& column_ranks(std::int32_t column) {
        std::vector<Rank>& ranks = ranks_[column];
        if (!ranks.empty()) return ranks;
        const RowSet& root = task_.root;
        ranks.resize(root.rows);
        const Order order = root.order(root.number_of(static_cast<FeatureId>(column)));
        for (Row k = 0; k < root.rows; ++k) ranks[order.row(k)] = order.rank(k);
        return ranks;
    }

    // Can every split of a plan be made on these rows?
    bool fits(const RowSet& set, const Step* step) {
        if (step->feature == Step::leaf) return true;
        const Split at = place_of(set, *step);
        if (at.z == 0 || at.z == set.rows || !set.allows(at)) return false;
        if (end_of(step) - step == 3) return true;
        Arena::Frame frame(task_.arena);
        const Children children = split(set, at);
        return !stopped() && fits(children.left, step + 1) && fits(children.right, end_of(step + 1));
    }

    // The gap around a threshold, as a share of the range of its feature.  Beside missing values there is
    // none.
    double margin(const RowSet& set, const Split& at) const {
        const Order order = set.order(at.f);
        const Column& column = task_.ranked.columns[set.feature[at.f]];
        const std::vector<double>& lowest = column.values.lowest;
        const double below = column.values.highest_of(order.rank(at.z - 1)), above = lowest[order.rank(at.z)];
        const double first = lowest[column.missing == Missing::first],
                     last = column.values.highest_of(lowest.size() - 1 - (column.missing == Missing::last));
        const double share = (above / 4 - below / 4) / (last / 4 - first / 4);  // without overflow
        return std::isfinite(share) ? share : 0;
    }

    const Simplification& task_;
    DepthTwo depth_two_;
    std::unordered_map<std::int32_t, std::vector<Rank>> ranks_;
};
}  // namespace

Outcome simplified(const Simplification& task, const Outcome& found) {
    const Plan plan = plain_plan(task.objective, task.root, found.plan, *task.kernel.partitioner, task.arena,
        when_stopped(task.control));
    if (plan.empty() || height_of(plan.data()) > deepest_first_tree) return found;
    // Where a subtree has become lower, one above it may be of height two now.
    Simplifier simplifier(task);
    Outcome outcome{0, found.upper, plan};
    for (Leaves leaves = any_leaves; leaves_of(outcome.plan) < leaves && !task.control.stopped();) {
        leaves = leaves_of(outcome.plan);
        const Plan simple = simplifier.simplify(task.root, outcome.plan);
        outcome = pruned(task.objective, task.root, simple, leaves_of(task.options));
    }
    if (outcome.upper > found.upper) return found;
    outcome.lower = std::min(found.lower, outcome.upper);
    return outcome;
}
}  // namespace contree
