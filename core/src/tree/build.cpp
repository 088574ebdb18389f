#include "tree/build.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include "tree/category_split.hpp"

namespace contree {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

// A node's rows are a range of one list, ascending, so that a column is read from front to back.
class NodeRows {
public:
    using Range = std::span<Row>;

    explicit NodeRows(const Table& table) : table_(table), rows_(table.rows), spare_(table.rows) {
        std::iota(rows_.begin(), rows_.end(), Row{0});
    }

    Range all() { return rows_; }
    std::span<const double> column(std::size_t feature) const {
        return {table_.values + feature * table_.rows, table_.rows};
    }
    Score mass(Range range) const {
        const auto weight_of = [&](Row row) { return table_.weights == nullptr ? 1 : table_.weights[row]; };
        return std::transform_reduce(range.begin(), range.end(), Score{0}, std::plus<>(), weight_of);
    }

    // Rows that go left to the front; returns how many these are.
    std::size_t part(Range range, std::size_t feature, double threshold, bool missing_left) {
        return part(range, feature,
            [&](double value) { return value <= threshold || (missing_left && std::isnan(value)); });
    }
    // The same where a value goes left that is in a bit set of categories.
    std::size_t part(Range range, std::size_t feature, const std::uint64_t* left, bool missing_left) {
        return part(range, feature, [&](double value) {
            return std::isnan(value) ? missing_left : contains(left, static_cast<Rank>(value));
        });
    }
private:
    template <class GoesLeft> std::size_t part(Range range, std::size_t feature, const GoesLeft& test) {
        const std::span<const double> values = column(feature);
        std::size_t left = 0, right = 0;
        for (const Row row : range) {
            const bool goes_left = test(values[row]);
            range[left] = row;
            spare_[right] = row;
            left += goes_left;
            right += !goes_left;
        }
        std::copy_n(spare_.begin(), right, range.begin() + static_cast<std::ptrdiff_t>(left));
        return left;
    }

    const Table& table_;
    std::vector<Row> rows_, spare_;
};

// Where the ranks of values end; a column's missing values have the first rank or the last.
std::size_t end_of_values(const Column& column) {
    return column.values.lowest.size() - (column.missing == Missing::last);
}

// The rank whose range holds a value, or the last below it.
std::size_t rank_of(const Column& column, double value) {
    const std::vector<double>& lowest = column.values.lowest;
    if (std::isnan(value)) return column.missing == Missing::first ? 0 : lowest.size() - 1;
    const auto begin = lowest.begin() + (column.missing == Missing::first);
    const auto end = lowest.begin() + static_cast<std::ptrdiff_t>(end_of_values(column));
    return static_cast<std::size_t>(std::upper_bound(begin, end, value) - lowest.begin()) - 1;
}

struct Builder {
    const Objective& objective;
    const RankedTable& ranked;
    const Table& table;
    const Halt& halt;
    Plan::const_iterator next;
    NodeRows rows;
    Tree tree = {};

    // Appends the subtree for the next steps of the plan; returns its objective.
    Score add(NodeRows::Range range) {
        const Step step = *next++;
        const std::size_t node = tree.size(), words = tree.category_words.size();
        put_leaf(node, range);
        const Score as_leaf = objective.costs.loss * objective.loss_of_counts(counts_of(node));
        if (step.feature == Step::leaf || halt()) return as_leaf;
        if (step.feature < 0) throw std::logic_error("contree: a plan with an open stump");
        const Column& column = ranked.columns[static_cast<std::size_t>(step.feature)];
        const bool categorical = ranked.categories->is_categorical(static_cast<FeatureId>(step.feature));
        const std::size_t middle =
            categorical ? part_categories(node, step, column, range)
                        : rows.part(range, static_cast<std::size_t>(column.feature),
                              column.values.highest_of(step.rank), column.missing == Missing::first);
        const NodeRows::Range left = range.first(middle), right = range.subspan(middle);
        if (left.empty() || right.empty()) throw std::logic_error("contree: a plan splits off no row");
        if (!categorical) write_split(node, column, left, right);
        tree.children_left[node] = static_cast<std::int64_t>(tree.size());
        Score score = add(left) + objective.costs.split;
        tree.children_right[node] = static_cast<std::int64_t>(tree.size());
        score += add(right);
        if (score < as_leaf) return score;
        put_leaf(node, range);
        tree.category_words.resize(words);
        return as_leaf;
    }

