#include "search/first_trees.hpp"

#include "bounds/class_count.hpp"
#include "tree/locate.hpp"
#include "tree/purity.hpp"

namespace contree {

namespace {

template <class Entry>
Split purest_split(const Subproblem<Entry>& sub, const Halt& halt) {
    const auto class_of = classes_of_rows(sub);
    Split best{0, 0};
    double most = 0;
    for (std::uint32_t f = 0; f < sub.features && !halt(); ++f) {
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
Outcome greedy_tree(const Subproblem<Entry>& sub, std::int64_t depth, const Movers& movers, Arena& arena, const Control& control,
                    std::int64_t level) {
    const Score leaf = leaf_errors(sub);
    if (depth == 0 || leaf == 0 || sub.features == 0 || !room_below(level, arena)) return {0, leaf, {Step{Step::leaf, 0}}};
    const Halt halt = when_abandoned(control);
    if (depth == 1) {
        const Stump stump = best_stump(sub, halt);
        if (stump.z == 0 || halt()) return {0, leaf, {Step{Step::leaf, 0}}};
        return {0, stump.errors, join(step_of(sub, {stump.f, stump.z}), {Step{Step::leaf, 0}}, {Step{Step::leaf, 0}})};
    }
    const Split split = purest_split(sub, halt);
    if (split.z == 0 || halt()) return {0, leaf, {Step{Step::leaf, 0}}};
    Arena::Frame frame(arena);
    const Children<Entry> children = split_rows(sub, split.f, split.z, false, movers, arena, halt);
    const Outcome left = greedy_tree(children.left, depth - 1, movers, arena, control, level + 1);
    const Outcome right = greedy_tree(children.right, depth - 1, movers, arena, control, level + 1);
    return {0, left.upper + right.upper, join(step_of(sub, split), left.plan, right.plan)};
}

template <class Entry>
Outcome rollout_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth) {
    depth = std::min(depth, deepest_first_tree);
    if (leaf_errors(sub) == 0 || depth == 0 || sub.features == 0 || bench.stopped()) return bench.leaf(sub);
    if (depth == 1) return bench.plain(sub, {Step{Step::stump, 0}});
    Outcome two = bench.rough_two(sub);
    const Split split = depth == 2 || two.upper == 0 || bench.stopped() ? Split{0, 0} : locate(sub, two.plan.front());
    if (split.z == 0) return two;
    Arena::Frame frame(bench.arena);
    const Children<Entry> children = bench.split(sub, split);
    const Outcome left = rollout_tree(bench, children.left, depth - 1);
    const Outcome right = rollout_tree(bench, children.right, depth - 1);
    if (left.upper + right.upper >= two.upper) return two;
    return {0, left.upper + right.upper, join(bench.step_at(sub, split), left.plan, right.plan)};
}

template <class Entry>
Outcome skeleton_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth) {
    depth = std::min(depth, deepest_first_tree);
    if (depth <= 2 || leaf_errors(sub) == 0 || sub.features == 0) return rollout_tree(bench, sub, depth);
    const Split split = purest_split(sub, bench.halt());
    bench.count_pass(sub);
    if (split.z == 0 || bench.stopped()) return bench.leaf(sub);
    Arena::Frame frame(bench.arena);
    const Children<Entry> children = bench.split(sub, split);
    const Outcome left = skeleton_tree(bench, children.left, depth - 1);
    const Outcome right = skeleton_tree(bench, children.right, depth - 1);
    return {0, left.upper + right.upper, join(bench.step_at(sub, split), left.plan, right.plan)};
}

#define CONTREE_TREES(Entry)                                                                                \
    template Outcome greedy_tree(const Subproblem<Entry>&, std::int64_t, const Movers&, Arena&, const Control&, std::int64_t); \
    template Outcome rollout_tree(Bench<Entry>&, const Subproblem<Entry>&, std::int64_t);                   \
    template Outcome skeleton_tree(Bench<Entry>&, const Subproblem<Entry>&, std::int64_t);
CONTREE_TREES(NarrowEntry)
CONTREE_TREES(WideEntry)
#undef CONTREE_TREES

}  // namespace contree
