// All rows, one level deeper each time: the part of BestFirst that orders levels and heuristics, and keeps the best
// tree and the proved bound.
#include "bounds/class_count.hpp"
#include "bounds/irreducible.hpp"
#include "search/best_first.hpp"
#include "search/first_trees.hpp"
#include "search/prune.hpp"

namespace contree {

namespace {

constexpr std::int64_t cheap_depth = 3;   // up to here heuristics, and looking for equal rows, cost more than they save

}  // namespace

// Whatever ends it, the result is no worse than CART's tree.  That tree costs next to nothing beside what follows, but for
// few rows and levels: there it is left until the search turns out to have been stopped, which takes it some milliseconds.
template <class Entry>
Outcome BestFirst<Entry>::search(Worker& worker) {
    const std::uint64_t many_cells = size_.depth > cheap_depth ? 20'000 : 500'000;
    const bool begun = start_.depth > 0, first = !begun && std::uint64_t{root_.rows} * root_.features >= many_cells;
    greedy_is_known_ = first;
    if (options_.all_sizes) search_few(worker);
    raise(first_.lower);
    if (!first_.plan.empty()) take(first_);
    if (first) take(greedy(worker, when_hurried(control_)));
    deepen(worker);
    if (!first && !begun && !finished() && control_.stopped() && !control_.abandoned()) take(greedy(worker, when_abandoned(control_)));
    if (incumbent().plan.empty()) take({0, leaf_score(root_, rules_.objective), {Step{Step::leaf, 0}}});
    {
        std::lock_guard lock(incumbent_mutex_);   // a snapshot may be taken at any moment
        incumbent_.lower = std::min(incumbent_.lower, incumbent_.upper);
    }
    if (options_.all_sizes) search_sizes(worker);
    return incumbent();
}

// A level's tree is the next one's first incumbent, and its bound the end of the next one's bounds.  A shallower level
// is solved only as far as half the errors of the best tree so far, of whatever depth: what is not below that needs no
// exact value, and a bound that high serves the next level nearly as well as the score would.  (Raisin at depth 6:
// 36 s with exact levels, 19 s up to the best tree, 18 s up to half of it.)  Stops at the depth asked for, or where no
// tree of any depth has fewer errors.
template <class Entry>
void BestFirst<Entry>::deepen(Worker& worker) {
    const std::int64_t target_depth = size_.depth;
    const std::int64_t first_depth = options_.switches.shallow_first ? std::min<std::int64_t>(2, target_depth) : target_depth;
    const bool begun = start_.depth > 0;
    if (begun && !first_.plan.empty() && options_.switches.first_trees && size_.depth > cheap_depth && !stopping()) prepare_stages(worker);
    Score irreducible = first_.lower;   // what holds at the depth asked for holds at each that is less
    Outcome outcome;
    Profile learnt;
    for (std::int64_t depth = begun ? start_.depth : first_depth;; ++depth) {
        Profile next;
        const bool resumed = begun && depth == start_.depth;
        const bool last = depth == target_depth, remember = (!last || options_.all_sizes) && remembers(root_, depth);
        const Outcome best = incumbent();
        const bool exact = last || depth == first_depth || !options_.switches.incumbent_targets;
        const Score best_known = std::min(best.upper, cutoff());
        Question question{root_, {depth, size_.leaves, root_.rows}, irreducible, exact ? unreached : (best_known + 1) / 2 + options_.max_gap, options_.max_gap, {},
                          remember ? &next : nullptr, nullptr};
        question.level = true;
        if (resumed) {
            question.start = &start_;
        } else if (depth > first_depth) {
            question.shallow = &outcome;
            question.shallow_learnt = learnt.empty() ? nullptr : &learnt;
        }
        if (last) question.incumbent = &best;
        if (last && options_.all_sizes) {
            shallow_ = outcome;
            shallow_learnt_ = learnt;
        }
        const std::int64_t before = worker.statistics.row_visits;
        if (resumed && start_.intervals.empty()) outcome = {std::max(irreducible, std::min(without_leaf(start_.floor), leaf_score(root_, rules_.objective))), unreached, {}};
        else outcome = solve(worker, question);
        learnt = std::move(next);
        if (!outcome.plan.empty()) take(outcome);
        if (last) raise(outcome.lower);
        if (!stopping() && !left_open_ && !(last && asked_.open_only)) end_level(depth, outcome.lower);
        if (last && options_.all_sizes) known_ = std::move(learnt);
        if (last || left_open_ || asked_.part || finished() || stopping()) return;
        if (depth == cheap_depth) irreducible = std::max(irreducible, rules_.worth(irreducible_errors(root_, when_stopped(control_))));
        raise(irreducible);
        if (!finished() && options_.switches.first_trees) look_for_trees(worker, depth, worker.statistics.row_visits - before);
        // Other heuristics look no deeper; CART's tree, without a limit, tells apart all that can be, be it by a chain of splits.
        if (depth == cheap_depth && size_.depth > deepest_first_tree && !greedy_is_known_ && !finished()) take(greedy(worker, when_hurried(control_)));
        if (finished() || stopping()) return;
    }
}

// The work that a proof takes at the least, by what it took on the paper's data sets: it grows with the errors between
// the best tree and what is proved, in units of the depth-two search of all rows.  From depth five on these were 1,200
// units an error and more (Segment at depth six, Occupancy, Bidding), at depth four 20 to 30 but for the smallest
// (Bidding, Wilt, Room, Occupancy, Segment), and many times as much where proofs take minutes.
template <class Entry>
double BestFirst<Entry>::least_proof() {
    const Score open = [&] {
        std::lock_guard lock(incumbent_mutex_);
        return incumbent_.upper - incumbent_.lower;
    }();
    const double rows = static_cast<double>(open) / static_cast<double>(rules_.objective.error) * root_.rows / static_cast<double>(root_.mass);
    return (size_.depth > cheap_depth + 1 ? 1000 : 20) * rows * static_cast<double>(two_work_);
}

// The heuristics look for few errors alone; what they find is pruned (`to_size`).
template <class Entry>
void BestFirst<Entry>::prepare_stages(Worker& worker) {
    const bool plain = rules_.objective.plain();
    if (!plain) plain_two_ = std::make_unique<DepthTwo<Entry>>(kernel_, options_.switches, control_);
    stages_ = std::make_unique<Stages<Entry>>(root_, size_.depth, options_.seed, plain ? worker.depth_two : *plain_two_, kernel_,
                                              cache_, worker.arena, worker.statistics, control_);
    if (plain) stages_->search_exactly([this, &worker](const Subproblem<Entry>& sub, std::int64_t levels, Score target, std::int64_t budget) {
        worker.work_end = worker.work() + budget;
        Outcome found = solve(worker, {sub, {levels, any_leaves, sub.rows}, 0, target, 0, {}, nullptr, nullptr});
        worker.work_end = Worker::endless;
        return found;
    });
    stages_->tell([this](const Outcome& tree) { take(of_stage(tree)); });
}

// After a level that took so much work: the heuristics that may shorten the next.  What they may cost is a small part
// of what the proof must take.  At depth four that was at least six times the work of level three on every data set
// measured.  Where level three takes more than 4 million row visits it is far more: some seven hundred times on Page,
// the only such set whose proof was timed.  From depth five on a proof takes thousands of
// solves of depth two, and better trees pay, because shallower levels then end earlier.
template <class Entry>
void BestFirst<Entry>::look_for_trees(Worker& worker, std::int64_t depth, std::int64_t level_work) {
    if (size_.depth <= cheap_depth) return;
    const bool deep = size_.depth > cheap_depth + 1;
    const auto look_ahead = [&](std::int64_t budget) { look(worker, [&] { return stages_->look_ahead(budget); }); };
    const auto search_near = [&](std::int64_t budget) { look(worker, [&] { return stages_->search_near(for_stage(), budget); }); };
    if (depth == 2) {
        two_work_ = level_work;
        prepare_stages(worker);
        look(worker, [&] { return stages_->first(); });
        if (!deep) return;
        look_ahead(200 * level_work);
        search_near(std::min<std::int64_t>(400 * level_work, 300'000'000));
    } else if (depth == cheap_depth && !deep) {
        hard_ = level_work >= 4'000'000;
        look_ahead(hard_ ? 40 * level_work : level_work);
        search_near(hard_ ? std::min<std::int64_t>(30 * level_work, 300'000'000) : level_work);
    }
}

// Takes what a stage finds.
template <class Entry>
template <class Stage>
void BestFirst<Entry>::look(Worker& worker, const Stage& stage) {
    if (finished()) return;
    const std::int64_t before = worker.statistics.row_visits;
    take(of_stage(stage()));
    trees_visits_ += worker.statistics.row_visits - before;
}

// Between two tasks of the first thread: slices of local search, where their share of the work is due.  At first it is
// five times the search's own, and from depth five on ten times, as long as this is a small part of any proof that is so
// far off; from then on nearly all is the proof's.  Where the
// time limit leaves no hope of a proof, its length does not matter for trees.
template <class Entry>
void BestFirst<Entry>::work_beside(Worker& worker) {
    if (&worker != workers_[0].get() || stopping()) return;   // the stages are the first thread's
    if (stages_ == nullptr || beside_ || root_node_ == nullptr) return;   // nor while a part of the rows is searched
    // At depth four looking ahead comes first, after level three, and finds better trees to start from.  (Fault after 3 s:
    // 386 errors; 397 where local search had begun before.)
    if (root_node_->depth == cheap_depth && size_.depth == cheap_depth + 1) return;
    constexpr double often = 0.03, of_proof = 0.08, most = 2.5e9;
    const bool deep = size_.depth > cheap_depth + 1;
    const double trees_first = deep ? 10 : 5;
    constexpr double a_second = 2.5e8;   // row visits, at the least
    const double cells = static_cast<double>(root_.rows) * root_.features, threads = static_cast<double>(workers_.size()), proof = least_proof();
    const auto own = static_cast<double>(worker.work() - trees_visits_);
    const double for_trees = proof >= a_second * options_.time_limit * threads ? most : std::min(most, of_proof * proof);
    const auto due = [&](double more, double share, double early) { return more <= std::min(share * own, std::max(often * own, early)); };
    const double slice = std::min(4e7, 500 * cells);
    const std::int64_t before = worker.work(), end = worker.work_end;
    beside_ = true;
    if (due(static_cast<double>(trees_visits_) + slice, trees_first, for_trees))
        look(worker, [&] { return stages_->search_near(for_stage(), static_cast<std::int64_t>(slice)); });
    beside_ = false;
    worker.work_end = end == Worker::endless ? end : end + (worker.work() - before);   // it is not the search's own
}

template <class Entry>
Outcome BestFirst<Entry>::greedy(Worker& worker, const Halt& halt) const {
    return to_size(greedy_tree(root_, options_.max_depth, rules_.objective, *kernel_.movers, worker.arena, halt));
}

// A tree that was made for few errors, pruned to the best of the size and for the objective asked for.
template <class Entry>
Outcome BestFirst<Entry>::to_size(Outcome tree) const {
    if (rules_.objective.plain() && leaves_of(tree.plan) <= size_.leaves) return tree;
    return pruned(root_, tree.plan, rules_.objective, size_.leaves);
}

// What a heuristic found, and what the next one starts from: the incumbent, or, where more than errors counts, the
// tree of fewest errors that heuristics have found.
template <class Entry>
Outcome BestFirst<Entry>::of_stage(Outcome tree) {
    if (rules_.objective.plain() && !size_.limited()) return tree;
    Outcome fit = to_size(tree);
    if (tree.upper < unpruned_.upper) unpruned_ = std::move(tree);
    return fit;
}

template <class Entry>
Outcome BestFirst<Entry>::for_stage() {
    const bool unlimited = rules_.objective.plain() && !size_.limited();
    return unlimited || unpruned_.plan.empty() ? incumbent() : unpruned_;
}

// Takes a tree for all rows as the incumbent where it is better; the node of all rows learns of it too.
template <class Entry>
void BestFirst<Entry>::take(const Outcome& tree) {
    keep(tree.upper, tree.plan);
    if (root_node_ == nullptr) return;
    std::lock_guard lock(root_node_->mutex);
    if (tree.upper >= root_node_->ub) return;
    root_node_->ub = tree.upper;
    // What is found for a shallower level must be a tree of that level.
    if (root_node_->depth == size_.depth) root_node_->best = {0, tree.upper, tree.plan};
}

template <class Entry>
Outcome BestFirst<Entry>::incumbent() {
    std::lock_guard lock(incumbent_mutex_);
    return incumbent_;
}

template <class Entry>
void BestFirst<Entry>::keep(Score score, const Plan& plan) {
    std::lock_guard lock(incumbent_mutex_);
    if (score >= incumbent_.upper) return;
    incumbent_.upper = score;
    incumbent_.plan = plan;
    told();
}

// A bound that holds for the depth asked for.
template <class Entry>
void BestFirst<Entry>::raise(Score lower) {
    std::lock_guard lock(incumbent_mutex_);
    if (lower <= incumbent_.lower) return;
    incumbent_.lower = lower;
    told();
}

// What the queue of all rows proves at this moment; a shallower level proves nothing of the depth asked for.
template <class Entry>
void BestFirst<Entry>::raise_bound(Node& node) {
    if (node.sub != &root_ || node.depth != size_.depth) return;
    Score bound;
    {
        std::lock_guard lock(node.mutex);
        bound = node.bound();
    }
    raise(bound);
}

template <class Entry>
void BestFirst<Entry>::told() {
    if (std::min(incumbent_.upper, cutoff()) - options_.max_gap <= incumbent_.lower) finished_.store(true, std::memory_order_relaxed);
    if (incumbent_.upper == unreached || !telling_) return;
    improved_(incumbent_);
}

#define CONTREE_DEEPEN(Entry)                                         \
    template Outcome BestFirst<Entry>::search(Worker&);               \
    template void BestFirst<Entry>::deepen(Worker&);                  \
    template double BestFirst<Entry>::least_proof();                  \
    template void BestFirst<Entry>::prepare_stages(Worker&);          \
    template void BestFirst<Entry>::look_for_trees(Worker&, std::int64_t, std::int64_t); \
    template void BestFirst<Entry>::work_beside(Worker&);             \
    template Outcome BestFirst<Entry>::greedy(Worker&, const Halt&) const; \
    template Outcome BestFirst<Entry>::to_size(Outcome) const;        \
    template Outcome BestFirst<Entry>::of_stage(Outcome);             \
    template Outcome BestFirst<Entry>::for_stage();                   \
    template void BestFirst<Entry>::take(const Outcome&);             \
    template Outcome BestFirst<Entry>::incumbent();                   \
    template void BestFirst<Entry>::told();                           \
    template void BestFirst<Entry>::keep(Score, const Plan&);         \
    template void BestFirst<Entry>::raise(Score);                     \
    template void BestFirst<Entry>::raise_bound(Node&);
CONTREE_DEEPEN(NarrowEntry)
CONTREE_DEEPEN(WideEntry)
#undef CONTREE_DEEPEN

}  // namespace contree
