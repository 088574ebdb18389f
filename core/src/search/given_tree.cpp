#include "search/given_tree.hpp"

#include <algorithm>

#include "bounds/class_count.hpp"
#include "tree/locate.hpp"

namespace contree {

namespace {

constexpr std::int64_t deepest_given = 64;   // bounds the recursion; no tree that a person reads comes near

template <class Entry>
class Planter {
public:
    Planter(const Tree& tree, const Table& table, const RankedTable& ranked, const Movers& movers, Arena& arena)
        : tree_(tree), table_(table), ranked_(ranked), movers_(movers), arena_(arena) {}

    Outcome plant(std::size_t node, const Subproblem<Entry>& sub, std::int64_t depth) {
        const Score leaf = leaf_errors(sub);
        const Outcome as_leaf{0, leaf, {Step{Step::leaf, 0}}};
        if (depth == 0 || leaf == 0) return as_leaf;
        Split split{0, 0};
        for (; tree_.children_left[node] >= 0; node = child(node, split.z > 0)) {
            split = place(node, sub);
            if (split.z > 0 && split.z < sub.rows) return join_sides(node, sub, split, depth);
        }
        return as_leaf;
    }

private:
    std::size_t child(std::size_t node, bool left) const {
        return static_cast<std::size_t>((left ? tree_.children_left : tree_.children_right)[node]);
    }

    // Where a node's test parts the rows.  Position 0: all go right; sub.rows: all go left.
    Split place(std::size_t node, const Subproblem<Entry>& sub) const {
        const auto feature = static_cast<FeatureId>(tree_.feature[node]);
        const std::vector<double>& lowest = ranked_.values[feature].lowest;
        // Values that count as equal stay together: all of them go where the lowest of them goes.
        const auto left = static_cast<Rank>(
            std::upper_bound(lowest.begin(), lowest.end(), tree_.threshold[node]) - lowest.begin());
        if (left == 0) return {0, 0};
        if (left == lowest.size()) return {0, sub.rows};
        const FeatureId* const features = sub.feature;
        const auto f = static_cast<std::uint32_t>(std::find(features, features + sub.features, feature) - features);
        if (f == sub.features) {   // constant on these rows: any of them shows where all go
            const Row row = ranked_.original[sub.origin[0]];
            return {0, table_.values[feature * table_.rows + row] < lowest[left] ? sub.rows : 0};
        }
        const Entry* const order = sub.order(f);
        const auto goes_left = [&](Entry entry) { return Packed<Entry>::rank(entry) < left; };
        return {f, static_cast<Position>(std::partition_point(order, order + sub.rows, goes_left) - order)};
    }

    Outcome join_sides(std::size_t node, const Subproblem<Entry>& sub, const Split& split, std::int64_t depth) {
        Arena::Frame frame(arena_);
        const Children<Entry> children = split_rows(sub, split.f, split.z, true, movers_, arena_);
        const Outcome left = plant(child(node, true), children.left, depth - 1);
        const Outcome right = plant(child(node, false), children.right, depth - 1);
        const Step step{static_cast<std::int32_t>(sub.feature[split.f]), sub.rank_left_of(split.f, split.z)};
        return {0, left.upper + right.upper, join(step, left.plan, right.plan)};
    }

    const Tree& tree_;
    const Table& table_;
    const RankedTable& ranked_;
    const Movers& movers_;
    Arena& arena_;
};

}  // namespace

template <class Entry>
Outcome given_tree(const Tree& tree, const Table& table, const RankedTable& ranked, const Subproblem<Entry>& root,
                   std::int64_t depth, const Movers& movers, Arena& arena) {
    return Planter<Entry>(tree, table, ranked, movers, arena).plant(0, root, std::min(depth, deepest_given));
}

template Outcome given_tree(const Tree&, const Table&, const RankedTable&, const Subproblem<NarrowEntry>&, std::int64_t,
                            const Movers&, Arena&);
template Outcome given_tree(const Tree&, const Table&, const RankedTable&, const Subproblem<WideEntry>&, std::int64_t,
                            const Movers&, Arena&);

}  // namespace contree
