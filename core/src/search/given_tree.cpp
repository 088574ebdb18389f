#include "search/given_tree.hpp"

#include <algorithm>
#include <cmath>

#include "bounds/class_count.hpp"
#include "search/first_trees.hpp"
#include "tree/locate.hpp"

namespace contree {

namespace {

template <class Entry>
class Planter {
public:
    Planter(const Tree& tree, const Table& table, const RankedTable& ranked, std::int64_t depth, const Movers& movers, Arena& arena)
        : tree_(tree), table_(table), ranked_(ranked), depth_(depth), movers_(movers), arena_(arena), column_of_(table.features) {
        for (FeatureId c = static_cast<FeatureId>(ranked.columns.size()); c-- > 0;)
            column_of_[static_cast<std::size_t>(ranked.columns[c].feature)] = c;
    }

    Outcome plant(std::size_t node, const Subproblem<Entry>& sub, std::int64_t level = 0) {
        const Score leaf = leaf_errors(sub);
        const Outcome as_leaf{0, leaf, {Step{Step::leaf, 0}}};
        if (level == depth_ || leaf == 0 || !room_below(level, arena_)) return as_leaf;
        while (tree_.children_left[node] >= 0) {
            const Place at = place(node, sub);
            if (at.z > 0 && at.z < sub.rows) return sub.allows(at.f, at.z) ? join_sides(node, sub, at, level) : as_leaf;
            node = child(node, at.z > 0);
        }
        return as_leaf;
    }

private:
    // Where a node's test parts the rows.  Position 0: all go right; sub.rows: all go left.
    struct Place {
        std::uint32_t f = 0;
        Position z = 0;
        bool mirrored = false;   // the rows left of z are those that the test sends right
    };

    std::size_t child(std::size_t node, bool left) const {
        return static_cast<std::size_t>((left ? tree_.children_left : tree_.children_right)[node]);
    }

    Place place(std::size_t node, const Subproblem<Entry>& sub) const {
        const auto feature = static_cast<std::size_t>(tree_.feature[node]);
        const FeatureId column = column_of_[feature];   // missing values, if there are any, come last in it
        const bool missing_left = tree_.missing_left[node] != 0;
        const std::vector<double>& lowest = ranked_.columns[column].values.lowest;
        const auto values_end = lowest.end() - (ranked_.columns[column].missing == Missing::last);
        // Values that count as equal stay together: all of them go where the lowest of them goes.
        const auto left = static_cast<Rank>(std::upper_bound(lowest.begin(), values_end, tree_.threshold[node]) - lowest.begin());
        const std::uint32_t f = find(column, sub);
        if (f == sub.features) {   // constant on these rows: any of them shows where all go
            const double value = table_.values[feature * table_.rows + ranked_.original[sub.origin[0]]];
            const bool goes_left = std::isnan(value) ? missing_left : left == lowest.size() || !(value >= lowest[left]);
            return {0, goes_left ? sub.rows : 0};
        }
        const auto first_from = [&](Rank rank) {
            const Entry* const order = sub.order(f);
            const auto below = [&](Entry entry) { return Packed<Entry>::rank(entry) < rank; };
            return static_cast<Position>(std::partition_point(order, order + sub.rows, below) - order);
        };
        const Position z = first_from(left), present = first_from(static_cast<Rank>(values_end - lowest.begin()));
        if (!missing_left || present == sub.rows) return {f, z};
        if (z == present) return {f, sub.rows};
        if (z == 0) return {f, present, true};
        return {find(column + 1, sub), sub.rows - present + z};
    }

    static std::uint32_t find(FeatureId column, const Subproblem<Entry>& sub) {
        return static_cast<std::uint32_t>(std::find(sub.feature, sub.feature + sub.features, column) - sub.feature);
    }

    Outcome join_sides(std::size_t node, const Subproblem<Entry>& sub, const Place& at, std::int64_t level) {
        Arena::Frame frame(arena_);
        const Children<Entry> children = split_rows(sub, at.f, at.z, true, movers_, arena_);
        const Outcome left = plant(child(node, !at.mirrored), children.left, level + 1);
        const Outcome right = plant(child(node, at.mirrored), children.right, level + 1);
        const Step step{static_cast<std::int32_t>(sub.feature[at.f]), sub.rank_left_of(at.f, at.z)};
        return {0, left.upper + right.upper, join(step, left.plan, right.plan)};
    }

    const Tree& tree_;
    const Table& table_;
    const RankedTable& ranked_;
    const std::int64_t depth_;
    const Movers& movers_;
    Arena& arena_;
    std::vector<FeatureId> column_of_;   // by the caller's feature: its first column
};

}  // namespace

template <class Entry>
Outcome given_tree(const Tree& tree, const Table& table, const RankedTable& ranked, const Subproblem<Entry>& root,
                   std::int64_t depth, const Movers& movers, Arena& arena) {
    return Planter<Entry>(tree, table, ranked, depth, movers, arena).plant(0, root);
}

template Outcome given_tree(const Tree&, const Table&, const RankedTable&, const Subproblem<NarrowEntry>&, std::int64_t,
                            const Movers&, Arena&);
template Outcome given_tree(const Tree&, const Table&, const RankedTable&, const Subproblem<WideEntry>&, std::int64_t,
                            const Movers&, Arena&);

}  // namespace contree
