#include "heuristics/polish.hpp"
#include "heuristics/rollout.hpp"

namespace contree {
namespace {
// The loss of two given subtrees: at position z, the left one's on the rows before, the right one's on those
// behind.
struct Losses {
    std::vector<Score> gain;  // by row: loss more, if it goes left
    Score all_right = 0, all_left = 0, least = 0;
    Losses(const HeuristicContext& context, const RowSet& set, const Step* plan) : gain(set.rows) {
        const auto left = context.guide(plan + 1), right = context.guide(end_of(plan + 1));
        context.for_rows(set, [&](Row r) {
            const Score in_left = context.loss(left, set.origin[r]),
                        in_right = context.loss(right, set.origin[r]);
            gain[r] = in_left - in_right;
            all_right += in_right;
            all_left += in_left;
            least += std::min(in_left, in_right);
        });
    }
    // Categories: each goes to the side where its rows lose less.
    Scored subset_place(const RowSet& set, std::uint32_t f) const {
        SubsetWords left = set.categories->none();
        Score loss = all_right;
        set.for_categories(f, [&](Rank rank, Position begin, Position end) {
            Score more = 0;
            for (Position k = begin; k < end; ++k) more += gain[set.order(f).row(k)];
            if (more >= 0) return;
            loss += more;
            insert(left.data(), rank);
        });
        return {loss, set.split_of(f, left)};
    }
    // The best place of each feature, at least `distance` rows from the present one: a prefix sum finds it.
    std::vector<Scored> places(
        HeuristicContext& context, const RowSet& set, const Split& present, Row distance) const {
        context.count_pass(set);
        std::vector<Scored> places;
        for (std::uint32_t f = 0; f < set.features && !context.stopped(); ++f) {
            const Order order = set.order(f);
            Scored best{unreached, {f, 0}};
            Score loss = all_right;
            for (Position z = 1; z < set.rows; ++z) {
                loss += gain[order.row(z - 1)];
                if (loss >= best.loss || !set.cut_behind(f, z - 1) || !set.allows(f, z)) continue;
                if (f != present.f || z >= present.z + distance || z + distance <= present.z)
                    best = {loss, {f, z}};
            }
            if (best.at.z > 0) places.push_back(best);
        }
        for (std::uint32_t f = set.features; f < set.columns() && !context.stopped(); ++f) {
            const Scored best = subset_place(set, f);
            const bool parts = best.at.z > 0 && best.at.z < set.rows && set.allows(best.at);
            if (parts && (f != present.f || distance == 0)) places.push_back(best);
        }
        return places;
    }
};

// Where to split so that two given subtrees lose least; z = 0: all rows right, z = rows: all rows left.  The
// present split stays unless another is better.
Split best_place(HeuristicContext& context, const RowSet& set, const Step* plan) {
    const Losses losses(context, set, plan);
    Scored best = std::min(Scored{losses.all_right, {0, 0}}, Scored{losses.all_left, {0, set.rows}});
    const Split present = place_of(set, *plan);
    if (present.z > 0 && present.z < set.rows && set.allows(present)) {
        Score loss = losses.all_right;
        set.for_left(present, [&](Position k) { loss += losses.gain[set.order(present.f).row(k)]; });
        best = std::min(Scored{loss, present}, best);
    }
    if (best.loss > losses.least)
        for (const Scored& place : losses.places(context, set, present, 0)) best = std::min(best, place);
    return best.at;
}

Outcome polish_sides(HeuristicContext& context, const RowSet& set, std::int64_t depth, const Split& at,
    const Step* plan, std::int64_t bottom) {
    return context.tree_at(set, at, [&](const RowSet& side, bool right) {
        return polish_once(context, side, depth - 1, right ? end_of(plan + 1) : plan + 1, bottom);
    });
}
}  // namespace

Outcome polish_once(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, const Step* plan, std::int64_t bottom) {
    const Outcome alone = context.leaf(set);
    if (alone.upper == 0 || depth == 0 || set.columns() == 0 || context.stopped()) return alone;
    if (depth == 1) return context.plain(set, {Step{Step::stump, 0}});
    if (depth == 2) return context.plain_two(set);
    if (plan->feature == Step::leaf) return context.plain(set, rollout_tree(context, set, depth).plan);
    if (depth <= bottom) return context.exact(set, depth, polish_once(context, set, depth, plan, depth - 1));
    const Split at = best_place(context, set, plan);
    if (at.z == 0) return polish_once(context, set, depth, end_of(plan + 1), bottom);
    if (at.z == set.rows) return polish_once(context, set, depth, plan + 1, bottom);
    const Outcome tree = polish_sides(context, set, depth, at, plan, bottom);
    return tree.upper < alone.upper ? tree : alone;
}

Outcome polish(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, Outcome tree, std::int64_t bottom) {
    while (tree.upper > 0 && !context.stopped()) {
        Outcome better = polish_once(context, set, depth, tree.plan.data(), bottom);
        if (better.upper >= tree.upper) break;
        tree = std::move(better);
    }
    return tree;
}

std::vector<Split> other_places(
    HeuristicContext& context, const RowSet& set, const Step* plan, Row distance) {
    return best_first(Losses(context, set, plan).places(context, set, place_of(set, *plan), distance));
}

Outcome polish_below(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, const Split& at, const Plan& plan) {
    return polish_sides(context, set, depth, at, plan.data(), 2);
}
}  // namespace contree
