#include "search/best_first.hpp"

#include <exception>
#include <thread>

#include "bounds/class_count.hpp"
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
                            const Control& control, Improved improved)
    : root_(root), options_(options), control_(control), improved_(std::move(improved)),
      rules_{options.switches.monotone != 0, options.switches.similarity != 0},
      cache_(table_rows, static_cast<std::size_t>(options.switches.cache_bytes)) {
    for (int i = 0; i < std::max(1, options.n_jobs); ++i)
        workers_.push_back(std::make_unique<Worker>(chosen_kernel(), options.switches, control));
}

template <class Entry>
Outcome BestFirst<Entry>::run() {
    std::vector<std::jthread> helpers;
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto guarded = [&](const auto& action) {
        try {
            action();
        } catch (...) {
            std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    for (std::size_t i = 1; i < workers_.size(); ++i)
        helpers.emplace_back([&, i] { guarded([&] { help_until_done(*workers_[i]); }); });
    Outcome outcome;
    guarded([&] { outcome = solve(*workers_[0], root_, options_.max_depth, 0, unreached, options_.max_gap, nullptr); });
    {
        std::lock_guard lock(sharing_mutex_);
        done_ = true;
    }
    helpers.clear();
    if (failure) std::rethrow_exception(failure);
    return outcome;
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

// CT(D, d): the exact score where it is below `target`, else a proved bound that reaches it.  `lower` is
// already proved by the caller.
template <class Entry>
Outcome BestFirst<Entry>::solve(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, Score lower,
                                Score target, Score gap, const Node* parent) {
    ++worker.statistics.subproblems;
    const Score leaf = leaf_errors(sub);
    if (depth == 0 || sub.features == 0 || leaf <= lower) return leaf_outcome(leaf);
    if (lower >= target) {
        ++worker.statistics.closed_by_bound;
        return {lower, unreached, {}};
    }
    if (options_.switches.class_count) {
        lower = std::max(lower, class_count_bound(sub, depth));
        if (lower >= target) {
            ++worker.statistics.closed_by_class_count;
            return {lower, unreached, {}};
        }
    }
    if (depth == 1) {
        const Score errors = best_stump(sub).errors;
        return {errors, errors, {Step{Step::stump, 0}}};
    }
    // A gap is for the root alone, and there the exact answer costs one depth-two search.
    if (depth == 2) return worker.depth_two.solve(sub, lower, target, worker.arena, worker.statistics);

    const bool cached = options_.switches.cache && depth >= cached_depth && &sub != &root_;
    if (!cached) return branch(worker, sub, depth, lower, target, gap, parent);
    Cache::Key key = cache_.key(sub.origin, sub.rows, depth);
    Outcome known = cache_.find(key);
    if (known.proved()) {
        ++worker.statistics.cache_hits;
        return known;
    }
    if (known.lower >= target) {
        ++worker.statistics.cache_bound_hits;
        return known;
    }
    Outcome outcome = branch(worker, sub, depth, std::max(lower, known.lower), target, gap, parent);
    cache_.store(std::move(key), outcome);
    return outcome;
}

// min over f of Branch(D, d, f) (Eq. 5), all features in one queue.
template <class Entry>
Outcome BestFirst<Entry>::branch(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, Score lower,
                                 Score target, Score gap, const Node* parent) {
    Node node{};
    node.sub = &sub;
    node.depth = depth;
    node.gap = gap;
    node.parent = parent;
    node.ub = target;
    node.floor = unreached;
    if (const Score leaf = leaf_errors(sub); leaf < target) improve(node, leaf, {Step{Step::leaf, 0}});

    // The tree of depth d - 1 for all rows is a tree of depth d, and its score is the end of every feature's B1.
    Score ends = lower;
    if (options_.switches.shallow_first && lower < node.limit()) {
        Outcome shallow = solve(worker, sub, depth - 1, lower, node.limit(), 0, parent);
        ends = std::max(ends, shallow.lower);
        if (shallow.upper < node.ub) improve(node, shallow.upper, std::move(shallow.plan));
    }
    open_segments(node, ends);
    const bool shared = workers_.size() > 1;
    if (shared) share(node);
    if (lower < node.limit()) work(worker, node);
    if (shared) withdraw(worker, node);

    Outcome outcome = std::move(node.best);
    outcome.lower = std::min(outcome.upper, node.floor);
    for (const Segment& segment : node.queue) outcome.lower = std::min(outcome.lower, segment.bound);
    outcome.lower = std::max(outcome.lower, lower);
    return outcome;
}

template <class Entry>
void BestFirst<Entry>::open_segments(Node& node, Score ends) {
    const Point left_end{0, 0, ends}, right_end{node.sub->rows, ends, 0};
    for (std::uint32_t f = 0; f < node.sub->features; ++f)
        node.queue.push_back(make_segment(f, left_end, right_end, rules_));
    std::make_heap(node.queue.begin(), node.queue.end(), later);
}

template <class Entry>
void BestFirst<Entry>::work(Worker& worker, Node& node) {
    Task task;
    while (next_task(node, task, worker.statistics)) evaluate(worker, node, task);
}

// Takes the most promising open segment; false when none is left to take.
template <class Entry>
bool BestFirst<Entry>::next_task(Node& node, Task& task, Statistics& statistics) {
    std::lock_guard lock(node.mutex);
    while (!node.queue.empty() && !control_.stopped()) {
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
        ++node.in_flight;
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
    const Children<Entry> children = split_rows(*node.sub, s.f, task.z, keep_origin, worker.arena);
    const Outcome left = solve(worker, children.left, node.depth - 1, lower_left, target_left, 0, &node);
    const Outcome right = solve(worker, children.right, node.depth - 1, lower_right, target_right, 0, &node);
    learn(node, task, left, right);
}

template <class Entry>
void BestFirst<Entry>::learn(Node& node, const Task& task, const Outcome& left, const Outcome& right) {
    const Segment& s = task.segment;
    std::lock_guard lock(node.mutex);
    const Point w{task.z, std::max(left.lower, left_bound(s, task.z, rules_)),
                  std::max(right.lower, right_bound(s, task.z, rules_))};
    assert(control_.stopped() || (left.proved() && right.proved()) || w.total() >= task.limit);
    node.floor = std::min(node.floor, w.total());
    if (left.upper + right.upper < node.ub) {
        const Step split{static_cast<std::int32_t>(node.sub->feature[s.f]), node.sub->rank_left_of(s.f, task.z)};
        improve(node, left.upper + right.upper, join(split, left.plan, right.plan));
    }
    for (const Segment& half : {make_segment(s.f, s.u, w, rules_), make_segment(s.f, w, s.v, rules_)}) {
        if (half.bound >= node.limit()) {
            node.floor = std::min(node.floor, half.bound);
            continue;
        }
        node.queue.push_back(half);
        std::push_heap(node.queue.begin(), node.queue.end(), later);
    }
    --node.in_flight;
    node.changed.notify_all();
}

template <class Entry>
void BestFirst<Entry>::improve(Node& node, Score score, Plan plan) {
    assert(score < node.ub);
    node.ub = node.best.upper = score;
    node.best.plan = std::move(plan);
    if (node.sub != &root_) return;
    std::lock_guard lock(improved_mutex_);
    if (score >= improved_score_) return;
    improved_score_ = score;
    improved_(node.best);
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