    void write_split(std::size_t node, const Column& column, NodeRows::Range left, NodeRows::Range right) {
        const std::span<const double> values = rows.column(static_cast<std::size_t>(column.feature));
        double low = std::nan(""), high = low;  // next to the threshold; NaN where all are missing
        for (const Row row : left)
            if (std::isnan(low) || values[row] > low) low = values[row];
        for (const Row row : right)
            if (std::isnan(high) || values[row] < high) high = values[row];
        tree.feature[node] = column.feature;
        tree.threshold[node] = threshold_between(
            column.values.highest_of(rank_of(column, low)), column.values.lowest[rank_of(column, high)]);
        // If no row lacks a value, those that do will go with the most rows, as in CART.
        const auto lacks = [&](Row row) { return std::isnan(values[row]); };
        const auto missing = std::ranges::count_if(left, lacks) + std::ranges::count_if(right, lacks);
        tree.missing_count[node] = missing;
        tree.missing_left[node] = missing > 0 ? column.missing == Missing::first : left.size() > right.size();
        find_gap(node, column, values);
    }

    // Writes a split of categories, and parts the rows.
    std::size_t part_categories(
        std::size_t node, const Step& step, const Column& column, NodeRows::Range range) {
        const auto feature = static_cast<std::size_t>(column.feature);
        const std::uint64_t* const left =
            write_categories(tree, node, column, static_cast<std::size_t>(table.categories[feature]),
                ranked.categories->words_of(step.rank), rows.column(feature), range);
        return rows.part(range, feature, left, tree.missing_left[node] != 0);
    }

    // All rows' values next to a threshold; ranks tell them unless it lies among values that count as equal.
    void find_gap(std::size_t node, const Column& column, std::span<const double> values) {
        const double threshold = tree.threshold[node];
        const std::size_t rank = rank_of(column, threshold);
        double &low = tree.gap_below[node], &high = tree.gap_above[node];
        low = column.values.highest_of(rank);
        high = rank + 1 == end_of_values(column) ? infinity : column.values.lowest[rank + 1];
        if (low <= threshold) return;
        low = -infinity;
        for (const double value : values) {
            if (value <= threshold) low = std::max(low, value);
            if (value > threshold) high = std::min(high, value);
        }
    }

    // Ends the tree with a leaf: in preorder, what lies behind a node is its subtree.
    void put_leaf(std::size_t node, NodeRows::Range range) {
        resize(node);
        resize(node + 1);
        objective.count(range, counts_of(node));
    }

    // New nodes are leaves.
    void resize(std::size_t nodes) {
        const auto resize_all = [&](auto value, auto&... lists) { (lists.resize(nodes, value), ...); };
        resize_all(-1, tree.children_left, tree.children_right, tree.category_offset);
        resize_all(-2, tree.feature, tree.threshold, tree.gap_below, tree.gap_above);
        resize_all(std::uint8_t{0}, tree.missing_left, tree.missing_count);
        tree.counts.resize(nodes * objective.counts());
    }

    Score* counts_of(std::size_t node) { return tree.counts.data() + node * objective.counts(); }
};
}  // namespace

Tree build_tree(const Objective& objective, const RankedTable& ranked, const Table& table, const Plan& plan,
    const Halt& halt) {
    Builder builder{objective, ranked, table, halt, plan.begin(), NodeRows(table)};
    builder.add(builder.rows.all());
    return std::move(builder.tree);
}

Score score_of(const Objective& objective, const Tree& tree) {
    Score loss = 0;
    for (std::size_t node = 0; node < tree.size(); ++node)
        if (tree.children_left[node] < 0)
            loss += objective.loss_of_counts(tree.counts.data() + node * objective.counts());
    return objective.costs.of(loss, static_cast<std::int64_t>(tree.size() / 2));
}

Score verify(const Objective& objective, const Tree& tree, const Table& table, const LeafSize& leaf,
    const Halt& halt) {
    NodeRows rows(table);
    std::vector<Score> counts(objective.counts());
    const auto loss_of = [&](auto&& self, std::int64_t at, NodeRows::Range range) -> Score {
        if (halt()) return 0;
        const auto node = static_cast<std::size_t>(at);
        objective.count(range, counts.data());
        if (!std::equal(counts.begin(), counts.end(), tree.counts.data() + node * counts.size()))
            throw std::logic_error("contree: the tree does not fit the rows");
        if (node > 0 && (range.size() < leaf.rows || rows.mass(range) < leaf.mass))
            throw std::logic_error("contree: a leaf is too small");
        if (tree.children_left[node] < 0) return objective.loss_of_counts(counts.data());
        const auto feature = static_cast<std::size_t>(tree.feature[node]);
        const bool missing_left = tree.missing_left[node] != 0;
        const std::int64_t offset = tree.category_offset[node];
        const std::size_t middle =
            offset < 0 ? rows.part(range, feature, tree.threshold[node], missing_left)
                       : rows.part(range, feature, tree.category_words.data() + offset, missing_left);
        return self(self, tree.children_left[node], range.first(middle)) +
               self(self, tree.children_right[node], range.subspan(middle));
    };
    return loss_of(loss_of, 0, rows.all());
}
}  // namespace contree
