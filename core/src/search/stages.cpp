#include "search/stages.hpp"

#include "search/first_trees.hpp"
#include "search/look_ahead.hpp"
#include "search/polish.hpp"

namespace contree {

template <class Entry>
Stages<Entry>::Stages(const Subproblem<Entry>& root, std::int64_t depth, std::uint64_t seed, DepthTwo<Entry>& depth_two,
                      const Kernel& kernel, Cache& cache, Arena& arena, Statistics& statistics, const Control& control)
    : root_(root), depth_(std::min(depth, deepest_first_tree)), bench_(root, depth_two, kernel, cache, arena, statistics, control),
      local_search_(bench_, root, depth_, seed) {}

template <class Entry>
Outcome Stages<Entry>::first() {
    return polish(bench_, root_, depth_, bench_.plain(root_, rollout_tree(bench_, root_, depth_).plan));
}

template <class Entry>
Outcome Stages<Entry>::look_ahead(std::int64_t budget) {
    const Outcome tree = look_ahead_tree(bench_, root_, depth_, bench_.work() + budget);
    return polish(bench_, root_, depth_, bench_.plain(root_, tree.plan));
}

template <class Entry>
Outcome Stages<Entry>::search_near(const Outcome& tree, std::int64_t budget) {
    if (tree.upper < best_.upper) best_ = bench_.plain(root_, tree.plan);
    local_search_.run(best_, bench_.work() + budget);
    return best_;
}

template class Stages<NarrowEntry>;
template class Stages<WideEntry>;

}  // namespace contree
