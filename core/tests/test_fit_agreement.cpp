// On sets too large for trying every tree: all options, kernels and thread counts agree with each other, and
// at little depth with a plain sweep over all splits.
#include <thread>
#include "fit_checks.hpp"
#include "forced_kernel.hpp"

namespace {

using namespace check;
using contree::Options;
using contree::Result;
using contree::SearchKind;

Result fitted(const Instance& data, const Options& options) {
    contree::Control control;
    return contree::fit(data.table(), options, control);
}

struct Setting {
    Options options;
    std::string kernel;  // empty: the fastest
};

// The defaults first; then each switch off, each kernel, more threads, and some of it mixed.
std::vector<Setting> settings(Random& random, std::int64_t depth) {
    Options plain;
    plain.max_depth = depth;
    std::vector<Setting> all{{plain, ""}};
    for (const contree::SwitchRow& row : contree::switch_rows()) {
        Setting setting{plain, ""};
        setting.options.switches.*row.field = row.name == "cache_bytes" ? 5000 : row.low;
        all.push_back(setting);
    }
    for (const std::string& kernel : contree::kernels()) all.push_back({plain, kernel});
    for (const int jobs : {2, 3, 4}) {
        Setting setting{plain, ""};
        setting.options.n_jobs = jobs;
        all.push_back(setting);
    }
    for (int i = 0; i < 4; ++i) {
        Setting setting{plain, contree::kernels()[random.below(contree::kernels().size())]};
        setting.options.n_jobs = random.pick({1, 2});
        for (const contree::SwitchRow& row : contree::switch_rows())
            if (random.chance(0.25)) setting.options.switches.*row.field = row.low;
        all.push_back(setting);
    }
    for (const bool gini : {true, false}) {
        Setting setting{plain, ""};
        setting.options.search = SearchKind::paper;
        setting.options.switches.gini_order = gini;
        all.push_back(setting);
    }
    return all;
}

void check_agreement(const Instance& data, std::int64_t depth, Random& random, std::optional<Score> known) {
    std::optional<Score> optimum = known;
    for (const Setting& setting : settings(random, depth)) {
        const ForcedKernel forced(setting.kernel);
        if (!optimum) optimum = fitted(data, setting.options).objective;
        check_fit(data, setting.options, *optimum);
    }
}

Instance middling(
    Random& random, std::int64_t least_rows, std::int64_t most_rows, std::int64_t most_features) {
    if (random.chance(0.4)) return nasty(random, {least_rows, most_rows, 1, most_features, 5});
    return structured(random, static_cast<std::size_t>(random.between(least_rows, most_rows)),
        static_cast<std::size_t>(random.between(2, most_features)),
        static_cast<std::int32_t>(random.between(2, 6)), random.pick<std::uint64_t>({0, 0, 5, 25, 100}),
        random.pick({0.1, 0.3, 1.0}));
}

void test_depth_two() {
    for_seeds(80, [](Random& random) {
        const Instance data = middling(random, 60, 300, 4);
        check_agreement(data, 2, random, Swept(data).least_errors(2));
    });
}

void test_depth_three() {
    for_seeds(40, [](Random& random) {
        const Instance data = middling(random, 30, 55, 3);
        check_agreement(data, 3, random, Swept(data).least_errors(3));
    });
}

void test_larger_depth_three() {
    for_seeds(8, [](Random& random) { check_agreement(middling(random, 60, 300, 4), 3, random, {}); });
}

void test_depth_four() {
    for_seeds(15, [](Random& random) { check_agreement(middling(random, 20, 60, 3), 4, random, {}); });
}

// Few values keep the plain sweep quick on many rows: sums beyond 16 bits, rows beyond 16 bits.
void test_many_rows() {
    for_seeds(1, [](Random& random) {
        for (const std::size_t rows : {32769U, 65534U, 65535U, 65536U, 70000U}) {
            const Instance data =
                structured(random, rows, 2, static_cast<std::int32_t>(random.between(2, 3)), 8, 0.3);
            const Score optimum = Swept(data).least_errors(2);
            for (const std::string& kernel : contree::kernels()) {
                const ForcedKernel forced(kernel);
                Options options;
                options.max_depth = 2;
                check_fit(data, options, optimum);
            }
        }
        // More distinct values than 16 bits hold.
        const Instance wide = structured(random, 70000, 2, 2, 0, 0.1);
        Options options;
        options.max_depth = 1;
        check_fit(wide, options, Swept(wide).least_errors(1));
        options.max_depth = 2;
        const Result fast = fitted(wide, options);
        CHECK_EQUAL(result_faults(fast, wide, options, {}), "");
        const ForcedKernel forced("scalar");
        check_fit(wide, options, fast.objective);
    });
}

// Enough cells that every gate of the search is open by itself.
void test_many_cells() {
    for_seeds(4, [](Random& random) {
        const Instance data =
            structured(random, 6000, 5, static_cast<std::int32_t>(random.between(2, 4)), 40, 0.2);
        Options options;
        options.max_depth = 3;
        const Result result = fitted(data, options);
        CHECK_EQUAL(result_faults(result, data, options, {}), "");
        for (const char* const off : {"inheritance", "similarity", "run_targets", "inheritance_cells"}) {
            Options other = options;
            for (const contree::SwitchRow& row : contree::switch_rows())
                if (row.name == off) other.switches.*row.field = row.low;
            check_fit(data, other, result.objective);
        }
        options.n_jobs = 2;
        check_fit(data, options, result.objective);
    });
}

// Many classes: more than leaves, more than a word's lanes.
void test_many_classes() {
    for_seeds(15, [](Random& random) {
        const auto classes = random.pick({12, 26, 40, 70});
        Instance data = structured(random, 140, 3, classes, random.pick<std::uint64_t>({0, 12}), 1.0);
        for (std::size_t r = 0; r < data.rows; ++r)  // spread over all classes
            data.labels[r] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
        const std::int64_t depth = 2;
        check_agreement(data, depth, random, Swept(data).least_errors(depth));
    });
}

bool same_tree(const contree::Tree& a, const contree::Tree& b) {
    return a.children_left == b.children_left && a.children_right == b.children_right &&
           a.feature == b.feature && a.threshold == b.threshold && a.counts == b.counts;
}

// One thread: the same tree to the last bit; with any kernel, too.
void test_determinism() {
    for_seeds(100, [](Random& random) {
        const Instance data = middling(random, 50, 200, 4);
        Options options;
        options.max_depth = random.between(2, 3);
        const Result first = fitted(data, options);
        CHECK(same_tree(first.tree, fitted(data, options).tree));
        for (const std::string& kernel : contree::kernels()) {
            const ForcedKernel forced(kernel);
            const Result other = fitted(data, options);
            CHECK(same_tree(first.tree, other.tree));
            CHECK(first.counters == other.counters);
        }
    });
}

// What cannot matter: the order of the rows and columns, the names of the classes, the scale of the values.
void test_symmetries() {
    for_seeds(300, [](Random& random) {
        const Instance data = middling(random, 30, 150, 4);
        Options options;
        options.max_depth = random.between(1, 3);
        const Score optimum = fitted(data, options).objective;
        Instance changed = data;
        std::vector<std::size_t> rows = all_rows(data);
        for (std::size_t k = rows.size(); k-- > 1;) std::swap(rows[k], rows[random.below(k + 1)]);
        const auto turn = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(data.classes)));
        for (std::size_t r = 0; r < data.rows; ++r)
            changed.labels[r] = (data.labels[rows[r]] + turn) % data.classes;
        for (std::size_t f = 0; f < data.features; ++f) {
            // Ranks in place of values, mirrored.
            std::set<double> values;
            for (std::size_t r = 0; r < data.rows; ++r) values.insert(data.value(r, f));
            double* const column = changed.values.data() + (data.features - 1 - f) * data.rows;
            for (std::size_t r = 0; r < data.rows; ++r)
                column[r] =
                    -static_cast<double>(std::distance(values.begin(), values.find(data.value(rows[r], f))));
        }
        check_fit(changed, options, optimum);
    });
}

// No state is shared: fits in several threads at once are what they are alone.
void test_concurrent_fits() {
    for_seeds(20, [](Random& random) {
        std::vector<Instance> data;
        std::vector<Result> alone, together(3);
        Options options;
        for (int i = 0; i < 3; ++i) {
            data.push_back(middling(random, 60, 200, 4));
            alone.push_back(fitted(data.back(), options));
        }
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < 3; ++i)
            threads.emplace_back([&, i] { together[i] = fitted(data[i], options); });
        for (std::thread& thread : threads) thread.join();
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(same_tree(alone[i].tree, together[i].tree));
            CHECK(alone[i].counters == together[i].counters);
        }
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("depth two", test_depth_two);
    check::run("depth three", test_depth_three);
    check::run("depth three, more rows", test_larger_depth_three);
    check::run("depth four", test_depth_four);
    check::run("many rows", test_many_rows);
    check::run("many cells", test_many_cells);
    check::run("many classes", test_many_classes);
    check::run("the same tree again", test_determinism);
    check::run("symmetries", test_symmetries);
    check::run("fits at the same time", test_concurrent_fits);
    return check::report();
}
