// One batch: up to 32 splits of a subproblem, with the best stumps on both sides of each.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "depth_two/kernel.hpp"
#include "search/statistics.hpp"

namespace contree {

// Pairs of classes grow with the square of their number; beyond this, lanes are evaluated one by one.
inline constexpr std::uint32_t most_paired_classes = 48;

// A split to evaluate.  `owner` is for whoever asked.
struct Lane {
    std::uint32_t f;
    Position z;
    std::uint32_t owner;
    Position before = 0, behind = 0;   // the first and last threshold that its `near` bounds are for: see segment.hpp
};

template <class Entry>
class Batch {
public:
    explicit Batch(const Kernel& kernel, const Halt& halt = {}, const Switches& switches = {})
        : kernel_(kernel), halt_(halt), switches_(switches) {}

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

    // Have both sides of lane t rows enough for a leaf?
    bool allows(std::size_t t) const { return !limited() || (allowed_ >> t & 1) != 0; }

    // Errors of the best stumps found on the sides of lane t, and what no stump can get below; the same unless
    // their sum does not lie below `ub`.
    Score reached(std::size_t t) const { return Score{reached_[left_side(t)]} + reached_[right_side(t)]; }
    Score reached_left(std::size_t t) const { return reached_[left_side(t)]; }
    Score reached_right(std::size_t t) const { return reached_[right_side(t)]; }
    Score leaf_left(std::size_t t) const { return leaf_[left_side(t)]; }   // with_leaves alone
    Score leaf_right(std::size_t t) const { return leaf_[right_side(t)]; }
    Score proved_left(std::size_t t) const { return proved_[left_side(t)]; }
    Score proved_right(std::size_t t) const { return proved_[right_side(t)]; }
    Score proved(std::size_t t) const { return proved_left(t) + proved_right(t); }
    // What no stump can get below on the same rows for any of the thresholds from `before` to `behind`.
    Score near_left(std::size_t t) const { return (limited() ? near_ : proved_)[left_side(t)]; }
    Score near_right(std::size_t t) const { return (limited() ? near_ : proved_)[right_side(t)]; }

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
        const void* sized_steps = nullptr;            // the same for the rows that count for sizes
    };
    using Deaths = std::array<std::size_t, lane_count>;

    bool limited() const { return sub_->limited(); }
    std::uint32_t lanes_in_use() const;
    template <class Place>
    void write_words(const Subproblem<Entry>& sub, std::uint64_t* words, const Place& place);
    void side_sizes();
    void sweep(const Sweep<Entry>& all);
    void sweep_features(const Sweep<Entry>& all, SideSums& sums);
    void sweep_in_parts(const Sweep<Entry>& all, SideSums& sums);
    void evaluate_lanes(Score ub);
    void evaluate_two_classes();
    void evaluate_classes(Score ub);
    void evaluate_one_by_one();
    void weigh_classes();
    void find_potentials();
    BySide leaves() const;
    void find_leaves();
    void sweep_pairs(Score ub, std::uint32_t lanes_meant, const BySide& right, Deaths& death, const std::function<void(Pair&)>& sweep_this);
    void sweep_pair(Pair& pair, BySide& right);
    void prepare(Pair& pair);
    void mark_takes(Sweep<Entry>& sweep);

    // The general case.
    void start_general();   // these are defined for wide entries
    void evaluate_weighted(Score ub);
    std::uint32_t below(Score ub);
    void evaluate_allowed(Score ub);
    void evaluate_allowed(Score ub, std::uint32_t meant);
    // What the subproblem's classes weigh, of its own rows or of those that count for sizes.
    struct ByClass {
        std::vector<std::uint8_t> of_row;   // the class; one more where it is none of the subproblem's; empty until first used
        std::vector<Score> masses;          // by class, that one too
    };
    void weigh_classes_by_order();
    template <class Weight>
    void sum_before(const Subproblem<Entry>& all, const std::vector<std::uint8_t>& class_of, const std::vector<Score>& totals, std::uint32_t f, const Weight& weight);
    template <class Weight>
    void sum_classes(const std::vector<Score>& totals, const Weight& weight);
    const ByClass& own_classes();
    Sum most_of(std::size_t pair, std::size_t side) const {   // of what it gets right
        return class_totals_[pairs_[pair].a][side] + class_totals_[pairs_[pair].b][side];
    }
    std::uint64_t sides_to_gain(std::size_t pair, std::uint32_t lanes_meant, const BySide& right) const;
    void evaluate_by_mass(std::uint32_t lanes_meant);
    void sweep_weighted(Pair& pair, std::uint64_t sides);
    void find_twins();
    void place_sizes();
    void write_sizes();
    void size_sides(bool by_mass);
    template <class Step>
    const Step* row_sizes();
    void sweep_limited(Pair& pair, std::uint64_t sides);
    template <class Fill>
    void sweep_general(const void*& steps, std::uint64_t sides, const Fill& fill);
    template <class Step>
    const Step* steps_of(const Pair& pair);
    template <class Step>
    const Step* sized_steps_of(const Pair& pair);
    void mark_ends();

