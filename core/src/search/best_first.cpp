#include "search/best_first.hpp"

#include <exception>
#include <thread>

#include "bounds/class_count.hpp"
#include "bounds/irreducible.hpp"
#include "search/first_trees.hpp"
#include "tree/stump.hpp"

namespace contree {

namespace {

constexpr std::int64_t cached_depth = 3;   // below that a subproblem is solved faster than found

// A heap's order: least bound on top; of equal bounds the longest, because it tells most.
bool later(const Segment& a, const Segment& b) {
    if (a.bound != b.bound) return a.bound > b.bound;
    if (a.length() != b.length()) return a.length() < b.length();
    return a.f != b.f ? a.f > b.f : a.u.z > b.u.z;
}

Outcome leaf_outcome(Score errors) { return {errors, errors, {Step{Step::leaf, 0}}}; }

}  // namespace

template <class Entry>
BestFirst<Entry>::BestFirst(const Subproblem<Entry>& root, Row table_rows, const Options& options,
                            const Control& control, Improved improved, Outcome first, RootShare& root_share)
    : root_(root), options_(options), control_(control), improved_(std::move(improved)), first_(std::move(first)),
      root_share_(root_share), kernel_(chosen_kernel()), rules_{options.switches.monotone != 0, options.switches.similarity != 0},
      cache_(table_rows, options.cache_capacity()) {
    for (int i = 0; i < std::max(1, options.n_jobs); ++i)
        workers_.push_back(std::make_unique<Worker>(kernel_, options.switches, control));
}

template <class Entry>
Outcome BestFirst<Entry>::run() {
    Outcome outcome;
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < workers_.size(); ++i)
                helpers.emplace_back([this, i] { help_until_done(*workers_[i]); });
            outcome = search(*workers_[0]);
        } catch (...) {
            fail();
        }
        std::lock_guard lock(sharing_mutex_);
        done_ = true;
    }
    if (failure_) std::rethrow_exception(failure_);
    return outcome;
}

// Keeps the exception that is being handled, for `run`, and ends the search of all threads as a stop would: nodes are
// left in order, because other threads may be inside them.
template <class Entry>
void BestFirst<Entry>::fail() {
    std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
}

template <class Entry>
Statistics BestFirst<Entry>::statistics() const {
    Statistics sum;
    for (const auto& worker : workers_) {
        sum.add(worker->statistics);
        sum.arena_bytes += static_cast<std::int64_t>(worker->arena.bytes());
    }
    sum.cache_entries = static_cast<std::int64_t>(cache_.entries());
    return sum;
}

// Whatever ends it, the result is no worse than CART's tree.  That tree costs next to nothing on many rows, beside
// what follows; on few rows it is left until the search turns out to have been stopped.
template <class Entry>
Outcome BestFirst<Entry>::search(Worker& worker) {
    constexpr std::uint64_t many_cells = 2'000'000;
    const auto greedy = [&] { return greedy_tree(root_, options_.max_depth, *kernel_.movers, worker.arena); };
    const bool first = std::uint64_t{root_.rows} * root_.features >= many_cells;
    Outcome incumbent;
    first_tree(incumbent, std::move(first_));
    if (first) first_tree(incumbent, greedy());
    incumbent = deepen(worker, std::move(incumbent));
    if (!first && !incumbent.proved() && control_.stopped() && !control_.abandoned()) {
        const Score lower = incumbent.lower;
        first_tree(incumbent, greedy());
        incumbent.lower = lower;
    }
    return incumbent;
}

