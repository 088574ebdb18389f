// Arrays in, arrays out.  The GIL is released while searching; the calling thread polls for Ctrl-C and calls back.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

#include "contree/contree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector over to numpy without a copy.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto* const kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

contree::SearchKind search_kind(const std::string& name) {
    if (name == "best_first") return contree::SearchKind::best_first;
    if (name == "paper") return contree::SearchKind::paper;
    throw std::invalid_argument("search is '" + name + "'; allowed: 'best_first', 'paper'");
}

contree::Switches read_switches(const nb::dict& given) {
    contree::Switches switches;
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const contree::SwitchRow* found = nullptr;
        std::string names;
        for (const contree::SwitchRow& row : contree::switch_rows()) {
            names += (names.empty() ? "" : ", ") + std::string(row.name);
            if (row.name == name) found = &row;
        }
        if (found == nullptr) throw std::invalid_argument("no search option '" + name + "'; there are: " + names);
        std::int64_t number = 0;
        if (!nb::try_cast(value, number) || number < found->low || number > found->high)
            throw std::invalid_argument("search option '" + name + "' takes a whole number from " +
                                        std::to_string(found->low) + " to " + std::to_string(found->high));
        switches.*found->field = static_cast<std::int32_t>(number);
    }
    return switches;
}

// The arrays of a tree that the caller has; what is followed without a look later is looked at here.
contree::Tree read_tree(const nb::dict& given, std::size_t features) {
    const auto copy = [&](const char* name, auto& to) {
        using T = typename std::decay_t<decltype(to)>::value_type;
        const auto array = nb::cast<Vector<T>>(given[name]);
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
    if (nodes == 0 || tree.missing_left.size() != nodes || tree.children_left.size() != nodes || tree.children_right.size() != nodes || tree.threshold.size() != nodes)
        throw std::invalid_argument("initial_tree has arrays of different lengths, or no node");
    for (std::size_t node = 0; node < nodes; ++node) {
        const std::int64_t left = tree.children_left[node], right = tree.children_right[node];
        if (left < 0 && right < 0) continue;
        const auto at = " at node " + std::to_string(node);
        if (std::min(left, right) <= static_cast<std::int64_t>(node) || std::max(left, right) >= static_cast<std::int64_t>(nodes))
            throw std::invalid_argument("initial_tree has impossible children" + at);
        if (tree.feature[node] < 0 || tree.feature[node] >= static_cast<std::int64_t>(features))
            throw std::invalid_argument("initial_tree tests feature " + std::to_string(tree.feature[node]) + at + "; X has " +
                                        std::to_string(features) + " features");
    }
    return tree;
}

// What the calling thread does while others search: lets Python handle its signals, and tells `callback` how it goes:
// whenever something is better than at the last call, at least a few times a second, and when nothing is left to close.
class Watcher {
public:
    Watcher(nb::object callback, bool keep_on_interrupt)
        : callback_(std::move(callback)), keep_on_interrupt_(keep_on_interrupt) {}

    contree::Verdict operator()(const contree::Progress& now) {
        nb::gil_scoped_acquire held;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (callback_.is_none() || !is_due(now)) return contree::Verdict::go_on;
            told_ = now;
            const bool enough = nb::cast<bool>(callback_(now.seconds, now.objective, now.lower_bound, now.root_closed));
            return enough ? contree::Verdict::stop : contree::Verdict::go_on;
        } catch (nb::python_error& error) {
            if (keep_on_interrupt_ && error.matches(PyExc_KeyboardInterrupt)) return contree::Verdict::interrupt;
            failure_ = std::current_exception();
        } catch (...) {
            failure_ = std::current_exception();
        }
        return contree::Verdict::abandon;
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    bool is_due(const contree::Progress& now) const {
        constexpr double patience = 0.2;   // seconds
        if (now.objective == contree::no_objective) return false;
        return !told_ || now.objective != told_->objective || now.lower_bound != told_->lower_bound ||
               (now.root_closed == 1 && told_->root_closed < 1) || now.seconds - told_->seconds >= patience;
    }

    const nb::object callback_;
    const bool keep_on_interrupt_;
    std::optional<contree::Progress> told_;
    std::exception_ptr failure_;
};

nb::dict to_dict(contree::Tree from, std::size_t classes) {
    nb::dict tree;
    const std::size_t nodes = from.size();
    tree["children_left"] = to_numpy(std::move(from.children_left), {nodes});
    tree["children_right"] = to_numpy(std::move(from.children_right), {nodes});
    tree["feature"] = to_numpy(std::move(from.feature), {nodes});
    tree["threshold"] = to_numpy(std::move(from.threshold), {nodes});
    tree["missing_go_to_left"] = to_numpy(std::move(from.missing_left), {nodes});
    tree["gap_below"] = to_numpy(std::move(from.gap_below), {nodes});
    tree["gap_above"] = to_numpy(std::move(from.gap_above), {nodes});
    tree["n_node_missing"] = to_numpy(std::move(from.missing_count), {nodes});
    tree["class_counts"] = to_numpy(std::move(from.class_counts), {nodes, classes});
    tree["class_weights"] = to_numpy(std::move(from.class_weights), {nodes, classes});
    return tree;
}

nb::dict to_dict(contree::Result result, std::size_t classes) {
    nb::list sizes;
    for (contree::SizedTree& size : result.sizes) {
        nb::dict entry;
        entry["tree"] = to_dict(std::move(size.tree), classes);
        entry["errors"] = size.errors;
        entry["lower_bound"] = size.lower_bound;
        sizes.append(entry);
    }
    nb::dict counters;
    for (const auto& [name, count] : result.counters) counters[name.c_str()] = count;
    nb::list history;
    for (const contree::Moment& m : result.history) history.append(nb::make_tuple(m.seconds, m.objective, m.lower_bound));
    const std::string_view status = contree::name(result.status);
    nb::dict out;
    out["tree"] = to_dict(std::move(result.tree), classes);
    out["sizes"] = sizes;
    out["errors"] = result.errors;
    out["objective"] = result.objective;
    out["lower_bound"] = result.lower_bound;
    out["status"] = nb::str(status.data(), status.size());
    out["counters"] = counters;
    out["seconds"] = result.seconds;
    out["history"] = history;
    return out;
}

nb::dict fit(const Matrix& X, const Labels& y, std::int32_t n_classes, const std::optional<Vector<contree::Score>>& weights,
             std::int64_t max_depth, std::int64_t min_samples_leaf, std::int64_t min_weight_leaf, std::int64_t max_leaves,
             std::int64_t error_cost, std::int64_t leaf_cost, bool all_sizes, std::int64_t max_gap, double time_limit,
             double feature_tolerance, int n_jobs, const std::string& search, const nb::dict& switches, std::int64_t memory_limit,
             const std::optional<nb::dict>& initial_tree, const nb::object& callback, bool keep_on_interrupt) {
    if (X.shape(0) != y.shape(0)) throw std::invalid_argument("X and y have different numbers of rows");
    if (X.shape(0) == 0) throw std::invalid_argument("X has no rows");
    if (X.shape(0) >= (std::size_t{1} << 31)) throw std::invalid_argument("X has 2**31 rows or more");
    for (std::size_t r = 0; r < y.shape(0); ++r)
        if (y.data()[r] < 0 || y.data()[r] >= n_classes) throw std::invalid_argument("y has a label outside 0..n_classes-1");
    if (weights && weights->shape(0) != X.shape(0)) throw std::invalid_argument("X and weights have different numbers of rows");
    contree::Options options;
    options.max_depth = max_depth;
    options.min_samples_leaf = min_samples_leaf;
    options.min_weight_leaf = min_weight_leaf;
    options.max_leaves = max_leaves;
    options.error_cost = error_cost;
    options.leaf_cost = leaf_cost;
    options.all_sizes = all_sizes;
    options.max_gap = max_gap;
    options.time_limit = time_limit;
    options.feature_tolerance = feature_tolerance;
    options.n_jobs = n_jobs;
    options.search = search_kind(search);
    options.switches = read_switches(switches);
    options.memory_limit = memory_limit;
    std::optional<contree::Tree> first;
    if (initial_tree) first = read_tree(*initial_tree, X.shape(1));
    const contree::Table table{X.data(), X.shape(0), X.shape(1), y.data(), n_classes, weights ? weights->data() : nullptr};
    contree::Control control;
    Watcher watcher(callback, keep_on_interrupt);
    contree::Result result;
    {
        nb::gil_scoped_release released;
        result = contree::fit(table, options, control, std::ref(watcher), first ? &*first : nullptr);
    }
    watcher.rethrow();
    return to_dict(std::move(result), static_cast<std::size_t>(n_classes));
}

nb::list switches() {
    nb::list rows;
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

}  // namespace

NB_MODULE(_core, m) {
    m.def("fit", &fit, "X"_a, "y"_a, "n_classes"_a, nb::kw_only(), "weights"_a.none(), "max_depth"_a,
          "min_samples_leaf"_a, "min_weight_leaf"_a, "max_leaves"_a, "error_cost"_a, "leaf_cost"_a, "all_sizes"_a, "max_gap"_a, "time_limit"_a, "feature_tolerance"_a, "n_jobs"_a, "search"_a, "switches"_a,
          "memory_limit"_a, "initial_tree"_a.none(), "callback"_a.none(), "keep_on_interrupt"_a);
    m.def("switches", &switches);
    m.def("kernels", &contree::kernels);
    m.def("kernel", &contree::kernel);
}
