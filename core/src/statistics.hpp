// Counters of a search, one row each.  Each thread has its own; they are added up at the end.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace contree {
#define CONTREE_COUNTERS(row)                                                                        \
    row(subproblems)              /* solved or cut off, at any depth */                              \
        row(depth_two_solves)     /* subproblems of depth two */                                     \
        row(d2split_calls)        /* splits evaluated at depth two: the paper's D2Split */           \
        row(depth_two_batches)    /* kernel runs; each evaluates up to 32 splits */                  \
        row(row_visits)           /* rows times features, over all kernel runs */                    \
        row(splits_evaluated)     /* splits evaluated above depth two */                             \
        row(ends_renewed)         /* ends of runs that were solved for the leaf sizes in them */     \
        row(cache_hits)           /* subproblems answered by the cache */                            \
        row(cache_entries)        /* subproblems kept */                                             \
        row(cache_bound_hits)     /* subproblems cut off by a bound in the cache */                  \
        row(pruned_neighbourhood) /* paper: thresholds cut by Corollary 1 */                         \
        row(pruned_interval_shrinking) row(pruned_subinterval)                                       \
            row(closed_by_segment_bound) /* segments closed by B1 */                                 \
        row(closed_by_trimming)          /* segments with no threshold left after B0 at both ends */ \
        row(closed_by_bound)             /* subproblems cut off by the parent's bound */             \
        row(closed_by_split_cost)        /* subproblems that no split can pay for: C1 */             \
        row(cut_by_affordable_splits)    /* subproblems searched for smaller trees: C2 */            \
        row(inherited_points)            /* points taken over by B4 */                               \
        row(arena_bytes)                 /* memory of all subproblems, at the most */

struct Statistics {
#define CONTREE_COUNTER(name) std::int64_t name = 0;
    CONTREE_COUNTERS(CONTREE_COUNTER)
#undef CONTREE_COUNTER

    void add(const Statistics& other) {
#define CONTREE_ADD(name) name += other.name;
        CONTREE_COUNTERS(CONTREE_ADD)
#undef CONTREE_ADD
    }

    std::vector<std::pair<std::string, std::int64_t>> rows() const {
        return {
#define CONTREE_PAIR(name) {#name, name},
            CONTREE_COUNTERS(CONTREE_PAIR)
#undef CONTREE_PAIR
        };
    }
};
}  // namespace contree