// All rows, one level deeper each time: a level's tree is the next one's first incumbent, and the end of its bounds.
// Stops at the depth asked for, or where no tree of any depth has fewer errors.
template <class Entry>
Outcome BestFirst<Entry>::deepen(Worker& worker, Outcome incumbent) {
    constexpr std::int64_t cheap_depth = 3;   // up to here, looking for equal rows would cost more than it can save
    const std::int64_t target_depth = options_.max_depth;
    std::int64_t depth = options_.switches.shallow_first ? std::min<std::int64_t>(2, target_depth) : target_depth;
    Score irreducible = 0;
    proved_ = class_count_bound(root_, target_depth);
    Outcome outcome;
    Profile learnt;
    for (;; ++depth) {
        Profile next;
        const bool remember = depth < target_depth && remembers(root_, depth);
        Question question{root_, depth, irreducible, unreached, options_.max_gap, {}, remember ? &next : nullptr, nullptr};
        if (outcome.upper < unreached) {
            question.shallow = &outcome;
            question.shallow_learnt = learnt.points.empty() ? nullptr : &learnt;
        }
        if (depth == target_depth) question.incumbent = &incumbent;
        outcome = solve(worker, question);
        learnt = std::move(next);
        first_tree(incumbent, outcome);
        if (depth == target_depth) {
            incumbent.lower = std::max(proved_, outcome.lower);
            return incumbent;
        }
        if (depth == cheap_depth && outcome.upper > options_.max_gap) irreducible = irreducible_errors(root_);
        proved_ = std::max(proved_, irreducible);
        // What is proved for this depth does not hold for a greater one.
        incumbent.lower = proved_;
        if (incumbent.upper - options_.max_gap <= proved_ || stopping()) return incumbent;
        if (depth == 2 && target_depth > cheap_depth)
            first_tree(incumbent, rollout_tree(worker.depth_two, root_, target_depth, outcome, *kernel_.movers, worker.arena,
                                               worker.statistics));
    }
}

// Takes a tree for all rows as the incumbent where it is better.
template <class Entry>
void BestFirst<Entry>::first_tree(Outcome& incumbent, Outcome tree) {
    if (tree.upper >= incumbent.upper) return;
    incumbent = std::move(tree);
    report(incumbent.upper);
}

// CT(D, d) (Eq. 4): the exact score where it is below the target, else a proved bound that reaches it.
template <class Entry>
Outcome BestFirst<Entry>::solve(Worker& worker, Question question) {
    const Subproblem<Entry>& sub = question.sub;
    ++worker.statistics.subproblems;
    const Score leaf = leaf_errors(sub);
    if (question.depth == 0 || sub.features == 0 || leaf <= question.lower) return leaf_outcome(leaf);
    if (question.lower >= question.target) {
        ++worker.statistics.closed_by_bound;
        return {question.lower, unreached, {}};
    }
    if (options_.switches.class_count) {
        question.lower = std::max(question.lower, class_count_bound(sub, question.depth));
        if (question.lower >= question.target) {
            ++worker.statistics.closed_by_class_count;
            return {question.lower, unreached, {}};
        }
    }
    if (question.depth == 1) {
        const Score errors = best_stump(sub).errors;
        return {errors, errors, {Step{Step::stump, 0}}};
    }
    // A gap is for the root alone, and there the exact answer costs one depth-two search.
    if (question.depth == 2)
        return worker.depth_two.solve(sub, question.lower, question.target, question.sources, question.learnt,
                                      worker.arena, worker.statistics);

    const bool cached = options_.switches.cache && question.depth >= cached_depth && &sub != &root_;
    if (!cached) return branch(worker, question);
    Cache::Key key = cache_.key(sub.origin, sub.rows, question.depth);
    Outcome known = cache_.find(key);
    if (known.proved() || known.lower >= question.target) {
        ++(known.proved() ? worker.statistics.cache_hits : worker.statistics.cache_bound_hits);
        return known;
    }
    question.lower = std::max(question.lower, known.lower);
    Outcome outcome = branch(worker, question);
    cache_.store(std::move(key), outcome);
    return outcome;
}

