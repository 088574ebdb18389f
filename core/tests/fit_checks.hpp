// What must hold of every result of a fit, recounted here without the core's own code; and how to make a
// failing case small.
#pragma once

#include <optional>
#include <string>
#include "exhaustive.hpp"

namespace check {

inline std::string described(const contree::Options& options) {
    std::ostringstream text;
    text << "max_depth=" << options.max_depth << " min_samples_leaf=" << options.min_samples_leaf
         << " min_weight_leaf=" << options.min_weight_leaf << " error_cost=" << options.error_cost
         << " leaf_cost=" << options.leaf_cost << " max_leaves=" << options.max_leaves
         << " max_gap=" << options.max_gap << " n_jobs=" << options.n_jobs
         << " score_shift=" << options.score_shift << " feature_tolerance=" << options.feature_tolerance
         << (options.search == contree::SearchKind::paper ? " search=paper" : "");
    for (const contree::SwitchRow& row : contree::switch_rows())
        if (options.switches.*row.field != row.value)
            text << " " << row.name << "=" << options.switches.*row.field;
    if (const char* const kernel = std::getenv("CONTREE_KERNEL")) text << " CONTREE_KERNEL=" << kernel;
    return text.str();
}

// The categories that a categorical test sends left; missing values are the last.
inline std::set<std::size_t> categories_left(
    const contree::Tree& tree, const Instance& data, std::size_t node, std::size_t f) {
    std::set<std::size_t> left;
    const auto categories = static_cast<std::size_t>(data.categories[f]);
    for (std::size_t c = 0; c < categories; ++c) {
        const auto word = static_cast<std::size_t>(tree.category_offset[node]) + c / 64;
        if ((tree.category_words.at(word) >> (c % 64) & 1) != 0) left.insert(c);
    }
    if (tree.missing_left[node] != 0) left.insert(categories);
    return left;
}
// Where the test of a node sends rows.
inline std::pair<RowList, RowList> sides_of(
    const contree::Tree& tree, const Instance& data, std::size_t node, const RowList& rows) {
    const auto f = static_cast<std::size_t>(tree.feature[node]);
    return data.categorical(f) ? parted_by(data, rows, f, categories_left(tree, data, node, f))
                               : parted(data, rows, f, tree.threshold[node], tree.missing_left[node] != 0);
}

// Errors and leaves of the subtree at `node` on `rows`; appends to `faults` what is wrong with its shape,
// counts or depth.
struct Counted {
    Score errors, leaves;
    Score objective(const contree::Options& options) const {
        return options.error_cost * errors + options.leaf_cost * leaves;
    }
};
inline Counted recount(const contree::Tree& tree, const Instance& data, std::size_t node, const RowList& rows,
    const contree::Options& options, std::int64_t depth_left, std::size_t& next, std::string& faults) {
    const auto classes = static_cast<std::size_t>(data.classes);
    if (node != next++) faults += "not in preorder; ";
    std::vector<std::int64_t> counts(classes, 0);
    std::vector<Score> weights(classes, 0);
    for (const std::size_t r : rows) {
        ++counts[static_cast<std::size_t>(data.labels[r])];
        weights[static_cast<std::size_t>(data.labels[r])] += data.weight(r);
    }
    const auto counted = tree.counts.begin() + static_cast<std::ptrdiff_t>(2 * node * classes);
    if (!std::equal(counts.begin(), counts.end(), counted)) faults += "wrong class counts; ";
    if (!std::equal(weights.begin(), weights.end(), counted + static_cast<std::ptrdiff_t>(classes)))
        faults += "wrong class weights; ";
    if (rows.empty()) faults += "an empty node; ";
    if (node > 0 && std::cmp_less(rows.size(), options.min_samples_leaf))
        faults += "a node with too few rows; ";
    if (node > 0 && mass_of(data, rows) < options.min_weight_leaf)
        faults += "a node that weighs too little; ";
    const Counted leaf{leaf_errors(data, rows), 1};
    if (tree.children_left[node] < 0) {
        if (tree.children_left[node] != -1 || tree.children_right[node] != -1 || tree.feature[node] != -2 ||
            tree.threshold[node] != -2)
            faults += "a leaf that is not marked as one; ";
        return leaf;
    }
    if (depth_left == 0) {
        faults += "too deep; ";
        return leaf;
    }
    const auto f = static_cast<std::size_t>(tree.feature[node]);
    const bool categorical = f < data.features && data.categorical(f);
    if (f >= data.features || std::isnan(tree.threshold[node]) != categorical ||
        (tree.category_offset[node] >= 0) != categorical) {
        faults += "no such split; ";
        return leaf;
    }
    const std::set<std::size_t> goes_left =
        categorical ? categories_left(tree, data, node, f) : std::set<std::size_t>{};
    const auto categories = categorical ? static_cast<std::size_t>(data.categories[f]) : 0;
    const auto [left, right] = sides_of(tree, data, node, rows);
    std::set<std::size_t> present;
    for (const std::size_t r : rows)
        if (categorical) present.insert(category_of(data, r, f));
    for (std::size_t c = 0; c < categories; ++c)
        if (!present.contains(c) && goes_left.contains(c) != (left.size() > right.size()))
            faults += "a category without rows would not go with most rows; ";
    const bool any_missing =
        std::any_of(rows.begin(), rows.end(), [&](std::size_t r) { return std::isnan(data.value(r, f)); });
    if (!any_missing && tree.missing_left[node] != (left.size() > right.size()))
        faults += "missing values would not go with most rows; ";
    double below = -std::numeric_limits<double>::infinity(), above = -below;
    for (std::size_t r = 0; r < data.rows; ++r) {
        if (data.value(r, f) <= tree.threshold[node]) below = std::max(below, data.value(r, f));
        if (data.value(r, f) > tree.threshold[node]) above = std::min(above, data.value(r, f));
    }
    if (!categorical && (tree.gap_below[node] != below || tree.gap_above[node] != above))
        faults += "not the values around the threshold; ";
    const auto missing =
        std::count_if(rows.begin(), rows.end(), [&](std::size_t r) { return std::isnan(data.value(r, f)); });
    if (tree.missing_count[node] != missing) faults += "missing values miscounted; ";
    if (!categorical && !any_missing && !std::isfinite(tree.threshold[node]))
        faults += "an infinite threshold without missing values; ";
    const auto left_child = static_cast<std::size_t>(tree.children_left[node]);
    const auto right_child = static_cast<std::size_t>(tree.children_right[node]);
    if (left_child >= tree.size() || right_child >= tree.size()) {
        faults += "no such child; ";
        return leaf;
    }
    const Counted on_left = recount(tree, data, left_child, left, options, depth_left - 1, next, faults);
    const Counted on_right = recount(tree, data, right_child, right, options, depth_left - 1, next, faults);
    const Counted both{on_left.errors + on_right.errors, on_left.leaves + on_right.leaves};
    if (both.objective(options) >= leaf.objective(options)) faults += "a split that does not pay; ";
    return both;
}

// Empty where all is well: the tree is whole, reaches the objective, and the bounds enclose the optimum if it
// is known.
inline std::string result_faults(const contree::Result& result, const Instance& data,
    const contree::Options& options, std::optional<Score> optimum) {
    std::string faults;
    const contree::Tree& tree = result.tree;
    if (tree.size() == 0 || tree.children_left.size() != tree.size() ||
        tree.children_right.size() != tree.size() || tree.threshold.size() != tree.size() ||
        tree.missing_left.size() != tree.size() ||
        tree.counts.size() != 2 * tree.size() * static_cast<std::size_t>(data.classes))
        return "node arrays of different lengths";
    std::size_t next = 0;
    const Counted counted = recount(tree, data, 0, all_rows(data), options, options.max_depth, next, faults);
    const Score errors = counted.errors;
    if (options.max_leaves > 0 && counted.leaves > options.max_leaves) faults += "too many leaves; ";
    if (next != tree.size()) faults += "nodes that nothing points to; ";
    const auto expect = [&](bool holds, const char* what) {
        if (!holds)
            faults += std::string(what) + " (errors " + shown(result.loss) + ", recounted " + shown(errors) +
                      ", objective " + shown(result.objective) + ", lower bound " +
                      shown(result.lower_bound) + ", optimum " + (optimum ? shown(*optimum) : "unknown") +
                      ", status " + std::string(contree::name(result.status)) + "); ";
    };
    expect(errors == result.loss, "errors are not those of the tree");
    expect(result.objective == counted.objective(options), "objective is not that of the tree");
    expect(
        0 <= result.lower_bound && result.lower_bound <= result.objective, "lower bound above the objective");
    expect((result.status == contree::Status::optimal) == (result.lower_bound == result.objective), "status");
    if (result.status == contree::Status::gap_reached)
        expect(result.objective - result.lower_bound <= options.max_gap, "gap not reached");
    if (optimum) {
        expect(result.lower_bound <= *optimum, "lower bound above the optimum");
        expect(*optimum <= result.objective, "objective below the optimum");
    }
    Score best = contree::Score{1} << 61, bound = 0;
    for (const contree::Moment& moment : result.history) {
        expect(moment.objective <= best && moment.lower_bound >= bound, "history gets worse");
        expect(moment.lower_bound <= moment.objective, "a bound of the history above its objective");
        best = moment.objective;
        bound = moment.lower_bound;
        if (optimum) expect(moment.lower_bound <= *optimum, "a bound of the history above the optimum");
    }
    expect(
        !result.history.empty() && best == result.objective && bound == result.lower_bound, "history's end");
    return faults;
}

// A full run, with nothing to stop it: what is wrong with it, if anything.
inline std::string fit_faults(const Instance& data, const contree::Options& options, Score optimum) {
    try {
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        std::string faults = result_faults(result, data, options, optimum);
        if (result.objective - optimum > options.max_gap) faults += "further from the optimum than max_gap; ";
        if (result.status != contree::Status::optimal && result.status != contree::Status::gap_reached)
            faults += "not proved; ";
        if (options.max_gap == 0 && result.status != contree::Status::optimal) faults += "not optimal; ";
        if (options.max_gap == 0 && result.objective != optimum)
            faults +=
                "objective " + shown(result.objective) + ", but the optimum is " + shown(optimum) + "; ";
        return faults;
    } catch (const std::exception& error) {
        return std::string("threw: ") + error.what();
    }
}

inline Instance without_row(const Instance& data, std::size_t row) {
    Instance less = data;
    less.rows = data.rows - 1;
    less.labels.erase(less.labels.begin() + static_cast<std::ptrdiff_t>(row));
    if (!less.weights.empty()) less.weights.erase(less.weights.begin() + static_cast<std::ptrdiff_t>(row));
    if (!less.targets.empty()) less.targets.erase(less.targets.begin() + static_cast<std::ptrdiff_t>(row));
    less.values.clear();
    for (std::size_t f = 0; f < data.features; ++f)
        for (std::size_t r = 0; r < data.rows; ++r)
            if (r != row) less.values.push_back(data.value(r, f));
    return less;
}

inline Instance without_feature(const Instance& data, std::size_t feature) {
    Instance less = data;
    less.features = data.features - 1;
    const auto begin = less.values.begin() + static_cast<std::ptrdiff_t>(feature * data.rows);
    if (!less.categories.empty())
        less.categories.erase(less.categories.begin() + static_cast<std::ptrdiff_t>(feature));
    less.values.erase(begin, begin + static_cast<std::ptrdiff_t>(data.rows));
    return less;
}

// Leaves out rows and columns as long as `fails` holds.
template <class Fails> Instance shrunk(Instance data, const Fails& fails) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t f = data.features; f-- > 0;)
            if (Instance less = without_feature(data, f); fails(less)) data = std::move(less), smaller = true;
        for (std::size_t r = data.rows; r-- > 0 && data.rows > 1;)
            if (Instance less = without_row(data, r); fails(less)) data = std::move(less), smaller = true;
    }
    return data;
}

