// The best tree of depth two: rounds of up to 32 splits, over all features at once.
//
// Each round picks the open segments of least bound, whatever their feature, evaluates a threshold in the
// middle of each (several where there is room) in one batch, and cuts the segments there.  When no segment
// can hold a split below the target, what was found is optimal, or the target is proved.
//
// A batch tells of each side the loss of a leaf and of the best stump, which is all that any costs ask for.
#pragma once
#include <limits>
#include <vector>
#include "bounds/inheritance.hpp"
#include "bounds/segment.hpp"
#include "bounds/subset.hpp"
#include "depth_two/batch.hpp"
#include "tree/outcome.hpp"

namespace contree {
class DepthTwo {
public:
    // `other_costs` replace the objective's own.
    DepthTwo(const Objective& objective, const Kernel& kernel, const Switches& switches,
        const Control& control, const Costs* other_costs = nullptr)
        : objective_(objective), rules_{rules_of(objective, switches).similarity,
                                     other_costs != nullptr ? *other_costs : objective.costs},
          control_(control), batches_(objective.make_batches(kernel, when_stopped(control))) {}

    // The exact score where it is below `target`, else a proved bound >= target, for trees of three leaves or
    // of four.  `lower` is already proved.  `learnt`, if given, gets the bounds of all thresholds looked at.
    // With `slack` a score will do that is so many 64ths above the least; the bound says what is proved.
    Outcome solve(const RowSet& set, Leaves leaves, Score lower, Score target, const Sources& sources,
        Profile* learnt, Arena& arena, Statistics& statistics, Score slack = 0);

    // So many row visits in all, after which no more sets of categories are tried: these alone may take
    // without end.  The tree is the best so far, and the bound holds.
    std::int64_t visits_end = std::numeric_limits<std::int64_t>::max();
private:
    struct Open {
        Segment segment;
        Run run;
    };
    // A node of a feature's lattice.
    struct PartialSubset {
        Score bound;
        std::uint32_t f;
        std::size_t decided;
        SubsetWords left;
    };

    void start(Score lower, const Sources& sources);
    void choose_lanes();
    void match_lanes();
    void choose_neighbourhoods();
    Score side_score(Score stump, Score leaf, Leaves leaves) const;
    Score lane_score(std::size_t t, const Sides& stumps) const;
    bool wanted(std::size_t t) const;
    Step side_step(Score stump, Score leaf, Leaves leaves) const;
    // So much loss of two stumps reaches ub_, as a side costs no less than its stump's loss.
    Score raw_limit() const {
        return ub_ == unreached ? unreached : rules_.mass_of(ub_ - rules_.costs.split);
    }
    Score end_score(Leaves leaves) const { return leaves == 1 ? leaf_ : stump_; }
    void learn();
    void take_lane(std::size_t t);

    // subsets.cpp
    void open_subsets();
    void weigh_categories_alone(std::uint32_t f, const Lattice& lattice, std::vector<Score>& alone);
    void search_subsets(Score lower);
    void learn_subset(std::size_t t, PartialSubset node);
    void push(PartialSubset node);
    PartialSubset pop();
    void order_subsets(bool deepest_first);
    const Lattice& lattice_of(const PartialSubset& node) const { return lattices_[node.f - set_->features]; }
    // Of the best stumps with leaves of any size.
    Score any_size_left(std::size_t t) const {
        return set_->has_leaf_size() ? batch_->near_left(t) : batch_->proved_left(t);
    }
    Score any_size_right(std::size_t t) const {
        return set_->has_leaf_size() ? batch_->near_right(t) : batch_->proved_right(t);
    }

    void learn_whole();
    void lower_ub(Score ub) {
        ub_ = ub;
        limit_ = ub - ub / 64 * slack_ - ub % 64 * slack_ / 64;
    }
    void improve(Score score, Plan plan) {
        lower_ub(best_.upper = score);
        best_.plan = std::move(plan);
    }
    void cut_segments(Score limit_before);
    bool still_open(Open& open);
    void note(std::uint32_t f, std::uint32_t budget, Position z, const Point& point) {
        if (learnt_ != nullptr) learnt_->note(*set_, f, budget, z, point);
    }
    void close(Score bound) { floor_ = std::min(floor_, bound); }

    const Objective& objective_;
    const Rules rules_;
    const Control& control_;
    const std::unique_ptr<Batches> batches_;

    // State of one solve.
    Batch* batch_ = nullptr;
    const RowSet* set_ = nullptr;
    Statistics* statistics_ = nullptr;
    Profile* learnt_ = nullptr;
    Score ub_ = 0, slack_ = 0;
    Score limit_ = 0;    // what cannot hold a score below this is closed: ub_ less the slack; grows with ub_
    Score floor_ = 0;    // the least bound of what was closed
    bool plain_ = true;  // is loss all that counts, and stumps allowed on both sides?
    std::vector<LeafBudget> budgets_;
    Score leaf_ = 0,
          stump_ = 0;  // of all rows: a leaf's score, and a proved bound of theta_1, the ends of B1
    Outcome best_;
    std::vector<Open> open_;              // every one with a live run for ub_
    std::vector<Lattice> lattices_;       // of the categorical features
    std::vector<PartialSubset> partial_;  // a heap
    bool deepest_first_ = false;          // how it is ordered: by bound, or, to save memory, by depth
    std::vector<Point> inherited_;
    std::vector<Segment> found_;
    std::vector<std::uint64_t> keys_;
    // Which lanes cut which segments, by segment and position: numbers in `open_` and `lanes`.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cuts_;
};
}  // namespace contree
