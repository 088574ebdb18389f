// The search: one best-first queue per subproblem, over the open segments of all features.
//
// `solve` answers CT(D, d) (Eq. 4) against a target.  Above depth two it opens a Node: the segment of least
// bound is taken, the split in the middle of its live run is evaluated (Eq. 6: two subproblems of depth
// d - 1), and the two halves go back into the queue.  When the least bound reaches the target, all is
// proved.  A Node is also what threads share: any thread may take the next segment of any open Node.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bounds/inheritance.hpp"
#include "bounds/outcome.hpp"
#include "bounds/segment.hpp"
#include "depth_two/depth_two.hpp"
#include "search/cache.hpp"
#include "search/memories.hpp"
#include "search/road.hpp"
#include "search/stages.hpp"
#include "search/statistics.hpp"

namespace contree {

// A heap's order: least bound on top; of equal bounds the longest, because it tells most.
inline bool later(const Segment& a, const Segment& b) {
    if (a.bound != b.bound) return a.bound > b.bound;
    if (a.length() != b.length()) return a.length() < b.length();
    if (a.f != b.f) return a.f > b.f;
    return a.shape != b.shape ? a.shape > b.shape : a.u.z > b.u.z;
}

template <class Entry>
class BestFirst {
public:
    // `improved` is told of every better tree for all rows and every better bound, in any thread, one call at a time.
    using Improved = std::function<void(const Outcome& incumbent)>;

    // `first` is what is known already: a tree, if it has a plan, and a bound; `start` what is left to search.
    // Throws std::invalid_argument where `start` is not of this search.
    BestFirst(const Subproblem<Entry>& root, Cache& cache, RootMemories& memories, const Options& options, const Control& control,
              Improved improved, Outcome first, const Frontier& start, const Start& asked, RootShare& root_share);

    // The best tree of the options' depth, within max_gap, or the best found when `control` stops the search.
    Outcome run();
    Statistics statistics() const;
    // What is open, at any moment and in any thread, and the best tree by then.  The tree is read last: whatever the frontier
    // leaves out because of a tree, the tree is there.
    std::pair<Frontier, Outcome> snapshot();
    // With all_sizes: the best trees by leaves, less one, and what is proved of them.
    const std::vector<Outcome>& sizes() const { return sizes_; }

private:
    struct Worker {
        Worker(const Kernel& kernel, const Switches& switches, const Control& control, const Objective& objective)
            : depth_two(kernel, switches, control, objective) {}
        Arena arena;
        DepthTwo<Entry> depth_two;
        Statistics statistics;
        // The work after which nodes are left unproved, for searches that may end without an answer.  Row visits alone
        // would not do: on few rows of many classes most of it goes into making subproblems that need no visit.
        static constexpr std::int64_t cells_of_a_split = 4096;   // what a split costs whatever its size
        static constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
        std::int64_t work_end = endless;
        std::int64_t cells_moved = 0;
        std::int64_t work() const { return statistics.row_visits + cells_moved; }
        bool over() const { return work() >= work_end; }
    };
    struct Node {
        const Subproblem<Entry>* sub;
        std::int64_t depth;
        std::vector<Shape> shapes;    // that its splits may have
        Score gap;                    // how far from the optimum the result may be
        const Node* parent;
        Score ub;                     // the target, or the best score found
        Outcome best;
        Score floor = unreached;      // the least bound of what was set aside
        std::vector<Segment> queue;   // a heap, least bound first
        Profile* learnt = nullptr;    // where the bounds of all thresholds go, if anyone wants them
        std::deque<Memory> own_memories;
        std::deque<Memory>* memories = &own_memories;   // by Point::memory; a level's are those of all rows
        std::vector<const Segment*> in_flight;   // those being evaluated
        std::uint64_t taken = 0;      // the thresholds in them that are open
        bool level = false;           // is it of `deepen`?
        std::int64_t begun = 0;       // thresholds
        unsigned helpers = 0;         // threads inside, besides the owner
        std::mutex mutex;
        std::condition_variable changed;

