#include "tree/build.hpp"

#include <algorithm>
#include <numeric>
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

    Stretch all() const { return {0, static_cast<Row>(rows_.size())}; }

    void count(const Stretch& stretch, std::int64_t* counts) const {
        for (Row i = stretch.begin; i < stretch.end; ++i) ++counts[table_.labels[rows_[i]]];
    }

    // Rows with a value of at most `threshold` to the front; returns where the others begin.
    Row part(const Stretch& stretch, std::size_t feature, double threshold) {
        const double* const column = table_.values + feature * table_.rows;
        Row left = stretch.begin, right = 0;
        for (Row i = stretch.begin; i < stretch.end; ++i) {
            const Row row = rows_[i];
            const bool goes_left = column[row] <= threshold;
            rows_[left] = row;
            spare_[right] = row;
            left += goes_left;
            right += !goes_left;
        }
        std::copy_n(spare_.begin(), right, rows_.begin() + left);
        return left;
    }

    double greatest(const Stretch& stretch, std::size_t feature) const {
        return extreme(stretch, feature, [](double a, double b) { return a > b; });
    }
    double least(const Stretch& stretch, std::size_t feature) const {
        return extreme(stretch, feature, [](double a, double b) { return a < b; });
    }

private:
    template <class Better>
    double extreme(const Stretch& stretch, std::size_t feature, const Better& better) const {
        const double* const column = table_.values + feature * table_.rows;
        double best = column[rows_[stretch.begin]];
        for (Row i = stretch.begin + 1; i < stretch.end; ++i)
            if (better(column[rows_[i]], best)) best = column[rows_[i]];
        return best;
    }

    const Table& table_;
    std::vector<Row> rows_, spare_;
};

using Stretch = Stretches::Stretch;

// The rank of a value: the one whose range holds it.
std::size_t rank_of(const Values& values, double value) {
    return static_cast<std::size_t>(std::upper_bound(values.lowest.begin(), values.lowest.end(), value) - values.lowest.begin()) - 1;
}

class Builder {
public:
    Builder(const RankedTable& ranked, const Table& table, const Plan& plan, const Halt& halt)
        : ranked_(ranked), halt_(halt), classes_(static_cast<std::size_t>(table.classes)), next_(plan.begin()), rows_(table) {}

    // Appends the subtree for the next steps of the plan; returns its errors.
    Score add(const Stretch& stretch) {
        const Step step = *next_++;
        const std::size_t node = add_leaf(stretch);
        if (step.feature == Step::leaf || halt_()) return leaf_errors(node);
        if (step.feature < 0) throw std::logic_error("contree: a plan with an open stump");
        const auto feature = static_cast<std::size_t>(step.feature);
        const Values& values = ranked_.values[feature];
        const Row middle = rows_.part(stretch, feature, values.highest[step.rank]);
        const Stretch left{stretch.begin, middle}, right{middle, stretch.end};
        if (left.begin == left.end || right.begin == right.end) throw std::logic_error("contree: a plan splits off no row");
        tree.feature[node] = step.feature;
        tree.threshold[node] = threshold_between(values.highest[rank_of(values, rows_.greatest(left, feature))],
                                                 values.lowest[rank_of(values, rows_.least(right, feature))]);
        tree.children_left[node] = static_cast<std::int64_t>(tree.size());
        Score errors = add(left);
        tree.children_right[node] = static_cast<std::int64_t>(tree.size());
        errors += add(right);
        if (errors < leaf_errors(node)) return errors;
        make_leaf(node);
        return leaf_errors(node);
    }

    Score add_all() { return add(rows_.all()); }

    Tree tree;

private:
    std::size_t add_leaf(const Stretch& stretch) {
        tree.children_left.push_back(-1);
        tree.children_right.push_back(-1);
        tree.feature.push_back(-2);
        tree.threshold.push_back(-2);
        tree.class_counts.resize(tree.class_counts.size() + classes_, 0);
        rows_.count(stretch, tree.class_counts.data() + (tree.size() - 1) * classes_);
        return tree.size() - 1;
    }

    // Takes everything behind `node` away: in preorder that is its subtree.
    void make_leaf(std::size_t node) {
        tree.children_left.resize(node + 1);
        tree.children_right.resize(node + 1);
        tree.feature.resize(node + 1);
        tree.threshold.resize(node + 1);
        tree.class_counts.resize((node + 1) * classes_);
        tree.children_left[node] = tree.children_right[node] = -1;
        tree.feature[node] = -2;
        tree.threshold[node] = -2;
    }

    Score leaf_errors(std::size_t node) const {
        const auto begin = tree.class_counts.begin() + static_cast<std::ptrdiff_t>(node * classes_);
        const auto end = begin + static_cast<std::ptrdiff_t>(classes_);
        return std::accumulate(begin, end, Score{0}) - *std::max_element(begin, end);
    }

    const RankedTable& ranked_;
    const Halt halt_;
    const std::size_t classes_;
    Plan::const_iterator next_;
    Stretches rows_;
};

}  // namespace

Tree build_tree(const RankedTable& ranked, const Table& table, const Plan& plan, const Halt& halt) {
    Builder builder(ranked, table, plan, halt);
    builder.add_all();
    return std::move(builder.tree);
}

Score verify(const Tree& tree, const Table& table) {
    const auto classes = static_cast<std::size_t>(table.classes);
    Stretches rows(table);
    std::vector<std::int64_t> counts(classes);
    const auto errors_of = [&](auto&& self, std::size_t node, const Stretch& stretch) -> Score {
        std::fill(counts.begin(), counts.end(), 0);
        rows.count(stretch, counts.data());
        const auto told = tree.class_counts.begin() + static_cast<std::ptrdiff_t>(node * classes);
        if (!std::equal(counts.begin(), counts.end(), told)) throw std::logic_error("contree: the tree does not fit the rows");
        if (tree.children_left[node] < 0) return (stretch.end - stretch.begin) - *std::max_element(counts.begin(), counts.end());
        const Row middle = rows.part(stretch, static_cast<std::size_t>(tree.feature[node]), tree.threshold[node]);
        const Score left = self(self, static_cast<std::size_t>(tree.children_left[node]), {stretch.begin, middle});
        return left + self(self, static_cast<std::size_t>(tree.children_right[node]), {middle, stretch.end});
    };
    return errors_of(errors_of, 0, rows.all());
}

}  // namespace contree
