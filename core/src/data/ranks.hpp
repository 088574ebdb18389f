// Columns to ranks: each feature is sorted once, and the search sees only ranks.
#pragma once

#include <vector>

#include "types.hpp"

namespace contree {

// U^f: equal values (or values within the tolerance) share a rank, which covers [lowest, highest].
struct Values {
    std::vector<double> lowest;    // by rank, ascending
    std::vector<double> highest;   // the same numbers where nothing was merged
};

// The rows renumbered by class, and for every feature their order by rank.
struct RankedTable {
    Row rows = 0;
    FeatureId features = 0;
    std::uint32_t classes = 0;
    std::vector<Row> class_begin;   // classes + 1: rows of class c are class_begin[c] .. class_begin[c + 1]
    std::vector<Row> original;      // the caller's number of each row
    std::vector<std::vector<Row>> order;    // by feature: rows by (rank, row)
    std::vector<std::vector<Rank>> ranks;   // by feature: the rank at each place of that order
    std::vector<Values> values;             // by feature
};

// Sorts every column.  Ends early, with `features` as far as it came, when the fit is abandoned.
RankedTable rank_columns(const Table& table, double tolerance, const Control& control);

// A threshold t with left <= t < right, for left < right.  Where float32 can tell the two apart, t also
// parts their float32 values, because scikit-learn's trees compare in float32.
double threshold_between(double left, double right);

}  // namespace contree