        void set_aside(Score bound) { floor = std::min(floor, bound); }
        // Nothing at or above this can matter.
        Score limit() const { return ub - gap; }
        void land(const Segment& segment) { std::erase(in_flight, &segment); }
        // No tree has a smaller objective, by what is known now.
        Score bound() const {
            Score least = std::min(ub, floor);
            for (const Segment* const segment : in_flight) least = std::min(least, segment->bound);
            return queue.empty() ? least : std::min(least, queue.front().bound);
        }
    };
    enum class Ends { neither, left, right, both };
    struct Task {
        Segment segment;
        Run run;
        Position z;
        Ends ends = Ends::neither;    // are those of the segment to be solved for its run, rather than z?
        Score limit;
        Sources left, right;
    };
    // What is proved of a task's sides before they are solved, and up to where they are.
    struct Prospects {
        Sides lower, up_to;
    };
    // A subproblem and all that is known of it.
    struct Question {
        const Subproblem<Entry>& sub;
        TreeSize size;
        Score lower;                  // proved
        Score target;                 // what is not below it need not be exact
        Score gap;                    // how far from the optimum the result may be
        Sources sources;
        Profile* learnt;              // gets the bounds of all thresholds looked at, if given
        const Node* parent;
        const Outcome* shallow = nullptr;        // depth - 1 on the same rows, where that is known already,
        const Profile* shallow_learnt = nullptr; // and what it learnt
        const Outcome* incumbent = nullptr;      // a tree of this depth, found before
        bool level = false;                      // is it one of `deepen`, whose frontier is kept?
        const Frontier* start = nullptr;         // and which to go on from, if given
    };

    Outcome search(Worker& worker);
    void deepen(Worker& worker);
    double least_proof();
    void search_sizes(Worker& worker);
    void search_few(Worker& worker);
    void solve_size(Worker& worker, Leaves leaves);
    void spread(Worker& worker, const Outcome& tree);
    void prepare_stages(Worker& worker);
    void look_for_trees(Worker& worker, std::int64_t depth, std::int64_t level_work);
    template <class Stage>
    void look(Worker& worker, const Stage& stage);
    void work_beside(Worker& worker);
    Outcome greedy(Worker& worker, const Halt& halt) const;
    Outcome to_size(Outcome tree) const;
    Outcome of_stage(Outcome tree);
    Outcome for_stage();
    void take(const Outcome& tree);
    Outcome incumbent();
    void keep(Score score, const Plan& plan);
    void raise(Score lower);
    void raise_bound(Node& node);
    void told();
    Outcome solve(Worker& worker, Question question);
    Outcome solve_affordable(Worker& worker, Question question, const TreeSize& size);
    TreeSize affordable_size(const Question& question) const;
    Outcome solve_shallow(Worker& worker, Node& node, const Question& question);
    Outcome branch(Worker& worker, const Question& question);
    void open(Worker& worker, Node& node, const Question& question);
    void open_segments(Node& node, Score ends, std::int32_t memory, const Sources& sources);
    void note(Node& node, std::uint32_t f, std::uint32_t shape, Position position, const Point& point);
    bool remembers(const Subproblem<Entry>& sub, std::int64_t depth, bool again = false) const;
    void work(Worker& worker, Node& node);
    bool next_task(Node& node, Task& task, Statistics& statistics);
    void begin(Node& node, Task& task);
    void evaluate(Worker& worker, Node& node, Task& task);
    Prospects prospects(const Node& node, const Task& task) const;
    void put_back(Node& node, const Task& task);
    void enqueue(Node& node, const Segment& segment);
    Segment take_segment(Node& node);
    Position threshold_in(const Node& node, const Segment& segment, const Run& run) const;
    std::int64_t cached_depth() const;
    Outcome join_sides(const Node& node, const Task& task, const Outcome& left, const Outcome& right);
    bool keeps_origin(const Node& node) const;
    Outcome solve_side(Worker& worker, const Node& node, const Subproblem<Entry>& side, Leaves leaves, Score proved, Score target,
                       const Sources& sources, Profile* learnt);
    std::pair<Outcome, Outcome> solve_sides(Worker& worker, const Node& node, const Task& task, const Children<Entry>& children,
                                            const Sides& lower, const Sides& up_to, Memory* learnt);

    // Leaf sizes.
    bool bounds_runs(const Node& node, const Run& run) const;
    Ends stale_ends(const Node& node, const Task& task) const;
    void renew_ends(Worker& worker, Node& node, const Task& task);
    void evaluate_limited(Worker& worker, Node& node, Task& task, Children<Entry>& children, const Sides& up_to);
    void widen(Worker& worker, const Subproblem<Entry>& sub, std::uint32_t f, Position z, bool left, Subproblem<Entry>& side);

