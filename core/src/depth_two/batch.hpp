// One batch: up to 32 splits of a subproblem, with the best stumps on both sides of each.
#pragma once

#include <array>
#include <vector>

#include "depth_two/kernel.hpp"
#include "search/statistics.hpp"

namespace contree {

// A split to evaluate.  `owner` is for whoever asked.
struct Lane {
    std::uint32_t f;
    Position z;
    std::uint32_t owner;
};

template <class Entry>
class Batch {
public:
    explicit Batch(const Kernel& kernel, const Halt& halt = {}) : kernel_(kernel), halt_(halt) {}

    // From here on splits of `sub`; memory for it is taken from `arena`.
    void start(const Subproblem<Entry>& sub, Arena& arena, Statistics& statistics);

    // The lanes of the next evaluation, to be filled by the caller and sorted by feature and position.
    std::vector<Lane> lanes;
    // Is all of the subproblem the left side of one more, the last lane?  Then there is room for one fewer.
    bool with_whole = false;
    static constexpr std::size_t whole_lane = lane_count - 1;

    // Scores that are not below `ub` need not be exact.  False where it was halted: then there are no scores.
    bool evaluate(Score ub);

    // Errors of the best stumps found on the sides of lane t, and what no stump can get below; the same unless
    // their sum does not lie below `ub`.
    Score reached(std::size_t t) const { return Score{reached_[left_side(t)]} + reached_[right_side(t)]; }
    Score proved_left(std::size_t t) const { return proved_[left_side(t)]; }
    Score proved_right(std::size_t t) const { return proved_[right_side(t)]; }

private:
    using BySide = std::array<std::int32_t, side_count>;

    // Rows of two classes in every feature's order, ready for the kernel.
    struct Pair {
        std::uint32_t a, b;               // a < b
        Row rows = 0;
        Sweep<Entry> sweep{};             // entries null until first used
    };

    void write_words();
    void side_sizes();
    void sweep(const Sweep<Entry>& all);
    void evaluate_two_classes();
    void evaluate_classes(Score ub);
    void evaluate_one_by_one();
    void filter_rows(Pair& pair);
    void mark_takes(Sweep<Entry>& sweep);

    const Kernel& kernel_;
    const Halt halt_;
    const Subproblem<Entry>* sub_ = nullptr;
    Arena* arena_ = nullptr;
    Statistics* statistics_ = nullptr;
    std::uint64_t* words_ = nullptr;
    std::vector<Pair> pairs_;   // the most rows first
    alignas(64) BySide size_, reached_, proved_;
    SideSums sums_;
    std::vector<BySide> class_totals_, potential_;
    std::vector<std::uint32_t> class_of_;   // by row, where lanes go one by one
};

extern template class Batch<NarrowEntry>;
extern template class Batch<WideEntry>;

}  // namespace contree
