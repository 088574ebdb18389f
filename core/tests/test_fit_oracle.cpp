// fit against the oracle, on thousands of small nasty sets and under every option.
#include <map>
#include "fit_checks.hpp"
#include "forced_kernel.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::SearchKind;
using contree::SwitchRow;

constexpr SearchKind searches[] = {SearchKind::best_first, SearchKind::paper};

Options with_depth(std::int64_t depth) {
    Options options;
    options.max_depth = depth;
    return options;
}

std::vector<std::int32_t> values_of(const SwitchRow& row) {
    if (row.high - row.low > 8) return {row.low, row.low + 300, row.low + 1500, row.low + 20000};
    std::vector<std::int32_t> values;
    for (std::int32_t value = row.low; value <= row.high; ++value) values.push_back(value);
    return values;
}

void draw_switches(Random& random, Options& options) {
    for (const SwitchRow& row : contree::switch_rows()) {
        const std::vector<std::int32_t> values = values_of(row);
        if (random.chance(0.4)) options.switches.*row.field = values[random.below(values.size())];
    }
}

// Depth three is dear for the oracle: fewer rows and columns at times keep it quick.
Instance small_instance(Random& random, std::int64_t depth) {
    if (depth >= 4) return nasty(random, {1, 11, 0, 3, 5});
    return depth == 3 ? nasty(random, {1, 15, 0, 3, 5}) : nasty(random);
}

void test_oracles_agree() {
    for_seeds(300, [](Random& random) {
        const std::int64_t depth = random.between(0, 3);
        const Instance data = nasty(random, {1, 9, 0, 3, 5});
        CHECK_EQUAL(Swept(data).least_errors(depth), least_errors(data, depth));
    });
}

void test_defaults() {
    for_seeds(1500, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 4);
        const Instance data = small_instance(random, depth);
        const Score optimum = least_errors(data, depth);
        for (const SearchKind search : searches) {
            Options options = with_depth(depth);
            options.search = search;
            check_fit(data, options, optimum);
        }
    });
}

void test_options_at_random() {
    for_seeds(1000, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 5);
        const Instance data = small_instance(random, depth);
        const Score optimum = Swept(data).least_errors(depth);
        for (const SearchKind search : searches) {
            for (int round = 0; round < 3; ++round) {
                Options options = with_depth(depth);
                options.search = search;
                options.max_gap = random.pick({0, 0, 0, 1, 2, 5});
                options.n_jobs = random.pick({1, 1, 2, 4});
                draw_switches(random, options);
                check_fit(data, options, optimum);
            }
        }
    });
}

void test_each_switch() {
    for_seeds(60, [](Random& random) {
        const std::int64_t depth = random.between(2, 4);
        const Instance data = small_instance(random, depth);
        const Score optimum = Swept(data).least_errors(depth);
        for (const SearchKind search : searches) {
            for (const SwitchRow& row : contree::switch_rows()) {
                for (const std::int32_t value : values_of(row)) {
                    Options options = with_depth(depth);
                    options.search = search;
                    options.switches.*row.field = value;
                    check_fit(data, options, optimum);
                }
            }
        }
    });
}

void test_gaps() {
    for_seeds(200, [](Random& random) {
        const auto depth = static_cast<std::int64_t>(seed % 5);
        const Instance data = small_instance(random, depth);
        const Score optimum = Swept(data).least_errors(depth);
        for (const SearchKind search : searches) {
            for (const std::int64_t gap : {1, 2, 5, 1000000}) {
                Options options = with_depth(depth);
                options.search = search;
                options.max_gap = gap;
                options.n_jobs = random.pick({1, 2});
                check_fit(data, options, optimum);
            }
        }
    });
}

void test_jobs() {
    for_seeds(300, [](Random& random) {
        const std::int64_t depth = random.between(2, 4);
        const Instance data = small_instance(random, depth);
        const Score optimum = Swept(data).least_errors(depth);
        for (const SearchKind search : searches) {
            for (const int jobs : {1, 2, 4}) {
                Options options = with_depth(depth);
                options.search = search;
                options.n_jobs = jobs;
                check_fit(data, options, optimum);
            }
        }
    });
}

void test_kernels() {
    for (const std::string& kernel : contree::kernels()) {
        const ForcedKernel forced(kernel);
        CHECK_EQUAL(contree::kernel(), kernel);
        for_seeds(300, [](Random& random) {
            const std::int64_t depth = random.between(2, 3);
            const Instance data = small_instance(random, depth);
            check_fit(data, with_depth(depth), Swept(data).least_errors(depth));
        });
    }
    {
        const ForcedKernel unknown("abacus");
        CHECK_THROWS(std::invalid_argument, contree::kernel());
    }
    CHECK_EQUAL(contree::kernel(), contree::kernels().front());
}

// Deeper than the rows could ever need.
void test_great_depth() {
    for_seeds(150, [](Random& random) {
        const Instance data = nasty(random, {1, 7, 0, 2, 4});
        const Score optimum = Swept(data).least_errors(6);  // seven rows are parted by six splits
        check_fit(data, with_depth(random.pick<std::int64_t>({6, 7, 10, 40})), optimum);
    });
}

// With depth enough the only errors are rows that no split can part.
void test_depth_enough() {
    for_seeds(60, [](Random& random) {
        const Instance data = nasty(random, {2, 24, 1, 3, 3});
        std::map<std::vector<double>, RowList> alike;
        for (std::size_t r = 0; r < data.rows; ++r) {
            std::vector<double> values;
            for (std::size_t f = 0; f < data.features; ++f) values.push_back(data.value(r, f) + 0.0);
            alike[values].push_back(r);
        }
        Score optimum = 0;
        for (const auto& [values, rows] : alike) optimum += leaf_errors(data, rows);
        for (const SearchKind search : searches) {
            Options options = with_depth(random.pick<std::int64_t>({24, 100, 2000}));
            options.search = search;
            check_fit(data, options, optimum);
        }
    });
}

// The values as the tolerance merges them: neighbours closer than it, chained, become the lowest of their
// chain.
Instance merged(const Instance& data, double tolerance) {
    Instance result = data;
    for (std::size_t f = 0; f < data.features; ++f) {
        std::set<double> values;
        for (std::size_t r = 0; r < data.rows; ++r) values.insert(data.value(r, f));
        for (std::size_t r = 0; r < data.rows; ++r) {
            auto at = values.find(data.value(r, f));
            while (at != values.begin() && *at - *std::prev(at) < tolerance) --at;
            result.values[f * data.rows + r] = *at;
        }
    }
    return result;
}

void test_tolerance() {
    for_seeds(800, [](Random& random) {
        const std::int64_t depth = random.between(0, 3);
        const Instance data = small_instance(random, depth);
        Options options = with_depth(depth);
        options.feature_tolerance = random.pick({1e-12, 1.5e-9, 3e-9, 1e-7, 0.3, 1.0, 1.5, 1e300});
        check_fit(data, options, Swept(merged(data, options.feature_tolerance)).least_errors(depth));
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("the two oracles agree", test_oracles_agree);
    check::run("default options", test_defaults);
    check::run("options at random", test_options_at_random);
    check::run("each switch at each value", test_each_switch);
    check::run("gaps", test_gaps);
    check::run("one, two and four jobs", test_jobs);
    check::run("every kernel", test_kernels);
    check::run("great depth", test_great_depth);
    check::run("depth enough", test_depth_enough);
    check::run("feature tolerance", test_tolerance);
    return check::report();
}
