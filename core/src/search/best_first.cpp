#include "search/best_first.hpp"

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
      kernel_(chosen_kernel()), rules_{options.switches.monotone != 0, options.switches.similarity != 0},
      cache_(table_rows, options.cache_memory()) {
    for (int i = 0; i < std::max(1, options.n_jobs); ++i)
        workers_.push_back(std::make_unique<Worker>(kernel_, options.switches, control));
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
        const Stump stump = best_stump(sub);
        return {stump.errors, stump.errors, {Step{Step::stump, 0}}, stump.relaxed};
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
    question.lower = std::max(question.lower, known.relaxed);
    Outcome outcome = branch(worker, question);
    cache_.store(std::move(key), outcome);
    return outcome;
}

// min over f of Branch(D, d, f) (Eq. 5), all features in one queue.
template <class Entry>
Outcome BestFirst<Entry>::branch(Worker& worker, const Question& question) {
    const Subproblem<Entry>& sub = question.sub;
    Node node;
    node.sub = &sub;
    node.depth = question.depth;
    node.gap = question.gap;
    node.parent = question.parent;
    node.learnt = question.learnt;
    node.ub = question.target;
    node.in_flight.reserve(workers_.size());
    if (const Score leaf = leaf_errors(sub); leaf < node.ub) improve(node, leaf, {Step{Step::leaf, 0}});
    if (question.incumbent != nullptr && question.incumbent->upper < node.ub)
        improve(node, question.incumbent->upper, question.incumbent->plan);

    // The tree of depth d - 1 for all rows is a tree of depth d, and its score is the end of every feature's B1.
    Score ends = question.lower;
    std::int32_t memory = -1;
    if (options_.switches.shallow_first && question.lower < node.limit()) {
        Outcome shallow = solve_shallow(worker, node, question);
        memory = node.memories.empty() ? -1 : 0;
        ends = std::max(ends, shallow.relaxed);
        if (shallow.upper < node.ub) improve(node, shallow.upper, std::move(shallow.plan));
    }
    open_segments(node, ends, memory, question.sources);
    if (&sub == &root_) root_node_ = &node;
    if (question.lower < node.limit()) {
        const bool shared = workers_.size() > 1;   // from here on, what the node holds is its mutex's
        if (shared) share(node);
        work(worker, node);
        if (shared) withdraw(worker, node);
    }
    if (&sub == &root_) root_node_ = nullptr;

    for (const Segment& segment : node.queue) node.set_aside(segment.bound, segment.bound);   // after a stop
    Outcome outcome = std::move(node.best);
    outcome.lower = std::max(std::min(outcome.upper, node.floor), question.lower);
    outcome.relaxed = std::max(std::min(outcome.upper, node.relaxed_floor), question.lower);
    if (node.learnt != nullptr) {
        node.learnt->mass = sub.mass;
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
    const Point left_end{0, 0, ends, false, memory}, right_end{node.sub->mass, ends, 0, false, memory};
    Inheritance<Entry> inheritance(*node.sub, sources);
    std::vector<Point> points;
    for (std::uint32_t f = 0; f < node.sub->features; ++f) {
        inheritance.points_of(f, points);
        const Score closed = open_between(f, left_end, right_end, points, node.limit(), rules_, node.queue);
        node.set_aside(closed, closed);
        for (const Point& point : points) note(node, f, node.sub->position_of(f, point.z), point);
    }
    std::make_heap(node.queue.begin(), node.queue.end(), later);
}

template <class Entry>
void BestFirst<Entry>::note(Node& node, std::uint32_t f, Position position, const Point& point) {
    if (node.learnt == nullptr) return;
    node.learnt->points.push_back({node.sub->feature[f], node.sub->rank_left_of(f, position), point.z, point.left, point.right});
}

template <class Entry>
void BestFirst<Entry>::work(Worker& worker, Node& node) {
    Task task;
    while (next_task(node, task, worker.statistics)) {
        try {
            raise_bound(node);
            look_nearby(worker);
            evaluate(worker, node, task);
        } catch (...) {
            fail();
            std::lock_guard lock(node.mutex);
            node.land(task.segment.bound);
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
            node.set_aside(task.segment.bound, task.segment.bound);
            node.queue.clear();
            return false;
        }
        std::pop_heap(node.queue.begin(), node.queue.end(), later);
        node.queue.pop_back();
        task.limit = node.limit();
        task.run = live_run(task.segment, *node.sub, task.limit, rules_);
        if (task.run.empty()) {
            ++statistics.closed_by_trimming;
            node.set_aside(task.limit, task.limit);
            continue;
        }
        task.z = node.sub->cuts(task.segment.f).at((task.run.first + task.run.last) / 2, task.run.low, task.run.high);
        // Left sides grow with z: the neighbour to the left holds a subset, the one to the right a superset.
        task.left = task.right = {};
        if (const std::int32_t u = task.segment.u.memory; u >= 0) {
            if (task.segment.u.z > 0) task.left.subset = &node.memories[static_cast<std::size_t>(u)].left;
            task.right.superset = &node.memories[static_cast<std::size_t>(u)].right;
        }
        if (const std::int32_t v = task.segment.v.memory; v >= 0) {
            task.left.superset = &node.memories[static_cast<std::size_t>(v)].left;
            if (task.segment.v.z < node.sub->mass) task.right.subset = &node.memories[static_cast<std::size_t>(v)].right;
        }
        node.in_flight.push_back(task.segment.bound);
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
    const auto mass_at = [&](Position z) { return node.sub->mass_at(s.f, z); };
    const Score lower_left = left_bound(s, mass_at(task.z), rules_), lower_right = right_bound(s, mass_at(task.z), rules_);
    const bool by_run = options_.switches.run_targets && rules_.monotone;
    const Score target_left = task.limit - (by_run ? right_bound(s, mass_at(task.run.high), rules_) : 0);
    const Score target_right = task.limit - (by_run ? left_bound(s, mass_at(task.run.low), rules_) : 0);

    Arena::Frame frame(worker.arena);
    const bool keep_origin = options_.switches.cache && node.depth - 1 >= cached_depth;
    const Children<Entry> children = split_rows(*node.sub, s.f, task.z, keep_origin, *kernel_.movers, worker.arena,
                                                when_stopped(control_));
    if (stopping()) return put_back(node, s);
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

// A segment that a stop left unsolved is as open as before.
template <class Entry>
void BestFirst<Entry>::put_back(Node& node, const Segment& segment) {
    std::lock_guard lock(node.mutex);
    node.queue.push_back(segment);
    std::push_heap(node.queue.begin(), node.queue.end(), later);
    node.land(segment.bound);
    node.changed.notify_all();
}

template <class Entry>
void BestFirst<Entry>::learn(Node& node, const Task& task, const Outcome& left, const Outcome& right, Memory memory) {
    const Segment& s = task.segment;
    std::lock_guard lock(node.mutex);
    const Score z = node.sub->mass_at(s.f, task.z);
    Point w{z, std::max(left.relaxed, left_bound(s, z, rules_)), std::max(right.relaxed, right_bound(s, z, rules_)), false, -1};
    const bool allowed = node.sub->allows(task.z);
    const Score proved = allowed ? std::max(left.lower, w.left) + std::max(right.lower, w.right) : unreached;
    assert(stopping() || (left.proved() && right.proved()) || proved >= task.limit);
    node.set_aside(proved, w.total());
    if (allowed && left.upper + right.upper < node.ub) {
        const Step split{static_cast<std::int32_t>(node.sub->feature[s.f]), node.sub->rank_left_of(s.f, task.z)};
        improve(node, left.upper + right.upper, join(split, left.plan, right.plan));
    }
    note(node, s.f, task.z, w);
    if (!memory.left.points.empty() || !memory.right.points.empty()) {
        w.memory = static_cast<std::int32_t>(node.memories.size());
        node.memories.push_back(std::move(memory));
    }
    for (const Segment& half : {part_of(s, s.u, w, rules_), part_of(s, w, s.v, rules_)}) {
        if (half.length() == 0) continue;
        if (half.bound >= node.limit()) {
            node.set_aside(half.bound, half.bound);
            continue;
        }
        node.queue.push_back(half);
        std::push_heap(node.queue.begin(), node.queue.end(), later);
    }
    node.land(s.bound);
    node.changed.notify_all();
}

template <class Entry>
void BestFirst<Entry>::improve(Node& node, Score score, Plan plan) {
    assert(score < node.ub);
    node.ub = node.best.upper = score;
    node.best.plan = std::move(plan);
    if (node.sub == &root_) keep(score, node.best.plan);
}

template class BestFirst<NarrowEntry>;
template class BestFirst<WideEntry>;

}  // namespace contree
