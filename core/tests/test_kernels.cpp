// Every vector kernel equals the scalar one bit for bit; and the scalar one means what kernel.hpp says.
#include <algorithm>
#include <cstring>
#include <limits>

#include "check.hpp"
#include "depth_two/kernel.hpp"

namespace {

using namespace check;
using namespace contree;

// One random sweep, in memory of exactly the promised size, so that a sanitizer sees every read beyond it.
template <class Entry>
struct Input {
    std::vector<Entry> entries;
    std::vector<Ties> ties;
    std::vector<std::uint8_t> takes;
    std::vector<std::uint64_t> words;
    Sweep<Entry> sweep;
};

enum class Groups { none, few, many, pairs, one_huge, all_equal };

// Ranks by place, ascending from below the sentinel's, with the wanted ties.
template <class Entry>
std::vector<Rank> draw_ranks(Random& random, Row rows) {
    const Groups groups = random.pick({Groups::none, Groups::none, Groups::few, Groups::many, Groups::pairs, Groups::one_huge,
                                       Groups::all_equal});
    const Row huge_begin = static_cast<Row>(random.below(rows)), huge_end = huge_begin + static_cast<Row>(random.below(rows)) + 1;
    std::vector<Rank> ranks(rows);
    Rank rank = 0;
    for (Row k = 0; k < rows; ++k) {
        bool next = true;
        switch (groups) {
            case Groups::none: break;
            case Groups::few: next = random.chance(0.95); break;
            case Groups::many: next = random.chance(0.02); break;
            case Groups::pairs: next = k % 2 == 0; break;
            case Groups::one_huge: next = k <= huge_begin || k >= huge_end; break;
            case Groups::all_equal: next = false; break;
        }
        ranks[k] = rank += k > 0 && next;
    }
    // The greatest rank that an entry may have comes up too, right before the sentinel's.
    if (random.chance(0.3)) {
        const auto shift = static_cast<Rank>(Packed<Entry>::limit - 1 - rank);
        for (Rank& r : ranks) r += shift;
    }
    return ranks;
}

// `numbers`: the row numbers of the sweep, ascending.  A sweep of a class pair leaves numbers out.
template <class Entry>
Input<Entry> draw_input(Random& random, Row rows) {
    using P = Packed<Entry>;
    Input<Entry> input;
    const bool gaps = rows + rows / 2 < P::limit && random.chance(0.4);
    std::vector<Row> numbers;
    for (Row number = 0; numbers.size() < rows; ++number)
        if (!gaps || random.chance(0.7) || P::limit - number <= rows - numbers.size()) numbers.push_back(number);
    const auto features = static_cast<std::uint32_t>(rows > 2000 ? 1 + random.below(5) : 1 + random.below(11));
    const std::size_t stride = rows + 1 + (random.chance(0.5) ? random.below(40) : 0);
    input.entries.resize(stride * (features - 1) + rows + 1);
    for (Entry& entry : input.entries) entry = static_cast<Entry>(random.next());   // padding holds anything
    for (std::uint32_t f = 0; f < features; ++f) {
        std::vector<Row> order = numbers;
        if (!random.chance(0.2))
            for (std::size_t k = order.size(); k-- > 1;) std::swap(order[k], order[random.below(k + 1)]);
        const std::vector<Rank> ranks = draw_ranks<Entry>(random, rows);
        Entry* const to = input.entries.data() + f * stride;
        for (Row k = 0; k < rows; ++k) to[k] = P::make(ranks[k], order[k]);
        std::sort(to, to + rows);
        to[rows] = P::sentinel();
    }
    input.words.resize(numbers.back() + 1);
    const int density = static_cast<int>(random.below(4));
    for (std::uint64_t& word : input.words) {
        const std::uint64_t left = random.next() >> 32;
        switch (density) {
            case 0: word = left | (~left & 0xffffffff) << 32; break;   // every lane parts all rows
            case 1: word = ~std::uint64_t{0}; break;
            case 2: word = random.next() & random.next() & random.next(); break;
            default: word = random.next() | random.next() | random.next(); break;
        }
    }
    const Row skewed = numbers[random.below(numbers.size())];
    const Row boundary = random.pick<Row>({0, numbers.back() + 1, numbers.back() / 2, skewed, 1, numbers.back()});
    // Any word on ties is allowed where there are some.
    input.takes.resize(stride * (features - 1) + rows);
    for (std::uint8_t& take : input.takes) take = static_cast<std::uint8_t>(random.next());
    for (std::uint32_t f = 0; f < features; ++f) {
        const Entry* const order = input.entries.data() + f * stride;
        std::uint8_t* const takes = input.takes.data() + f * stride;
        Row skipped = 0;
        for (Row k = 0; k < rows; ++k) {
            takes[k] = P::rank(order[k]) == P::rank(order[k + 1]) ? 0 : 0xff;
            skipped += takes[k] == 0;
        }
        input.ties.push_back(skipped == 0 && random.chance(0.7) ? Ties::none : random.pick({Ties::irregular, Ties::regular}));
    }
    input.sweep = {input.entries.data(), stride, input.takes.data(), input.ties.data(), features, rows, input.words.data(), boundary};
    return input;
}

template <class Entry>
void compare_kernels(Random& random, Row rows) {
    const Input<Entry> input = draw_input<Entry>(random, rows);
    SideSums expected, sums;
    scalar_kernel.sweep(input.sweep, expected);
    alignas(64) std::int32_t expected_totals[side_count], totals[side_count];
    // Classes are ranges of words: any start.
    const auto begin = static_cast<Row>(random.below(input.words.size()));
    const auto count = static_cast<Row>(random.below(input.words.size() - begin + 1));
    scalar_kernel.count_sides(input.words.data() + begin, count, expected_totals);
    struct alignas(64) Line {
        std::int8_t bytes[side_count];
    };
    std::vector<Line> lines(input.words.size());
    for (const Kernel* kernel : available_kernels()) {
        std::memset(&sums, 0x5a, sizeof sums);
        // With room for steps or without; and those that a sweep of the first feature has left serve the others.
        Sweep<Entry> sweep = input.sweep;
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
        else fail("sweep", 0, std::string(kernel->name) + " differs from scalar for " + shown(rows) + " rows, " +
                                  shown(input.sweep.features) + " features, boundary " + shown(input.sweep.boundary) +
                                  ", entries of " + shown(sizeof(Entry)) + " bytes");
        std::memset(totals, 0x5a, sizeof totals);
        kernel->count_sides(input.words.data() + begin, count, totals);
        CHECK(std::equal(totals, totals + side_count, expected_totals));
    }
}

void test_small_sweeps() {
    for_seeds(6000, [](Random& random) {
        const auto around = [&](std::int64_t size) { return std::max<std::int64_t>(1, size + random.between(-2, 2)); };
        const std::int64_t rows = random.chance(0.3) ? random.between(1, 1000)
                                                     : around(random.pick<std::int64_t>({1, 8, 16, 32, 64, 119, 120, 127, 128, 240, 255, 360}));
        if (random.chance(0.7)) compare_kernels<NarrowEntry>(random, static_cast<Row>(rows));
        else compare_kernels<WideEntry>(random, static_cast<Row>(rows));
    });
}

// Where sums leave 16 bits, and rows leave them.
void test_large_sweeps() {
    for_seeds(3, [](Random& random) {
        for (const Row rows : {32640U, 32766U, 32767U, 32768U, 32769U, 65534U, 65535U})
            compare_kernels<NarrowEntry>(random, rows);
        for (const Row rows : {32767U, 32768U, 65535U, 65536U, 70000U}) compare_kernels<WideEntry>(random, rows);
    });
}

// Sums as large as they get: one class only, every row in every side.
void test_extreme_sums() {
    for (const Row rows : {1U, 119U, 120U, 121U, 127U, 128U, 129U, 255U, 32767U, 32768U, 65535U}) {
        for (const Row boundary : {0U, rows}) {
            std::vector<NarrowEntry> entries;
            for (Row k = 0; k < rows; ++k) entries.push_back(Packed<NarrowEntry>::make(std::min(k, 65534U), k));
            entries.push_back(Packed<NarrowEntry>::sentinel());
            const std::vector<std::uint64_t> words(rows, ~std::uint64_t{0});
            const Ties ties = Ties::none;
            const auto all = static_cast<std::int32_t>(rows);
            for (const Kernel* kernel : available_kernels()) {
                SideSums sums;
                kernel->sweep(Sweep<NarrowEntry>{entries.data(), rows + 1, nullptr, &ties, 1, rows, words.data(), boundary}, sums);
                for (unsigned s = 0; s < side_count; ++s) {
                    CHECK_EQUAL(sums.high[s], boundary == 0 ? 0 : all);
                    CHECK_EQUAL(sums.low[s], boundary == 0 ? -all : 0);
                    CHECK_EQUAL(sums.end[s], boundary == 0 ? -all : all);
                }
            }
        }
    }
}

// The best stump of a side, by trying each threshold, is what the formula of kernel.hpp makes of the sums.
void test_meaning() {
    for_seeds(500, [](Random& random) {
        using P = Packed<NarrowEntry>;
        const auto rows = static_cast<Row>(random.between(1, 30));
        const Input<NarrowEntry> input = draw_input<NarrowEntry>(random, rows);
        const Sweep<NarrowEntry>& sweep = input.sweep;
        SideSums sums;
        scalar_kernel.sweep(sweep, sums);
        for (unsigned s = 0; s < side_count; ++s) {
            const auto inside = [&](NarrowEntry entry) { return (sweep.words[P::row(entry)] >> s & 1) != 0; };
            std::int32_t best = std::numeric_limits<std::int32_t>::max(), positive = 0, negative = 0;
            for (Row k = 0; k < rows; ++k)
                if (inside(sweep.entries[k])) ++(P::row(sweep.entries[k]) < sweep.boundary ? positive : negative);
            for (std::uint32_t f = 0; f < sweep.features; ++f) {
                const NarrowEntry* const order = sweep.entries + f * sweep.stride;
                for (Row z = 0; z <= rows; ++z) {   // a threshold behind z rows; at the ends a leaf
                    if (0 < z && z < rows && P::rank(order[z - 1]) == P::rank(order[z])) continue;
                    std::int32_t left_positive = 0, left_negative = 0;
                    for (Row k = 0; k < z; ++k)
                        if (inside(order[k])) ++(P::row(order[k]) < sweep.boundary ? left_positive : left_negative);
                    best = std::min({best, left_negative + positive - left_positive,
                                     left_positive + negative - left_negative});
                }
            }
            CHECK_EQUAL(std::min(positive - sums.high[s], negative + sums.low[s]), best);
            CHECK_EQUAL(sums.end[s], positive - negative);
        }
    });
}

// The general sweep, on the same inputs: any steps, any leaf size, chunks as short and as long as they get.
template <class Step>
void compare_weighted(Random& random, Row rows) {
    Input<WideEntry> input = draw_input<WideEntry>(random, rows);
    const bool limited = random.chance(0.6);
    if (!limited)
        for (std::uint64_t& word : input.words) word = (word & 0xffffffff) | ~word << lane_count;   // every lane parts all rows
    // All weights together stay below 2^60, and steps below what a Step is meant for.
    const Score largest = random.pick<Score>({1, 3, std::min(std::max<Score>(1, largest_step<Step>), (Score{1} << 60) / (3 * Score{rows} + 20))});
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
        const Row row = Packed<WideEntry>::row(input.entries[k]);
        for (unsigned s = 0; s < side_count; ++s) {
            const Score size = by_mass ? weights[row] : 1;
            sizes[s] += (input.words[row] >> s & 1) != 0 ? size : 0;
            near_sizes[s] += (near_words[row] >> s & 1) != 0 ? size : 0;
        }
    }
    const auto most = static_cast<Row>(std::min<Score>(rows, (std::numeric_limits<Step>::max() - 1) / largest));
    WeightedSweep<Step> sweep{};
    sweep.entries = input.sweep.entries;
    sweep.stride = input.sweep.stride;
    sweep.takes = input.sweep.takes;
    sweep.features = input.sweep.features;
    sweep.rows = rows;
    sweep.words = input.words.data();
    sweep.steps = steps.data();
    sweep.chunk_rows = random.pick<Row>({most, most, std::min<Row>(most, 100)});
    sweep.used = random.pick<std::uint64_t>({~std::uint64_t{0}, 1, std::uint64_t{1} << 63, random.next()});
    if (limited) {
        sweep.min_leaf = random.pick<Score>({1, 2, 7, rows / 3 + 1, rows}) * (by_mass ? (largest + 1) / 2 : 1);
        sweep.near_words = near_words.data();
        sweep.row_sizes = by_mass ? row_sizes.data() : nullptr;
        sweep.sizes = sizes.data();
        sweep.near_sizes = near_sizes.data();
    }
    SideExtremes expected, extremes;
    scalar_kernel.sweep(sweep, expected);
    Score expected_totals[side_count], totals[side_count];
    scalar_kernel.weigh_sides(input.words.data(), weights.data(), static_cast<Row>(weights.size()), expected_totals);
    for (const Kernel* kernel : available_kernels()) {
        kernel->sweep(sweep, extremes);
        bool same = true;
        for (unsigned s = 0; s < side_count; ++s) {
            if ((sweep.used >> s & 1) == 0) continue;
            same &= extremes.high[s] == expected.high[s] && extremes.low[s] == expected.low[s] && extremes.end[s] == expected.end[s];
            if (sweep.min_leaf > 0)
                same &= extremes.allowed_high[s] == expected.allowed_high[s] && extremes.allowed_low[s] == expected.allowed_low[s];
        }
        CHECK(same);
        kernel->weigh_sides(input.words.data(), weights.data(), static_cast<Row>(weights.size()), totals);
        CHECK(std::equal(totals, totals + side_count, expected_totals));
    }
}