// One fit against the oracle; a failure is shown with the smallest part of its rows and columns that fails
// too.
inline void check_fit(const Instance& data, const contree::Options& options, Score optimum) {
    const std::string faults = fit_faults(data, options, optimum);
    if (faults.empty()) {
        ++passed;
        return;
    }
    const auto fails = [&](const Instance& less) {
        return !fit_faults(less, options, optimum_of(less, options)).empty();
    };
    const bool can_shrink = data.rows <= 60 && options.feature_tolerance == 0 && fails(data);
    const Instance small = can_shrink ? shrunk(data, fails) : data;
    fail("fit", 0, faults + "with " + described(options) + "\nsmallest case: " + shown(small));
}

// All that a fit can be asked for, drawn at once: as many rows as the oracle can take, and search options
// that make every rule work on few.
inline Instance draw_data(Random& random, std::int64_t depth) {
    const std::int64_t features = random.between(1, 3);
    const auto rows = [&]() -> std::int64_t {
        if (depth == 2) return random.between(10, 60);
        if (depth == 3)
            return features == 1   ? random.between(20, 70)
                   : features == 2 ? random.between(12, 30)
                                   : random.between(10, 20);
        if (depth == 4)
            return features == 1   ? random.between(16, 30)
                   : features == 2 ? random.between(8, 15)
                                   : random.between(8, 10);
        return features == 1   ? random.between(15, 26)
               : features == 2 ? random.between(6, 11)
                               : random.between(5, 8);
    }();
    Instance data =
        random.chance(0.15)
            ? nasty(random, {rows / 2, rows, 1, features, 4})
            : structured(random, static_cast<std::size_t>(rows), static_cast<std::size_t>(features),
                  static_cast<std::int32_t>(random.between(2, 4)), random.pick<std::uint64_t>({0, 0, 3, 9}),
                  random.pick({0.05, 0.3, 0.6, 1.0}));
    if (random.chance(0.35)) draw_weights(data, random);
    if (random.chance(0.3)) draw_missing(data, random);
    return data;
}