// min over f of Branch(D, d, f) (Eq. 5), all features in one queue.
template <class Entry>
Outcome BestFirst<Entry>::branch(Worker& worker, const Question& question) {
    const Subproblem<Entry>& sub = question.sub;
    Node node{};
    node.sub = &sub;
    node.depth = question.depth;
    node.gap = question.gap;
    node.parent = question.parent;
    node.learnt = question.learnt;
    node.ub = question.target;
    node.floor = unreached;
    if (const Score leaf = leaf_errors(sub); leaf < node.ub) improve(node, leaf, {Step{Step::leaf, 0}});
    if (question.incumbent != nullptr && question.incumbent->upper < node.ub)
        improve(node, question.incumbent->upper, question.incumbent->plan);

    // The tree of depth d - 1 for all rows is a tree of depth d, and its score is the end of every feature's B1.
    Score ends = question.lower;
    std::int32_t memory = -1;
    if (options_.switches.shallow_first && question.lower < node.limit()) {
        Outcome shallow = solve_shallow(worker, node, question);
        memory = node.memories.empty() ? -1 : 0;
        ends = std::max(ends, shallow.lower);
        if (shallow.upper < node.ub) improve(node, shallow.upper, std::move(shallow.plan));
    }
    open_segments(node, ends, memory, question.sources);
    if (question.lower < node.limit()) {
        const bool shared = workers_.size() > 1;   // from here on, what the node holds is its mutex's
        if (shared) share(node);
        work(worker, node);
        if (shared) withdraw(worker, node);
    }

    Outcome outcome = std::move(node.best);
    outcome.lower = std::min(outcome.upper, node.floor);
    for (const Segment& segment : node.queue) outcome.lower = std::min(outcome.lower, segment.bound);
    outcome.lower = std::max(outcome.lower, question.lower);
    if (node.learnt != nullptr) {
        node.learnt->rows = sub.rows;
        settle(*node.learnt, rules_);
    }
    return outcome;
}

// Depth d - 1 on the node's own rows; what it learnt is the first of the node's memories.
template <class Entry>
Outcome BestFirst<Entry>::solve_shallow(Worker& worker, Node& node, const Question& question) {
    if (question.shallow != nullptr) {
        if (question.shallow_learnt != nullptr) node.memories.push_back({*question.shallow_learnt, *question.shallow_learnt});
        return *question.shallow;
    }
    Profile learnt;
    const bool remember = remembers(question.sub, node.depth - 1);
    Outcome shallow = solve(worker, {question.sub, node.depth - 1, question.lower, node.limit(), 0, {},
                                     remember ? &learnt : nullptr, question.parent});
    if (remember) node.memories.push_back({learnt, learnt});
    return shallow;
}

// Is it worth while to keep what solving this row set learns?  For small sets the bookkeeping costs more.
template <class Entry>
bool BestFirst<Entry>::remembers(const Subproblem<Entry>& sub, std::int64_t depth) const {
    if (!options_.switches.inheritance || depth < 2) return false;
    return depth > 2 || std::uint64_t{sub.rows} * sub.features >= static_cast<std::uint64_t>(options_.switches.inheritance_cells);
}

template <class Entry>
void BestFirst<Entry>::open_segments(Node& node, Score ends, std::int32_t memory, const Sources& sources) {
    const Point left_end{0, 0, ends, false, memory}, right_end{node.sub->rows, ends, 0, false, memory};
    Inheritance<Entry> inheritance(*node.sub, sources);
    std::vector<Point> points;
    for (std::uint32_t f = 0; f < node.sub->features; ++f) {
        inheritance.points_of(f, points);
        node.floor = std::min(node.floor, open_between(f, left_end, right_end, points, node.limit(), rules_, node.queue));
        for (const Point& point : points) note(node, f, point);
    }
    std::make_heap(node.queue.begin(), node.queue.end(), later);
}

template <class Entry>
void BestFirst<Entry>::note(Node& node, std::uint32_t f, const Point& point) {
    if (node.learnt == nullptr) return;
    node.learnt->points.push_back({node.sub->feature[f], node.sub->rank_left_of(f, point.z), point.z, point.left, point.right});
}

template <class Entry>
void BestFirst<Entry>::work(Worker& worker, Node& node) {
    Task task;
    while (next_task(node, task, worker.statistics)) {
        try {
            evaluate(worker, node, task);
        } catch (...) {
            fail();
            std::lock_guard lock(node.mutex);
            --node.in_flight;
            node.changed.notify_all();
        }
    }
}

