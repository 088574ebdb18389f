// The best tree of depth two: rounds of up to 32 splits, over all features at once.
//
// Each round picks the open segments of least bound, whatever their feature, evaluates one threshold in the
// middle of each (several in an untouched feature) in one run of the kernel, and cuts the segments there.
// When no segment can hold a split below the target, what was found is optimal, or the target is proved.
#pragma once

#include <array>
#include <vector>

#include "bounds/inheritance.hpp"
#include "bounds/outcome.hpp"
#include "bounds/segment.hpp"
#include "depth_two/kernel.hpp"
#include "search/statistics.hpp"

namespace contree {

template <class Entry>
class DepthTwo {
public:
    DepthTwo(const Kernel& kernel, const Switches& switches, const Control& control)
        : kernel_(kernel), rules_{switches.monotone != 0, switches.similarity != 0}, control_(control) {}

    // The exact score where it is below `target`, else a proved bound >= target.  `lower` is already proved.
    // `learnt`, if given, gets the bounds of all thresholds that were looked at.
    Outcome solve(const Subproblem<Entry>& sub, Score lower, Score target, const Sources& sources, Profile* learnt,
                  Arena& arena, Statistics& statistics);

private:
    struct Open {
        Segment segment;
        Run run;
    };
    struct Lane {
        std::uint32_t open;   // whose segment
        std::uint32_t f;
        Position z;
    };
    // The rows of two classes only, in every feature's order.
    struct PairRows {
        const Entry* entries = nullptr;   // null until first used
        std::size_t stride = 0;
        Row rows = 0;
    };
    struct Pair {
        std::uint32_t a, b;   // a < b
        PairRows rows;
    };

    void start(const Subproblem<Entry>& sub, Score lower, const Sources& sources);
    void note(std::uint32_t f, const Point& point);
    void drop_closed();
    void choose_lanes();
    void spread_lanes(std::uint32_t open, unsigned count);
    void write_words();
    void evaluate();
    void evaluate_two_classes();
    void evaluate_classes();
    void side_sizes();
    const PairRows& pair_rows(Pair& pair);
    void learn();
    void close(Score bound) { floor_ = std::min(floor_, bound); }
    // In the first round the last lane has all rows on its left side: theta_1 of the subproblem.
    bool has_whole_lane() const { return round_ == 0; }

    const Kernel& kernel_;
    const Rules rules_;
    const Control& control_;

    // State of one solve.
    const Subproblem<Entry>* sub_ = nullptr;
    Arena* arena_ = nullptr;
    Profile* learnt_ = nullptr;
    Statistics* statistics_ = nullptr;
    Score ub_ = 0;
    Score floor_ = 0;             // the least bound of what was closed
    Outcome best_;
    unsigned round_ = 0;
    Score stump_ = 0;             // proved bound of theta_1 of all rows: the ends of B1
    std::vector<Open> open_;
    std::vector<Open> next_;
    std::vector<Point> inherited_;
    std::vector<Segment> found_;
    std::vector<Lane> lanes_;     // by (feature, position): lane t is bit t
    std::vector<std::uint32_t> chosen_;
    std::vector<std::uint8_t> cut_;   // by open segment: has it a lane in this round?
    std::vector<Pair> pairs_;
    std::uint64_t* words_ = nullptr;

    // By side, after `evaluate`.
    using BySide = std::array<std::int32_t, side_count>;
    alignas(64) BySide size_;      // rows
    alignas(64) BySide reached_;   // errors of the best stump found
    alignas(64) BySide proved_;    // no stump has fewer
    SideSums sums_;
    std::vector<BySide> class_totals_, potential_;
};

extern template class DepthTwo<NarrowEntry>;
extern template class DepthTwo<WideEntry>;

}  // namespace contree
