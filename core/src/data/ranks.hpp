// Columns to ranks: each feature is sorted once, and the search sees only ranks.
#pragma once

#include <vector>

#include "types.hpp"

namespace contree {

// U^f: equal values (or values within the tolerance) share a rank, which covers [lowest, highest].
struct Values {
    std::vector<double> lowest;    // by rank, ascending
    std::vector<double> highest;   // empty where nothing was merged: the same numbers
    double highest_of(std::size_t rank) const { return highest.empty() ? lowest[rank] : highest[rank]; }
};

// Where the rows without a value stand in an order.
enum class Missing : std::uint8_t { none, last, first };

// One order of the rows by a feature.  A feature with missing values has two, with these rows last and first: a
// threshold of the one sends them right, of the other left.  They share one rank of their own, for which `values`
// holds NaN; the threshold that parts them from all others counts in the first of the two orders only.
struct Column {
    std::int32_t feature;
    Missing missing;
    std::vector<Row> order;    // rows by (rank, row)
    std::vector<Rank> ranks;   // the rank at each place of that order
    Values values;
};

// The rows renumbered by class, and their orders.
struct RankedTable {
    Row rows = 0;
    std::uint32_t classes = 0;
    bool complete = true;           // false: abandoned before all features were ranked
    std::vector<Row> class_begin;   // classes + 1: rows of class c are class_begin[c] .. class_begin[c + 1]
    std::vector<Row> original;      // the caller's number of each row
    std::vector<Score> weights;     // by row; empty where all weigh one
    LeafSize min_leaf;              // what every leaf has at least
    std::vector<Column> columns;
};

// Sorts every column.  Ends early, not complete, when the fit is abandoned.
RankedTable rank_columns(const Table& table, double tolerance, const Control& control);

// A threshold t with left <= t < right, for left < right; infinity where right is NaN, the missing values.
//  Where float32 can tell the two apart, t also
// parts their float32 values, because scikit-learn's trees compare in float32.
double threshold_between(double left, double right);

}  // namespace contree
