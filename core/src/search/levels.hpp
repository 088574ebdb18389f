// All rows, one level deeper at a time.
//
// A level's tree is the next one's first incumbent, and its bound the end of the next one's bounds.  Between
// levels, and between the tasks of one, the heuristics look for better trees.
#pragma once
#include "search/frontier.hpp"
#include "search/improver.hpp"
#include "search/incumbent.hpp"
#include "search/progress_log.hpp"
#include "search/solver.hpp"

namespace contree {
class Levels : private NodeListener {
public:
    // What a search of all rows is asked for.
    struct Request {
        const RowSet& root;
        const Options& options;
        TreeSize size;
        const Start& start;
        const Frontier& frontier;  // where it begins; of depth 0: at the beginning
        Outcome first;             // what is known already: a tree, if it has a plan, and a bound
        std::function<Score()> early_bound = {};  // of all rows, where these are many; may be empty
    };
    // A level of all rows: what it begins from, and what it has learnt in the end.
    struct Level {
        std::int64_t depth;
        bool resumed = false;
        Outcome shallow = {};  // of the level before
        Profile shallow_profile = {}, profile = {};
    };

    Levels(Request request, Solver& solver, Incumbent& incumbent, Improver& improver, RootProfiles& profiles,
        Crew& crew, RootShare& share);

    // To the depth asked for, or a stop.
    void run(Worker& worker);

    // What is open, at any moment and in any thread, and the best tree by then.
    std::pair<Frontier, Outcome> snapshot();

    const Level& last() const { return level_; }
private:
    void deepen(Worker& worker);
    Outcome solve(Worker& worker);
    bool keep(const Outcome& outcome);
    void improve(Worker& worker, std::int64_t level_work, bool endless_sets);
    bool has_endless_sets(const Outcome& shallow) const;
    void bound_early(Worker& worker, std::int64_t level_work);
    bool is_first() const { return level_.depth == std::min<std::int64_t>(2, request_.size.depth); }
    bool is_last() const { return level_.depth == request_.size.depth; }
    bool greedy_first() const;
    void offer_greedy(Worker& worker, const Halt& halt);

    // NodeListener, of the open level.
    void opened(Node& node) override;
    void closed(Node& node) override;
    bool leave_open(const Node& node) const override;
    Score cutoff() const override { return incumbent_.cutoff(); }
    void improved(const Node& node) override { incumbent_.offer_tree({0, node.ub, node.best.plan}); }
    void landed(const Node& node, const Segment& segment, const Point& at) override;
    void next_task(Worker& worker, Node& node) override;

    Request request_;
    Solver& solver_;
    Incumbent& incumbent_;
    Improver& improver_;
    RootProfiles& profiles_;
    Crew& crew_;
    RootShare& share_;
    const StopFlags& flags_;
    Score irreducible_;  // no tree of the depth asked for is below this
    Level level_;
    bool left_open_ = false;  // was the last level handed back before its end?
    std::mutex mutex_;
    Frontier frontier_;     // of the last level that was ended or left, at first where it starts,
    Node* node_ = nullptr;  // and the node of the one that is open
};
}  // namespace contree
