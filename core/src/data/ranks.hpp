// Columns to ranks: each feature is sorted once, and the search sees only ranks.
#pragma once
#include <memory>
#include <vector>
#include "data/categories.hpp"

namespace contree {
// U^f: equal values (or values within the tolerance) share a rank, which covers [lowest, highest].
struct Values {
    std::vector<double> lowest;   // by rank, ascending; of a categorical column the categories
    std::vector<double> highest;  // empty where nothing was merged: the same numbers
    double highest_of(std::size_t rank) const { return highest.empty() ? lowest[rank] : highest[rank]; }
};

// Where the rows without a value stand in an order.
enum class Missing : std::uint8_t { none, last, first };

// One order of the rows by a feature.  A feature with missing values has two, with these rows last and first,
// so that a threshold sends them right or left.  They share one rank, for which `values` holds NaN; the
// threshold that parts them from all others counts in the first of the two orders only.
struct Column {
    std::int32_t feature;
    Missing missing;
    std::vector<Row> order;   // rows by (rank, row)
    std::vector<Rank> ranks;  // the rank at each place of that order
    Values values;
};

// The rows renumbered group by group, as the objective groups them, and their orders.
struct RankedTable {
    Row rows = 0;
    std::uint32_t groups = 0;
    bool complete = true;          // false: abandoned before all features were ranked
    bool by_number = false;        // does the objective know each row by its number?
    std::vector<Row> group_begin;  // groups + 1: rows of group g are group_begin[g] .. group_begin[g + 1]
    std::vector<Row> original;     // the caller's number of each row
    std::vector<Score> weights;    // by row; empty where all weigh one
    LeafSize min_leaf;             // what every leaf has at least
    std::vector<Column> columns;   // categorical ones last, both parts by feature
    std::shared_ptr<Categories> categories;
};

// A categorical column: the category with the most rows first.  A value that is no category throws
// std::invalid_argument.
Column rank_categories(const Table& table, std::size_t f, const RankedTable& ranked);

// The group of each of the caller's rows, 0..count-1; or one group, of rows that are known by their numbers.
struct RowGroups {
    const std::int32_t* of_row;  // null: one group
    std::uint32_t count;
};

// Sorts every column.  Ends early, not complete, when the fit is abandoned.
RankedTable rank_columns(
    const Table& table, const RowGroups& groups, double tolerance, const Control& control);

// A threshold t with left <= t < right, for left < right; infinity where right is NaN, the missing values.
// If float32 can tell the two apart, t also parts their float32 values: scikit-learn's trees compare these.
double threshold_between(double left, double right);
}  // namespace contree
