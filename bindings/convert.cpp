#include "convert.hpp"
#include <nanobind/stl/string.h>
#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace contree_python {
namespace {

constexpr std::size_t interval_columns = 10;
using Rows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Hands a vector over to numpy without a copy.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto* const kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

// Some of the numbers that the core has side by side for each node: from the `first` on, node by node.
std::vector<std::int64_t> numbers_of(const contree::Tree& tree, std::size_t first, std::size_t count) {
    const std::size_t width = tree.counts.size() / tree.size();
    std::vector<std::int64_t> numbers;
    for (std::size_t node = 0; node < tree.size(); ++node) {
        const std::int64_t* const from = tree.counts.data() + node * width + first;
        numbers.insert(numbers.end(), from, from + count);
    }
    return numbers;
}

// The core follows a tree's children and features without a check, so they are checked here.
void check_tree(const contree::Tree& tree, std::size_t features, const Categories& categories) {
    const std::size_t nodes = tree.size();
    const std::size_t sizes[] = {tree.children_left.size(), tree.children_right.size(), tree.threshold.size(),
        tree.missing_left.size(), tree.category_offset.size()};
    if (nodes == 0 ||
        std::any_of(std::begin(sizes), std::end(sizes), [&](auto size) { return size != nodes; }))
        throw std::invalid_argument("initial_tree has arrays of different lengths, or no node");
    for (std::size_t node = 0; node < nodes; ++node) {
        const std::int64_t left = tree.children_left[node], right = tree.children_right[node];
        if (left < 0 && right < 0) continue;
        const auto at = " at node " + std::to_string(node);
        const auto [first, last] = std::minmax(left, right);
        if (first <= static_cast<std::int64_t>(node) || last >= static_cast<std::int64_t>(nodes))
            throw std::invalid_argument("initial_tree has impossible children" + at);
        if (tree.feature[node] < 0 || tree.feature[node] >= static_cast<std::int64_t>(features))
            throw std::invalid_argument("initial_tree tests feature " + std::to_string(tree.feature[node]) +
                                        at + "; X has " + std::to_string(features) + " features");
        const std::int32_t count = categories ? categories->data()[tree.feature[node]] : 0;
        const std::int64_t offset = tree.category_offset[node];
        const auto end = static_cast<std::size_t>(offset) + (static_cast<std::size_t>(count) + 63) / 64;
        if (count > 0 && (offset < 0 || end > tree.category_words.size()))
            throw std::invalid_argument("initial_tree has no categories" + at);
    }
}
}  // namespace

contree::SearchKind search_kind(const std::string& name) {
    if (name == "best_first") return contree::SearchKind::best_first;
    if (name == "paper") return contree::SearchKind::paper;
    throw std::invalid_argument("search is '" + name + "'; allowed: 'best_first', 'paper'");
}

bool is_errors(const std::string& objective) {
    if (objective == "errors" || objective == "squared_error") return objective == "errors";
    throw std::invalid_argument("objective is '" + objective + "'; allowed: 'errors', 'squared_error'");
}

contree::Switches read_switches(const SwitchValues& given) {
    contree::Switches switches;
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const contree::SwitchRow* found = nullptr;
        std::string names;
        for (const contree::SwitchRow& row : contree::switch_rows()) {
            names += (names.empty() ? "" : ", ") + std::string(row.name);
            if (row.name == name) found = &row;
        }
        if (found == nullptr)
            throw std::invalid_argument(
                "search_options has no option '" + name + "'; there are: " + names + ".");
        std::int64_t number = 0;
        if (!nb::try_cast(value, number) || number < found->low || number > found->high)
            throw std::invalid_argument("search_options: '" + name + "' must be an int from " +
                                        std::to_string(found->low) + " to " + std::to_string(found->high) +
                                        ".");
        switches.*found->field = static_cast<std::int32_t>(number);
    }
    return switches;
}

contree::Tree read_tree(const Nodes& given, std::size_t features, const Categories& categories) {
    const auto copy = [&](const char* name, auto& to) {
        using T = typename std::decay_t<decltype(to)>::value_type;
        Vector<T> array;
        if (!given.contains(name) || !nb::try_cast(given[name], array))
            throw std::invalid_argument("initial_tree has no array '" + std::string(name) + "' of its type");
        to.assign(array.data(), array.data() + array.shape(0));
    };
    contree::Tree tree;
    copy("children_left", tree.children_left);
    copy("children_right", tree.children_right);
    copy("feature", tree.feature);
    copy("threshold", tree.threshold);
    const std::size_t nodes = tree.size();
    if (given.contains("missing_go_to_left")) copy("missing_go_to_left", tree.missing_left);
    else tree.missing_left.assign(nodes, 0);
    if (given.contains("category_offset")) {
        copy("category_offset", tree.category_offset);
        copy("category_words", tree.category_words);
    } else {
        tree.category_offset.assign(nodes, -1);
    }
    check_tree(tree, features, categories);
    return tree;
}

