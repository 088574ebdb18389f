// Fits random sets under random options until a time is up, each against the oracle; a failure is made small
// and shown with its seed.
//
//     fuzz_fit [seconds = 60] [first seed = the clock]
//
// The tests run the same cases for a few seconds from a fixed seed; this is for a night.
#include <chrono>
#include "fit_checks.hpp"

namespace {

using namespace check;

contree::Options draw_options(Random& random, std::int64_t depth) {
    contree::Options options;
    options.max_depth = depth;
    options.max_gap = random.pick({0, 0, 0, 1, 3});
    options.n_jobs = random.pick({1, 1, 2, 3});
    if (random.chance(0.3)) options.search = contree::SearchKind::paper;
    const double share = random.pick({0.0, 0.1, 0.5});  // of switches that are not at their default
    for (const contree::SwitchRow& row : contree::switch_rows()) {
        if (!random.chance(share)) continue;
        options.switches.*row.field = row.high - row.low < 10
                                          ? static_cast<std::int32_t>(random.between(row.low, row.high))
                                          : random.pick<std::int32_t>({0, 500, 3000, 100000});
    }
    return options;
}

// Sizes for which the plain sweep over all trees takes milliseconds.
Instance draw_instance(Random& random, std::int64_t depth) {
    switch (depth) {
        case 4: return nasty(random, {1, 14, 1, 3, 5});
        case 3:
            return random.chance(0.8) ? nasty(random, {1, 20, 1, 4, 5}) : nasty(random, {20, 50, 1, 3, 5});
        default:
            return random.chance(0.8) ? nasty(random, {1, 40, 0, 5, 9}) : nasty(random, {100, 400, 1, 4, 9});
    }
}

}  // namespace

int main(int count, char** arguments) {
    watch_aborts();
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(count > 1 ? std::atof(arguments[1]) : 60);
    seed = count > 2
               ? std::strtoull(arguments[2], nullptr, 10)
               : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    part = "fuzz_fit";
    std::printf("from seed %llu\n", static_cast<unsigned long long>(seed));
    const std::vector<std::string> kernels = contree::kernels();
    for (; failed == 0 && Clock::now() < end; ++seed) {
        Random random(seed);
        const std::int64_t depth = random.between(0, 4);
        const Instance data = draw_instance(random, depth);
        const Score optimum = Swept(data).least_errors(depth);
        for (int i = 0; i < 3; ++i) {
            setenv("CONTREE_KERNEL", kernels[random.below(kernels.size())].c_str(), 1);
            check_fit(data, draw_options(random, depth), optimum);
        }
    }
    return report();
}
