// Every vector kernel equals the scalar one bit for bit, and the scalar one does what kernel.hpp says.
#include <algorithm>
#include <cstring>
#include <limits>
#include "check.hpp"
#include "data/simd.hpp"
#include "depth_two/kernel.hpp"

namespace {

using namespace check;
using namespace contree;

// One random sweep.  Its memory has exactly the promised size, so that a sanitizer sees every read beyond it.
struct Input {
    std::vector<std::byte> entries;
    std::vector<Ties> ties;
    std::vector<std::uint8_t> threshold_mask;
    std::vector<std::uint64_t> words;
    Sweep sweep;
};

// Which neighbours in an order share a value.
enum class Tied { none, few, many, pairs, one_long_run, all };

// Ranks by position, ascending and below the sentinel's, with ties of a random kind.
std::vector<Rank> draw_ranks(Random& random, Row rows, std::uint64_t limit) {
    const Tied tied = random.pick(
        {Tied::none, Tied::none, Tied::few, Tied::many, Tied::pairs, Tied::one_long_run, Tied::all});
    const auto run_begin = static_cast<Row>(random.below(rows));
    const Row run_end = run_begin + static_cast<Row>(random.below(rows)) + 1;
    std::vector<Rank> ranks(rows);
    Rank rank = 0;
    for (Row k = 0; k < rows; ++k) {
        bool next = true;
        switch (tied) {
            case Tied::none: break;
            case Tied::few: next = random.chance(0.95); break;
            case Tied::many: next = random.chance(0.02); break;
            case Tied::pairs: next = k % 2 == 0; break;
            case Tied::one_long_run: next = k <= run_begin || k >= run_end; break;
            case Tied::all: next = false; break;
        }
        ranks[k] = rank += k > 0 && next;
    }
    // At times the last rank is the greatest that an entry may have, the one before the sentinel's.
    if (random.chance(0.3)) {
        const auto shift = static_cast<Rank>(limit - 1 - rank);
        for (Rank& r : ranks) r += shift;
    }
    return ranks;
}

template <class Entry> Input draw_input(Random& random, Row rows) {
    using P = Packed<Entry>;
    Input input;
    // The row numbers, ascending.  A sweep of two classes among several leaves numbers out.
    const bool gaps = rows + rows / 2 < P::limit && random.chance(0.4);
    std::vector<Row> numbers;
    for (Row number = 0; numbers.size() < rows; ++number)
        if (!gaps || random.chance(0.7) || P::limit - number <= rows - numbers.size())
            numbers.push_back(number);
    const auto features =
        static_cast<std::uint32_t>(rows > 2000 ? 1 + random.below(5) : 1 + random.below(11));
    const std::size_t stride = rows + 1 + (random.chance(0.5) ? random.below(40) : 0);
    input.entries.resize((stride * (features - 1) + rows + 1) * sizeof(Entry));
    for (std::byte& byte : input.entries)
        byte = static_cast<std::byte>(random.next());  // padding holds anything
    input.threshold_mask.resize(stride * (features - 1) + rows);
    for (std::uint8_t& byte : input.threshold_mask) byte = static_cast<std::uint8_t>(random.next());
    for (std::uint32_t f = 0; f < features; ++f) {
        std::vector<Row> shuffled = numbers;
        if (!random.chance(0.2))
            for (std::size_t k = shuffled.size(); k-- > 1;)
                std::swap(shuffled[k], shuffled[random.below(k + 1)]);
        const std::vector<Rank> ranks = draw_ranks(random, rows, P::limit);
        Entry* const order = reinterpret_cast<Entry*>(input.entries.data()) + f * stride;
        for (Row k = 0; k < rows; ++k) order[k] = P::make(ranks[k], shuffled[k]);
        std::sort(order, order + rows);
        order[rows] = P::sentinel();
        std::uint8_t* const mask = input.threshold_mask.data() + f * stride;
        Row skipped = 0;
        for (Row k = 0; k < rows; ++k) {
            mask[k] = P::rank(order[k]) == P::rank(order[k + 1]) ? 0 : 0xff;
            skipped += mask[k] == 0;
        }
        // Without ties any kind is allowed.
        const Ties some = random.pick({Ties::irregular, Ties::regular});
        input.ties.push_back(skipped == 0 && random.chance(0.7) ? Ties::none : some);
    }
    input.words.resize(numbers.back() + 1);
    const int density = static_cast<int>(random.below(4));
    for (std::uint64_t& word : input.words) {
        const std::uint64_t left = random.next() >> 32;
        switch (density) {
            case 0: word = left | (~left & 0xffffffff) << 32; break;  // a row is on one side of every lane
            case 1: word = ~std::uint64_t{0}; break;
            case 2: word = random.next() & random.next() & random.next(); break;
            default: word = random.next() | random.next() | random.next(); break;
        }
    }
    const Row skewed = numbers[random.below(numbers.size())];
    const Row boundary =
        random.pick<Row>({0, numbers.back() + 1, numbers.back() / 2, skewed, 1, numbers.back()});
    const Width width = sizeof(Entry) == sizeof(NarrowEntry) ? Width::narrow : Width::wide;
    input.sweep = {input.entries.data(), width, stride, input.threshold_mask.data(), input.ties.data(),
        features, rows, input.words.data(), boundary};
    return input;
}

Input draw_input(Random& random, Width width, Row rows) {
    return with_entry(width, [&](auto entry) { return draw_input<decltype(entry)>(random, rows); });
}

void compare_kernels(Random& random, Width width, Row rows) {
    const Input input = draw_input(random, width, rows);
    SideSums expected, sums;
    scalar_kernel.sweep(input.sweep, expected);
    Score expected_totals[side_count], totals[side_count];
    // A class is a range of words, which may start anywhere.
    const auto begin = static_cast<Row>(random.below(input.words.size()));
    const auto count = static_cast<Row>(random.below(input.words.size() - begin + 1));
    scalar_kernel.weigh_sides(input.words.data() + begin, nullptr, count, expected_totals);
    struct alignas(64) Line {
        std::int8_t bytes[side_count];
    };
    std::vector<Line> lines(input.words.size());
    for (const Kernel* kernel : available_kernels()) {
        std::memset(&sums, 0x5a, sizeof sums);
        // With room for steps or without, and with the steps that an earlier sweep has kept.
        Sweep sweep = input.sweep;
        if (random.chance(0.7)) sweep.steps = lines.data()->bytes;
        kernel->sweep(sweep, sums);
        if (sweep.steps != nullptr && random.chance(0.5)) {
            sweep.kept = true;
            kernel->sweep(sweep, sums);
        }
        const bool same = std::equal(sums.high, sums.high + side_count, expected.high) &&
                          std::equal(sums.low, sums.low + side_count, expected.low) &&
                          std::equal(sums.end, sums.end + side_count, expected.end);
        if (same) ++passed;
        else
            fail("sweep", 0,
                std::string(kernel->name) + " differs from scalar for " + shown(rows) + " rows, " +
                    shown(input.sweep.features) + " features, boundary " + shown(input.sweep.boundary) +
                    ", entries of " + shown(width) + " bytes");
        std::memset(totals, 0x5a, sizeof totals);
        kernel->weigh_sides(input.words.data() + begin, nullptr, count, totals);
        CHECK(std::equal(totals, totals + side_count, expected_totals));
    }
}

void test_small_sweeps() {
    for_seeds(3000, [](Random& random) {
        const auto around = [&](std::int64_t size) {
            return std::max<std::int64_t>(1, size + random.between(-2, 2));
        };
        const auto size = random.pick<std::int64_t>({1, 8, 16, 32, 64, 119, 120, 127, 128, 240, 255, 360});
        const auto rows = static_cast<Row>(random.chance(0.3) ? random.between(1, 1000) : around(size));
        compare_kernels(random, random.chance(0.7) ? Width::narrow : Width::wide, rows);
    });
}

// Where sums no longer fit 16 bits, and where row numbers no longer do.
void test_large_sweeps() {
    for_seeds(1, [](Random& random) {
        for (const Row rows : {32640U, 32766U, 32767U, 32768U, 32769U, 65534U, 65535U})
            compare_kernels(random, Width::narrow, rows);
        for (const Row rows : {32767U, 32768U, 65535U, 65536U, 70000U})
            compare_kernels(random, Width::wide, rows);
    });
}

// The largest sums there are: every row is of one class and in every side.
template <class Entry> void test_extreme_sums() {
    const Width width = sizeof(Entry) == sizeof(NarrowEntry) ? Width::narrow : Width::wide;
    for (const Row rows : {1U, 119U, 120U, 121U, 127U, 128U, 129U, 255U, 32767U, 32768U, 65535U}) {
        for (const Row boundary : {0U, rows}) {
            std::vector<Entry> entries;
            for (Row k = 0; k < rows; ++k) entries.push_back(Packed<Entry>::make(std::min(k, 65534U), k));
            entries.push_back(Packed<Entry>::sentinel());
            const std::vector<std::uint64_t> words(rows, ~std::uint64_t{0});
            const Ties ties = Ties::none;
            const auto all = static_cast<std::int32_t>(rows);
            const Sweep sweep{reinterpret_cast<const std::byte*>(entries.data()), width, rows + 1, nullptr,
                &ties, 1, rows, words.data(), boundary};
            for (const Kernel* kernel : available_kernels()) {
                SideSums sums;
                kernel->sweep(sweep, sums);
                for (unsigned s = 0; s < side_count; ++s) {
                    CHECK_EQUAL(sums.high[s], boundary == 0 ? 0 : all);
                    CHECK_EQUAL(sums.low[s], boundary == 0 ? -all : 0);
                    CHECK_EQUAL(sums.end[s], boundary == 0 ? -all : all);
                }
            }
        }
    }
}

// By the formula of kernel.hpp the sums give the best stump of a side, which trying each threshold confirms.
void test_meaning() {
    for_seeds(500, [](Random& random) {
        const auto rows = static_cast<Row>(random.between(1, 30));
        const Input input = draw_input(random, random.chance(0.7) ? Width::narrow : Width::wide, rows);
        const Sweep& sweep = input.sweep;
        SideSums sums;
        scalar_kernel.sweep(sweep, sums);
        for (unsigned s = 0; s < side_count; ++s) {
            const auto inside = [&](Row row) { return (sweep.words[row] >> s & 1) != 0; };
            std::int32_t best = std::numeric_limits<std::int32_t>::max(), positive = 0, negative = 0;
            for (Row k = 0; k < rows; ++k) {
                const Row row = sweep.order(0).row(k);
                if (inside(row)) ++(row < sweep.boundary ? positive : negative);
            }
            for (std::uint32_t f = 0; f < sweep.features; ++f) {
                const Order order = sweep.order(f);
                for (Row z = 0; z <= rows; ++z) {  // a threshold behind z rows; at both ends a leaf
                    if (0 < z && z < rows && order.rank(z - 1) == order.rank(z)) continue;
                    std::int32_t left_positive = 0, left_negative = 0;
                    for (Row k = 0; k < z; ++k)
                        if (inside(order.row(k)))
                            ++(order.row(k) < sweep.boundary ? left_positive : left_negative);
                    best = std::min({best, left_negative + positive - left_positive,
                        left_positive + negative - left_negative});
                }
            }
            CHECK_EQUAL(std::min(positive - sums.high[s], negative + sums.low[s]), best);
            CHECK_EQUAL(sums.end[s], positive - negative);
        }
    });
}

// The general sweep on the same inputs, with any steps, any leaf size, and chunks of any length.
template <class Step> void compare_weighted(Random& random, Row rows) {
    Input input = draw_input<WideEntry>(random, rows);
    const bool has_leaf_size = random.chance(0.6);
    if (!has_leaf_size)  // then a row is on one side of every lane
        for (std::uint64_t& word : input.words) word = (word & 0xffffffff) | ~word << lane_count;
    // All weights together stay below 2^60, and steps below what a Step is meant for.
    const Score greatest =
        std::min(std::max<Score>(1, largest_step<Step>), (Score{1} << 60) / (3 * Score{rows} + 20));
    const auto largest = random.pick<Score>({1, 3, greatest});
    std::vector<Step> steps;
    std::vector<Score> weights;
    std::vector<std::uint64_t> near_words;
    const bool by_mass = random.chance(0.3);
    std::vector<Step> row_sizes;
    std::array<Score, side_count> sizes{}, near_sizes{};
    for (std::size_t r = 0; r < input.words.size(); ++r) {
        weights.push_back(random.between(1, largest));
        const auto sign = random.pick<Score>({1, -1, 0});
        steps.push_back(static_cast<Step>(random.chance(0.1) ? largest : sign * weights.back()));
        row_sizes.push_back(static_cast<Step>(weights.back()));
        near_words.push_back(input.words[r] | (random.next() & random.next()));
    }
    for (Row k = 0; k < rows; ++k) {
        const Row row = input.sweep.order(0).row(k);
        for (unsigned s = 0; s < side_count; ++s) {
            const Score size = by_mass ? weights[row] : 1;
            sizes[s] += (input.words[row] >> s & 1) != 0 ? size : 0;
            near_sizes[s] += (near_words[row] >> s & 1) != 0 ? size : 0;
        }
    }
    const auto most =
        static_cast<Row>(std::min<Score>(rows, (std::numeric_limits<Step>::max() - 1) / largest));
    WeightedSweep<Step> sweep{};
    sweep.entries = input.sweep.order(0).as<WideEntry>();
    sweep.stride = input.sweep.stride;
    sweep.threshold_mask = input.sweep.threshold_mask;
    sweep.features = input.sweep.features;
    sweep.rows = rows;
    sweep.words = input.words.data();
    sweep.steps = steps.data();
    sweep.chunk_rows = random.pick<Row>({most, most, std::min<Row>(most, 100)});
    sweep.used = random.pick<std::uint64_t>({~std::uint64_t{0}, 1, std::uint64_t{1} << 63, random.next()});
    if (has_leaf_size) {
        sweep.min_leaf =
            random.pick<Score>({1, 2, 7, rows / 3 + 1, rows}) * (by_mass ? (largest + 1) / 2 : 1);
        sweep.near_words = near_words.data();
        sweep.row_sizes = by_mass ? row_sizes.data() : nullptr;
        sweep.sizes = sizes.data();
        sweep.near_sizes = near_sizes.data();
    }
    SideExtremes expected, extremes;
    scalar_kernel.sweep_weighted(sweep, expected);
    Score expected_totals[side_count], totals[side_count];
    scalar_kernel.weigh_sides(
        input.words.data(), weights.data(), static_cast<Row>(weights.size()), expected_totals);
    for (const Kernel* kernel : available_kernels()) {
        kernel->sweep_weighted(sweep, extremes);
        bool same = true;
        for (unsigned s = 0; s < side_count; ++s) {
            if ((sweep.used >> s & 1) == 0) continue;
            same &= extremes.high[s] == expected.high[s] && extremes.low[s] == expected.low[s] &&
                    extremes.end[s] == expected.end[s];
            if (sweep.min_leaf > 0)
                same &= extremes.allowed_high[s] == expected.allowed_high[s] &&
                        extremes.allowed_low[s] == expected.allowed_low[s];
        }
        CHECK(same);
        kernel->weigh_sides(input.words.data(), weights.data(), static_cast<Row>(weights.size()), totals);
        CHECK(std::equal(totals, totals + side_count, expected_totals));
    }
}

void test_weighted_sweeps() {
    for_seeds(700, [](Random& random) {
        const auto rows =
            static_cast<Row>(random.chance(0.1) ? 1 + random.below(3000) : 1 + random.below(300));
        compare_weighted<std::int8_t>(random, rows);
        compare_weighted<std::int16_t>(random, rows);
        compare_weighted<std::int32_t>(random, rows);
        compare_weighted<std::int64_t>(random, rows);
    });
    Random random(7);
    compare_weighted<std::int16_t>(random, 70000);  // more rows than 16 bits count
}

// On weights of one and without a leaf size the general sweep equals the plain one.
void test_weighted_meaning() {
    for_seeds(300, [](Random& random) {
        const auto rows = static_cast<Row>(1 + random.below(200));
        const Input input = draw_input<WideEntry>(random, rows);
        std::vector<std::int16_t> steps;
        for (std::size_t r = 0; r < input.words.size(); ++r)
            steps.push_back(r < input.sweep.boundary ? 1 : -1);
        std::vector<std::uint8_t> mask = input.threshold_mask;
        for (std::uint32_t f = 0; f < input.sweep.features; ++f)
            if (input.ties[f] == Ties::none)
                std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(f * input.sweep.stride), rows, 0xff);
        SideSums sums;
        SideExtremes extremes;
        scalar_kernel.sweep(input.sweep, sums);
        WeightedSweep<std::int16_t> sweep{};
        sweep.entries = input.sweep.order(0).as<WideEntry>();
        sweep.stride = input.sweep.stride;
        sweep.threshold_mask = mask.data();
        sweep.features = input.sweep.features;
        sweep.rows = sweep.chunk_rows = rows;
        sweep.words = input.words.data();
        sweep.steps = steps.data();
        sweep.used = ~std::uint64_t{0};
        scalar_kernel.sweep_weighted(sweep, extremes);
        CHECK(std::equal(sums.end, sums.end + side_count, extremes.end));
        CHECK(std::equal(sums.high, sums.high + side_count, extremes.high));
        CHECK(std::equal(sums.low, sums.low + side_count, extremes.low));
    });
}

