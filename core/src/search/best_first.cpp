#include "search/best_first.hpp"

#include "bounds/class_count.hpp"
#include "bounds/cost.hpp"
#include "tree/stump.hpp"

namespace contree {

namespace {

// Solves of the same rows for leaves of different sizes are different; of masses there is one, and none.
template <class Entry>
std::int64_t leaf_key(const Subproblem<Entry>& sub) {
    return std::int64_t{sub.leaf.rows - 1} << 32 | std::int64_t{sub.leaf.mass > 0} << 31;
}

Outcome leaf_outcome(Score score) { return {score, score, {Step{Step::leaf, 0}}}; }

}  // namespace

template <class Entry>
BestFirst<Entry>::BestFirst(const Subproblem<Entry>& root, Cache& cache, RootMemories& memories, const Options& options, const Control& control,
                            Improved improved, Outcome first, const Frontier& start, const Start& asked, RootShare& root_share)
    : root_(root), options_(options), control_(control), improved_(std::move(improved)), first_(std::move(first)), start_(start),
      asked_(asked), root_share_(root_share), kernel_(chosen_kernel()), rules_(rules_of(options.switches, objective_of(options))),
      size_(options.max_depth, leaves_of(options), root.rows), cache_(cache), memories_(memories), frontier_(start) {
    check_start();
    for (int i = 0; i < std::max(1, options.n_jobs); ++i)
        workers_.push_back(std::make_unique<Worker>(kernel_, options.switches, control, rules_.objective));
    if (options.all_sizes) seen_.resize(root.features);
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
    const Score leaf = leaf_score(sub, rules_.objective);
    if (question.size.depth == 0 || sub.features == 0 || leaf <= question.lower) return leaf_outcome(leaf);
    if (options_.switches.split_pays && leaf_is_best(leaf, rules_.objective)) {
        ++worker.statistics.closed_by_split_cost;
        return leaf_outcome(leaf);
    }
    if (question.lower >= question.target) {
        ++worker.statistics.closed_by_bound;
        return {question.lower, unreached, {}};
    }
    if (const TreeSize size = affordable_size(question); size.leaves < question.size.leaves) {
        ++worker.statistics.cut_by_affordable_splits;
        return solve_affordable(worker, question, size);
    }
    if (question.size.depth == 1) {
        const Stump stump = best_stump(sub, when_stopped(control_));
        if (control_.stopped()) return {question.lower, leaf, {Step{Step::leaf, 0}}};
        const Score score = rules_.objective.error * stump.errors + rules_.objective.split;
        if (score >= leaf) return leaf_outcome(leaf);
        return {score, score, {Step{Step::stump, 0}}};
    }
    // A gap is for the root alone, and there the exact answer costs one depth-two search.
    const auto search = [&] {
        Outcome outcome = question.size.depth > 2
                              ? branch(worker, question)
                              : worker.depth_two.solve(sub, question.size.leaves, question.lower, question.target, question.sources,
                                                       question.learnt, worker.arena, worker.statistics);
        assert(outcome.lower <= leaf);   // which is a tree too
        return outcome;
    };

    const bool cached = options_.switches.cache && question.size.depth >= cached_depth() && &sub != &root_ && sub.wide == nullptr;
    if (!cached) return search();
    Cache::Key key = cache_.key(sub.origin, sub.rows, question.size.depth + leaf_key(sub));
    Outcome known = cache_.find(key, question.size.leaves);
    if (known.proved() || known.lower >= question.target) {
        ++(known.proved() ? worker.statistics.cache_hits : worker.statistics.cache_bound_hits);
        return known;
    }
    question.lower = std::max(question.lower, known.lower);
    Outcome outcome = search();
    cache_.store(std::move(key), outcome, question.size.leaves);
    return outcome;
}

// C2: the largest tree that can lie below the target.  Where leaves are not counted, only the depth is cut: counting
// them multiplies the segments of deep nodes.
template <class Entry>
TreeSize BestFirst<Entry>::affordable_size(const Question& question) const {
    const TreeSize& size = question.size;
    if (rules_.objective.split == 0 || !options_.switches.affordable_splits) return size;
    const std::int64_t splits = affordable_splits(question.target, rules_.objective);
    if (splits >= size.leaves - std::int64_t{1}) return size;
    const bool counted = size.limited() || size.depth == 2;
    return {std::min(size.depth, splits), counted ? static_cast<Leaves>(splits + 1) : any_leaves, question.sub.rows};
}

// What is below the target is exact; beyond it larger trees may be better, and the target is what is proved.  Bounds
// that this learns hold for smaller sides only, so nobody else gets them.
template <class Entry>
Outcome BestFirst<Entry>::solve_affordable(Worker& worker, Question question, const TreeSize& size) {
    const Score target = question.target;
    question.size = size;
    question.learnt = nullptr;
    question.level = false;   // nor is what it leaves open a frontier of the level
    question.start = nullptr;
    question.shallow = nullptr;
    question.shallow_learnt = nullptr;
    if (question.incumbent != nullptr && leaves_of(question.incumbent->plan) > size.leaves) question.incumbent = nullptr;
    Outcome outcome = solve(worker, question);
    outcome.lower = std::min(outcome.lower, target);
    return outcome;
}

// min over f of Branch(D, d, f) (Eq. 5), all features in one queue.
template <class Entry>
Outcome BestFirst<Entry>::branch(Worker& worker, const Question& question) {
    const Subproblem<Entry>& sub = question.sub;
    Node node;
    node.sub = &sub;
    node.depth = question.size.depth;
    node.shapes = shapes_of(question.size);
    node.gap = question.gap;
    node.parent = question.parent;
    node.level = question.level;
    if (node.level) {
        memories_.begin(node.depth, question.start == nullptr);
        node.memories = &memories_.kept;
    }
    node.learnt = question.learnt;
    if (node.learnt != nullptr) node.learnt->expect(node.shapes);
    node.ub = question.target;
    node.in_flight.reserve(2 * workers_.size());
    const Score leaf = leaf_score(sub, rules_.objective);
    if (leaf < node.ub) improve(node, leaf, {Step{Step::leaf, 0}});
    if (question.incumbent != nullptr && question.incumbent->upper < node.ub)
        improve(node, question.incumbent->upper, question.incumbent->plan);

    if (question.start != nullptr) open_from(node, *question.start);
    else open(worker, node, question);
    if (&sub == &root_) root_node_ = &node;
    LevelWatch watch(*this, node, question.level);
    if (question.lower < node.limit() && !(question.level && asked_.open_only && node.depth == size_.depth)) {
        // From here on, what a shared node holds is its mutex's.  Work that has an end is not shared: others do not see it.
        const bool shared = workers_.size() > 1 && worker.work_end == Worker::endless;
        if (shared) share(node);
        work(worker, node);
        if (shared) withdraw(worker, node);
    }
    if (&sub == &root_) root_node_ = nullptr;
    watch.leave();
    if (node.level) left_open_ = handing_back(node) && !node.queue.empty() && node.queue.front().bound < node.limit();

    for (const Segment& segment : node.queue) node.set_aside(segment.bound);   // after a stop
    Outcome outcome = std::move(node.best);
    // The floor is of splits alone, which may cost more than a leaf that does not lie below the target.
    outcome.lower = std::max(std::min({outcome.upper, node.floor, leaf}), question.lower);
    if (node.learnt != nullptr) {
        node.learnt->mass = sub.mass;
        settle(*node.learnt, rules_);
    }
    return outcome;
}

// The tree of depth d - 1 for all rows is a tree of depth d, and its score is the end of every feature's B1.
template <class Entry>
void BestFirst<Entry>::open(Worker& worker, Node& node, const Question& question) {
    Score ends = question.lower;
    std::int32_t memory = RootMemories::none;
    if (options_.switches.shallow_first && question.lower < node.limit()) {
        Outcome shallow = solve_shallow(worker, node, question);
        memory = node.memories->empty() ? RootMemories::none : 0;
        ends = std::max(ends, shallow.lower);
        if (shallow.upper < node.ub) improve(node, shallow.upper, std::move(shallow.plan));
    }
    if (node.level) memories_.of_ends = memory;
    open_segments(node, ends, memory, question.sources);
}

// Depth d - 1 on the node's own rows; what it learnt is the first of the node's memories.
template <class Entry>
Outcome BestFirst<Entry>::solve_shallow(Worker& worker, Node& node, const Question& question) {
    if (question.shallow != nullptr) {
        if (question.shallow_learnt != nullptr) node.memories->push_back({*question.shallow_learnt, *question.shallow_learnt});
        return *question.shallow;
    }
    Profile learnt;
    const bool remember = remembers(question.sub, node.depth - 1);
    Outcome shallow = solve(worker, {question.sub, {node.depth - 1, question.size.leaves, question.sub.rows}, question.lower, node.limit(), 0, {},
                                     remember ? &learnt : nullptr, question.parent});
    if (remember) node.memories->push_back({learnt, learnt});
    return shallow;
}

// Is it worth while to keep what solving this row set learns?  For small sets the bookkeeping costs more; less small ones
// where they will be solved `again`.
template <class Entry>
bool BestFirst<Entry>::remembers(const Subproblem<Entry>& sub, std::int64_t depth, bool again) const {
    if (!options_.switches.inheritance || depth < 2) return false;
    const std::uint64_t cells = std::uint64_t{sub.rows} * sub.features;
    return depth > 2 || (again ? 4 * cells : cells) >= static_cast<std::uint64_t>(options_.switches.inheritance_cells);
}

template <class Entry>
void BestFirst<Entry>::open_segments(Node& node, Score ends, std::int32_t memory, const Sources& sources) {
    const Score alone = leaf_score(*node.sub, rules_.objective);
    std::vector<Point> points;
    for (std::uint32_t shape = 0; shape < node.shapes.size(); ++shape) {
        const auto end = [&](Leaves leaves) { return leaves == 1 ? alone : ends; };
        const Point left_end{0, 0, end(node.shapes[shape].right), false, memory};
        const Point right_end{node.sub->mass, end(node.shapes[shape].left), 0, false, memory};
        Inheritance<Entry> inheritance(*node.sub, node.shapes[shape], sources, rules_);
        for (std::uint32_t f = 0; f < node.sub->features; ++f) {
            inheritance.points_of(f, points);
            const auto note_inherited = [&] {
                for (const Point& point : points) note(node, f, shape, node.sub->position_of(f, point.z), point);
            };
            if (node.sub->limited()) note_inherited();   // before the ends tell them what holds for this leaf size alone
            node.set_aside(open_between(f, shape, left_end, right_end, points, node.limit(), rules_, node.queue));
            if (!node.sub->limited()) note_inherited();
        }
    }
    std::make_heap(node.queue.begin(), node.queue.end(), later);
}

template <class Entry>
void BestFirst<Entry>::note(Node& node, std::uint32_t f, std::uint32_t shape, Position position, const Point& point) {
    if (node.learnt == nullptr) return;
    node.learnt->parts[shape].points.push_back({node.sub->feature[f], node.sub->rank_left_of(f, position), point.z, point.left, point.right});
}

template <class Entry>
void BestFirst<Entry>::work(Worker& worker, Node& node) {
    Task task;
    while (!worker.over() && next_task(node, task, worker.statistics)) {
        try {
            raise_bound(node);
            work_beside(worker);
            evaluate(worker, node, task);
        } catch (...) {
            fail();
            std::lock_guard lock(node.mutex);
            node.land(task.segment);
            node.changed.notify_all();
        }
    }
}

// Takes the most promising open segment; false when none is left to take.
template <class Entry>
bool BestFirst<Entry>::next_task(Node& node, Task& task, Statistics& statistics) {
    std::lock_guard lock(node.mutex);
    if (node.sub == &root_) node.ub = std::min(node.ub, cutoff());
    while (!node.queue.empty() && !stopping() && !handing_back(node)) {
        if (const Score least = node.queue.front().bound; least >= node.limit()) {
            statistics.closed_by_segment_bound += static_cast<std::int64_t>(node.queue.size());
            node.set_aside(least);
            node.queue.clear();
            return false;
        }
        task.segment = take_segment(node);
        task.limit = node.limit();
        task.run = live_run(task.segment, *node.sub, task.limit, rules_);
        if (task.run.empty()) {
            ++statistics.closed_by_trimming;
            node.set_aside(task.limit);
            continue;
        }
        task.z = threshold_in(node, task.segment, task.run);
        task.ends = node.sub->limited() ? stale_ends(node, task) : Ends::neither;
        begin(node, task);
        return true;
    }
    return false;
}

// Left sides grow with z: the neighbour to the left holds a subset, the one to the right a superset.
template <class Entry>
void BestFirst<Entry>::begin(Node& node, Task& task) {
    const Segment& s = task.segment;
    task.left = task.right = {};
    if (s.u.memory >= 0) {
        const Memory& memory = (*node.memories)[static_cast<std::size_t>(s.u.memory)];
        if (s.u.z > 0) task.left.subset = &memory.left;
        task.right.superset = &memory.right;
    }
    if (s.v.memory >= 0) {
        const Memory& memory = (*node.memories)[static_cast<std::size_t>(s.v.memory)];
        task.left.superset = &memory.left;
        if (s.v.z < node.sub->mass) task.right.subset = &memory.right;
    }
    node.in_flight.push_back(&s);
    node.taken += task.run.size();
    ++node.begun;
}

template <class Entry>
Segment BestFirst<Entry>::take_segment(Node& node) {
    std::pop_heap(node.queue.begin(), node.queue.end(), later);
    const Segment taken = node.queue.back();
    node.queue.pop_back();
    return taken;
}

// The middle of a live run.  Where trees of all sizes are wanted, rather one that was evaluated before, if there is one
// near: the cache knows of its sides.
template <class Entry>
Position BestFirst<Entry>::threshold_in(const Node& node, const Segment& segment, const Run& run) const {
    const Position middle = node.sub->cuts(segment.f).at((run.first + run.last) / 2, run.low, run.high);
    if (node.sub != &root_ || seen_.empty()) return middle;
    const std::vector<Position>& seen = seen_[segment.f];
    const auto distance = [&](Position z) { return z < middle ? middle - z : z - middle; };
    const auto next = std::lower_bound(seen.begin(), seen.end(), middle);
    Position near = next == seen.end() ? 0 : *next;
    if (next != seen.begin() && (near == 0 || distance(*(next - 1)) < distance(near))) near = *(next - 1);
    return near >= run.low && near <= run.high && 4 * std::uint64_t{distance(near)} <= run.high - run.low ? near : middle;
}

// Below it a subproblem is solved faster than found, unless all sizes are wanted, for which the same rows come again.
template <class Entry>
std::int64_t BestFirst<Entry>::cached_depth() const {
    return options_.all_sizes ? 2 : 3;
}

// Split(D, d, f, z) (Eq. 6), each side against its target.  With a minimal leaf size see leaf_sizes.cpp.
template <class Entry>
void BestFirst<Entry>::evaluate(Worker& worker, Node& node, Task& task) {
    if (task.ends != Ends::neither) return renew_ends(worker, node, task);
    ++worker.statistics.splits_evaluated;
    worker.cells_moved += std::int64_t{node.sub->rows} * node.sub->features + Worker::cells_of_a_split;
    const Segment& s = task.segment;
    Arena::Frame frame(worker.arena);
    Children<Entry> children = split_rows(*node.sub, s.f, task.z, keeps_origin(node), *kernel_.movers, worker.arena, when_stopped(control_));
    if (stopping()) return put_back(node, task);

    const auto [lower, up_to] = prospects(node, task);
    if (node.sub->limited()) return evaluate_limited(worker, node, task, children, up_to);
    Memory memory;
    const auto [left, right] = solve_sides(worker, node, task, children, lower, up_to, &memory);
    const Point w{node.sub->mass_at(s.f, task.z), left.lower, right.lower};
    learn(worker, node, task, {w, w}, w, join_sides(node, task, left, right), std::move(memory));
}

// B3.  Let [i..j] be the live run around z.  If the left side reaches limit - lbR(j), then for every
// threshold in [z..j]: L >= L(z) and R >= lbR(j), so the sum reaches the limit and that half is closed.
// Below that target the value is exact.  The right side mirrored.  (In place of the paper's eta.)
template <class Entry>
auto BestFirst<Entry>::prospects(const Node& node, const Task& task) const -> Prospects {
    const Segment& s = task.segment;
    const auto mass_at = [&](Position z) { return node.sub->mass_at(s.f, z); };
    const bool by_run = options_.switches.run_targets && rules_.monotone;
    const auto left_at = [&](Position at) { return left_bound(s, mass_at(at), rules_); };
    const auto right_at = [&](Position at) { return right_bound(s, mass_at(at), rules_); };
    const Score limit = task.limit - rules_.objective.split;   // for both sides together
    return {{left_at(task.z), right_at(task.z)}, {limit - (by_run ? right_at(task.run.high) : 0), limit - (by_run ? left_at(task.run.low) : 0)}};
}

// Must the sides of its splits know which rows they are?
template <class Entry>
bool BestFirst<Entry>::keeps_origin(const Node& node) const {
    return node.sub->limited() || (options_.switches.cache && node.depth - 1 >= cached_depth());
}

// Both sides of a split, each from what is proved of it up to its target.
template <class Entry>
std::pair<Outcome, Outcome> BestFirst<Entry>::solve_sides(Worker& worker, const Node& node, const Task& task, const Children<Entry>& children,
                                                          const Sides& lower, const Sides& up_to, Memory* learnt) {
    const Shape shape = node.shapes[task.segment.shape];
    Outcome left = solve_side(worker, node, children.left, shape.left, lower.left, up_to.left, task.left, learnt != nullptr ? &learnt->left : nullptr);
    return {std::move(left), solve_side(worker, node, children.right, shape.right, lower.right, up_to.right, task.right, learnt != nullptr ? &learnt->right : nullptr)};
}

template <class Entry>
Outcome BestFirst<Entry>::solve_side(Worker& worker, const Node& node, const Subproblem<Entry>& side, Leaves leaves, Score proved, Score target,
                                     const Sources& sources, Profile* learnt) {
    const TreeSize size(node.depth - 1, leaves, side.rows);
    const bool remember = learnt != nullptr && remembers(side, size.depth, node.sub->limited());
    return solve(worker, {side, size, proved, target, 0, remember || side.limited() ? sources : Sources{}, remember ? learnt : nullptr, &node});
}

// The split's own outcome, from those of its sides.
template <class Entry>
Outcome BestFirst<Entry>::join_sides(const Node& node, const Task& task, const Outcome& left, const Outcome& right) {
    const Score split_cost = rules_.objective.split;
    Outcome whole{left.lower + right.lower + split_cost, unreached, {}};
    if (left.upper + right.upper + split_cost >= task.limit + node.gap) return whole;   // no better than what there was
    const Step split{static_cast<std::int32_t>(node.sub->feature[task.segment.f]), node.sub->rank_left_of(task.segment.f, task.z)};
    whole.upper = left.upper + right.upper + split_cost;
    whole.plan = join(split, left.plan, right.plan);
    return whole;
}

// Into the queue, unless it is closed.
template <class Entry>
void BestFirst<Entry>::enqueue(Node& node, const Segment& segment) {
    if (segment.bound >= node.limit()) return node.set_aside(segment.bound);
    node.queue.push_back(segment);
    std::push_heap(node.queue.begin(), node.queue.end(), later);
}

// A segment that a stop left unsolved is as open as before.
template <class Entry>
void BestFirst<Entry>::put_back(Node& node, const Task& task) {
    std::lock_guard lock(node.mutex);
    enqueue(node, task.segment);
    node.land(task.segment);
    node.taken -= task.run.size();
    node.changed.notify_all();
}

// `any` is what holds for leaves of any size.
template <class Entry>
void BestFirst<Entry>::learn([[maybe_unused]] Worker& worker, Node& node, const Task& task, const Evaluated& found, const Point& any, Outcome outcome,
                             Memory memory) {
    const Segment& s = task.segment;
    std::lock_guard lock(node.mutex);
    Evaluated w = within(s, found, node.sub->limited(), rules_);
    if (node.sub->limited()) node.set_aside(trimmed_bound(s, task.limit, rules_));
    const Score proved = std::max(outcome.lower, rules_.total(w.own));
    // A stop leaves a split unsettled, and it stays open: as the left end of what lies right of it.
    const bool settled = outcome.proved() || proved >= task.limit;
    assert(settled || stopping() || worker.over());
    if (settled) node.set_aside(proved);
    if (outcome.upper < node.ub) improve(node, outcome.upper, std::move(outcome.plan));
    if (node.sub == &root_ && !seen_.empty()) {
        std::vector<Position>& seen = seen_[s.f];
        const auto at = std::lower_bound(seen.begin(), seen.end(), task.z);
        if (at == seen.end() || *at != task.z) seen.insert(at, task.z);
    }
    const bool limited = node.sub->limited();
    note(node, s.f, s.shape, task.z, limited ? any : w.own);
    if (limited) memory.own = {w.own.left, w.own.right};
    if (limited || !memory.left.empty() || !memory.right.empty()) {
        w.near.memory = static_cast<std::int32_t>(node.memories->size());
        node.memories->push_back(std::move(memory));
        // With leaf sizes it is of this very threshold, not of those beside it (leaf_sizes.cpp).
        if (node.level && !limited) memories_.note(s.f, s.shape, w.near.z, w.near.memory);
    }
    Point left_end = w.as_left_end();
    left_end.open = !settled;
    for (Segment half : {part_of(s, s.u, w.as_right_end(), rules_), part_of(s, left_end, s.v, rules_)}) {
        if (half.length() == 0) continue;
        enqueue(node, half);
    }
    node.land(s);
    node.taken -= task.run.size();
    if (node.sub == &root_ && node.depth == size_.depth) show_share(node);
    node.changed.notify_all();
}

// Counts the thresholds of the root that may still be in a better tree, for whoever has asked.
template <class Entry>
void BestFirst<Entry>::show_share(const Node& node) {
    if (!root_share_.wanted.exchange(false, std::memory_order_relaxed)) return;
    std::uint64_t open = node.taken, all = 0;
    for (const Segment& segment : node.queue)
        if (segment.bound < node.limit()) open += live_run(segment, *node.sub, node.limit(), rules_).size();
    for (std::uint32_t f = 0; f < node.sub->features; ++f) all += node.shapes.size() * node.sub->cuts(f).count;
    root_share_.closed.store(1 - static_cast<double>(open) / static_cast<double>(all), std::memory_order_relaxed);
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
