#include "tree/build.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tree/locate.hpp"

namespace contree {

namespace {

template <class Entry>
class Builder {
public:
    Builder(const RankedTable& table, const Plan& plan, Arena& arena)
        : table_(table), next_(plan.begin()), arena_(arena) {
        class_of_.resize(table.rows);
        for (std::uint32_t c = 0; c < table.classes; ++c)
            std::fill(class_of_.begin() + table.class_begin[c], class_of_.begin() + table.class_begin[c + 1], c);
    }

    // Appends the subtree for the next steps of the plan; returns its errors.
    Score add(const Subproblem<Entry>& sub) {
        const Step step = *next_++;
        const std::size_t node = add_leaf(sub);
        const Split at = locate(sub, step);
        if (at.z == 0) return leaf_errors(node);
        return split(sub, node, at, step.feature == Step::stump);
    }

    Tree tree;

private:
    Score split(const Subproblem<Entry>& sub, std::size_t node, const Split& at, bool leaves) {
        const auto [f, z] = at;
        const Column& column = table_.columns[sub.feature[f]];
        const Entry* const order = sub.order(f);
        const Values& values = column.values;
        tree.feature[node] = column.feature;
        tree.threshold[node] = threshold_between(values.highest[Packed<Entry>::rank(order[z - 1])],
                                                 values.lowest[Packed<Entry>::rank(order[z])]);
        // Where no row lacks a value, nothing was learnt of those that do: they go with the most rows, as in CART.
        const bool any_missing = std::isnan(values.lowest[Packed<Entry>::rank(order[0])]) ||
                                 std::isnan(values.lowest[Packed<Entry>::rank(order[sub.rows - 1])]);
        tree.missing_left[node] = any_missing ? column.missing == Missing::first : z > sub.rows - z;
        Arena::Frame frame(arena_);
        const Children<Entry> children = split_rows(sub, f, z, true, scalar_movers, arena_);
        tree.children_left[node] = static_cast<std::int64_t>(tree.size());
        Score errors = leaves ? leaf_errors(add_leaf(children.left)) : add(children.left);
        tree.children_right[node] = static_cast<std::int64_t>(tree.size());
        errors += leaves ? leaf_errors(add_leaf(children.right)) : add(children.right);
        if (errors < leaf_errors(node)) return errors;
        make_leaf(node);
        return leaf_errors(node);
    }

    std::size_t add_leaf(const Subproblem<Entry>& sub) {
        tree.children_left.push_back(-1);
        tree.children_right.push_back(-1);
        tree.feature.push_back(-2);
        tree.threshold.push_back(-2);
        tree.missing_left.push_back(0);
        tree.class_counts.resize(tree.class_counts.size() + table_.classes, 0);
        tree.class_weights.resize(tree.class_counts.size(), 0);
        const std::size_t first = (tree.size() - 1) * table_.classes;
        for (Row r = 0; r < sub.rows; ++r) {
            const std::size_t at = first + class_of_[sub.origin[r]];
            ++tree.class_counts[at];
            tree.class_weights[at] += sub.weight_of(r);
        }
        return tree.size() - 1;
    }

    // Takes everything behind `node` away: in preorder that is its subtree.
    void make_leaf(std::size_t node) {
        tree.children_left.resize(node + 1);
        tree.children_right.resize(node + 1);
        tree.feature.resize(node + 1);
        tree.threshold.resize(node + 1);
        tree.missing_left.resize(node + 1);
        tree.class_counts.resize((node + 1) * table_.classes);
        tree.class_weights.resize((node + 1) * table_.classes);
        tree.children_left[node] = tree.children_right[node] = -1;
        tree.feature[node] = -2;
        tree.threshold[node] = -2;
        tree.missing_left[node] = 0;
    }

    Score leaf_errors(std::size_t node) const {
        const auto begin = tree.class_weights.begin() + static_cast<std::ptrdiff_t>(node * table_.classes);
        const auto end = begin + table_.classes;
        return std::accumulate(begin, end, Score{0}) - *std::max_element(begin, end);
    }

    const RankedTable& table_;
    Plan::const_iterator next_;
    Arena& arena_;
    std::vector<std::uint32_t> class_of_;
};

}  // namespace

template <class Entry>
Tree build_tree(const RankedTable& table, const Subproblem<Entry>& root, const Plan& plan, Arena& arena) {
    Builder<Entry> builder(table, plan, arena);
    builder.add(root);
    return std::move(builder.tree);
}

Score verify(const Tree& tree, const Table& table, std::int64_t min_samples_leaf) {
    const auto classes = static_cast<std::size_t>(table.classes);
    std::vector<std::int64_t> counts(tree.size() * classes, 0);
    std::vector<Score> weights(tree.size() * classes, 0);
    std::vector<std::int64_t> prediction(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
        const auto begin = tree.class_weights.begin() + static_cast<std::ptrdiff_t>(node * classes);
        prediction[node] = std::max_element(begin, begin + table.classes) - begin;
    }
    Score errors = 0;
    for (std::size_t r = 0; r < table.rows; ++r) {
        std::size_t node = 0;
        const auto label = static_cast<std::size_t>(table.labels[r]);
        const Score weight = table.weights != nullptr ? table.weights[r] : 1;
        for (;;) {
            ++counts[node * classes + label];
            weights[node * classes + label] += weight;
            if (tree.children_left[node] < 0) break;
            const double value = table.values[static_cast<std::size_t>(tree.feature[node]) * table.rows + r];
            const bool left = std::isnan(value) ? tree.missing_left[node] != 0 : value <= tree.threshold[node];
            node = static_cast<std::size_t>(left ? tree.children_left[node] : tree.children_right[node]);
        }
        if (prediction[node] != table.labels[r]) errors += weight;
    }
    if (counts != tree.class_counts || weights != tree.class_weights)
        throw std::logic_error("contree: the tree does not fit the rows");
    for (std::size_t node = 1; node < tree.size(); ++node) {
        const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(node * classes);
        if (std::accumulate(begin, begin + table.classes, std::int64_t{0}) < min_samples_leaf)
            throw std::logic_error("contree: a leaf has too few rows");
    }
    return errors;
}

template Tree build_tree(const RankedTable&, const Subproblem<NarrowEntry>&, const Plan&, Arena&);
template Tree build_tree(const RankedTable&, const Subproblem<WideEntry>&, const Plan&, Arena&);

}  // namespace contree