// The same with categories, and few enough rows for their oracle.
inline Instance draw_mixed(Random& random, std::int64_t depth) {
    const std::int64_t rows = depth == 2 ? 26 : depth == 3 ? 16 : depth == 4 ? 12 : 9;
    Instance data = random.chance(0.4)
                        ? nasty(random, {1, rows, 1, 3, 4})
                        : structured(random, static_cast<std::size_t>(random.between(rows / 2, rows)),
                              static_cast<std::size_t>(random.between(1, 3)),
                              static_cast<std::int32_t>(random.between(2, 4)),
                              random.pick<std::uint64_t>({0, 3, 9}), random.pick({0.05, 0.3, 1.0}));
    if (random.chance(0.35)) draw_weights(data, random);
    if (random.chance(0.3)) draw_missing(data, random);
    draw_categories(data, random, 6);
    return data;
}

inline contree::Options draw_options(Random& random, std::int64_t depth, const Instance& data) {
    contree::Options options;
    options.max_depth = depth;
    const Score mass = mass_of(data, all_rows(data)),
                row = std::max<Score>(1, mass / static_cast<Score>(data.rows));
    if (random.chance(0.5)) {
        options.error_cost = mass < (Score{1} << 50) ? random.pick<Score>({1, 1, 2, 3, 7, 16}) : 1;
        options.leaf_cost = random.between(0, 3 * options.error_cost * row);
    }
    if (random.chance(0.35)) options.max_leaves = random.between(2, 1 + (std::int64_t{1} << depth));
    if (random.chance(0.4))
        options.min_samples_leaf = random.between(2, 2 + static_cast<std::int64_t>(data.rows) / 5);
    if (random.chance(0.2))
        options.min_weight_leaf = random.between(1, 1 + mass / random.pick<Score>({4, 10, 30, 100}));
    options.n_jobs = random.pick({1, 1, 1, 2});
    options.switches.wide_leaves = random.pick({0, 1, 1});
    options.switches.inheritance_cells = random.pick({0, 0, 20000});
    if (random.chance(0.3))
        for (const contree::SwitchRow& option : contree::switch_rows())
            if (random.chance(0.15))
                options.switches.*option.field =
                    option.high > 8 ? option.low
                                    : static_cast<std::int32_t>(random.between(option.low, option.high));
    if (random.chance(0.15)) options.max_gap = random.pick<std::int64_t>({1, 3, 100000});
    return options;
}

}  // namespace check
