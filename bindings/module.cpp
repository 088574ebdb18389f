// The Python module contree._core: arrays in, arrays out.  A search runs without the GIL; meanwhile the
// calling thread looks for Ctrl-C and calls back.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include "contree/contree.hpp"
#include "exit.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using contree_python::Exit;
using contree_python::HoldGil;
using contree_python::ReleaseGil;
using contree_python::surviving;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
template <class T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = Vector<std::int32_t>;
using Targets = Vector<std::int64_t>;
using Weights = std::optional<Vector<contree::Score>>;
using Categories = std::optional<Vector<std::int32_t>>;

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

bool is_errors(const std::string& objective) {
    if (objective == "errors" || objective == "squared_error") return objective == "errors";
    throw std::invalid_argument("objective is '" + objective + "'; allowed: 'errors', 'squared_error'");
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
        if (found == nullptr)
            throw std::invalid_argument("no search option '" + name + "'; there are: " + names);
        std::int64_t number = 0;
        if (!nb::try_cast(value, number) || number < found->low || number > found->high)
            throw std::invalid_argument("search option '" + name + "' takes a whole number from " +
                                        std::to_string(found->low) + " to " + std::to_string(found->high));
        switches.*found->field = static_cast<std::int32_t>(number);
    }
    return switches;
}

// The caller's tree.  The core follows its children and features without a check, so they are checked here.
contree::Tree read_tree(const nb::dict& given, std::size_t features, const Categories& categories) {
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
    if (given.contains("category_offset")) {
        copy("category_offset", tree.category_offset);
        copy("category_words", tree.category_words);
    } else {
        tree.category_offset.assign(nodes, -1);
    }
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
    return tree;
}

// What the calling thread does while others search: it lets Python handle signals and calls `callback`.  It
// calls when the tree or the bound is better than at the last call, a few times a second, and when nothing is
// left open.
class Watcher {
public:
    Watcher(Exit::Call& call, nb::object callback, bool keep_on_interrupt)
        : call_(call), callback_(std::move(callback)), keep_on_interrupt_(keep_on_interrupt) {}

    contree::Verdict operator()(const contree::Progress& now) {
        if (Exit::begun()) return contree::Verdict::abandon;
        const HoldGil held;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (call_.interrupted) PyErr_SetNone(PyExc_KeyboardInterrupt), throw nb::python_error();
            if (callback_.is_none() || !is_due(now)) return contree::Verdict::go_on;
            told_ = now;
            return call_back(now) ? contree::Verdict::stop : contree::Verdict::go_on;
        } catch (nb::python_error& error) {
            const bool has_tree = now.objective != contree::no_objective;  // none yet while rows are ranked
            if (keep_on_interrupt_ && has_tree && error.matches(PyExc_KeyboardInterrupt)) {
                interrupted_ = true;
                return contree::Verdict::interrupt;
            }
            failure_ = std::current_exception();
        } catch (...) {
            failure_ = std::current_exception();
        }
        return contree::Verdict::abandon;
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }
    // Was it Ctrl-C?  The search may have ended by itself since.
    bool interrupted() const { return interrupted_; }
private:
    bool call_back(const contree::Progress& now) {
        const nb::tuple arguments =
            nb::make_tuple(now.seconds, now.objective, now.lower_bound, now.root_closed);
        call_.in_python = true;
        PyObject* const answer =
            surviving([&] { return PyObject_CallObject(callback_.ptr(), arguments.ptr()); });
        call_.in_python = false;
        if (answer == nullptr) throw nb::python_error();
        return nb::cast<bool>(nb::steal(answer));
    }

    bool is_due(const contree::Progress& now) const {
        constexpr double patience = 0.2;  // seconds
        if (now.objective == contree::no_objective) return false;
        return !told_ || now.objective != told_->objective || now.lower_bound != told_->lower_bound ||
               (now.root_closed == 1 && told_->root_closed < 1) || now.seconds - told_->seconds >= patience;
    }

    Exit::Call& call_;
    const nb::object callback_;
    const bool keep_on_interrupt_;
    std::optional<contree::Progress> told_;
    std::exception_ptr failure_;
    bool interrupted_ = false;
};

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