    static constexpr Row most_rows = Row{1} << 18;   // that a kernel goes over at once; of more, a quarter of that
    const Kernel& kernel_;
    const Halt halt_;
    const Switches switches_;
    const Subproblem<Entry>* sub_ = nullptr;
    Arena* arena_ = nullptr;
    Statistics* statistics_ = nullptr;
    std::uint64_t* words_ = nullptr;
    std::int8_t* steps_ = nullptr;          // room for the kernel's own
    std::uint32_t second_orders_ = 0;       // those with missing values first
    std::vector<Pair> pairs_;   // the most rows first
    alignas(64) BySide size_, reached_, proved_, near_, leaf_{};   // masses
    SideSums sums_;
    std::vector<BySide> class_totals_, potential_;
    std::vector<std::uint32_t> class_of_;   // by row, where lanes go one by one

    // Of the general case: weights, or a minimal leaf size.
    unsigned step_bits_ = 0;
    Row chunk_rows_ = 0;
    // Of leaf sizes: all by the rows that count for them.
    const Subproblem<Entry>* sized_ = nullptr;
    const std::uint8_t* ends_ = nullptr;    // takes; null until first used
    const void* row_sizes_ = nullptr;       // their weights, as steps; null until first used
    static constexpr Row no_twin = ~Row{0};
    const Row* twin_ = nullptr;             // the row's number in the subproblem, or `no_twin`; null where all are its own
    std::uint64_t* sized_words_ = nullptr;  // on which sides they count,
    std::uint64_t* near_words_ = nullptr;   // and on which for bounds of the thresholds beside the lane
    struct SizeEnds {   // where a lane's sides end, in the order of its feature
        std::uint32_t f;
        Position left, right, near_left, near_right;
        typename Subproblem<Entry>::Strays stray;
    };
    std::array<SizeEnds, lane_count> size_ends_;
    std::uint32_t allowed_ = 0;             // bit t: see `allows`
    bool sized_by_mass_ = false;            // are `sizes_` what they weigh?
    BySide sizes_, near_sizes_;
    ByClass own_classes_;
    std::vector<Position> places_;          // of an order, ascending,
    std::vector<Score> before_places_;      // and what each class has in front of each
    SideExtremes extremes_;
};

// The words of a set of rows; `place` gives a lane's feature and position there.  The thresholds z_1 < .. < z_m of one feature part its order into m + 1 buckets, and all
// rows of a bucket have the same bits in the feature's lanes.  The largest bucket gets its bits by default.
template <class Entry>
template <class Place>
void Batch<Entry>::write_words(const Subproblem<Entry>& sub, std::uint64_t* words, const Place& place) {
    using P = Packed<Entry>;
    struct Bucket {
        std::uint32_t f;
        Position begin, end;
        std::uint64_t flip;
    };
    std::array<Bucket, 2 * lane_count> buckets;
    std::size_t bucket_count = 0;
    std::uint64_t common = with_whole ? std::uint64_t{1} << whole_lane : 0;
    for (std::size_t t = 0; t < lanes.size();) {
        const std::uint32_t f = place(t).first;
        std::size_t m = 1;
        while (t + m < lanes.size() && place(t + m).first == f) ++m;
        const auto bits = [&](std::size_t b) {
            const std::uint64_t passed = (std::uint64_t{1} << b) - 1, all = (std::uint64_t{1} << m) - 1;
            return (all & ~passed) << t | passed << (lane_count + t);
        };
        const auto begin = [&](std::size_t b) { return b == 0 ? 0 : place(t + b - 1).second; };
        const auto end = [&](std::size_t b) { return b == m ? sub.rows : place(t + b).second; };
        std::size_t largest = 0;
        for (std::size_t b = 1; b <= m; ++b)
            if (end(b) - begin(b) > end(largest) - begin(largest)) largest = b;
        common |= bits(largest);
        for (std::size_t b = 0; b <= m; ++b)
            if (b != largest) buckets[bucket_count++] = {f, begin(b), end(b), bits(b) ^ bits(largest)};
        t += m;
    }
    std::fill_n(words, sub.rows, common);
    for (std::size_t i = 0; i < bucket_count; ++i) {
        const Bucket& bucket = buckets[i];
        const Entry* const order = sub.order(bucket.f) + bucket.begin;
        in_stretches(bucket.end - bucket.begin, halt_, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) words[P::row(order[k])] ^= bucket.flip;
        });
    }
}

extern template class Batch<NarrowEntry>;
extern template class Batch<WideEntry>;

}  // namespace contree
