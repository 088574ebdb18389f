#include "search/hard_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace contree {

namespace {

constexpr std::size_t wrong_a_pair = 2, right_a_pair = 16;     // rows that are looked at
constexpr double most_compared = 3.2e8;                        // values, of a wrong row and a right one: a tenth of a second or so
constexpr std::size_t nearest = 4;                             // partners of a wrong row that are kept

// Every so many-th row, so that no more than `most` are left.
std::vector<Row> thinned(const std::vector<Row>& rows, std::size_t most) {
    std::vector<Row> kept;
    const std::size_t count = std::min(most, rows.size());
    kept.reserve(count);
    for (std::size_t i = 0; i < count; ++i) kept.push_back(rows[i * rows.size() / count]);
    return kept;
}

// Where the chosen rows stand in each feature's order, in 65536ths of all rows; equal values stand together.
template <class Entry>
std::vector<std::uint16_t> places(const Subproblem<Entry>& root, const std::vector<Row>& rows, const Halt& halt) {
    using P = Packed<Entry>;
    std::vector<std::int32_t> number(root.rows, -1);
    for (std::size_t i = 0; i < rows.size(); ++i) number[rows[i]] = static_cast<std::int32_t>(i);
    std::vector<std::uint16_t> place(rows.size() * root.features);
    for (std::uint32_t f = 0; f < root.features && !halt(); ++f) {
        const Entry* const order = root.order(f);
        Row group = 0;
        for (Row k = 0; k < root.rows; ++k) {
            if (k > 0 && P::rank(order[k]) != P::rank(order[k - 1])) group = k;
            if (const std::int32_t i = number[P::row(order[k])]; i >= 0)
                place[f * rows.size() + static_cast<std::size_t>(i)] = static_cast<std::uint16_t>((std::uint64_t{group} << 16) / root.rows);
        }
    }
    return place;
}

struct Pair {
    std::uint32_t distance;
    Row wrong, right;
};

}  // namespace

template <class Entry>
std::vector<std::uint8_t> hard_rows(Bench<Entry>& bench, const Subproblem<Entry>& root, const Plan& plan, std::size_t pairs) {
    std::vector<Row> wrong, right;
    const auto down = bench.guide(plan.data());
    bench.for_rows(root, [&](Row r) { (bench.told(down, r) == bench.class_of(r) ? right : wrong).push_back(r); });
    const std::size_t wrongs = std::min(wrong_a_pair * pairs, wrong.size()), rights = std::min(right_a_pair * pairs, right.size());
    const double compared = static_cast<double>(wrongs) * static_cast<double>(rights) * root.features;
    const double kept = std::min(1.0, std::sqrt(most_compared / std::max(1.0, compared)));   // of each, however many rows there are
    wrong = thinned(wrong, static_cast<std::size_t>(kept * static_cast<double>(wrongs)));
    right = thinned(right, static_cast<std::size_t>(kept * static_cast<double>(rights)));
    std::vector<std::uint8_t> chosen(root.rows, 0);
    const std::vector<std::uint16_t> of_wrong = places(root, wrong, bench.halt()), of_right = places(root, right, bench.halt());

    std::vector<Pair> found;
    std::vector<std::uint32_t> distance(right.size());
    for (std::size_t i = 0; i < wrong.size() && !bench.stopped(); ++i) {
        std::fill(distance.begin(), distance.end(), 0);
        for (std::uint32_t f = 0; f < root.features; ++f) {
            const std::uint16_t* const place = of_right.data() + f * right.size();
            const std::int32_t own = of_wrong[f * wrong.size() + i];
            for (std::size_t j = 0; j < right.size(); ++j) distance[j] += static_cast<std::uint32_t>(std::abs(place[j] - own));
        }
        std::array<Pair, nearest> best;
        best.fill({~std::uint32_t{0}, 0, 0});
        for (std::size_t j = 0; j < right.size(); ++j) {
            if (distance[j] >= best.back().distance || bench.class_of(right[j]) == bench.class_of(wrong[i])) continue;
            std::size_t at = nearest - 1;
            for (; at > 0 && best[at - 1].distance > distance[j]; --at) best[at] = best[at - 1];
            best[at] = {distance[j], wrong[i], right[j]};
        }
        for (const Pair& pair : best)
            if (pair.distance != ~std::uint32_t{0}) found.push_back(pair);
    }
    bench.statistics().row_visits += static_cast<std::int64_t>(wrong.size() * right.size() * root.features / 8);
    std::stable_sort(found.begin(), found.end(), [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
    for (const Pair& pair : found) {
        if (pairs == 0) break;
        if (chosen[pair.wrong] || chosen[pair.right]) continue;
        chosen[pair.wrong] = chosen[pair.right] = 1;
        --pairs;
    }
    return chosen;
}

template std::vector<std::uint8_t> hard_rows(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, const Plan&, std::size_t);
template std::vector<std::uint8_t> hard_rows(Bench<WideEntry>&, const Subproblem<WideEntry>&, const Plan&, std::size_t);

}  // namespace contree