// `classes` is 0 for squared error.
// Where no feature is categorical (`words` is 0), there are no arrays of categories.
nb::dict to_dict(contree::Tree from, std::size_t classes, std::size_t words) {
    nb::dict tree;
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

// In Python a frontier is a tuple (depth, floor, intervals), where the intervals are the rows of an array.
// Where features are categorical, the words of a set of ranks follow the numbers of each interval.
constexpr std::size_t interval_columns = 10;
using Rows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple to_tuple(const contree::Frontier& frontier, std::size_t words) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(frontier.intervals.size() * (interval_columns + words));
    for (const auto& [column, budget, u, v, with_u, bound, subset] : frontier.intervals) {
        numbers.insert(
            numbers.end(), {column, budget, u.z, u.left, u.right, with_u, v.z, v.left, v.right, bound});
        for (std::size_t w = 0; w < words; ++w)
            numbers.push_back(w < subset.size() ? static_cast<std::int64_t>(subset[w]) : 0);
    }
    return nb::make_tuple(frontier.depth, frontier.floor,
        to_numpy(std::move(numbers), {frontier.intervals.size(), interval_columns + words}));
}

contree::Frontier read_frontier(const nb::tuple& given, std::size_t words) {
    const std::size_t columns = interval_columns + words;
    contree::Frontier frontier;
    Rows rows;
    if (given.size() != 3 || !nb::try_cast(given[0], frontier.depth) ||
        !nb::try_cast(given[1], frontier.floor) || !nb::try_cast(given[2], rows) || rows.shape(1) != columns)
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

nb::dict to_dict(contree::Result result, std::size_t classes, std::size_t words) {
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
    nb::dict out;
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

// Rows that are ranked once, for any number of searches, one at a time.
class Searcher {
public:
    Searcher(const Matrix& X, const nb::object& y, std::int32_t n_classes, const std::string& objective,
        int score_shift, const Weights& weights, std::int64_t max_depth, std::int64_t min_samples_leaf,
        std::int64_t min_weight_leaf, std::int64_t max_leaves, std::int64_t error_cost,
        std::int64_t leaf_cost, bool all_sizes, std::int64_t max_gap, double feature_tolerance, int n_jobs,
        const std::string& search, const nb::dict& switches, std::int64_t memory_limit, std::uint64_t seed,
        const Categories& categories)
        : X_(X), weights_(weights), categories_(categories), features_(X.shape(1)) {
        const bool errors = is_errors(objective);
        if (errors) labels_ = nb::cast<Labels>(y);
        else targets_ = nb::cast<Targets>(y);
        if (errors) classes_ = static_cast<std::size_t>(n_classes);
        if (X.shape(0) != (errors ? labels_.shape(0) : targets_.shape(0)))
            throw std::invalid_argument("X and y have different numbers of rows");
        if (X.shape(0) == 0) throw std::invalid_argument("X has no rows");
        if (X.shape(0) >= (std::size_t{1} << 31)) throw std::invalid_argument("X has 2**31 rows or more");
        for (std::size_t r = 0; errors && r < X.shape(0); ++r)
            if (labels_.data()[r] < 0 || labels_.data()[r] >= n_classes)
                throw std::invalid_argument("y has a label outside 0..n_classes-1");
        if (weights && weights->shape(0) != X.shape(0))
            throw std::invalid_argument("X and weights have different numbers of rows");
        if (categories && categories->shape(0) != X.shape(1))
            throw std::invalid_argument("categories must have one number for each feature");
        for (std::size_t f = 0; categories && f < features_; ++f)
            if (const std::int32_t count = categories->data()[f]; count != 0) {
                if (count < 0) throw std::invalid_argument("categories must be at least 0");
                subset_words_ = std::max(subset_words_, (static_cast<std::size_t>(count) + 1) / 64 + 1);
            }
        contree::Options options;
        options.score_shift = score_shift;
        options.max_depth = max_depth;
        options.min_samples_leaf = min_samples_leaf;
        options.min_weight_leaf = min_weight_leaf;
        options.max_leaves = max_leaves;
        options.error_cost = error_cost;
        options.leaf_cost = leaf_cost;
        options.all_sizes = all_sizes;
        options.max_gap = max_gap;
        options.feature_tolerance = feature_tolerance;
        options.n_jobs = n_jobs;
        options.search = search_kind(search);
        options.switches = read_switches(switches);
        options.memory_limit = memory_limit;
        options.seed = seed;
        const contree::Score* const weight = weights ? weights->data() : nullptr;
        const contree::Table table{X.data(), X.shape(0), X.shape(1), errors ? labels_.data() : nullptr,
            n_classes, weight, errors ? nullptr : targets_.data(), categories ? categories->data() : nullptr};
        searcher_.emplace(table, options);
    }

    nb::dict run(const std::optional<nb::tuple>& frontier, const std::optional<nb::dict>& first,
        std::optional<contree::Score> cutoff, contree::Score lower_bound, double time_limit, bool open_only,
        bool part, std::int64_t splits, bool resumable, const nb::object& poll, bool keep_on_interrupt) {
        contree::Start start;
        std::optional<contree::Tree> tree;
        std::optional<contree::Frontier> left;
        if (first) start.first = &tree.emplace(read_tree(*first, features_, categories_));
        if (frontier) start.frontier = &left.emplace(read_frontier(*frontier, subset_words_));
        start.lower_bound = lower_bound;
        start.open_only = open_only;
        start.part = part;
        start.splits = splits;
        start.resumable = resumable;
        const auto control = std::make_shared<contree::Control>();
        if (cutoff) control->lower_cutoff(*cutoff);
        const Running running(*this, control);
        const Exit::Entry entry(control);
        Watcher watcher(*entry, poll, keep_on_interrupt);
        contree::Result result;
        {
            const ReleaseGil released;
            result = searcher_->run(start, *control, time_limit, std::ref(watcher));
        }
        Exit::throw_if_begun();
        watcher.rethrow();
        nb::dict out = to_dict(std::move(result), classes_, subset_words_);
        out["interrupted"] = watcher.interrupted();
        return out;
    }

    void lower_cutoff(contree::Score objective) {
        if (control_) control_->lower_cutoff(objective);
    }
    void hand_back() {
        if (control_) control_->hand_back();
    }
    void stop() {
        if (control_) control_->stop();
    }

    nb::tuple split(const nb::tuple& frontier, std::size_t parts) {
        return to_tuple(searcher_->split(read_frontier(frontier, subset_words_), parts), subset_words_);
    }

    // None while there is no tree.
    nb::object snapshot() {
        const Exit::Entry entry;
        contree::Snapshot now;
        {
            const ReleaseGil released;
            now = searcher_->snapshot();
        }
        if (now.tree.size() == 0) return nb::none();
        nb::dict out;
        out["tree"] = to_dict(std::move(now.tree), classes_, subset_words_);
        out["objective"] = now.objective;
        out["lower_bound"] = now.lower_bound;
        out["frontier"] = to_tuple(now.frontier, subset_words_);
        return out;
    }
private:
    // Sets `control_` for one run.  Only threads that hold the GIL touch it.
    struct Running {
        Running(Searcher& searcher, std::shared_ptr<contree::Control> control) : searcher_(searcher) {
            if (searcher.control_) throw std::runtime_error("this Searcher is running already");
            searcher.control_ = std::move(control);
        }
        ~Running() { searcher_.control_.reset(); }
        Running(const Running&) = delete;
        Searcher& searcher_;
    };

    const Matrix X_;   // the arrays are kept alive
    Labels labels_;    // of errors
    Targets targets_;  // of squared error
    const Weights weights_;
    const Categories categories_;
    const std::size_t features_;
    std::size_t subset_words_ = 0;  // of a set of categories in a frontier
    std::size_t classes_ = 0;
    std::optional<contree::Searcher> searcher_;
    std::shared_ptr<contree::Control> control_;
};

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
    nb::class_<Searcher>(m, "Searcher")
        .def(nb::init<const Matrix&, const nb::object&, std::int32_t, const std::string&, int, const Weights&,
                 std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool,
                 std::int64_t, double, int, const std::string&, const nb::dict&, std::int64_t, std::uint64_t,
                 const Categories&>(),
            "X"_a, "y"_a, "n_classes"_a, nb::kw_only(), "objective"_a = "errors", "score_shift"_a = 0,
            "weights"_a.none(), "max_depth"_a, "min_samples_leaf"_a, "min_weight_leaf"_a, "max_leaves"_a,
            "error_cost"_a, "leaf_cost"_a, "all_sizes"_a, "max_gap"_a, "feature_tolerance"_a, "n_jobs"_a,
            "search"_a, "switches"_a, "memory_limit"_a, "seed"_a, "categories"_a.none() = nb::none())
        .def("run", &Searcher::run, nb::kw_only(), "frontier"_a.none() = nb::none(),
            "first"_a.none() = nb::none(), "cutoff"_a.none() = nb::none(), "lower_bound"_a = 0,
            "time_limit"_a = std::numeric_limits<double>::infinity(), "open_only"_a = false, "part"_a = false,
            "splits"_a = 0, "resumable"_a = false, "poll"_a.none() = nb::none(),
            "keep_on_interrupt"_a = false)
        .def("lower_cutoff", &Searcher::lower_cutoff, "objective"_a)
        .def("hand_back", &Searcher::hand_back)
        .def("stop", &Searcher::stop)
        .def("split", &Searcher::split, "frontier"_a, "parts"_a)
        .def("snapshot", &Searcher::snapshot);
    m.def("switches", &switches);
    m.def("kernels", &contree::kernels);
    m.def("kernel", &contree::kernel);
    Exit::register_hooks(m);
}
