// The Python module contree._core: arrays in, arrays out.  A search runs without the GIL; meanwhile the
// calling thread looks for Ctrl-C and calls back.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include "contree/contree.hpp"
#include "convert.hpp"
#include "exit.hpp"
#include "watcher.hpp"

using namespace nanobind::literals;

namespace contree_python {
namespace {

// Rows that are ranked once, for any number of searches, one at a time.
class Searcher {
public:
    Searcher(const Matrix& X, const nb::object& y, std::int32_t n_classes, const std::string& objective,
        int score_shift, const Weights& weights, std::int64_t max_depth, std::int64_t min_samples_leaf,
        std::int64_t min_weight_leaf, std::int64_t max_leaves, std::int64_t error_cost,
        std::int64_t leaf_cost, bool all_sizes, std::int64_t max_gap, double feature_tolerance, int n_jobs,
        const std::string& search, const SwitchValues& switches, std::int64_t memory_limit,
        std::uint64_t seed, const Categories& categories)
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

    Answer run(const std::optional<OpenPart>& frontier, const std::optional<Nodes>& first,
        std::optional<contree::Score> cutoff, contree::Score lower_bound, double time_limit, bool open_only,
        bool part, std::int64_t splits, bool resumable, const std::optional<Observer>& poll,
        bool keep_on_interrupt) {
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
        Answer out = to_dict(std::move(result), classes_, subset_words_);
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

    OpenPart split(const OpenPart& frontier, std::size_t parts) {
        return to_tuple(searcher_->split(read_frontier(frontier, subset_words_), parts), subset_words_);
    }

    // None while there is no tree.
    std::optional<Snapshot> snapshot() {
        const Exit::Entry entry;
        contree::Snapshot now;
        {
            const ReleaseGil released;
            now = searcher_->snapshot();
        }
        if (now.tree.size() == 0) return std::nullopt;
        Snapshot out;
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

}  // namespace
}  // namespace contree_python

using namespace contree_python;

NB_MODULE(_core, m) {
    nb::class_<Searcher>(m, "Searcher")
        .def(nb::init<const Matrix&, const nb::object&, std::int32_t, const std::string&, int, const Weights&,
                 std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool,
                 std::int64_t, double, int, const std::string&, const SwitchValues&, std::int64_t,
                 std::uint64_t, const Categories&>(),
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
    m.def("switches", &switch_table);
    m.def("kernels", &contree::kernels);
    m.def("kernel", &contree::kernel);
    Exit::register_hooks(m);
}
