#include "data/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "data/halt.hpp"

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
void sort_by_key(std::vector<Keyed>& items, std::vector<Keyed>& spare, const Halt& halt) {
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
    for (unsigned d = 0; d < digits && !halt(); ++d) {
        auto& start = counts[d];
        const unsigned shift = d * digit_bits;
        if (start[(items[0].key >> shift) & (buckets - 1)] == items.size()) continue;
        Row sum = 0;
        for (Row& count : start) sum += std::exchange(count, sum);
        in_stretches(static_cast<Row>(items.size()), halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) spare[start[(items[k].key >> shift) & (buckets - 1)]++] = items[k];
        });
        items.swap(spare);
    }
}

// Values count as equal when they are, or when they lie closer together than the tolerance; chained,
// so that equality is transitive (the paper's preprocessing, appendix A).
bool same_value(double below, double above, double tolerance) {
    return below == above || above - below < tolerance;
}

// Ranks one column after the other in the same memory.
class Sorter {
public:
    // `values` by the caller's row numbers, `original` the caller's number of each row.  Missing values come last.
    // Abandoned: not whole.
    Column rank(const double* values, const std::vector<Row>& original, double tolerance, const Control& control) {
        const auto rows = static_cast<Row>(original.size());
        const Halt halt = when_abandoned(control);
        items_.clear();
        missing_.clear();
        in_stretches(rows, halt, [&](Row begin, Row end) {
            for (Row r = begin; r < end; ++r) {
                const double value = values[original[r]];
                if (std::isnan(value)) missing_.push_back(r);
                else items_.push_back({sort_key(value), r});
            }
        });
        if (!items_.empty()) sort_by_key(items_, spare_, halt);

        Column column{};
        if (halt()) return column;
        column.order.resize(rows);
        column.ranks.resize(rows);
        if (rank_values(tolerance, halt, column)) restore_row_order(column);
        if (missing_.empty()) return column;
        column.missing = Missing::last;
        std::copy(missing_.begin(), missing_.end(), column.order.begin() + static_cast<std::ptrdiff_t>(items_.size()));
        std::fill(column.ranks.begin() + static_cast<std::ptrdiff_t>(items_.size()), column.ranks.end(),
                  static_cast<Rank>(column.values.lowest.size()));
        column.values.lowest.push_back(std::nan(""));
        if (!column.values.highest.empty()) column.values.highest.push_back(std::nan(""));
        return column;
    }

private:
    // Ranks of the sorted items; true where unequal values were merged.
    bool rank_values(double tolerance, const Halt& halt, Column& column) const {
        Values& values = column.values;
        bool merged = false;
        double highest = 0;   // of the present rank
        values.lowest.reserve(count_keys());
        in_stretches(static_cast<Row>(items_.size()), halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) {
                const double value = value_of(items_[k].key);
                if (k == 0 || !same_value(highest, value, tolerance)) {
                    if (k > 0 && tolerance > 0) values.highest.push_back(highest);
                    values.lowest.push_back(value);
                } else {
                    merged |= value != highest;
                }
                highest = value;
                column.order[k] = items_[k].row;
                column.ranks[k] = static_cast<Rank>(values.lowest.size() - 1);
            }
        });
        if (merged) values.highest.push_back(highest);
        else values.highest = {};
        return merged;
    }

    // No column has more ranks than these.
    std::size_t count_keys() const {
        std::size_t count = !items_.empty();
        for (std::size_t k = 1; k < items_.size(); ++k) count += items_[k].key != items_[k - 1].key;
        return count;
    }

    // Merging neighbours breaks the order by row inside a rank, which the class ranges rest on.
    void restore_row_order(Column& column) const {
        for (std::size_t k = 0; k < items_.size();) {
            std::size_t end = k + 1;
            while (end < items_.size() && column.ranks[end] == column.ranks[k]) ++end;
            std::sort(column.order.begin() + static_cast<std::ptrdiff_t>(k), column.order.begin() + static_cast<std::ptrdiff_t>(end));
            k = end;
        }
    }

    std::vector<Keyed> items_, spare_;
    std::vector<Row> missing_;
};

// The same order with the missing values, which have the last rank, in front.
Column missing_first(const Column& last) {
    const auto rows = static_cast<std::ptrdiff_t>(last.order.size());
    const auto missing_rank = static_cast<Rank>(last.values.lowest.size() - 1);
    const std::ptrdiff_t present = std::lower_bound(last.ranks.begin(), last.ranks.end(), missing_rank) - last.ranks.begin();
    Column first = last;
    first.missing = Missing::first;
    const auto turn = [&](auto& list, std::ptrdiff_t begin) { std::rotate(list.begin(), list.begin() + begin, list.end()); };
    turn(first.order, present);
    turn(first.values.lowest, missing_rank);
    if (!first.values.highest.empty()) turn(first.values.highest, missing_rank);
    for (std::ptrdiff_t k = 0; k < rows; ++k)
        first.ranks[static_cast<std::size_t>(k)] = k < rows - present ? 0 : last.ranks[static_cast<std::size_t>(k - (rows - present))] + 1;
    return first;
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

    if (table.weights != nullptr)
        for (const Row r : ranked.original) ranked.weights.push_back(table.weights[r]);

    Sorter sorter;
    for (std::size_t f = 0; f < table.features; ++f) {
        const double* const values = table.values + f * table.rows;
        Column column = sorter.rank(values, ranked.original, tolerance, control);
        if (control.abandoned()) {
            ranked.complete = false;
            break;
        }
        column.feature = static_cast<std::int32_t>(f);
        if (column.missing == Missing::none) {
            ranked.columns.push_back(std::move(column));
        } else {
            Column other = missing_first(column);
            ranked.columns.push_back(std::move(column));
            ranked.columns.push_back(std::move(other));
        }
    }
    return ranked;
}

// Rounding to float32 is monotone.  If it keeps left < right apart, then max(left, float(left)) <
// min(right, float(right)): were left >= float(right), that float would lie between, and left would round
// to it or above; the other mixed case mirrored.  So the interval for t is never empty.
double threshold_between(double left, double right) {
    if (std::isnan(right)) return std::numeric_limits<double>::infinity();
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
