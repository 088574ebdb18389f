#include "tree/build.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

namespace contree {

namespace {

// Rows go down a tree node by node, not one by one: a node's rows are a stretch of one list, in ascending order, and a
// split parts it in place.  So a column is read from its front to its back, which is what makes a million rows fast.
class Stretches {
public:
    struct Stretch {
        Row begin, end;
    };

    explicit Stretches(const Table& table) : table_(table), rows_(table.rows), spare_(table.rows) {
        std::iota(rows_.begin(), rows_.end(), Row{0});
    }

    std::span<const double> column(std::size_t feature) const { return {table_.values + feature * table_.rows, table_.rows}; }
    Stretch all() const { return {0, static_cast<Row>(rows_.size())}; }

    // Rows of each class, and what they weigh.
    void count(const Stretch& stretch, std::int64_t* counts, Score* weights) const {
        for (Row i = stretch.begin; i < stretch.end; ++i) ++counts[table_.labels[rows_[i]]];
        if (table_.weights == nullptr) std::copy_n(counts, table_.classes, weights);
        else
            for (Row i = stretch.begin; i < stretch.end; ++i) weights[table_.labels[rows_[i]]] += table_.weights[rows_[i]];
    }

    // Rows with a value of at most `threshold` to the front, and those without a value where `missing_left` says so;
    // returns where the others begin.
    Row part(const Stretch& stretch, std::size_t feature, double threshold, bool missing_left) {
        const double* const column = table_.values + feature * table_.rows;
        Row left = stretch.begin, right = 0;
        for (Row i = stretch.begin; i < stretch.end; ++i) {
            const Row row = rows_[i];
            const double value = column[row];
            const bool goes_left = value <= threshold || (missing_left && std::isnan(value));
            rows_[left] = row;
            spare_[right] = row;
            left += goes_left;
            right += !goes_left;
        }
        std::copy_n(spare_.begin(), right, rows_.begin() + left);
        return left;
    }

    // Of the values that there are; NaN where all are missing.
    struct Range {
        double least = std::nan(""), greatest = std::nan("");
        std::int64_t missing = 0;
    };
    Range range(const Stretch& stretch, std::size_t feature) const {
        const double* const column = table_.values + feature * table_.rows;
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double least = infinity, greatest = -infinity;
        std::int64_t missing = 0;
        for (Row i = stretch.begin; i < stretch.end; ++i) {
            const double value = column[rows_[i]];
            least = value < least ? value : least;
            greatest = value > greatest ? value : greatest;
            missing += std::isnan(value);
        }
        return least > greatest ? Range{std::nan(""), std::nan(""), missing} : Range{least, greatest, missing};
    }

private:
    const Table& table_;
    std::vector<Row> rows_, spare_;
};

using Stretch = Stretches::Stretch;

// The rank of a value: the one whose range holds it.  A column's missing values have the first rank or the last.
std::size_t rank_of(const Column& column, double value) {
    const std::vector<double>& lowest = column.values.lowest;
    if (std::isnan(value)) return column.missing == Missing::first ? 0 : lowest.size() - 1;
    const auto begin = lowest.begin() + (column.missing == Missing::first), end = lowest.end() - (column.missing == Missing::last);
    return static_cast<std::size_t>(std::upper_bound(begin, end, value) - lowest.begin()) - 1;
}

class Builder {
public:
    Builder(const RankedTable& ranked, const Table& table, const Plan& plan, const Objective& objective, const Halt& halt)
        : ranked_(ranked), objective_(objective), halt_(halt), classes_(static_cast<std::size_t>(table.classes)), next_(plan.begin()), rows_(table) {}

    // Appends the subtree for the next steps of the plan; returns its objective.
    Score add(const Stretch& stretch) {
        const Step step = *next_++;
        const std::size_t node = add_leaf(stretch);
        const Score as_leaf = objective_.error * leaf_errors(node);
        if (step.feature == Step::leaf || halt_()) return as_leaf;
        if (step.feature < 0) throw std::logic_error("contree: a plan with an open stump");
        const Column& column = ranked_.columns[static_cast<std::size_t>(step.feature)];
        const auto feature = static_cast<std::size_t>(column.feature);
        const Row middle = rows_.part(stretch, feature, column.values.highest_of(step.rank), column.missing == Missing::first);
        const Stretch left{stretch.begin, middle}, right{middle, stretch.end};
        if (left.begin == left.end || right.begin == right.end) throw std::logic_error("contree: a plan splits off no row");
        const Stretches::Range lefts = rows_.range(left, feature), rights = rows_.range(right, feature);
        tree.feature[node] = column.feature;
        tree.threshold[node] = threshold_between(column.values.highest_of(rank_of(column, lefts.greatest)),
                                                 column.values.lowest[rank_of(column, rights.least)]);
        // Where no row lacks a value, nothing was learnt of those that do: they go with the most rows, as in CART.
        tree.missing_count[node] = lefts.missing + rights.missing;
        tree.missing_left[node] = tree.missing_count[node] > 0 ? column.missing == Missing::first : left.end - left.begin > right.end - right.begin;
        find_gap(node, column);
        tree.children_left[node] = static_cast<std::int64_t>(tree.size());
        Score score = add(left) + objective_.split;
        tree.children_right[node] = static_cast<std::int64_t>(tree.size());
        score += add(right);
        if (score < as_leaf) return score;
        make_leaf(node);
        return as_leaf;
    }