    void learn(Worker& worker, Node& node, const Task& task, const Evaluated& found, const Point& any, Outcome outcome,
               Memory memory);
    void improve(Node& node, Score score, Plan plan);
    void show_share(const Node& node);

    // Frontiers.
    // Shows the open node of a level to `snapshot`, as long as it lives.
    class LevelWatch {
    public:
        LevelWatch(BestFirst& search, Node& node, bool wanted);
        LevelWatch(const LevelWatch&) = delete;
        ~LevelWatch();
        void leave();   // what is open now stays the level's frontier

    private:
        BestFirst& search_;
        Node* const node_;   // null: not wanted
    };
    void check_start() const;
    std::uint32_t number_of(std::int64_t column) const;
    Score without_leaf(Score objective) const;
    Score with_leaf(Score score) const;
    void open_from(Node& node, const Frontier& frontier) const;
    Frontier frontier_of(Node& node) const;
    void end_level(std::int64_t depth, Score lower);
    Score cutoff() const;


    // Threads.
    void share(Node& node);
    void withdraw(Worker& worker, Node& node);
    Node* node_to_help(const Node* below);
    void help_until_done(Worker& worker);
    void leave(Node& node);
    void fail();
    // Is the incumbent good enough?
    bool finished() const { return finished_.load(std::memory_order_relaxed); }
    bool ended() const { return control_.stopped() || failed_.load(std::memory_order_relaxed); }
    bool stopping() const { return ended() || finished(); }
    // Shall the rest of a level be left to others?
    bool handing_back(const Node& node) const {
        return node.level && (control_.handing_back() || (asked_.splits > 0 && node.begun >= asked_.splits));
    }

    const Subproblem<Entry>& root_;
    const Options& options_;
    const Control& control_;
    const Improved improved_;
    Outcome first_;
    const Frontier& start_;
    const Start& asked_;
    RootShare& root_share_;
    const Kernel& kernel_;
    const Rules rules_;
    TreeSize size_;               // of the tree asked for
    Cache& cache_;
    RootMemories& memories_;      // of the level that is searched
    std::vector<std::unique_ptr<Worker>> workers_;

    std::mutex sharing_mutex_;
    std::vector<Node*> shared_;   // open nodes that other threads may join
    bool done_ = false;
    std::atomic<bool> failed_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;  // the first one of any thread
    bool greedy_is_known_ = false;            // has the search begun with CART's tree?
    std::unique_ptr<DepthTwo<Entry>> plain_two_;   // the heuristics' where more than errors counts
    std::unique_ptr<Stages<Entry>> stages_;   // the first thread's
    std::int64_t two_work_ = 0;               // what depth two of all rows took, where heuristics are wanted
    Outcome unpruned_;                        // the heuristics' tree of fewest errors, where more than errors counts
    std::int64_t trees_visits_ = 0;           // of the stages
    bool beside_ = false;                     // is the first thread at what runs beside the search?
    bool hard_ = false;                       // does level three say that a proof at depth four is far off?
    Node* root_node_ = nullptr;               // of all rows, while it is open; set by the first thread alone
    std::mutex frontier_mutex_;
    bool left_open_ = false;                  // was the last level handed back before its end?
    Frontier frontier_;                       // of the last level that was ended or left, at first where it starts,
    Node* level_node_ = nullptr;              // and the node of the one that is open
    std::mutex incumbent_mutex_;
    Outcome incumbent_;                       // for all rows and the depth asked for: the best tree, and what is proved
    std::atomic<bool> finished_{false};

    // Of all sizes.
    bool telling_ = true;                     // is what is found for the one tree that is asked for?
    std::vector<Outcome> sizes_;
    Outcome shallow_;                         // of one level less, without a limit of leaves,
    Profile shallow_learnt_, known_;          // what it learnt, and what the last size learnt
    std::vector<std::vector<Position>> seen_; // by feature: thresholds of all rows that were evaluated, ascending
};

extern template class BestFirst<NarrowEntry>;
extern template class BestFirst<WideEntry>;

}  // namespace contree
