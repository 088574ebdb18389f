#include "search/stages.hpp"

#include "search/first_trees.hpp"
#include "search/look_ahead.hpp"
#include "search/polish.hpp"

namespace contree {

namespace {

constexpr Score few = 4;   // errors: polishing may gain so few only, and mending gets rid of them sooner

}  // namespace

template <class Entry>
Stages<Entry>::Stages(const Subproblem<Entry>& root, std::int64_t depth, std::uint64_t seed, DepthTwo<Entry>& depth_two,
                      const Kernel& kernel, Cache& cache, Arena& arena, Statistics& statistics, const Control& control)
    : root_(root), depth_(std::min(depth, deepest_first_tree)), bench_(root, depth_two, kernel, cache, arena, statistics, control),
      local_search_(bench_, root, depth_, seed) {}

template <class Entry>
Outcome Stages<Entry>::first() {
    const auto polished = [&](const Outcome& tree) { return polish(bench_, root_, depth_, bench_.plain(root_, tree.plan)); };
    Outcome best = bench_.plain(root_, rollout_tree(bench_, root_, depth_).plan);
    if (best.upper <= few || bench_.stopped()) return mend(root_, depth_, std::move(best));
    best = polish(bench_, root_, depth_, std::move(best));
    Outcome other = polished(skeleton_tree(bench_, root_, depth_));
    return mend(root_, depth_, other.upper < best.upper ? std::move(other) : std::move(best));
}

// A tree of few errors: the subtrees that make them are made anew, looking ahead, from the lowest up, where that costs least.
template <class Entry>
Outcome Stages<Entry>::mend(const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree) {
    if (tree.upper == 0 || tree.upper > few || depth <= 2 || tree.plan.size() < 3 || bench_.stopped()) return tree;
    Arena::Frame frame(bench_.arena);
    const Step split = tree.plan.front();
    const Children<Entry> children = bench_.split(sub, locate(sub, split));
    if (bench_.stopped()) return tree;
    const Step *const begin = tree.plan.data() + 1, *const middle = end_of(begin), *const end = tree.plan.data() + tree.plan.size();
    Outcome left{0, 0, Plan(begin, middle)}, right{0, 0, Plan(middle, end)};
    left.upper = bench_.errors(children.left, left.plan);
    right.upper = tree.upper - left.upper;
    const auto mended = [&](const Subproblem<Entry>& side, Outcome old) {
        old = mend(side, depth - 1, std::move(old));
        if (old.upper == 0 || depth <= 3) return old;
        const Outcome anew = look_ahead_tree(bench_, side, depth - 1, bench_.work() + 50 * std::int64_t{root_.rows} * root_.features);
        return anew.upper < old.upper ? bench_.plain(side, anew.plan) : old;
    };
    left = mended(children.left, std::move(left));
    right = mended(children.right, std::move(right));
    if (bench_.stopped()) return tree;   // what was counted since means nothing
    return {0, left.upper + right.upper, join(split, left.plan, right.plan)};
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