    Score add_all() { return add(rows_.all()); }

    Tree tree;

private:
    // The values of all rows next to a node's threshold.  Ranks tell them, unless the threshold lies among values that
    // count as equal.
    void find_gap(std::size_t node, const Column& column) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double threshold = tree.threshold[node];
        const Values& values = column.values;
        const auto begin = values.lowest.begin() + (column.missing == Missing::first), end = values.lowest.end() - (column.missing == Missing::last);
        const auto above = std::upper_bound(begin, end, threshold);
        double& low = tree.gap_below[node] = values.highest_of(static_cast<std::size_t>(above - values.lowest.begin()) - 1);
        double& high = tree.gap_above[node] = above == end ? infinity : *above;
        if (low <= threshold) return;
        low = -infinity;
        for (const double value : rows_.column(static_cast<std::size_t>(column.feature))) {
            if (value <= threshold) low = std::max(low, value);
            else if (value > threshold) high = std::min(high, value);
        }
    }

    std::size_t add_leaf(const Stretch& stretch) {
        tree.children_left.push_back(-1);
        tree.children_right.push_back(-1);
        tree.feature.push_back(-2);
        tree.threshold.push_back(-2);
        tree.missing_left.push_back(0);
        tree.gap_below.push_back(-2);
        tree.gap_above.push_back(-2);
        tree.missing_count.push_back(0);
        tree.class_counts.resize(tree.class_counts.size() + classes_, 0);
        tree.class_weights.resize(tree.class_counts.size(), 0);
        const std::size_t first = (tree.size() - 1) * classes_;
        rows_.count(stretch, tree.class_counts.data() + first, tree.class_weights.data() + first);
        return tree.size() - 1;
    }

    // Takes everything behind `node` away: in preorder that is its subtree.
    void make_leaf(std::size_t node) {
        tree.children_left.resize(node + 1);
        tree.children_right.resize(node + 1);
        tree.feature.resize(node + 1);
        tree.threshold.resize(node + 1);
        tree.missing_left.resize(node + 1);
        tree.gap_below.resize(node + 1);
        tree.gap_above.resize(node + 1);
        tree.missing_count.resize(node + 1);
        tree.class_counts.resize((node + 1) * classes_);
        tree.class_weights.resize((node + 1) * classes_);
        tree.children_left[node] = tree.children_right[node] = -1;
        tree.feature[node] = -2;
        tree.threshold[node] = -2;
        tree.missing_left[node] = 0;
        tree.gap_below[node] = tree.gap_above[node] = -2;
        tree.missing_count[node] = 0;
    }

    Score leaf_errors(std::size_t node) const {
        const auto begin = tree.class_weights.begin() + static_cast<std::ptrdiff_t>(node * classes_);
        const auto end = begin + static_cast<std::ptrdiff_t>(classes_);
        return std::accumulate(begin, end, Score{0}) - *std::max_element(begin, end);
    }

    const RankedTable& ranked_;
    const Objective objective_;
    const Halt halt_;
    const std::size_t classes_;
    Plan::const_iterator next_;
    Stretches rows_;
};

}  // namespace

Tree build_tree(const RankedTable& ranked, const Table& table, const Plan& plan, const Objective& objective, const Halt& halt) {
    Builder builder(ranked, table, plan, objective, halt);
    builder.add_all();
    return std::move(builder.tree);
}

Score verify(const Tree& tree, const Table& table, const LeafSize& leaf, const Halt& halt) {
    const auto classes = static_cast<std::size_t>(table.classes);
    Stretches rows(table);
    std::vector<std::int64_t> counts(classes);
    std::vector<Score> weights(classes);
    const auto errors_of = [&](auto&& self, std::size_t node, const Stretch& stretch) -> Score {
        if (halt()) return 0;
        std::fill(counts.begin(), counts.end(), 0);
        std::fill(weights.begin(), weights.end(), 0);
        rows.count(stretch, counts.data(), weights.data());
        const auto first = static_cast<std::ptrdiff_t>(node * classes);
        if (!std::equal(counts.begin(), counts.end(), tree.class_counts.begin() + first) ||
            !std::equal(weights.begin(), weights.end(), tree.class_weights.begin() + first))
            throw std::logic_error("contree: the tree does not fit the rows");
        const Score mass = std::accumulate(weights.begin(), weights.end(), Score{0});
        if (node > 0 && (stretch.end - stretch.begin < leaf.rows || mass < leaf.mass))
            throw std::logic_error("contree: a leaf is too small");
        if (tree.children_left[node] < 0) return mass - *std::max_element(weights.begin(), weights.end());
        const Row middle = rows.part(stretch, static_cast<std::size_t>(tree.feature[node]), tree.threshold[node], tree.missing_left[node] != 0);
        const Score left = self(self, static_cast<std::size_t>(tree.children_left[node]), {stretch.begin, middle});
        return left + self(self, static_cast<std::size_t>(tree.children_right[node]), {middle, stretch.end});
    };
    return errors_of(errors_of, 0, rows.all());
}

}  // namespace contree
