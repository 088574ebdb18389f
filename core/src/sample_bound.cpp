#include "sample_bound.hpp"
#include "objective/table_sample.hpp"
#include "session.hpp"

namespace contree {
namespace {
// Deeper trees fit so few rows, or take so long, that a sample tells nothing.
constexpr std::int64_t deepest = 4;
constexpr std::size_t least_rows = 32;
// A sample of twice the rows takes up to so many times as long; all of them may look at each cell so often.
constexpr std::int64_t growth = 8, passes = 4;
}  // namespace

Score sample_bound(const Table& table, const Options& options, const Control& control) {
    if (options.max_depth > deepest) return 0;
    Options alone = options;
    alone.min_samples_leaf = 1;
    alone.min_weight_leaf = alone.leaf_cost = alone.max_gap = 0;
    alone.all_sizes = false;
    alone.n_jobs = 1;
    const Start start;
    const auto budget = passes * static_cast<std::int64_t>(table.rows * table.features);
    Score bound = 0;
    std::int64_t work = 0;
    for (std::size_t rows = least_rows; rows <= table.rows && growth * work <= budget && !control.stopped();
        rows *= 2) {
        const TableSample sample(table, rows);
        ProgressLog log(ProgressLog::Clock::now(), 0);
        Result result;
        Session(sample.table, alone, control).search({sample.table, alone, start}, control, log, result);
        bound = std::max(bound, result.lower_bound);
        for (const auto& [name, count] : result.counters) work += name == "row_visits" ? count : 0;
    }
    return bound;
}
}  // namespace contree
