#include "data/ranks.hpp"
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
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
    return bits ^ (bits >> 63 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}

double value_of(std::uint64_t key) {
    return std::bit_cast<double>(key ^ (key >> 63 ? std::uint64_t{1} << 63 : ~std::uint64_t{0}));
}

// Stable sort by key.  Radix, least digit first; a digit that all keys share costs nothing.
void sort_by_key(std::vector<Keyed>& items, std::vector<Keyed>& spare, const Halt& halt) {
    constexpr unsigned digit_bits = 11, digits = 6;
    constexpr std::size_t buckets = std::size_t{1} << digit_bits;
    if (items.size() < 1024) {
        std::ranges::stable_sort(items, {}, &Keyed::key);
        return;
    }
    const auto digit = [](const Keyed& item, unsigned d) {
        return item.key >> (d * digit_bits) & (buckets - 1);
    };
    std::vector<std::array<Row, buckets>> counts(digits);
    for (const Keyed& item : items)
        for (unsigned d = 0; d < digits; ++d) ++counts[d][digit(item, d)];
    spare.resize(items.size());
    for (unsigned d = 0; d < digits && !halt(); ++d) {
        auto& start = counts[d];
        if (start[digit(items[0], d)] == items.size()) continue;
        Row sum = 0;
        for (Row& count : start) sum += std::exchange(count, sum);
        in_chunks(static_cast<Row>(items.size()), halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) spare[start[digit(items[k], d)]++] = items[k];
        });
        items.swap(spare);
    }
}

// Ranks one column after the other in the same memory.
class Sorter {
public:
    // `original`: the caller's number of each row.  Missing values come last.  Abandoned: not whole.
    Column rank(
        const double* values, const std::vector<Row>& original, double tolerance, const Control& control) {
        const auto rows = static_cast<Row>(original.size());
        const Halt halt = when_abandoned(control);
        items_.clear();
        missing_.clear();
        in_chunks(rows, halt, [&](Row begin, Row end) {
            for (Row r = begin; r < end; ++r) {
                const double value = values[original[r]];
                if (std::isnan(value)) missing_.push_back(r);
                else items_.push_back({sort_key(value), r});
            }
        });
        sort_by_key(items_, spare_, halt);
        Column column{};
        if (halt()) return column;
        column.order.resize(rows);
        rank_values(tolerance, halt, column);
        if (missing_.empty()) return column;
        column.missing = Missing::last;
        std::copy_backward(missing_.begin(), missing_.end(), column.order.end());
        column.ranks.resize(rows, static_cast<Rank>(column.values.lowest.size()));
        column.values.lowest.push_back(std::nan(""));
        if (!column.values.highest.empty()) column.values.highest.push_back(std::nan(""));
        return column;
    }
private:
    // Values closer together than the tolerance count as equal; chained, so that equality is transitive (the
    // paper's appendix A).  Merging breaks the order by row inside a rank, so that is restored.
    void rank_values(double tolerance, const Halt& halt, Column& column) const {
        std::vector<double>&lowest = column.values.lowest, &highest = column.values.highest;
        column.ranks.reserve(column.order.size());
        const auto count = static_cast<Row>(items_.size());
        bool merged = false;
        Row first = 0;    // of the present rank
        double last = 0;  // the value before
        const auto end_rank = [&](Row end) {
            if (tolerance <= 0) return;
            highest.push_back(last);
            std::sort(column.order.data() + std::exchange(first, end), column.order.data() + end);
        };
        in_chunks(count, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) {
                const double value = value_of(items_[k].key);
                if (k == 0 || !(last == value || value - last < tolerance)) {
                    if (k > 0) end_rank(k);
                    lowest.push_back(value);
                }
                merged |= lowest.back() != value;
                last = value;
                column.order[k] = items_[k].row;
                column.ranks.push_back(static_cast<Rank>(lowest.size() - 1));
            }
        });
        if (count > 0) end_rank(count);
        lowest.shrink_to_fit();
        if (!merged) highest = {};
    }

    std::vector<Keyed> items_, spare_;
    std::vector<Row> missing_;
};