OpenPart to_tuple(const contree::Frontier& frontier, std::size_t words) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(frontier.intervals.size() * (interval_columns + words));
    for (const auto& [column, budget, u, v, with_u, bound, subset] : frontier.intervals) {
        numbers.insert(
            numbers.end(), {column, budget, u.z, u.left, u.right, with_u, v.z, v.left, v.right, bound});
        for (std::size_t w = 0; w < words; ++w)
            numbers.push_back(w < subset.size() ? static_cast<std::int64_t>(subset[w]) : 0);
    }
    return nb::borrow<OpenPart>(nb::make_tuple(frontier.depth, frontier.floor,
        to_numpy(std::move(numbers), {frontier.intervals.size(), interval_columns + words})));
}

contree::Frontier read_frontier(const OpenPart& given, std::size_t words) {
    const std::size_t columns = interval_columns + words;
    contree::Frontier frontier;
    Rows rows;
    if (given.size() != 3 || !nb::try_cast(given[0], frontier.depth) ||
        !nb::try_cast(given[1], frontier.floor) || !nb::try_cast(given[2], rows) ||
        (rows.shape(0) > 0 && rows.shape(1) != columns))
        throw std::invalid_argument(
            "a frontier is (depth, floor, int64 array with " + std::to_string(columns) + " columns)");
    for (std::size_t i = 0; i < rows.shape(0); ++i) {
        const std::int64_t* const n = rows.data() + i * columns;
        std::vector<std::uint64_t> subset(n + interval_columns, n + columns);  // none: a threshold's
        if (std::all_of(subset.begin(), subset.end(), [](std::uint64_t word) { return word == 0; }))
            subset.clear();
        frontier.intervals.push_back(
            {n[0], n[1], {n[2], n[3], n[4]}, {n[6], n[7], n[8]}, n[5] != 0, n[9], std::move(subset)});
    }
    return frontier;
}

Nodes to_dict(contree::Tree from, std::size_t classes, std::size_t words) {
    Nodes tree;
    const std::size_t nodes = from.size();
    if (classes > 0) {
        tree["class_counts"] = to_numpy(numbers_of(from, 0, classes), {nodes, classes});
        tree["class_weights"] = to_numpy(numbers_of(from, classes, classes), {nodes, classes});
    } else {
        tree["n_node_samples"] = to_numpy(numbers_of(from, 0, 1), {nodes});
        tree["node_weights"] = to_numpy(numbers_of(from, 1, 1), {nodes});
        tree["node_sums"] = to_numpy(numbers_of(from, 2, 1), {nodes});
        tree["node_squares"] = to_numpy(numbers_of(from, 3, 2), {nodes, 2});
    }
    tree["children_left"] = to_numpy(std::move(from.children_left), {nodes});
    tree["children_right"] = to_numpy(std::move(from.children_right), {nodes});
    tree["feature"] = to_numpy(std::move(from.feature), {nodes});
    tree["threshold"] = to_numpy(std::move(from.threshold), {nodes});
    tree["missing_go_to_left"] = to_numpy(std::move(from.missing_left), {nodes});
    tree["gap_below"] = to_numpy(std::move(from.gap_below), {nodes});
    tree["gap_above"] = to_numpy(std::move(from.gap_above), {nodes});
    if (words > 0) {
        const std::size_t used = from.category_words.size();
        tree["category_offset"] = to_numpy(std::move(from.category_offset), {nodes});
        tree["category_words"] = to_numpy(std::move(from.category_words), {used});
    }
    tree["n_node_missing"] = to_numpy(std::move(from.missing_count), {nodes});
    return tree;
}

Answer to_dict(contree::Result result, std::size_t classes, std::size_t words) {
    nb::list sizes;
    for (contree::SizedTree& size : result.sizes) {
        nb::dict entry;
        entry["tree"] = to_dict(std::move(size.tree), classes, words);
        entry["loss"] = size.loss;
        entry["lower_bound"] = size.lower_bound;
        sizes.append(entry);
    }
    nb::dict counters;
    for (const auto& [name, count] : result.counters) counters[name.c_str()] = count;
    nb::list history;
    for (const contree::Moment& m : result.history)
        history.append(nb::make_tuple(m.seconds, m.objective, m.lower_bound));
    const std::string_view status = contree::name(result.status);
    Answer out;
    out["tree"] = to_dict(std::move(result.tree), classes, words);
    out["sizes"] = sizes;
    out["loss"] = result.loss;
    out["objective"] = result.objective;
    out["lower_bound"] = result.lower_bound;
    out["status"] = nb::str(status.data(), status.size());
    out["counters"] = counters;
    out["missing_threads"] = result.missing_threads;
    out["seconds"] = result.seconds;
    out["history"] = history;
    out["frontier"] = to_tuple(result.frontier, words);
    return out;
}

SwitchTable switch_table() {
    SwitchTable rows;
    for (const contree::SwitchRow& row : contree::switch_rows()) {
        nb::dict entry;
        entry["name"] = nb::str(row.name.data(), row.name.size());
        entry["default"] = row.value;
        entry["low"] = row.low;
        entry["high"] = row.high;
        entry["meaning"] = nb::str(row.meaning.data(), row.meaning.size());
        rows.append(entry);
    }
    return rows;
}
}  // namespace contree_python
