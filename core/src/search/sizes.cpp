// The best trees of every number of leaves: the part of BestFirst that searches one after the other and lets each
// learn from those before.
//
// One to three leaves come first, as they cost next to nothing, then the search without a limit.  From its tree
// downwards, each size has the bounds of the next larger one: theta falls in the number of leaves, so what was
// proved of all thresholds for more leaves holds for fewer (shape.hpp), and a shape (l_L, l_R) takes the left bounds
// from (l_L, l_R + 1) and the right ones from (l_L + 1, l_R).  The cache serves all sizes.  A tree that was found is
// pruned, as a first tree for every smaller size; and one with fewer leaves than asked for settles all sizes between.
#include "search/best_first.hpp"
#include "search/first_trees.hpp"
#include "search/prune.hpp"
#include "tree/plain.hpp"

namespace contree {

namespace {

constexpr Leaves few = 3;   // so many are searched first

}  // namespace

template <class Entry>
void BestFirst<Entry>::search_sizes(Worker& worker) {
    const Outcome largest = incumbent();
    const TreeSize whole = size_;
    telling_ = false;
    spread(worker, largest);
    const auto count = static_cast<Leaves>(sizes_.size());
    sizes_.back().lower = std::max(sizes_.back().lower, largest.lower);
    const auto hand_down = [&](Leaves leaves) { sizes_[leaves - 1].lower = std::max(sizes_[leaves - 1].lower, sizes_[leaves].lower); };
    const auto settle = [&](Leaves leaves) {
        const Outcome& size = sizes_[leaves - 1];
        if (size.lower + options_.max_gap < size.upper && !ended()) solve_size(worker, leaves);
    };
    // Downwards is cheaper; whoever has no time for all of it wants the small ones first.
    if (options_.time_limit < std::numeric_limits<double>::infinity()) {
        for (Leaves leaves = count; leaves-- > 1;) hand_down(leaves);
        for (Leaves leaves = 1; leaves < count; ++leaves) settle(leaves);
    }
    for (Leaves leaves = count; leaves-- > 1;) {
        hand_down(leaves);
        settle(leaves);
    }
    if (control_.stopped() && !control_.abandoned()) spread(worker, greedy_tree(root_, options_.max_depth, rules_.objective, *kernel_.movers, worker.arena, when_hurried(control_)));
    while (sizes_.size() > 1 && sizes_.back().upper == sizes_[sizes_.size() - 2].upper) sizes_.pop_back();
    size_ = whole;
    incumbent_ = largest;
}

// Sizes that take no time.  What is found is kept for `search_sizes`, which would ask for nothing else.
template <class Entry>
void BestFirst<Entry>::search_few(Worker& worker) {
    const TreeSize whole = size_;
    telling_ = false;
    for (Leaves leaves = 1; leaves <= std::min(few, whole.leaves) && !ended(); ++leaves) {
        sizes_.resize(leaves);
        solve_size(worker, leaves);
    }
    telling_ = true;
    size_ = whole;
    incumbent_ = {};
    finished_ = false;
}

// Searches one size, from what is known of it, and tells the others.
template <class Entry>
void BestFirst<Entry>::solve_size(Worker& worker, Leaves leaves) {
    size_ = TreeSize(options_.max_depth, leaves, root_.rows);
    finished_ = false;
    incumbent_ = sizes_[leaves - 1];
    const Outcome first = incumbent_, ends{shallow_.lower, unreached, {}};
    Profile next;
    Question question{root_, size_, first.lower, unreached, options_.max_gap, {}, nullptr, nullptr};
    question.incumbent = &first;
    if (!known_.empty()) question.sources = {&known_, &known_};
    if (shallow_.lower > 0) question.shallow = &ends;
    if (shallow_.lower > 0 && !shallow_learnt_.empty()) question.shallow_learnt = &shallow_learnt_;
    if (remembers(root_, size_.depth)) question.learnt = &next;
    const Outcome outcome = solve(worker, question);
    if (!outcome.plan.empty()) take(outcome);
    raise(outcome.lower);
    // Upwards, what the search without a limit learnt stays the best that is known.
    if (!next.empty() && options_.time_limit == std::numeric_limits<double>::infinity()) known_ = std::move(next);
    incumbent_.lower = std::min(incumbent_.lower, incumbent_.upper);
    sizes_[leaves - 1].lower = incumbent_.lower;
    spread(worker, incumbent_);
}

// A tree serves its own size and, pruned, every smaller one.
template <class Entry>
void BestFirst<Entry>::spread(Worker& worker, const Outcome& tree) {
    if (tree.plan.empty()) return;
    const Plan plan = plain_plan(root_, tree.plan, *kernel_.movers, worker.arena, {});
    const Prunings prunings(root_, plan, rules_.objective, any_leaves);
    const Leaves own = std::min(leaves_of(prunings.best(any_leaves).plan), leaves_of(options_));
    while (sizes_.size() < own) {
        sizes_.push_back(sizes_.empty() ? Outcome{} : sizes_.back());   // a tree of fewer leaves
        sizes_.back().lower = 0;
    }
    for (Leaves leaves = 1; leaves <= sizes_.size(); ++leaves) {
        Outcome& size = sizes_[leaves - 1];
        Outcome pruning = prunings.best(leaves);
        if (pruning.upper >= size.upper) continue;
        size.upper = pruning.upper;
        size.plan = std::move(pruning.plan);
    }
}

#define CONTREE_SIZES(Entry)                                           \
    template void BestFirst<Entry>::search_sizes(Worker&);             \
    template void BestFirst<Entry>::search_few(Worker&);               \
    template void BestFirst<Entry>::solve_size(Worker&, Leaves);       \
    template void BestFirst<Entry>::spread(Worker&, const Outcome&);
CONTREE_SIZES(NarrowEntry)
CONTREE_SIZES(WideEntry)
#undef CONTREE_SIZES

}  // namespace contree
