// Which heuristic comes when, and for how much work.
//
// Work is counted in row visits, not seconds, so that a fit with one thread is the same every time.  The first trees
// come before the levels of the search that they can shorten; what follows are slices between the search's tasks.
#pragma once

#include "search/local_search.hpp"

namespace contree {

template <class Entry>
class Stages {
public:
    Stages(const Subproblem<Entry>& root, std::int64_t depth, std::uint64_t seed, DepthTwo<Entry>& depth_two, const Kernel& kernel,
           Cache& cache, Arena& arena, Statistics& statistics, const Control& control);

    // How the local search is to solve subtrees of a depth above two.
    void search_exactly(typename Bench<Entry>::Exact solve) { bench_.solve_exact = std::move(solve); }

    // Who hears at once of better trees, while a stage goes on.
    void tell(std::function<void(const Outcome&)> listener) { bench_.tell = std::move(listener); }

    // S1: a rollout, polished.
    Outcome first();
    // S2, looking ahead, for at most so much work.
    Outcome look_ahead(std::int64_t budget);
    // S3: a slice of local search from `tree`, or from where the last one ended.
    Outcome search_near(const Outcome& tree, std::int64_t budget);

private:

    const Subproblem<Entry>& root_;
    const std::int64_t depth_;
    Bench<Entry> bench_;
    LocalSearch<Entry> local_search_;
    Outcome best_;            // the local search's, plain
};

extern template class Stages<NarrowEntry>;
extern template class Stages<WideEntry>;

}  // namespace contree
