// Squared error: the oracle's leaves, what must hold of a result, and targets that hurt.
#pragma once

#include <cmath>
#include "fit_checks.hpp"

namespace check {

using Wide = __int128;

// W times the squared error, from pairs of rows: the sum of v w (x - y)^2 over all pairs is W Q - S^2.
inline Score leaf_loss(const Instance& data, const RowList& rows, int shift) {
    Wide spread = 0, weight = 0;
    for (const std::size_t r : rows) {
        const Wide y = data.targets[r], w = data.weight(r);
        weight += w;
        for (const std::size_t other : rows) {
            if (other >= r) break;
            const Wide distance = y - data.targets[other];
            spread += w * data.weight(other) * distance * distance;
        }
    }
    for (; shift > 0; --shift) spread *= 2;
    Wide units = spread / weight;
    for (; shift < 0 && units > 0; ++shift) units /= 2;
    return static_cast<Score>(units);
}

inline Front squared_front(const Instance& data, const contree::Options& options) {
    const auto loss = [&](const Instance& of, const RowList& rows) {
        return leaf_loss(of, rows, options.score_shift);
    };
    const auto rows = static_cast<std::size_t>(options.min_samples_leaf);
    if (!data.categories.empty())
        return Remembered(data, rows, options.min_weight_leaf, loss).front(options.max_depth);
    return front_of(data, all_rows(data), options.max_depth, rows, options.min_weight_leaf, loss);
}

// What the search may count more than the leaves of a tree lose: a unit for each stump of categories.
inline Score most_excess(const Instance& data, const contree::Options& options) {
    if (data.categories.empty() || options.max_depth == 0) return 0;
    Score stumps = Score{1} << (options.max_depth - 1);
    if (options.max_leaves > 0) stumps = std::min(stumps, options.max_leaves / 2);
    return options.error_cost * stumps;
}

// The loss and the leaves of the subtree at `node` on `rows`; appends to `faults` what is wrong with it.
inline Counted recounted(const contree::Tree& tree, const Instance& data, std::size_t node,
    const RowList& rows, const contree::Options& options, std::int64_t depth_left, std::string& faults) {
    Wide weight = 0, sum = 0, squares = 0;
    for (const std::size_t r : rows) {
        const Wide y = data.targets[r], w = data.weight(r);
        weight += w, sum += w * y, squares += w * y * y;
    }
    const Score* const counts = tree.counts.data() + 5 * node;
    if (counts[0] != static_cast<Score>(rows.size()) || counts[1] != weight || counts[2] != sum ||
        counts[4] < 0 || counts[4] >> 62 != 0 || (static_cast<Wide>(counts[3]) << 62) + counts[4] != squares)
        faults += "wrong counts; ";
    if (node > 0 &&
        (std::cmp_less(rows.size(), options.min_samples_leaf) || weight < options.min_weight_leaf))
        faults += "a leaf too small; ";
    const Counted leaf{leaf_loss(data, rows, options.score_shift), 1};
    if (tree.children_left[node] < 0) return leaf;
    if (depth_left == 0) faults += "too deep; ";
    const auto [left, right] = sides_of(tree, data, node, rows);
    if (left.empty() || right.empty()) return faults += "a split that parts nothing; ", leaf;
    const auto below = [&](const std::vector<std::int64_t>& children, const RowList& side) {
        return recounted(
            tree, data, static_cast<std::size_t>(children[node]), side, options, depth_left - 1, faults);
    };
    const Counted on_left = below(tree.children_left, left), on_right = below(tree.children_right, right);
    const Counted both{on_left.errors + on_right.errors, on_left.leaves + on_right.leaves};
    if (both.objective(options) >= leaf.objective(options)) faults += "a split that does not pay; ";
    return both;
}

inline std::string faults_of(const Instance& data, const contree::Options& options, const Front& least) {
    try {
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        std::string faults;
        const Counted counted =
            recounted(result.tree, data, 0, all_rows(data), options, options.max_depth, faults);
        const Score optimum = least_objective(least, options), excess = most_excess(data, options);
        const auto expect = [&](bool holds, const std::string& what) {
            if (!holds)
                faults += what + " (loss " + shown(result.loss) + ", objective " + shown(result.objective) +
                          ", bound " + shown(result.lower_bound) + ", optimum " + shown(optimum) + "); ";
        };
        expect(result.loss == counted.errors, "not the tree's loss");
        expect(result.objective == counted.objective(options), "not the tree's objective");
        expect(options.max_leaves == 0 || counted.leaves <= options.max_leaves, "too many leaves");
        expect(result.lower_bound <= optimum + excess && optimum <= result.objective,
            "bounds beside the optimum");
        expect(result.objective - result.lower_bound <= options.max_gap, "not proved");
        for (std::size_t k = 0; k < result.sizes.size(); ++k) {
            contree::Options own = options;
            own.max_leaves = static_cast<std::int64_t>(k + 1);
            const Counted sized =
                recounted(result.sizes[k].tree, data, 0, all_rows(data), own, options.max_depth, faults);
            const Score above = sized.objective(own) - least_objective(least, own);
            expect(0 <= above && above <= most_excess(data, own) && sized.errors == result.sizes[k].loss &&
                       sized.errors == result.sizes[k].lower_bound,
                "size " + shown(k + 1));
        }
        return faults;
    } catch (const std::exception& error) {
        return std::string("threw: ") + error.what();
    }
}

inline void check_squared(const Instance& data, const contree::Options& options) {
    const std::string faults = faults_of(data, options, squared_front(data, options));
    if (faults.empty()) {
        ++passed;
        return;
    }
    const auto fails = [&](const Instance& less) {
        return !faults_of(less, options, squared_front(less, options)).empty();
    };
    const Instance small = data.rows <= 40 ? shrunk(data, fails) : data;
    fail("fit", 0, faults + "with " + described(options) + "\nsmallest case: " + shown(small));
}

// Targets of one kind: few and small, of two kinds of rows, far apart, or as great as they may be.
inline void draw_targets(Instance& data, Random& random, contree::Options& options) {
    const Score mass = mass_of(data, all_rows(data)), most = ((Score{1} << 53) - 1) / mass;
    const int kind = static_cast<int>(random.below(6));
    for (std::size_t r = 0; r < data.rows; ++r) {
        const std::int64_t label = data.labels[r];
        std::int64_t y = 0;
        switch (kind) {
            case 0: y = label - 2; break;
            case 1: y = 10 * label + random.between(-9, 9); break;
            case 2: y = random.chance(0.1) ? 100000 : label; break;
            case 3: y = random.between(-most, most); break;
            case 4: y = (label % 2 == 0 ? most : most - 3) - random.between(0, 2); break;
            default: y = 1000 * label * label + random.between(0, 3); break;
        }
        data.targets.push_back(std::clamp(y, -most, most));
    }
    if (kind == 5 && random.chance(0.2)) std::fill(data.targets.begin(), data.targets.end(), data.targets[0]);
    // As fine as can be, or so coarse that floors matter.
    options.score_shift = -120;
    while (options.score_shift < 100 &&
           leaf_loss(data, all_rows(data), options.score_shift + 1) < (Score{1} << 52))
        ++options.score_shift;
    if (random.chance(0.5)) options.score_shift -= static_cast<int>(random.between(1, 60));
}

// Costs in proportion to what a leaf loses.
inline void draw_costs(const Instance& data, Random& random, contree::Options& options) {
    const Score loss = leaf_loss(data, all_rows(data), options.score_shift);
    options.error_cost = random.pick<Score>({1, 1, 2, 7});
    options.leaf_cost = random.chance(0.3) ? 0 : loss / random.pick<Score>({3, 10, 50, 1000});
}

inline Instance draw_rows(Random& random, const Shape& shape) {
    Instance data = random.chance(0.5)
                        ? nasty(random, shape)
                        : structured(random,
                              static_cast<std::size_t>(random.between(shape.most_rows / 2, shape.most_rows)),
                              static_cast<std::size_t>(random.between(1, shape.most_features)),
                              static_cast<std::int32_t>(random.between(2, 5)),
                              random.pick<std::uint64_t>({0, 2, 4, 9}), random.pick({0.05, 0.3, 1.0}));
    if (random.chance(0.35)) draw_weights(data, random);
    if (random.chance(0.3)) draw_missing(data, random);
    return data;
}

inline void draw_squared_options(Random& random, const Instance& data, contree::Options& options) {
    const Score mass = mass_of(data, all_rows(data));
    const auto rows = static_cast<std::int64_t>(data.rows);
    if (random.chance(0.4))
        options.max_leaves = random.between(1, 1 + (std::int64_t{1} << options.max_depth));
    if (random.chance(0.35)) options.min_samples_leaf = random.between(2, 2 + rows / 5);
    if (random.chance(0.2))
        options.min_weight_leaf = random.between(1, 1 + mass / random.pick<Score>({4, 20, 90}));
    options.n_jobs = random.pick({1, 1, 1, 2});
    options.switches.inheritance_cells = random.pick({0, 0, 20000});
    if (random.chance(0.4))
        for (const contree::SwitchRow& row : contree::switch_rows())
            if (random.chance(0.2)) options.switches.*row.field = row.low;
    if (random.chance(0.15)) options.max_gap = random.pick<std::int64_t>({1, 3, 100000});
    if (random.chance(0.15)) options.search = contree::SearchKind::paper;
}

}  // namespace check
