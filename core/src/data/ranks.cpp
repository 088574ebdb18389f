#include "data/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace contree {

namespace {

struct Keyed {
    std::uint64_t key;
    Row row;
};

// An unsigned integer that sorts as the double does.  Adding zero turns -0.0 into 0.0: they are equal.
std::uint64_t sort_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    const std::uint64_t sign = bits >> 63;
    return bits ^ (sign ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}

double value_of(std::uint64_t key) {
    const std::uint64_t sign = key >> 63;
    return std::bit_cast<double>(key ^ (sign ? std::uint64_t{1} << 63 : ~std::uint64_t{0}));
}

constexpr unsigned digit_bits = 11;
constexpr unsigned digits = 6;
constexpr std::size_t buckets = std::size_t{1} << digit_bits;

// Stable sort by key.  Radix, least digit first; a digit that all keys share costs nothing.
void sort_by_key(std::vector<Keyed>& items, std::vector<Keyed>& spare, const Control& control) {
    if (items.size() < 1024) {
        std::stable_sort(items.begin(), items.end(),
                         [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        return;
    }
    std::vector<std::array<Row, buckets>> counts(digits);
    for (auto& of_digit : counts) of_digit.fill(0);
    for (const Keyed& item : items)
        for (unsigned d = 0; d < digits; ++d) ++counts[d][(item.key >> (d * digit_bits)) & (buckets - 1)];
    spare.resize(items.size());
    for (unsigned d = 0; d < digits && !control.abandoned(); ++d) {
        auto& start = counts[d];
        const unsigned shift = d * digit_bits;
        if (start[(items[0].key >> shift) & (buckets - 1)] == items.size()) continue;
        Row sum = 0;
        for (Row& count : start) sum += std::exchange(count, sum);
        for (const Keyed& item : items) spare[start[(item.key >> shift) & (buckets - 1)]++] = item;
        items.swap(spare);
    }
}

// Values count as equal when they are, or when they lie closer together than the tolerance; chained,
// so that equality is transitive (the paper's preprocessing, appendix A).
bool same_value(double below, double above, double tolerance) {
    return below == above || above - below < tolerance;
}

}  // namespace

RankedTable rank_columns(const Table& table, double tolerance, const Control& control) {
    RankedTable ranked;
    ranked.rows = static_cast<Row>(table.rows);
    ranked.classes = static_cast<std::uint32_t>(table.classes);
    ranked.class_begin.assign(ranked.classes + 1, 0);
    for (std::size_t r = 0; r < table.rows; ++r) ++ranked.class_begin[static_cast<std::size_t>(table.labels[r]) + 1];
    std::partial_sum(ranked.class_begin.begin(), ranked.class_begin.end(), ranked.class_begin.begin());
    ranked.original.resize(table.rows);
    std::vector<Row> next(ranked.class_begin.begin(), ranked.class_begin.end() - 1);
    for (std::size_t r = 0; r < table.rows; ++r)
        ranked.original[next[static_cast<std::size_t>(table.labels[r])]++] = static_cast<Row>(r);

    std::vector<Keyed> items, spare;
    for (std::size_t f = 0; f < table.features && !control.abandoned(); ++f) {
        const double* column = table.values + f * table.rows;
        items.resize(table.rows);
        for (Row r = 0; r < ranked.rows; ++r) items[r] = {sort_key(column[ranked.original[r]]), r};
        sort_by_key(items, spare, control);
        if (control.abandoned()) break;   // not sorted

        std::vector<Row> order(table.rows);
        std::vector<Rank> ranks(table.rows);
        Values values;
        bool merged = false;
        for (Row k = 0; k < ranked.rows; ++k) {
            const double value = value_of(items[k].key);
            if (k == 0 || !same_value(values.highest.back(), value, tolerance)) {
                values.lowest.push_back(value);
                values.highest.push_back(value);
            } else if (value != values.highest.back()) {
                values.highest.back() = value;
                merged = true;
            }
            order[k] = items[k].row;
            ranks[k] = static_cast<Rank>(values.lowest.size() - 1);
        }
        // Merging neighbours breaks the order by row inside a rank, which the class ranges rest on.
        if (merged) {
            for (Row k = 0; k < ranked.rows;) {
                Row end = k + 1;
                while (end < ranked.rows && ranks[end] == ranks[k]) ++end;
                std::sort(order.begin() + k, order.begin() + end);
                k = end;
            }
        }
        ranked.order.push_back(std::move(order));
        ranked.ranks.push_back(std::move(ranks));
        ranked.values.push_back(std::move(values));
    }
    ranked.features = static_cast<FeatureId>(ranked.order.size());
    return ranked;
}

// Rounding to float32 is monotone.  If it keeps left < right apart, then max(left, float(left)) <
// min(right, float(right)): were left >= float(right), that float would lie between, and left would round
// to it or above; the other mixed case mirrored.  So the interval for t is never empty.
double threshold_between(double left, double right) {
    assert(left < right);
    double low = left, high = right;
    const double narrow_left = static_cast<double>(static_cast<float>(left));
    const double narrow_right = static_cast<double>(static_cast<float>(right));
    if (narrow_left < narrow_right) {
        low = std::max(low, narrow_left);
        high = std::min(high, narrow_right);
    }
    const double middle = left / 2 + right / 2;   // halves first: the sum of two huge values overflows
    if (low <= middle && middle < high) return middle;
    const double inner = low / 2 + high / 2;
    return low <= inner && inner < high ? inner : low;
}

}  // namespace contree
