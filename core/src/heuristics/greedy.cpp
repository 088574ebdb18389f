#include "heuristics/greedy.hpp"
#include <cstdlib>
#include <set>
#include "tree/locate.hpp"
#include "tree/outcome.hpp"

namespace contree {
namespace {
constexpr std::size_t most_equal_splits = 64;

// Which rows a split parts from which, whichever go left: splits that differ in it differ for sure.
std::uint64_t parting(const RowSet& set, const Split& split) {
    std::uint64_t left = 0, all = 0;
    const Order order = set.order(split.f);
    for (Row r = 0; r < set.rows; ++r) all += mixed(r + mixed_step);
    set.for_left(split, [&](Position k) { left += mixed(order.row(k) + mixed_step); });
    const std::uint64_t right = all - left;
    return std::min(left, right);
}

struct Greedy {
    const Objective& objective;
    const Partitioner& partitioner;
    Arena& arena;
    const Halt halt;
    std::int64_t spare;  // the work, in row visits, that is left for splits which are as pure as the first

    // A subtree that is worth no more than a leaf is one: that leaves the best pruning of the rest as it is.
    Outcome grow(const RowSet& set, std::int64_t depth, std::int64_t level) {
        const Plan leaf{Step{Step::leaf, 0}};
        Outcome best{0, objective.leaf_loss(set), leaf};
        if (depth == 0 || best.upper == 0 || set.columns() == 0 || !room_below(level, arena) || halt())
            return best;
        if (depth == 1) {
            const Stump stump = objective.best_stump(set, halt);
            if (stump.z != 0 && !halt())
                take(best, {0, stump.loss, join(step_at(set, stump.split()), leaf, leaf)});
            return best;
        }
        const auto visits = static_cast<std::int64_t>(set.cells()) * std::min<std::int64_t>(depth, set.rows);
        bool first = true;
        for (const Split& split : equally_pure_splits(set)) {
            if (!first && ((best.upper == 0 && objective.costs.split == 0) || visits > spare)) break;
            spare -= std::exchange(first, false) ? 0 : visits;
            Arena::Frame frame(arena);
            const Children children = split_rows(set, split, false, partitioner, arena, halt);
            if (halt()) break;  // perhaps before all rows were there
            const Outcome left = grow(children.left, depth - 1, level + 1);
            const Outcome right = grow(children.right, depth - 1, level + 1);
            take(best, {0, left.upper + right.upper, join(step_at(set, split), left.plan, right.plan)});
        }
        return best;
    }

    // The splits that are as pure as the best, but for rounding; one for each way to part the rows.  Those
    // that part them most evenly come first: they leave the levels below the most to do.
    std::vector<Split> equally_pure_splits(const RowSet& set) {
        std::vector<double> purest(set.features, 0), purities;
        for (std::uint32_t f = 0; f < set.features && !halt(); ++f)
            purest[f] = purest_threshold(objective, set, f, halt).purity;
        std::vector<PurestSubset> subsets;
        for (std::uint32_t f = set.features; f < set.columns() && !halt(); ++f) {
            subsets.push_back(objective.purest_subset(set, f));
            purest.push_back(subsets.back().purity);
        }
        const double equal = but_for_rounding * *std::max_element(purest.begin(), purest.end());
        std::vector<Split> pure, splits;
        for (std::uint32_t f = set.features; f < set.features + subsets.size(); ++f) {
            const PurestSubset& subset = subsets[f - set.features];
            if (!subset.left.empty() && subset.purity >= equal) pure.push_back(set.split_of(f, subset.left));
        }
        for (std::uint32_t f = 0; f < set.features && pure.size() < most_equal_splits; ++f) {
            if (purest[f] < equal) continue;
            objective.purities(set, f, halt, purities);
            for (Position z = 1; z < set.rows; ++z)
                if (purities[z] > 0 && purities[z] >= equal) pure.push_back({f, z});
        }
        std::ranges::stable_sort(pure, {},
            [&](const Split& split) { return std::abs(2 * std::int64_t{split.z} - std::int64_t{set.rows}); });
        std::set<std::uint64_t> partings;
        for (const Split& split : pure) {
            spare -= splits.empty() ? 0 : set.rows;
            if (!splits.empty() && (splits.size() == most_equal_splits || spare < 0)) break;
            if (partings.insert(parting(set, split)).second) splits.push_back(split);
        }
        return splits;
    }

    void take(Outcome& best, Outcome tree) const {
        const auto score = [&](const Outcome& one) {
            return objective.costs.of(one.upper, static_cast<std::int64_t>(one.plan.size() / 2));
        };
        if (score(tree) < score(best)) best = std::move(tree);
    }
};
}  // namespace

Outcome greedy_tree(const Objective& objective, const RowSet& set, std::int64_t depth,
    const Partitioner& partitioner, Arena& arena, const Halt& halt) {
    const std::int64_t spare = 2 * std::max(static_cast<std::int64_t>(set.cells()), std::int64_t{1} << 20);
    return Greedy{objective, partitioner, arena, halt, spare}.grow(set, depth, 0);
}
}  // namespace contree
