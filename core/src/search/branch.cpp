// Branch(D, d, f) for all features at once (Eq. 5): a node is opened, worked on, and closed.
#include "search/frontier.hpp"
#include "search/solver.hpp"
#include "tree/locate.hpp"

namespace contree {
// A node as a job: any thread may take its next segment.
class Solver::OpenNode : public Crew::Job {
public:
    OpenNode(Solver& solver, Node& node, const Job* parent)
        : Job(node.depth, parent), solver_(solver), node_(node) {}
    void work(Worker& worker) override { solver_.work(worker, node_); }
    bool has_task() override {
        std::lock_guard lock(node_.mutex);
        return node_.has_task() && !node_.left_open();
    }
    bool busy() override {
        std::lock_guard lock(node_.mutex);
        return !node_.in_flight.empty();
    }
    void wait_for_change() override {
        std::unique_lock lock(node_.mutex);
        node_.changed.wait_for(lock, std::chrono::microseconds(200), [&] { return node_.in_flight.empty(); });
    }
private:
    Solver& solver_;
    Node& node_;
};

Outcome Solver::branch(Worker& worker, const SolveRequest& request) {
    const RowSet& set = request.set;
    Node node;
    node.set = &set;
    node.depth = request.size.depth;
    node.budgets = leaf_budgets(request.size);
    node.gap = request.gap;
    node.listener = request.listener;
    if (request.profiles != nullptr) {
        request.profiles->begin(node.depth, request.start == nullptr);
        node.profiles = &request.profiles->kept;
    }
    node.learnt = request.learnt;
    if (node.learnt != nullptr) node.learnt->expect(node.budgets);
    node.ub = request.target;
    node.in_flight.reserve(crew_.size());
    const Score leaf = objective_.leaf_score(set);
    if (leaf < node.ub) improve(node, leaf, {Step{Step::leaf, 0}});
    if (request.incumbent != nullptr && request.incumbent->upper < node.ub)
        improve(node, request.incumbent->upper, request.incumbent->plan);

    if (request.start == nullptr) open(worker, node, request);
    else open_from(node, *request.start, *request.profiles, options_.leaf_cost, rules_);
    if (node.listener != nullptr) node.listener->opened(node);
    if (request.lower < node.limit()) {
        OpenNode job(*this, node, request.parent);
        node.job = &job;
        // Work that has an end is not shared: others do not see it.
        if (crew_.is_shared() && worker.work_end == Worker::endless) crew_.work_together(worker, job);
        else job.work(worker);
    }
    if (node.listener != nullptr) node.listener->closed(node);

    for (const Segment& segment : node.queue) node.set_aside(segment.bound);  // after a stop
    Outcome outcome = std::move(node.best);
    // The floor is of splits alone, which may cost more than a leaf that does not lie below the target.
    outcome.lower = std::max(std::min({outcome.upper, node.floor, leaf}), request.lower);
    if (node.learnt != nullptr) {
        node.learnt->mass = set.mass;
        settle(*node.learnt, rules_);
    }
    assert(outcome.lower <= leaf);  // which is a tree too
    return outcome;
}

// The tree of depth d - 1 for all rows is a tree of depth d, and its score is the end of every feature's B1.
void Solver::open(Worker& worker, Node& node, const SolveRequest& request) {
    Score ends = request.lower;
    std::int32_t profile = RootProfiles::none;
    if (request.lower < node.limit()) {
        Outcome shallow = solve_shallow(worker, node, request);
        profile = node.profiles->empty() ? RootProfiles::none : 0;
        ends = std::max(ends, shallow.lower);
        if (node.listener != nullptr && shallow.plan.size() > 1) {
            const Split at = place_of(*node.set, shallow.plan.front());
            node.hint_f = at.f, node.hint_subset = at.subset;
            if (at.subset != no_subset) node.hint_subset = first_on_left(*node.set, at);
            else node.hint = node.set->mass_at(at.f, at.z);
        }
        if (shallow.upper < node.ub) improve(node, shallow.upper, std::move(shallow.plan));
    }
    if (request.profiles != nullptr) request.profiles->of_ends = profile;
    open_segments(node, ends, profile, request.sources);
}

// Depth d - 1 on the node's own rows; what it learnt is the first of the node's profiles.
Outcome Solver::solve_shallow(Worker& worker, Node& node, const SolveRequest& request) {
    if (request.shallow != nullptr) {
        const Profile* const learnt = request.shallow_learnt;
        if (learnt != nullptr) node.profiles->push_back({*learnt, *learnt});
        return *request.shallow;
    }
    Profile learnt;
    SolveRequest shallower{
        request.set, {node.depth - 1, request.size.leaves, request.set.rows}, request.lower};
    shallower.target = node.limit();
    shallower.parent = request.parent;
    if (remembers(request.set, node.depth - 1)) shallower.learnt = &learnt;
    Outcome shallow = solve(worker, shallower);
    if (shallower.learnt != nullptr) node.profiles->push_back({learnt, learnt});
    return shallow;
}

void Solver::open_segments(Node& node, Score ends, std::int32_t profile, const Sources& sources) {
    const RowSet& set = *node.set;
    const Score alone = objective_.leaf_score(set);
    const auto end = [&](Leaves leaves) { return leaves == 1 ? alone : ends; };
    std::vector<Point> points;
    for (std::uint32_t budget = 0; budget < node.budgets.size(); ++budget) {
        const Point left_end{0, 0, end(node.budgets[budget].right), false, profile};
        const Point right_end{set.mass, end(node.budgets[budget].left), 0, false, profile};
        Inheritance inheritance(set, node.budgets[budget], sources, rules_);
        for (std::uint32_t f = 0; f < set.features; ++f) {
            inheritance.points_of(f, points);
            const auto note_inherited = [&] {
                for (const Point& point : points) node.note(f, budget, set.position_of(f, point.z), point);
            };
            // With a leaf size, before the ends add what holds for that size alone.
            if (set.has_leaf_size()) note_inherited();
            node.set_aside(
                open_between(f, budget, left_end, right_end, points, node.limit(), rules_, node.queue));
            if (!set.has_leaf_size()) note_inherited();
        }
        open_subsets(node, budget);
    }
    node.make_heap();
}

void Solver::work(Worker& worker, Node& node) {
    Task task;
    while (!worker.over() && next_task(node, task, worker.statistics)) {
        try {
            if (node.listener != nullptr) node.listener->next_task(worker, node);
            evaluate(worker, node, task);
        } catch (...) {
            crew_.fail();
            std::lock_guard lock(node.mutex);
            node.set_aside(task.segment.bound);  // it is as open as before
            node.land(task);
        }
    }
}

// Takes the most promising open segment; false when none is left to take.
bool Solver::next_task(Node& node, Task& task, Statistics& statistics) {
    std::lock_guard lock(node.mutex);
    if (node.listener != nullptr) node.ub = std::min(node.ub, node.listener->cutoff());
    while (!node.queue.empty() && !flags_.stopping() && !node.left_open()) {
        if (!node.has_task()) {
            statistics.closed_by_segment_bound += static_cast<std::int64_t>(node.queue.size());
            node.set_aside(node.queue.front().bound);
            node.queue.clear();
        } else if (node.begin(task, rules_)) {
            if (node.set->has_leaf_size() && task.segment.subset == no_subset) find_stale_ends(node, task);
            return true;
        } else {
            ++statistics.closed_by_trimming;
        }
    }
    return false;
}

void Solver::improve(Node& node, Score score, Plan plan) {
    assert(score < node.ub);
    node.ub = score;
    node.best = {0, score, std::move(plan)};
    if (node.listener != nullptr) node.listener->improved(node);
}
}  // namespace contree
