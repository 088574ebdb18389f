// Squared error against exhaustive search in exact fractions, on thousands of small nasty sets.
#include <cmath>
#include "depth_two/batch.hpp"
#include "forced_kernel.hpp"
#include "objective/squared_error.hpp"
#include "squared_checks.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SearchKind;

void against_exhaustive_search(double count, std::int64_t depth, const Shape& shape) {
    for_seeds(count, [&](Random& random) {
        Options options;
        options.max_depth = depth;
        Instance data = draw_rows(random, shape);
        draw_targets(data, random, options);
        if (random.chance(0.6)) draw_squared_options(random, data, options);
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
        if (random.chance(0.5)) draw_squared_options(random, data, options);
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
        if (random.chance(0.5)) draw_categories(data, random, random.pick({3, 9, 90}));
        draw_targets(data, random, options);
        const contree::Control control;
        contree::RankedTable ranked = rank_columns(data.table(), contree::SquaredError::groups(), 0, control);
        const contree::SquaredError objective(data.table(), ranked, {}, options.score_shift);
        contree::Arena arena;
        const contree::RowSet root = contree::all_rows(ranked,
            random.chance(0.5) && data.weights.empty() ? contree::Width::narrow : contree::Width::wide,
            contree::scalar_partitioner, arena);
        std::vector<contree::Lane> lanes;
        for (std::int64_t i = root.features == 0 ? 0 : random.between(1, 20); i > 0; --i) {
            const auto f = static_cast<std::uint32_t>(random.below(root.features));
            const contree::Cuts cuts = root.cuts(f);
            lanes.push_back(
                {f, cuts.at(static_cast<std::uint32_t>(random.below(cuts.count)), 1, root.rows), 0});
        }
        const auto key = [](const contree::Lane& lane) { return std::pair(lane.f, lane.z); };
        std::ranges::sort(lanes, {}, key);
        lanes.erase(std::ranges::unique(lanes, {}, key).begin(), lanes.end());
        std::deque<contree::SubsetWords> kept;  // of sets of categories, some of which are on neither side
        for (std::uint32_t f = root.features; f < root.columns() && lanes.size() < 28; ++f) {
            for (std::int64_t i = random.between(0, 3); i > 0; --i) {
                kept.resize(kept.size() + 2, root.categories->none());
                root.for_categories(f, [&](contree::Rank rank, contree::Position, contree::Position) {
                    const std::uint64_t side = random.below(3);
                    if (side < 2) contree::insert(kept[kept.size() - 1 - side].data(), rank);
                });
                lanes.push_back({f, 0, 0, 0, 0, kept[kept.size() - 2].data(), kept.back().data()});
            }
        }
        std::vector<contree::SplitLosses> exact;
        for (const contree::Lane& lane : lanes)
            exact.push_back(lane.left == nullptr
                                ? objective.stumps_of_split(root, lane.f, lane.z)
                                : objective.stumps_of_subsets(root, lane.f, lane.left, lane.right));
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
