// The options of a fit.  `Switches` are the search options, one row each in CONTREE_SWITCHES.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace contree {
// name, default, least, greatest, meaning
// clang-format off
#define CONTREE_SWITCHES(row)                                                                                \
    row(neighbourhood_pruning, 1, 0, 1, "paper: prune splits that move too few rows (Corollary 1)")          \
    row(interval_shrinking, 1, 0, 1, "paper: shrink intervals by solved neighbours and zero sides")          \
    row(subinterval_pruning, 1, 0, 1, "paper: close an interval by its outer left and right scores")         \
    row(depth_two, 1, 0, 1, "paper: solve depth two by D2Split (Algorithm 2), not by recursion")             \
    row(upper_bounds, 1, 0, 1, "paper: hand upper bounds to subproblems")                                    \
    row(eta, 2, 0, 2, "paper: slack on the right bound: 0 none, 1 shorter side, 2 longer side")              \
    row(gini_order, 1, 0, 1, "paper: take the features in the order of their best Gini impurity")            \
    row(similarity, 1, 0, 1, "best_first: a moved row changes a score by at most its weight (B0)")           \
    row(run_targets, 1, 0, 1, "best_first: child targets that close half a run (B3)")                        \
    row(inheritance, 1, 0, 1, "best_first: bounds from solved similar row sets (B4)")                        \
    row(inheritance_cells, 20000, 0, INT32_MAX, "best_first: rows x features from which B4 serves depth two")\
    row(wide_leaves, 1, 0, 1, "best_first: with a leaf size, sizes count all rows that may lie on a side")   \
    row(affordable_splits, 1, 0, 1, "best_first: no more splits than the target pays for (C2)")              \
    row(heuristics, 1, 0, 1, "best_first: look for good trees from depth four on")                           \
    row(split_pays, 1, 0, 1, "both: a leaf that costs no more than a split stays a leaf (C1)")               \
    row(cache, 1, 0, 1, "both: keep solved row sets and their proved bounds")                                \
    row(cache_bytes, 64 << 20, 0, INT32_MAX, "both: memory for that cache")
// clang-format on

struct Switches {
#define CONTREE_FIELD(name, value, low, high, meaning) std::int32_t name = value;
    CONTREE_SWITCHES(CONTREE_FIELD)
#undef CONTREE_FIELD
};

struct SwitchRow {
    std::string_view name;
    std::int32_t value, low, high;  // the default, and what is allowed
    std::string_view meaning;
    std::int32_t Switches::* field;
};

inline const std::vector<SwitchRow>& switch_rows() {
#define CONTREE_ROW(name, value, low, high, meaning) {#name, value, low, high, meaning, &Switches::name},
    static const std::vector<SwitchRow> rows = {CONTREE_SWITCHES(CONTREE_ROW)};
#undef CONTREE_ROW
    return rows;
}

enum class SearchKind { best_first, paper };

struct Options {
    std::int64_t max_depth = 3;
    std::int64_t min_samples_leaf = 1;  // the least rows of a leaf
    std::int64_t min_weight_leaf = 0;   // the least weight of these rows
    int score_shift = 0;          // squared error: a leaf loses floor(2^score_shift * its squared error)
    std::int64_t error_cost = 1;  // the objective is error_cost * loss + leaf_cost * leaves
    std::int64_t leaf_cost = 0;
    std::int64_t max_leaves = 0;  // 0: as many as the depth allows
    bool all_sizes = false;       // also find the best trees of fewer leaves; best_first, without leaf_cost
    std::int64_t max_gap = 0;     // the objective may be this far from the optimum
    double time_limit = std::numeric_limits<double>::infinity();  // seconds, from the call of fit
    double feature_tolerance = 0;  // neighbouring values closer than this count as equal
    int n_jobs = 1;
    std::int64_t memory_limit = 0;  // bytes for the search's cache; 0: what the switch cache_bytes says
    std::uint64_t seed = 1;  // of the local search; affects which optimal tree is found, never what is proved
    SearchKind search = SearchKind::best_first;
    Switches switches;

    std::size_t cache_capacity() const {
        return static_cast<std::size_t>(memory_limit > 0 ? memory_limit : switches.cache_bytes);
    }
};
}  // namespace contree
