// One open subproblem of depth three or more: a queue of segments, least bound first, that threads share.
//
// Every open threshold is in exactly one segment, in the queue or in flight.  A segment that can no longer
// beat the limit leaves its bound in the floor.  So the least of queue, flight and floor bounds all splits at
// every moment.  The mutex guards all members below it once the node is shared.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include "bounds/subset.hpp"
#include "search/crew.hpp"
#include "search/side_profiles.hpp"
#include "tree/outcome.hpp"

namespace contree {
// What a thread takes out of a queue: a split to evaluate, or, with a leaf size, ends to solve for a run.
struct Task {
    Segment segment;
    Run run = {};
    Position z = 0;
    bool renew_left = false, renew_right = false;  // solve these ends for the run, rather than z?
    Score limit;
    Sources left = {}, right = {};  // what is known of similar row sets
};

struct Node;

// Hears of the search of a node, in any thread.
class NodeListener {
public:
    virtual ~NodeListener() = default;
    virtual void opened(Node& node) = 0;                  // before work begins
    virtual void closed(Node& node) = 0;                  // what is open now stays open
    virtual bool leave_open(const Node& node) const = 0;  // shall no other threshold be taken up?
    virtual Score cutoff() const = 0;                     // nothing at or above this matters
    virtual void improved(const Node& node) = 0;          // a better tree; under the node's lock
    virtual void landed(const Node& node, const Segment& segment, const Point& at) = 0;  // likewise
    virtual void next_task(Worker& worker, Node& node) = 0;  // before a task; without the lock
};

struct Node {
    const RowSet* set;
    std::int64_t depth;
    std::vector<LeafBudget> budgets;   // that its splits may have
    Score gap;                         // how far from the optimum the result may be
    NodeListener* listener = nullptr;  // who hears of it; may be nobody
    const Crew::Job* job = nullptr;    // the node as a job, the parent of what it solves
    std::uint32_t hint_f = 0;          // the threshold to begin with, if any: where the shallower tree splits
    Score hint = 0;                    // and the mass on its left; 0: none
    SubsetId hint_subset = no_subset;  // of a categorical feature instead
    Profile* learnt = nullptr;         // where the bounds of all thresholds go, if anyone wants them
    std::deque<SideProfiles> own_profiles;
    std::deque<SideProfiles>* profiles = &own_profiles;  // by Point::profile

    std::mutex mutex;
    std::condition_variable changed;  // something has landed
    Score ub;                         // the target, or the best score found
    Outcome best;
    Score floor = unreached;                    // the least bound of what was set aside
    std::vector<Segment> queue;                 // a heap, least bound first
    std::vector<const Segment*> in_flight;      // those being evaluated
    std::uint64_t thresholds_in_flight = 0;     // that are open
    std::int64_t begun = 0;                     // thresholds
    std::map<std::uint32_t, Lattice> lattices;  // by feature, once a set of its categories is evaluated

    Score limit() const { return ub - gap; }  // nothing at or above this can matter
    bool has_task() const { return !queue.empty() && queue.front().bound < limit(); }
    bool left_open() const { return listener != nullptr && listener->leave_open(*this); }
    // No tree has a smaller objective, by what is known now.
    Score bound() const {
        Score least = std::min({ub, floor, queue.empty() ? unreached : queue.front().bound});
        for (const Segment* const segment : in_flight) least = std::min(least, segment->bound);
        return least;
    }

    void set_aside(Score bound) { floor = std::min(floor, bound); }
    void make_heap() { std::make_heap(queue.begin(), queue.end(), later); }
    void enqueue(const Segment& segment) {
        if (segment.bound >= limit()) return set_aside(segment.bound);
        queue.push_back(segment);
        std::push_heap(queue.begin(), queue.end(), later);
    }
    // Takes the least segment; false where it has no live threshold.  Left sides grow with z: the neighbour
    // to the left holds a subset, the one to the right a superset.
    bool begin(Task& task, const Rules& rules) {
        const auto holds_hint = [&](const Segment& s) {
            if (s.subset != no_subset) return s.subset == hint_subset && s.f == hint_f && s.u.z == s.v.z;
            return hint_subset == no_subset && s.f == hint_f && s.u.z < hint && hint < s.v.z;
        };
        std::pop_heap(queue.begin(), queue.end(), later);
        if (const auto at = std::ranges::find_if(queue, holds_hint); begun == 0 && at != queue.end()) {
            std::iter_swap(at, queue.end() - 1);
            std::make_heap(queue.begin(), queue.end() - 1, later);
        }
        task = {.segment = queue.back(), .limit = limit()};
        queue.pop_back();
        if (task.segment.subset != no_subset) {
            task.run = {1, 0, 0, 0};
            in_flight.push_back(&task.segment);
            ++begun;
            return true;
        }
        task.run = live_run(task.segment, *set, task.limit, rules);
        if (task.run.empty()) return set_aside(task.limit), false;
        const auto [first, last, low, high] = task.run;
        const Position hinted = holds_hint(task.segment) ? set->position_of(hint_f, hint) : 0;
        task.z = set->cuts(task.segment.f).at((first + last) / 2, low, high);
        if (begun == 0 && low <= hinted && hinted <= high) task.z = hinted;
        const Point &u = task.segment.u, &v = task.segment.v;
        if (u.profile >= 0) {
            if (u.z > 0) task.left.subset = &profile(u).left;
            task.right.superset = &profile(u).right;
        }
        if (v.profile >= 0) {
            task.left.superset = &profile(v).left;
            if (v.z < set->mass) task.right.subset = &profile(v).right;
        }
        in_flight.push_back(&task.segment);
        thresholds_in_flight += task.run.size();
        ++begun;
        return true;
    }
    void land(const Task& task) {
        std::erase(in_flight, &task.segment);
        thresholds_in_flight -= task.run.size();
        changed.notify_all();
    }
    void note(std::uint32_t f, std::uint32_t budget, Position z, const Point& point) {
        if (learnt != nullptr) learnt->note(*set, f, budget, z, point);
    }
    SideProfiles& profile(const Point& point) { return (*profiles)[static_cast<std::size_t>(point.profile)]; }
private:
    // Least bound on top; of equal bounds the longest, because it tells most, and the most decided subset.
    static bool later(const Segment& a, const Segment& b) {
        const auto order = [](const Segment& s) {
            return std::tuple(
                s.bound, s.subset == no_subset ? -s.length() : s.length(), s.f, s.budget, s.u.z, s.subset);
        };
        return order(a) > order(b);
    }
};
}  // namespace contree
