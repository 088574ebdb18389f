#include "search/stages.hpp"

#include "search/first_trees.hpp"
#include "search/look_ahead.hpp"
#include "search/polish.hpp"

namespace contree {

namespace {

constexpr Score few = 4;   // errors: polishing may gain so few only, and the look-ahead finds them as soon

}  // namespace

template <class Entry>
Stages<Entry>::Stages(const Subproblem<Entry>& root, std::int64_t depth, DepthTwo<Entry>& depth_two, const Kernel& kernel,
                      Cache& cache, Arena& arena, Statistics& statistics, const Control& control)
    : root_(root), depth_(std::min(depth, deepest_first_tree)), bench_(root, depth_two, kernel, cache, arena, statistics, control),
      local_search_(bench_, root, depth_) {}

template <class Entry>
template <class Action>
Outcome Stages<Entry>::counted(const Action& action) {
    const std::int64_t before = bench_.work();
    busy_ = true;
    Outcome tree = action();
    busy_ = false;
    work_ += bench_.work() - before;
    return tree;
}

template <class Entry>
Outcome Stages<Entry>::first() {
    return counted([&] {
        const auto polished = [&](const Outcome& tree) { return polish(bench_, root_, depth_, bench_.plain(root_, tree.plan)); };
        Outcome best = bench_.plain(root_, rollout_tree(bench_, root_, depth_).plan);
        if (best.upper <= few || bench_.stopped()) return best;
        best = polish(bench_, root_, depth_, std::move(best));
        Outcome other = polished(skeleton_tree(bench_, root_, depth_));
        return other.upper < best.upper ? other : best;
    });
}

template <class Entry>
Outcome Stages<Entry>::look_ahead(std::int64_t budget) {
    return counted([&] {
        const Outcome tree = look_ahead_tree(bench_, root_, depth_, bench_.work() + budget);
        return polish(bench_, root_, depth_, bench_.plain(root_, tree.plan));
    });
}

template <class Entry>
Outcome Stages<Entry>::search_near(const Outcome& tree, std::int64_t budget) {
    return counted([&] {
        if (tree.upper < best_.upper) best_ = bench_.plain(root_, tree.plan);
        local_search_.run(best_, bench_.work() + budget);
        return best_;
    });
}

template class Stages<NarrowEntry>;
template class Stages<WideEntry>;

}  // namespace contree