// The processor is asked rightly, and its fastest kernel stands first.
void test_choice() {
    CHECK_EQUAL(std::string(available_kernels().back()->name), "scalar");
#if CONTREE_X86_KERNELS
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl");
    CHECK_EQUAL(has_avx2(), avx2);
    CHECK_EQUAL(has_avx512(), avx512);
    CHECK_EQUAL(available_kernels().size(), 1U + avx2 + avx512);
#elif CONTREE_NEON_KERNEL
    CHECK_EQUAL(std::string(available_kernels().front()->name), "neon");
#endif
}

}  // namespace

int main() {
    check::watch_aborts();
    std::printf("kernels here:");
    for (const Kernel* kernel : available_kernels()) std::printf(" %s", kernel->name);
    std::printf("\n");
    check::run("the kernels of this machine", test_choice);
    check::run("the scalar kernel finds the best stumps", test_meaning);
    check::run("the largest sums, narrow entries", test_extreme_sums<NarrowEntry>);
    check::run("the largest sums, wide entries", test_extreme_sums<WideEntry>);
    check::run("small sweeps", test_small_sweeps);
    check::run("large sweeps", test_large_sweeps);
    check::run("the general sweep means the same", test_weighted_meaning);
    check::run("general sweeps", test_weighted_sweeps);
    return check::report();
}
