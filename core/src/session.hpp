// Ranked rows, the objective, and what searches of them leave behind: one search at a time, wired together.
#pragma once
#include "result_builder.hpp"
#include "search/cache.hpp"
#include "search/side_profiles.hpp"

namespace contree {
class Levels;

class Session {
public:
    // Throws std::invalid_argument for weights or costs out of range.
    Session(const Table& table, const Options& options, const Control& control);

    void search(const FitRequest& request, const Control& control, ProgressLog& log, Result& result);
    // While another thread searches: what the search would be resumed from.
    void snapshot(const FitRequest& request, Snapshot& now);
    Frontier split(const Options& options, const Frontier& frontier, std::size_t parts) const;
private:
    Outcome first_outcome(const FitRequest& request);
    Outcome search_as_in_paper(const Problem& problem, const Control& control, Outcome first, Outcome& best,
        ResultBuilder& builder, Result& result);
    Outcome better_of_greedy(const Problem& problem, const Control& control, const Outcome& known);
    void search_best_first(const Problem& problem, const Control& control, Outcome first,
        ResultBuilder& builder, ProgressLog& log, Result& result);
    void finish(const Problem& problem, const Control& control, const Outcome& found, ResultBuilder& builder);
    static bool has_time(const Problem& problem, const Control& control, const ResultBuilder& builder);
    Outcome simpler(const Problem& problem, const Control& control, const Outcome& found) const;
    void show(Levels* levels);

    const Partitioner& partitioner_;
    RankedTable ranked_;
    Arena arena_;
    const std::unique_ptr<Objective> objective_;
    const RowSet root_;
    Cache cache_;
    RootProfiles profiles_;
    std::mutex mutex_;
    Levels* levels_ = nullptr;  // of the search that runs
    std::mutex build_mutex_;
    std::pair<Score, Tree> built_{unreached, {}};  // the last tree that `snapshot` built, and its score
};
}  // namespace contree