// Takes the most promising open segment; false when none is left to take.
template <class Entry>
bool BestFirst<Entry>::next_task(Node& node, Task& task, Statistics& statistics) {
    std::lock_guard lock(node.mutex);
    while (!node.queue.empty() && !stopping()) {
        task.segment = node.queue.front();
        if (task.segment.bound >= node.limit()) {
            statistics.closed_by_segment_bound += static_cast<std::int64_t>(node.queue.size());
            node.floor = std::min(node.floor, task.segment.bound);
            node.queue.clear();
            return false;
        }
        std::pop_heap(node.queue.begin(), node.queue.end(), later);
        node.queue.pop_back();
        const Cuts cuts = node.sub->cuts(task.segment.f);
        task.limit = node.limit();
        task.run = live_run(task.segment, cuts, task.limit, rules_);
        if (task.run.empty()) {
            ++statistics.closed_by_trimming;
            node.floor = std::min(node.floor, task.limit);
            continue;
        }
        task.z = cuts.at((task.run.first + task.run.last) / 2, task.run.low, task.run.high);
        // Left sides grow with z: the neighbour to the left holds a subset, the one to the right a superset.
        task.left = task.right = {};
        if (const std::int32_t u = task.segment.u.memory; u >= 0) {
            if (task.segment.u.z > 0) task.left.subset = &node.memories[static_cast<std::size_t>(u)].left;
            task.right.superset = &node.memories[static_cast<std::size_t>(u)].right;
        }
        if (const std::int32_t v = task.segment.v.memory; v >= 0) {
            task.left.superset = &node.memories[static_cast<std::size_t>(v)].left;
            if (task.segment.v.z < node.sub->rows) task.right.subset = &node.memories[static_cast<std::size_t>(v)].right;
        }
        ++node.in_flight;
        node.taken += task.run.size();
        return true;
    }
    return false;
}

// Split(D, d, f, z) (Eq. 6), each side against its target.
//
// B3.  Let [i..j] be the live run around z.  If the left side reaches limit - lbR(j), then for every
// threshold in [z..j]: L >= L(z) and R >= lbR(j), so the sum reaches the limit and that half is closed.
// Below that target the value is exact.  The right side mirrored.  (In place of the paper's eta.)
template <class Entry>
void BestFirst<Entry>::evaluate(Worker& worker, Node& node, const Task& task) {
    ++worker.statistics.splits_evaluated;
    const Segment& s = task.segment;
    const Score lower_left = left_bound(s, task.z, rules_), lower_right = right_bound(s, task.z, rules_);
    const bool by_run = options_.switches.run_targets && rules_.monotone;
    const Score target_left = task.limit - (by_run ? right_bound(s, task.run.high, rules_) : 0);
    const Score target_right = task.limit - (by_run ? left_bound(s, task.run.low, rules_) : 0);

    Arena::Frame frame(worker.arena);
    const bool keep_origin = options_.switches.cache && node.depth - 1 >= cached_depth;
    const Children<Entry> children = split_rows(*node.sub, s.f, task.z, keep_origin, *kernel_.movers, worker.arena);
    Memory memory;
    const auto solve_side = [&](const Subproblem<Entry>& side, Score lower, Score target, const Sources& sources, Profile& learnt) {
        const bool remember = remembers(side, node.depth - 1);
        return solve(worker, {side, node.depth - 1, lower, target, 0, remember ? sources : Sources{},
                              remember ? &learnt : nullptr, &node});
    };
    const Outcome left = solve_side(children.left, lower_left, target_left, task.left, memory.left);
    const Outcome right = solve_side(children.right, lower_right, target_right, task.right, memory.right);
    learn(node, task, left, right, std::move(memory));
}

template <class Entry>
void BestFirst<Entry>::learn(Node& node, const Task& task, const Outcome& left, const Outcome& right, Memory memory) {
    const Segment& s = task.segment;
    std::lock_guard lock(node.mutex);
    Point w{task.z, std::max(left.lower, left_bound(s, task.z, rules_)),
            std::max(right.lower, right_bound(s, task.z, rules_)), false, -1};
    assert(stopping() || (left.proved() && right.proved()) || w.total() >= task.limit);
    node.floor = std::min(node.floor, w.total());
    if (left.upper + right.upper < node.ub) {
        const Step split{static_cast<std::int32_t>(node.sub->feature[s.f]), node.sub->rank_left_of(s.f, task.z)};
        improve(node, left.upper + right.upper, join(split, left.plan, right.plan));
    }
    note(node, s.f, w);
    if (!memory.left.points.empty() || !memory.right.points.empty()) {
        w.memory = static_cast<std::int32_t>(node.memories.size());
        node.memories.push_back(std::move(memory));
    }
    for (const Segment& half : {part_of(s, s.u, w, rules_), part_of(s, w, s.v, rules_)}) {
        if (half.length() == 0) continue;
        if (half.bound >= node.limit()) {
            node.floor = std::min(node.floor, half.bound);
            continue;
        }
        node.queue.push_back(half);
        std::push_heap(node.queue.begin(), node.queue.end(), later);
    }
    --node.in_flight;
    node.taken -= task.run.size();
    if (node.sub == &root_ && node.depth == options_.max_depth) show_share(node);
    node.changed.notify_all();
}