// The same order with the missing values, which have the last rank, in front.
Column missing_first(Column column) {
    const auto missing_rank = static_cast<Rank>(column.values.lowest.size() - 1);
    const auto present = std::ranges::lower_bound(column.ranks, missing_rank) - column.ranks.begin();
    const auto turn = [](auto& list, auto begin) {
        std::rotate(list.begin(), list.begin() + begin, list.end());
    };
    column.missing = Missing::first;
    turn(column.order, present);
    turn(column.ranks, present);
    for (Rank& rank : column.ranks) rank = rank == missing_rank ? 0 : rank + 1;
    turn(column.values.lowest, missing_rank);
    if (!column.values.highest.empty()) turn(column.values.highest, missing_rank);
    return column;
}

}  // namespace

RankedTable rank_columns(
    const Table& table, const RowGroups& groups, double tolerance, const Control& control) {
    RankedTable ranked;
    ranked.rows = static_cast<Row>(table.rows);
    ranked.groups = groups.count;
    ranked.by_number = groups.of_row == nullptr;
    const auto group_of = [of = groups.of_row](Row r) { return of == nullptr ? 0 : static_cast<Row>(of[r]); };
    ranked.group_begin.assign(groups.count + 1, 0);
    for (Row r = 0; r < ranked.rows; ++r) ++ranked.group_begin[group_of(r) + 1];
    std::partial_sum(ranked.group_begin.begin(), ranked.group_begin.end(), ranked.group_begin.begin());
    ranked.original.resize(table.rows);
    std::vector<Row> next = ranked.group_begin;
    for (Row r = 0; r < ranked.rows; ++r) ranked.original[next[group_of(r)]++] = r;
    if (table.weights != nullptr)
        for (const Row r : ranked.original) ranked.weights.push_back(table.weights[r]);

    Sorter sorter;
    const auto is_categorical = [&](std::size_t f) {
        return table.categories != nullptr && table.categories[f] > 0;
    };
    for (std::size_t f = 0; f < table.features && ranked.complete; ++f) {
        if (is_categorical(f)) continue;
        Column column = sorter.rank(table.values + f * table.rows, ranked.original, tolerance, control);
        ranked.complete = !control.abandoned();
        if (!ranked.complete) break;
        column.feature = static_cast<std::int32_t>(f);
        ranked.columns.push_back(std::move(column));
        if (ranked.columns.back().missing != Missing::none)
            ranked.columns.push_back(missing_first(ranked.columns.back()));
    }
    const auto first = static_cast<FeatureId>(ranked.columns.size());
    std::size_t most_ranks = 0;
    for (std::size_t f = 0; f < table.features && ranked.complete; ++f) {
        if (!is_categorical(f)) continue;
        ranked.columns.push_back(rank_categories(table, f, ranked));
        most_ranks = std::max(most_ranks, ranked.columns.back().values.lowest.size());
        ranked.complete = !control.abandoned();
    }
    ranked.categories = std::make_shared<Categories>(first, most_ranks);
    return ranked;
}

// Rounding to float32 is monotone.  If it keeps left < right apart, then left < float(right): else that float
// would lie between, and left would round to it or above.  Mirrored float(left) < right: [low, high) has a t.
double threshold_between(double left, double right) {
    if (std::isnan(right)) return std::numeric_limits<double>::infinity();
    assert(left < right);
    const double narrow_left = static_cast<float>(left), narrow_right = static_cast<float>(right);
    const bool apart = narrow_left < narrow_right;
    const double low = apart ? std::max(left, narrow_left) : left;
    const double high = apart ? std::min(right, narrow_right) : right;
    const auto fits = [&](double t) { return low <= t && t < high; };
    const double middle = left / 2 + right / 2, inner = low / 2 + high / 2;  // a sum may overflow
    return fits(middle) ? middle : fits(inner) ? inner : low;
}
}  // namespace contree
