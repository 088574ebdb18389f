// One batch: up to 32 splits of a subproblem, with the best stumps on both sides of each.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "depth_two/kernel.hpp"
#include "search/statistics.hpp"

namespace contree {

// A split to evaluate.  `owner` is for whoever asked.
struct Lane {
    std::uint32_t f;
    Position z;
    std::uint32_t owner;
    Row leaf = 1;   // the leaf size for bounds that hold as far as the next lanes: see segment.hpp
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
    // Are the errors of a leaf on each side wanted too?
    bool with_leaves = false;

    // Scores that are not below `ub` need not be exact.  False where it was halted: then there are no scores.
    bool evaluate(Score ub);

    // Errors of the best stumps found on the sides of lane t, and what no stump can get below; the same unless
    // their sum does not lie below `ub`.
    Score reached(std::size_t t) const { return Score{reached_[left_side(t)]} + reached_[right_side(t)]; }
    Score proved(std::size_t t) const { return Score{proved_[left_side(t)]} + proved_[right_side(t)]; }
    Score reached_left(std::size_t t) const { return reached_[left_side(t)]; }
    Score reached_right(std::size_t t) const { return reached_[right_side(t)]; }
    Score proved_left(std::size_t t) const { return proved_[left_side(t)]; }
    Score proved_right(std::size_t t) const { return proved_[right_side(t)]; }
    Score leaf_left(std::size_t t) const { return leaf_[left_side(t)]; }   // with_leaves alone
    Score leaf_right(std::size_t t) const { return leaf_[right_side(t)]; }
    // What no stump can get below with leaves of the lane's size: bounds the thresholds beside it.
    Score near_left(std::size_t t) const { return (limited() ? near_ : proved_)[left_side(t)]; }
    Score near_right(std::size_t t) const { return (limited() ? near_ : proved_)[right_side(t)]; }
    // And with leaves of any size: bounds all row sets.
    Score relaxed_left(std::size_t t) const { return (limited() ? relaxed_ : proved_)[left_side(t)]; }
    Score relaxed_right(std::size_t t) const { return (limited() ? relaxed_ : proved_)[right_side(t)]; }

private:
    static constexpr bool may_be_general = Subproblem<Entry>::may_be_general;
    using Sum = std::conditional_t<may_be_general, Score, std::int32_t>;
    using BySide = std::array<Sum, side_count>;

    // Rows of two classes in every feature's order, ready for the kernel.
    struct Pair {
        std::uint32_t a, b;               // a < b
        Row rows = 0;
        Sweep<Entry> sweep{};             // entries null until first used
        const void* steps = nullptr;      // of the general case, as `step_bits_` says; null until first used
        const std::int32_t* coarse_steps = nullptr;   // the same, cut off
    };
    using Deaths = std::array<std::size_t, lane_count>;

    bool limited() const { return sub_->limited(); }
    std::uint32_t lanes_in_use() const;
    void write_words();
    void side_sizes();
    void sweep(const Sweep<Entry>& all);
    void evaluate_lanes(Score ub);
    void evaluate_two_classes();
    void evaluate_classes(Score ub);
    void evaluate_one_by_one();
    void weigh_classes();
    BySide leaves() const;
    void find_leaves();
    void sweep_pairs(Score ub, std::uint32_t lanes_meant, const BySide& right, Deaths& death, const std::function<void(Pair&)>& sweep_this);
    void sweep_pair(Pair& pair, BySide& right);
    void prepare(Pair& pair);
    void mark_takes(Sweep<Entry>& sweep);

    // The general case.
    void start_general();   // these are defined for wide entries
    void evaluate_weighted(Score ub);
    void evaluate_weighted(Score ub, std::uint32_t lanes_meant, bool coarse);
    void evaluate_allowed(Score ub);
    void evaluate_by_mass(std::uint32_t lanes_meant);
    void sweep_weighted(Pair& pair, std::uint32_t lanes_meant, bool coarse);
    void sweep_limited(Pair& pair, std::uint32_t lanes_meant);
    template <class Fill>
    void sweep_general(Pair& pair, const Fill& fill);
    template <class Step>
    const Step* steps_of(const Pair& pair, unsigned shift);
    const std::uint8_t* mark_ends(const Entry* entries, std::size_t stride, Row rows);

    const Kernel& kernel_;
    const Halt halt_;
    const Subproblem<Entry>* sub_ = nullptr;
    Arena* arena_ = nullptr;
    Statistics* statistics_ = nullptr;
    std::uint64_t* words_ = nullptr;
    std::vector<Pair> pairs_;   // the most rows first
    alignas(64) BySide size_, reached_, proved_, near_, relaxed_, leaf_{};   // masses
    SideSums sums_;
    std::vector<BySide> class_totals_, potential_;
    std::vector<std::uint32_t> class_of_;   // by row, where lanes go one by one

    // Of the general case: weights, or a minimal leaf size.
    unsigned step_bits_ = 0;
    unsigned coarse_shift_ = 0;             // bits that are cut off a coarse step; 0: no need for such
    Row chunk_rows_ = 0;
    const std::uint8_t* ends_ = nullptr;    // takes for all rows; null until first used
    SideExtremes extremes_;
};

extern template class Batch<NarrowEntry>;
extern template class Batch<WideEntry>;

}  // namespace contree
