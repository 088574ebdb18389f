#include "search/first_trees.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bounds/class_count.hpp"
#include "tree/locate.hpp"
#include "tree/purity.hpp"

namespace contree {

namespace {

// Which rows a split parts from which, whichever of them are left: two splits that differ in it differ for sure.
template <class Entry>
std::uint64_t parting(const Subproblem<Entry>& sub, const Split& split) {
    const auto mixed = [](std::uint64_t row) {
        row = (row + 1) * 0x9e3779b97f4a7c15ULL;
        row = (row ^ row >> 31) * 0xbf58476d1ce4e5b9ULL;
        return row ^ row >> 29;
    };
    std::uint64_t left = 0, right = 0;
    const Entry* const order = sub.order(split.f);
    for (Row k = 0; k < sub.rows; ++k) (k < split.z ? left : right) += mixed(Packed<Entry>::row(order[k]));
    return std::min(left, right);
}

// The splits that are as pure as the best, but for rounding; one for each way to part the rows.  Those that part them most evenly come first:
// they leave the levels below the most to do.  `spare` pays for telling them apart.
template <class Entry>
std::vector<Split> equally_pure_splits(const Subproblem<Entry>& sub, const Halt& halt, std::int64_t& spare) {
    constexpr std::size_t enough = 64;
    const auto class_of = classes_of_rows(sub);
    std::vector<Purest> purest(sub.features);
    double most = 0;
    for (std::uint32_t f = 0; f < sub.features && !halt(); ++f) {
        purest[f] = purest_threshold(sub, f, class_of, halt);
        most = std::max(most, purest[f].purity);
    }
    std::vector<Split> pure;
    const double equal = most * but_for_rounding;
    for (std::uint32_t f = 0; f < sub.features && pure.size() < enough; ++f) {
        if (purest[f].z == 0 || purest[f].purity < equal) continue;
        if (!purest[f].tied) pure.push_back({f, purest[f].z});
        else
            visit_purities(sub, f, class_of, halt, [&](double purity, Position z) {
                if (purity >= equal) pure.push_back({f, z});
            });
    }
    if (pure.size() < 2) return pure;
    const auto unevenness = [&](const Split& split) { return std::abs(2 * std::int64_t{split.z} - std::int64_t{sub.rows}); };
    std::stable_sort(pure.begin(), pure.end(), [&](const Split& a, const Split& b) { return unevenness(a) < unevenness(b); });
    std::vector<Split> splits;
    std::vector<std::uint64_t> partings;
    for (const Split& split : pure) {
        if (!splits.empty() && (splits.size() == enough || (spare -= sub.rows) < 0)) break;
        const std::uint64_t way = parting(sub, split);
        if (std::find(partings.begin(), partings.end(), way) != partings.end()) continue;
        partings.push_back(way);
        splits.push_back(split);
    }
    return splits;
}

template <class Entry>
Step step_of(const Subproblem<Entry>& sub, const Split& split) {
    return {static_cast<std::int32_t>(sub.feature[split.f]), sub.rank_left_of(split.f, split.z)};
}

// What the splits of one greedy tree have in common.
struct Greed {
    const Movers& movers;
    Arena& arena;
    const Halt halt;
    const Objective objective;
    std::int64_t spare;   // the work, in row visits, that is left for splits which are as pure as the first

    Score worth(const Outcome& tree) const { return objective.of(tree.upper, static_cast<std::int64_t>(tree.plan.size() / 2)); }
};

// A subtree that is worth no more than a leaf is one: pruning it away leaves the best pruning of the rest as it is.  After a halt what is not
// split yet is a leaf too.
template <class Entry>
Outcome greedy(const Subproblem<Entry>& sub, std::int64_t depth, std::int64_t level, Greed& greed) {
    Outcome best{0, leaf_errors(sub), {Step{Step::leaf, 0}}};
    if (depth == 0 || best.upper == 0 || sub.features == 0 || !room_below(level, greed.arena) || greed.halt()) return best;
    const auto take = [&](Outcome tree) {
        if (greed.worth(tree) < greed.worth(best)) best = std::move(tree);
    };
    if (depth == 1) {
        const Stump stump = best_stump(sub, greed.halt);
        if (stump.z != 0 && !greed.halt()) take({0, stump.errors, join(step_of(sub, {stump.f, stump.z}), best.plan, best.plan)});
        return best;
    }
    bool first = true;
    for (const Split& split : equally_pure_splits(sub, greed.halt, greed.spare)) {
        if (greed.halt()) break;
        const std::int64_t visits = std::int64_t{sub.rows} * sub.features * std::min<std::int64_t>(depth, sub.rows);
        if (!first && ((best.upper == 0 && greed.objective.split == 0) || visits > greed.spare)) break;
        if (!first) greed.spare -= visits;
        first = false;
        Arena::Frame frame(greed.arena);
        const Children<Entry> children = split_rows(sub, split.f, split.z, false, greed.movers, greed.arena, greed.halt);
        if (greed.halt()) break;   // perhaps before all rows were there
        const Outcome left = greedy(children.left, depth - 1, level + 1, greed);
        const Outcome right = greedy(children.right, depth - 1, level + 1, greed);
        take({0, left.upper + right.upper, join(step_of(sub, split), left.plan, right.plan)});
    }
    return best;
}

}  // namespace

template <class Entry>
Outcome greedy_tree(const Subproblem<Entry>& sub, std::int64_t depth, const Objective& objective, const Movers& movers, Arena& arena, const Halt& halt) {
    Greed greed{movers, arena, halt, objective, 2 * std::max(std::int64_t{sub.rows} * sub.features, std::int64_t{1} << 20)};
    return greedy(sub, depth, 0, greed);
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

#define CONTREE_TREES(Entry)                                                                                \
    template Outcome greedy_tree(const Subproblem<Entry>&, std::int64_t, const Objective&, const Movers&, Arena&, const Halt&); \
    template Outcome rollout_tree(Bench<Entry>&, const Subproblem<Entry>&, std::int64_t);
CONTREE_TREES(NarrowEntry)
CONTREE_TREES(WideEntry)
#undef CONTREE_TREES

}  // namespace contree
