// Squared error against exhaustive search in exact fractions, on thousands of small nasty sets.
#include <cmath>
#include "depth_two/batch.hpp"
#include "fit_checks.hpp"
#include "forced_kernel.hpp"
#include "objective/squared_error.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SearchKind;
using Wide = __int128;

// W times the squared error, from pairs of rows: the sum of v w (x - y)^2 over all pairs is W Q - S^2.
Score leaf_loss(const Instance& data, const RowList& rows, int shift) {
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

Front front(const Instance& data, const Options& options) {
    const auto loss = [&](const Instance& of, const RowList& rows) {
        return leaf_loss(of, rows, options.score_shift);
    };
    return front_of(data, all_rows(data), options.max_depth,
        static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf, loss);
}

// The loss and the leaves of the subtree at `node` on `rows`; appends to `faults` what is wrong with it.
Counted recounted(const contree::Tree& tree, const Instance& data, std::size_t node, const RowList& rows,
    const Options& options, std::int64_t depth_left, std::string& faults) {
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
    const auto [left, right] = parted(data, rows, static_cast<std::size_t>(tree.feature[node]),
        tree.threshold[node], tree.missing_left[node] != 0);
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

std::string faults_of(const Instance& data, const Options& options, const Front& least) {
    try {
        contree::Control control;
        const contree::Result result = contree::fit(data.table(), options, control);
        std::string faults;
        const Counted counted =
            recounted(result.tree, data, 0, all_rows(data), options, options.max_depth, faults);
        const Score optimum = least_objective(least, options);
        const auto expect = [&](bool holds, const std::string& what) {
            if (!holds)
                faults += what + " (loss " + shown(result.loss) + ", objective " + shown(result.objective) +
                          ", bound " + shown(result.lower_bound) + ", optimum " + shown(optimum) + "); ";
        };
        expect(result.loss == counted.errors, "not the tree's loss");
        expect(result.objective == counted.objective(options), "not the tree's objective");
        expect(options.max_leaves == 0 || counted.leaves <= options.max_leaves, "too many leaves");
        expect(result.lower_bound <= optimum && optimum <= result.objective, "bounds beside the optimum");
        expect(result.objective - result.lower_bound <= options.max_gap, "not proved");
        for (std::size_t k = 0; k < result.sizes.size(); ++k) {
            Options own = options;
            own.max_leaves = static_cast<std::int64_t>(k + 1);
            const Counted sized =
                recounted(result.sizes[k].tree, data, 0, all_rows(data), own, options.max_depth, faults);
            expect(sized.errors == least_objective(least, own) - own.leaf_cost * sized.leaves &&
                       sized.errors == result.sizes[k].loss && sized.errors == result.sizes[k].lower_bound,
                "size " + shown(k + 1));
        }
        return faults;
    } catch (const std::exception& error) {
        return std::string("threw: ") + error.what();
    }
}

void check_squared(const Instance& data, const Options& options) {
    const std::string faults = faults_of(data, options, front(data, options));
    if (faults.empty()) {
        ++passed;
        return;
    }
    const auto fails = [&](const Instance& less) {
        return !faults_of(less, options, front(less, options)).empty();
    };
    const Instance small = data.rows <= 40 ? shrunk(data, fails) : data;
    fail("fit", 0, faults + "with " + described(options) + "\nsmallest case: " + shown(small));
}

// Targets of one kind: few and small, of two kinds of rows, far apart, or as great as they may be.
void draw_targets(Instance& data, Random& random, Options& options) {
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
void draw_costs(const Instance& data, Random& random, Options& options) {
    const Score loss = leaf_loss(data, all_rows(data), options.score_shift);
    options.error_cost = random.pick<Score>({1, 1, 2, 7});
    options.leaf_cost = random.chance(0.3) ? 0 : loss / random.pick<Score>({3, 10, 50, 1000});
}

Instance draw_rows(Random& random, const Shape& shape) {
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

void draw_options(Random& random, const Instance& data, Options& options) {
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
    if (random.chance(0.15)) options.search = SearchKind::paper;
}

void against_exhaustive_search(double count, std::int64_t depth, const Shape& shape) {
    for_seeds(count, [&](Random& random) {
        Options options;
        options.max_depth = depth;
        Instance data = draw_rows(random, shape);
        draw_targets(data, random, options);
        if (random.chance(0.6)) draw_options(random, data, options);
        if (random.chance(0.4)) draw_costs(data, random, options);
        check_squared(data, options);
    });
}

void test_all_sizes() {
    for_seeds(300, [](Random& random) {
        Options options;
        options.max_depth = random.between(1, 3);
        Instance data = draw_rows(random, {1, options.max_depth == 3 ? 11 : 16, 0, 2, 5});
        draw_targets(data, random, options);
        if (random.chance(0.5)) draw_options(random, data, options);
        options.all_sizes = true;
        options.max_gap = options.max_leaves = 0;
        options.search = SearchKind::best_first;
        check_squared(data, options);
    });
}

// Each kernel, where its lanes are full and its bounds are close to each other.
void test_kernels() {
    for (const std::string& kernel : contree::kernels()) {
        const ForcedKernel forced(kernel);
        against_exhaustive_search(200, 2, {20, 45, 1, 3, 4});
        against_exhaustive_search(60, 3, {8, 16, 1, 3, 4});
    }
}

// Every kernel's lanes against the objective's own count of each split: never above it, below it by no more
// than the margin, and equal where that decides.
void test_lanes() {
    for_seeds(400, [](Random& random) {
        Options options;
        Instance data = draw_rows(random, {2, 200, 1, 4, 5});
        draw_targets(data, random, options);
        const contree::Control control;
        contree::RankedTable ranked = rank_columns(data.table(), contree::SquaredError::groups(), 0, control);
        const contree::SquaredError objective(data.table(), ranked, {}, options.score_shift);
        contree::Arena arena;
        const contree::RowSet root = contree::all_rows(ranked,
            random.chance(0.5) && data.weights.empty() ? contree::Width::narrow : contree::Width::wide,
            contree::scalar_partitioner, arena);
        if (root.features == 0) return;
        std::vector<contree::Lane> lanes;
        for (std::int64_t i = random.between(1, 31); i > 0; --i) {
            const auto f = static_cast<std::uint32_t>(random.below(root.features));
            const contree::Cuts cuts = root.cuts(f);
            lanes.push_back(
                {f, cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, root.rows), 0});
        }
        const auto key = [](const contree::Lane& lane) { return std::pair(lane.f, lane.z); };
        std::ranges::sort(lanes, {}, key);
        lanes.erase(std::ranges::unique(lanes, {}, key).begin(), lanes.end());
        std::vector<contree::SplitLosses> exact;
        for (const contree::Lane& lane : lanes)
            exact.push_back(objective.stumps_of_split(root, lane.f, lane.z));
        const Score whole = objective.best_stump(root, {}).loss;
        Score least = whole;
        for (const contree::SplitLosses& one : exact) least = std::min(least, one.left + one.right);
        double squares = 0;
        for (std::size_t r = 0; r < data.rows; ++r)
            squares +=
                static_cast<double>(data.weight(r)) * std::pow(static_cast<double>(data.targets[r]), 2);
        const double scale = 64 + 4 * std::sqrt(static_cast<double>(root.mass)) + 4 * root.rows;
        const double margin = std::ldexp(2 * scale * squares, options.score_shift - 53);
        const auto slack = static_cast<Score>(std::min(margin, std::ldexp(1.0, 60))) + 3;
        for (const contree::Kernel* kernel : contree::available_kernels()) {
            const auto batches = objective.make_batches(*kernel, {});
            contree::Statistics statistics;
            contree::Batch& batch = batches->start(root, arena, statistics);
            batch.lanes = lanes;
            batch.with_whole = true;
            const auto near = [&](Score proved, Score truth) {
                CHECK_AT_MOST(proved, truth);
                CHECK_AT_MOST(truth - slack, proved);
            };
            batch.rough = true;
            CHECK(batch.evaluate(contree::unreached));
            for (std::size_t t = 0; t < lanes.size(); ++t) {
                near(batch.proved_left(t), exact[t].left);
                near(batch.proved_right(t), exact[t].right);
            }
            near(batch.proved(contree::Batch::whole_lane), whole);
            batch.rough = false;
            const Score ub = random.pick({contree::unreached, least, least + 1});
            CHECK(batch.evaluate(ub));
            Score reached = batch.reached(contree::Batch::whole_lane);
            for (std::size_t t = 0; t < lanes.size(); ++t) {
                const Score truth = exact[t].left + exact[t].right;
                CHECK_AT_MOST(batch.proved(t), truth);
                CHECK(batch.reached(t) == truth || batch.reached(t) >= contree::unreached);
                CHECK(batch.reached(t) == truth || batch.proved(t) >= std::min(ub, least));
                reached = std::min(reached, batch.reached(t));
            }
            CHECK(reached == least || least >= ub);
        }
    });
}

void test_refusals() {
    Instance data;
    data.rows = 2, data.features = 1, data.values = {0, 1}, data.targets = {0, 1};
    const auto fit = [&](const Options& options) {
        contree::Control control;
        return contree::fit(data.table(), options, control);
    };
    Options options;
    options.score_shift = 50;
    CHECK_EQUAL(fit(options).objective, 0);
    options.max_depth = 0;
    CHECK_EQUAL(fit(options).objective, Score{1} << 49);
    options.error_cost = 1 << 11;
    CHECK_THROWS(std::invalid_argument, fit(options));
    options.error_cost = 1;
    for (const int shift : {61, 62, 80, 127, 128, 1 << 20}) {
        options.score_shift = shift;
        CHECK_THROWS(std::invalid_argument, fit(options));
    }
    for (const int shift : {-1, -2, -128, -(1 << 20)}) {
        options.score_shift = shift;
        CHECK_EQUAL(fit(options).objective, 0);
    }
    for (const std::int64_t y : {std::int64_t{1} << 52, -(std::int64_t{1} << 52), std::int64_t{1} << 62,
             std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        data.targets[1] = y;
        CHECK_THROWS(std::invalid_argument, fit(options));
    }
    data.targets = {(std::int64_t{1} << 52) - 1, -(std::int64_t{1} << 52) + 1};
    options.score_shift = -46;
    CHECK_EQUAL(fit(options).objective, leaf_loss(data, {0, 1}, -46));
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("what is out of range", test_refusals);
    check::run("depth zero and one", [] {
        against_exhaustive_search(300, 0, {1, 30, 0, 4, 6}),
            against_exhaustive_search(400, 1, {1, 30, 0, 4, 6});
    });
    check::run("depth two", [] { against_exhaustive_search(1500, 2, {1, 25, 0, 3, 6}); });
    check::run("depth three", [] { against_exhaustive_search(1000, 3, {1, 13, 0, 3, 6}); });
    check::run("depth four, with heuristics", [] { against_exhaustive_search(200, 4, {1, 9, 0, 2, 6}); });
    check::run("every size", test_all_sizes);
    check::run("lanes", test_lanes);
    check::run("every kernel", test_kernels);
    return check::report();
}