// Counts the thresholds of the root that may still be in a better tree, for whoever has asked.
template <class Entry>
void BestFirst<Entry>::show_share(const Node& node) {
    if (!root_share_.wanted.exchange(false, std::memory_order_relaxed)) return;
    std::uint64_t open = node.taken, all = 0;
    for (const Segment& segment : node.queue)
        if (segment.bound < node.limit()) open += live_run(segment, node.sub->cuts(segment.f), node.limit(), rules_).size();
    for (std::uint32_t f = 0; f < node.sub->features; ++f) all += node.sub->cuts(f).count;
    root_share_.closed.store(1 - static_cast<double>(open) / static_cast<double>(all), std::memory_order_relaxed);
}

template <class Entry>
void BestFirst<Entry>::improve(Node& node, Score score, Plan plan) {
    assert(score < node.ub);
    node.ub = node.best.upper = score;
    node.best.plan = std::move(plan);
    if (node.sub == &root_) report(score);
}

// Tells of a better tree for all rows.
template <class Entry>
void BestFirst<Entry>::report(Score score) {
    std::lock_guard lock(improved_mutex_);
    if (score >= improved_score_) return;
    improved_score_ = score;
    improved_(score, proved_);
}

template <class Entry>
void BestFirst<Entry>::share(Node& node) {
    std::lock_guard lock(sharing_mutex_);
    shared_.push_back(&node);
}

// Ends the owner's work: waits for the helpers, helping below meanwhile, and takes the node off the list.
template <class Entry>
void BestFirst<Entry>::withdraw(Worker& worker, Node& node) {
    for (;;) {
        {
            std::unique_lock lock(node.mutex);
            if (node.in_flight == 0) break;
        }
        if (Node* const below = node_to_help(&node)) {
            work(worker, *below);
            leave(*below);
        } else {
            std::unique_lock lock(node.mutex);
            node.changed.wait_for(lock, std::chrono::microseconds(200), [&] { return node.in_flight == 0; });
        }
        work(worker, node);
    }
    {
        std::lock_guard lock(sharing_mutex_);
        std::erase(shared_, &node);
    }
    std::unique_lock lock(node.mutex);
    node.changed.wait(lock, [&] { return node.helpers == 0; });
}

// The open node nearest the root that has a task to give, among those below `below` if that is given.
template <class Entry>
typename BestFirst<Entry>::Node* BestFirst<Entry>::node_to_help(const Node* below) {
    if (stopping()) return nullptr;
    std::lock_guard lock(sharing_mutex_);
    Node* chosen = nullptr;
    for (Node* node : shared_) {
        if (chosen != nullptr && node->depth <= chosen->depth) continue;
        if (below != nullptr) {
            const Node* up = node->parent;
            while (up != nullptr && up != below) up = up->parent;
            if (up == nullptr) continue;
        }
        std::lock_guard node_lock(node->mutex);
        if (node->queue.empty() || node->queue.front().bound >= node->limit()) continue;
        chosen = node;
    }
    if (chosen != nullptr) {
        std::lock_guard node_lock(chosen->mutex);
        ++chosen->helpers;
    }
    return chosen;
}

template <class Entry>
void BestFirst<Entry>::leave(Node& node) {
    std::lock_guard lock(node.mutex);
    --node.helpers;
    node.changed.notify_all();
}

template <class Entry>
void BestFirst<Entry>::help_until_done(Worker& worker) {
    for (;;) {
        if (Node* const node = node_to_help(nullptr)) {
            work(worker, *node);
            leave(*node);
            continue;
        }
        {
            std::lock_guard lock(sharing_mutex_);
            if (done_) return;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

template class BestFirst<NarrowEntry>;
template class BestFirst<WideEntry>;

}  // namespace contree
