#include "search/first_trees.hpp"

#include "bounds/class_count.hpp"
#include "tree/locate.hpp"
#include "tree/purity.hpp"

namespace contree {

namespace {

constexpr std::int64_t deepest_greedy = 64;   // bounds the recursion; no tree that a person reads comes near

template <class Entry>
Split purest_split(const Subproblem<Entry>& sub) {
    const auto class_of = classes_of_rows(sub);
    Split best{0, 0};
    double most = 0;
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        const Purest purest = purest_threshold(sub, f, class_of);
        if (purest.purity <= most) continue;
        most = purest.purity;
        best = {f, purest.z};
    }
    return best;
}

template <class Entry>
Step step_of(const Subproblem<Entry>& sub, const Split& split) {
    return {static_cast<std::int32_t>(sub.feature[split.f]), sub.rank_left_of(split.f, split.z)};
}

}  // namespace

template <class Entry>
Outcome greedy_tree(const Subproblem<Entry>& sub, std::int64_t depth, const Movers& movers, Arena& arena) {
    depth = std::min(depth, deepest_greedy);
    const Score leaf = leaf_errors(sub);
    if (depth == 0 || leaf == 0 || sub.features == 0) return {0, leaf, {Step{Step::leaf, 0}}};
    const Split split = purest_split(sub);
    if (split.z == 0) return {0, leaf, {Step{Step::leaf, 0}}};
    Arena::Frame frame(arena);
    const Children<Entry> children = split_rows(sub, split.f, split.z, false, movers, arena);
    const Outcome left = greedy_tree(children.left, depth - 1, movers, arena);
    const Outcome right = greedy_tree(children.right, depth - 1, movers, arena);
    return {0, left.upper + right.upper, join(step_of(sub, split), left.plan, right.plan)};
}

template <class Entry>
Outcome rollout_tree(DepthTwo<Entry>& depth_two, const Subproblem<Entry>& sub, std::int64_t depth, Outcome two,
                     const Movers& movers, Arena& arena, Statistics& statistics) {
    depth = std::min(depth, deepest_greedy);
    const Split split = depth <= 2 || two.upper == 0 ? Split{0, 0} : locate(sub, two.plan.front());
    if (split.z == 0) return two;
    Arena::Frame frame(arena);
    const Children<Entry> children = split_rows(sub, split.f, split.z, false, movers, arena);
    const auto roll = [&](const Subproblem<Entry>& side) -> Outcome {
        const Score leaf = leaf_errors(side);
        if (leaf == 0 || side.features == 0) return {0, leaf, {Step{Step::leaf, 0}}};
        Outcome best = depth_two.solve(side, 0, unreached, {}, nullptr, arena, statistics);
        return rollout_tree(depth_two, side, depth - 1, std::move(best), movers, arena, statistics);
    };
    const Outcome left = roll(children.left), right = roll(children.right);
    if (left.upper + right.upper >= two.upper) return two;
    return {0, left.upper + right.upper, join(step_of(sub, split), left.plan, right.plan)};
}

template Outcome greedy_tree(const Subproblem<NarrowEntry>&, std::int64_t, const Movers&, Arena&);
template Outcome greedy_tree(const Subproblem<WideEntry>&, std::int64_t, const Movers&, Arena&);
template Outcome rollout_tree(DepthTwo<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::int64_t, Outcome, const Movers&,
                              Arena&, Statistics&);
template Outcome rollout_tree(DepthTwo<WideEntry>&, const Subproblem<WideEntry>&, std::int64_t, Outcome, const Movers&,
                              Arena&, Statistics&);

}  // namespace contree
