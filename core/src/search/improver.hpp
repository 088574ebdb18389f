// Who makes good trees while the search proves: the heuristics, as the search sees them.
#pragma once
#include "search/worker.hpp"
#include "tree/outcome.hpp"

namespace contree {
class Improver {
public:
    virtual ~Improver() = default;
    // CART's tree, of any number of leaves.  What is not split at a halt is a leaf.
    virtual Outcome greedy(Worker& worker, std::int64_t depth, const Halt& halt) = 0;
    // A tree pruned to the best of the size and for the costs asked for.
    virtual Outcome to_size(const Outcome& tree) const = 0;
    // After the level of that depth, which took `level_work` row visits; or before a search goes on.  With
    // `endless_sets` of categories the next level may say nothing for long.
    virtual void after_level(std::int64_t depth, std::int64_t level_work, bool endless_sets) = 0;
    virtual void before_resuming() = 0;
    // How much work a first bound may take, where depth two took `level_work` row visits.
    virtual std::int64_t early_bound_budget(std::int64_t level_work) const = 0;
    // Between two tasks of the first thread, while the level of some depth is searched.
    virtual void between_tasks(std::int64_t level_depth) = 0;
};
}  // namespace contree
