// The best tree of depth two: rounds of up to 32 splits, over all features at once.
//
// Each round picks the open segments of least bound, whatever their feature, evaluates a threshold in the
// middle of each (several where there is room) in one batch, and cuts the segments there.  When no segment
// can hold a split below the target, what was found is optimal, or the target is proved.
//
// A batch tells of each side the errors of a leaf and of the best stump, which is all that any objective asks
// for: a side with one leaf is a leaf, and one with two is whatever costs less.  So nothing below knows of
// costs.
#pragma once

#include <vector>

#include "bounds/inheritance.hpp"
#include "bounds/outcome.hpp"
#include "bounds/segment.hpp"
#include "depth_two/batches.hpp"
#include "search/statistics.hpp"

namespace contree {

template <class Entry>
class DepthTwo {
public:
    DepthTwo(const Kernel& kernel, const Switches& switches, const Control& control,
             const Objective& objective = {})
        : rules_(rules_of(switches, objective)), control_(control), batches_(kernel, when_stopped(control)) {}

    // The exact score where it is below `target`, else a proved bound >= target, for trees of three leaves or
    // of four. `lower` is already proved.  `learnt`, if given, gets the bounds of all thresholds that were
    // looked at. With `slack` a tree will do whose score is at most so many 64ths above the least; the bound
    // says what is proved.
    Outcome solve(const Subproblem<Entry>& sub, Leaves leaves, Score lower, Score target,
                  const Sources& sources, Profile* learnt, Arena& arena, Statistics& statistics,
                  Score slack = 0);

private:
    struct Open {
        Segment segment;
        Run run;
    };

    void start(Score lower, const Sources& sources);
    void choose_lanes();
    void spread_lanes(std::uint32_t open, unsigned count);
    void choose_stretches();
    void match_lanes();
    Score side_score(Score stump, Score leaf, Leaves leaves) const;
    Step side_step(Score stump, Score leaf, Leaves leaves) const;
    Score raw_limit() const;
    Score end_score(Leaves leaves) const { return leaves == 1 ? leaf_ : stump_; }
    void learn();
    void learn_whole();
    void lower_ub(Score ub);
    void improve(Score score, Plan plan);
    void cut_segments(Score limit_before);
    bool still_open(Open& open);
    void note_inherited(std::uint32_t f, std::uint32_t shape);
    void note(std::uint32_t f, std::uint32_t shape, Position position, const Point& point);
    void close(Score bound) { floor_ = std::min(floor_, bound); }

    const Rules rules_;
    const Control& control_;
    Batches<Entry> batches_;

    // State of one solve.
    Batch<Entry>* batch_ = nullptr;
    const Subproblem<Entry>* sub_ = nullptr;
    Statistics* statistics_ = nullptr;
    Profile* learnt_ = nullptr;
    Score ub_ = 0;
    Score slack_ = 0;
    Score limit_ = 0;     // what cannot hold a score below this is closed: ub_ less the slack; grows with ub_
    Score floor_ = 0;     // the least bound of what was closed
    bool plain_ = true;   // are errors all that counts, and stumps allowed on both sides?
    std::vector<Shape> shapes_;
    Score leaf_ = 0;    // of all rows
    Score stump_ = 0;   // proved bound of theta_1 of all rows: the ends of B1
    Outcome best_;
    std::vector<Open> open_;   // every one with a live run for ub_
    std::vector<Point> inherited_;
    std::vector<Segment> found_;
    std::vector<std::uint64_t> keys_;
    struct Cut {
        std::uint32_t open, lane;
    };
    std::vector<Cut> cuts_;   // which lanes cut which segments, by segment and position
};

extern template class DepthTwo<NarrowEntry>;
extern template class DepthTwo<WideEntry>;

}  // namespace contree