void test_weighted_sweeps() {
    for_seeds(1500, [](Random& random) {
        const auto rows = static_cast<Row>(random.chance(0.1) ? 1 + random.below(3000) : 1 + random.below(300));
        compare_weighted<std::int8_t>(random, rows);
        compare_weighted<std::int16_t>(random, rows);
        compare_weighted<std::int32_t>(random, rows);
        compare_weighted<std::int64_t>(random, rows);
    });
    Random random(7);
    compare_weighted<std::int16_t>(random, 70000);   // more rows than 16 bits count
}

// The scalar general sweep on weights of one and no limit is the plain one.
void test_weighted_meaning() {
    for_seeds(300, [](Random& random) {
        const auto rows = static_cast<Row>(1 + random.below(200));
        const Input<WideEntry> input = draw_input<WideEntry>(random, rows);
        std::vector<std::int16_t> steps;
        for (std::size_t r = 0; r < input.words.size(); ++r) steps.push_back(r < input.sweep.boundary ? 1 : -1);
        std::vector<std::uint8_t> takes = input.takes;
        for (std::uint32_t f = 0; f < input.sweep.features; ++f)
            if (input.ties[f] == Ties::none) std::fill_n(takes.begin() + static_cast<std::ptrdiff_t>(f * input.sweep.stride), rows, 0xff);
        SideSums sums;
        SideExtremes extremes;
        scalar_kernel.sweep(input.sweep, sums);
        WeightedSweep<std::int16_t> sweep{};
        sweep.entries = input.sweep.entries;
        sweep.stride = input.sweep.stride;
        sweep.takes = takes.data();
        sweep.features = input.sweep.features;
        sweep.rows = sweep.chunk_rows = rows;
        sweep.words = input.words.data();
        sweep.steps = steps.data();
        sweep.used = ~std::uint64_t{0};
        scalar_kernel.sweep(sweep, extremes);
        CHECK(std::equal(sums.end, sums.end + side_count, extremes.end));
        CHECK(std::equal(sums.high, sums.high + side_count, extremes.high));
        CHECK(std::equal(sums.low, sums.low + side_count, extremes.low));
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    std::printf("kernels here:");
    for (const Kernel* kernel : available_kernels()) std::printf(" %s", kernel->name);
    std::printf("\n");
    check::run("the scalar kernel finds the best stumps", test_meaning);
    check::run("sums as large as they get", test_extreme_sums);
    check::run("small sweeps", test_small_sweeps);
    check::run("large sweeps", test_large_sweeps);
    check::run("the general sweep means the same", test_weighted_meaning);
    check::run("general sweeps", test_weighted_sweeps);
    return check::report();
}
