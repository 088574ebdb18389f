#include "heuristics/look_ahead.hpp"
#include "heuristics/rollout.hpp"

namespace contree {
namespace {
constexpr std::uint32_t quantiles = 16;
constexpr std::size_t most_deep = 6;  // splits to roll out
constexpr std::int64_t deep = 5;      // from this depth on, where there are many rows

std::vector<Split> candidates(const HeuristicContext& context, const RowSet& set) {
    std::vector<Split> splits;
    for (std::uint32_t f = 0; f < set.features && !context.stopped(); ++f) {
        const Cuts cuts = set.cuts(f);
        const std::uint32_t count = std::min(quantiles, cuts.count);
        for (std::uint32_t i = 0; i < count; ++i) {
            // Quantiles of rows, not of thresholds, moved to the next threshold.
            const auto wanted = static_cast<Position>(std::uint64_t{set.rows} * (i + 1) / (count + 1));
            const std::uint32_t index = std::min(cuts.below(std::max<Position>(wanted, 1)), cuts.count - 1);
            splits.push_back({f, cuts.at(index, 1, set.rows)});
        }
        splits.push_back({f, purest_threshold(context.objective, set, f, context.halt()).z});
    }
    for (std::uint32_t f = set.features; f < set.columns() && !context.stopped(); ++f) {
        for (const SubsetWords& left : {context.objective.purest_subset(set, f).left,
                 context.objective.best_subset(set, f, unreached).left})
            if (!left.empty()) splits.push_back(set.split_of(f, left));
    }
    return splits;
}
}  // namespace

std::vector<Scored> score_splits(HeuristicContext& context, const RowSet& set, std::vector<Split> splits) {
    const auto key = [](const Split& split) { return std::tuple(split.f, split.z, split.subset); };
    std::erase_if(splits,
        [&](const Split& split) { return split.z == 0 || split.z == set.rows || !set.allows(split); });
    std::ranges::sort(splits, {}, key);
    splits.erase(std::ranges::unique(splits, {}, key).begin(), splits.end());
    Arena::Frame frame(context.arena);
    Batch& batch = context.batches->start(set, context.arena, context.statistics);
    batch.with_whole = false;
    batch.rough = true;
    std::vector<Scored> scored;
    std::deque<SubsetWords> rights;
    for (std::size_t i = 0; i < splits.size() && !context.stopped(); i += lane_count) {
        batch.lanes.clear();
        for (std::size_t j = i; j < std::min(splits.size(), i + lane_count); ++j)
            batch.lanes.push_back(lane_of(set, splits[j], rights));
        if (!batch.evaluate(unreached)) break;
        for (std::size_t t = 0; t < batch.lanes.size(); ++t)
            scored.push_back({batch.reached(t), splits[i + t]});
    }
    std::stable_sort(scored.begin(), scored.end());
    return scored;
}

std::vector<Split> promising_splits(
    HeuristicContext& context, const RowSet& set, std::size_t most, int of_each) {
    std::vector<int> of_feature(set.columns(), 0);
    std::vector<Split> best;
    for (const Scored& split : score_splits(context, set, candidates(context, set))) {
        if (best.size() == most) break;
        if (of_feature[split.at.f]++ < of_each) best.push_back(split.at);
    }
    return best;
}

Outcome look_ahead_tree(
    HeuristicContext& context, const RowSet& set, std::int64_t depth, std::int64_t work_end) {
    Outcome best = rollout_tree(context, set, depth);
    const auto over = [&] { return best.upper == 0 || context.stopped() || context.work() >= work_end; };
    if (depth <= 2 || set.columns() == 0 || over()) return best;
    Split at = best.plan.size() < 3 ? Split{0, 0} : locate(context.objective, set, best.plan.front());
    std::vector<Split> splits = promising_splits(context, set);
    // A deep rollout costs several times what a closer look does, by nearly best trees of depth two.
    if (depth >= deep && !context.few_cells() && splits.size() > most_deep) {
        const auto rough = [&](const RowSet& side, bool) { return context.rough_two(side); };
        std::vector<Scored> scored;
        for (std::size_t i = 0; i < splits.size() && !context.stopped(); ++i)
            scored.push_back({context.tree_at(set, splits[i], rough).upper, splits[i]});
        splits = best_first(std::move(scored), most_deep);
    }
    const auto roll = [&](const RowSet& side, bool) { return rollout_tree(context, side, depth - 1); };
    for (const Split& split : splits) {
        if (over()) break;
        Outcome tree = context.tree_at(set, split, roll, best.upper);
        if (tree.plan.empty()) continue;
        best = std::move(tree);
        at = split;
        context.found(set, best);
    }
    if (at.z == 0 || depth == 3) return best;
    const auto look = [&](const RowSet& side, bool) {
        return look_ahead_tree(context, side, depth - 1, work_end);
    };
    const Outcome tree = context.tree_at(set, at, look);
    return tree.upper < best.upper ? tree : best;
}
}  // namespace contree
