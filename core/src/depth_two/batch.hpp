// One batch: up to 32 splits ("lanes") of a row set, with the best stumps on both sides of each.
//
// This is all that the search of depth two knows of an objective.  Any objective's lanes can be evaluated one
// by one, as here; error_batch.hpp is faster, for errors.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <vector>
#include "depth_two/kernel.hpp"
#include "objective/objective.hpp"
#include "statistics.hpp"

namespace contree {
// A split to evaluate.  `owner` is for whoever asked.
struct Lane {
    std::uint32_t f;
    Position z;
    std::uint32_t owner;
    Position before = 0, behind = 0;  // the first and last threshold that `near` bounds: see segment.hpp
    // Of categories: the ranks on each side.  Rows of ranks in neither are left out.  Null: a threshold.
    const std::uint64_t *left = nullptr, *right = nullptr;
    bool bound_only = false;  // is what is reached of no use?
};

// A split as a lane; `kept` holds what it points to.
inline Lane lane_of(const RowSet& set, const Split& at, std::deque<SubsetWords>& kept) {
    if (at.subset == no_subset) return {at.f, at.z, 0};
    SubsetWords right = set.categories->subset(at.subset);
    for (std::uint64_t& word : right) word = ~word;
    kept.push_back(std::move(right));
    return {at.f, at.z, 0, 0, 0, set.categories->words_of(at.subset), kept.back().data()};
}

class Batch {
public:
    Batch(const Objective& objective, const Halt& halt) : objective_(objective), halt_(halt) {}
    virtual ~Batch() = default;
    Batch(const Batch&) = delete;

    // From here on splits of `set`; memory for it is taken from `arena`.
    virtual void start(const RowSet& set, Arena& arena, Statistics& statistics);

    // The lanes of the next evaluation, to be filled by the caller and sorted by feature and position.
    std::vector<Lane> lanes;  // those of categories last
    // Is all of the set the left side of one more, the last lane?  Then there is room for one fewer.
    bool with_whole = false;
    static constexpr std::size_t whole_lane = lane_count - 1;
    bool with_leaves = false;                        // is the loss of a leaf on each side wanted too?
    std::function<bool(std::size_t t)> wanted = {};  // with_leaves: may lane t, by what is proved, be best?
    bool rough = false;           // may what is reached be a little less than that, to compare lanes?
    unsigned width = lane_count;  // so many lanes cost no more than one

    // Losses that are not below `ub` need not be exact.  False where it was halted: then there are none.
    bool evaluate(Score ub);
    // Have both sides of lane t rows enough for a leaf?
    bool allows(std::size_t t) const { return (allowed_ >> t & 1) != 0; }

    // Loss of the best stumps found on the sides of lane t, and what no stump can get below: the same, unless
    // the sum over both sides is at least `ub`.
    Score reached(std::size_t t) const { return reached_left(t) + reached_right(t); }
    Score reached_left(std::size_t t) const { return reached_[left_side(t)]; }
    Score reached_right(std::size_t t) const { return reached_[right_side(t)]; }
    Score proved(std::size_t t) const { return proved_left(t) + proved_right(t); }
    Score proved_left(std::size_t t) const { return proved_[left_side(t)]; }
    Score proved_right(std::size_t t) const { return proved_[right_side(t)]; }
    Score leaf_left(std::size_t t) const { return leaf_[left_side(t)]; }  // with_leaves alone
    Score leaf_right(std::size_t t) const { return leaf_[right_side(t)]; }
    // With a leaf size: what no stump gets below on these rows for any threshold from `before` to `behind`;
    // for categories what no stump with leaves of any size gets below.
    Score near_left(std::size_t t) const { return near_[left_side(t)]; }
    Score near_right(std::size_t t) const { return near_[right_side(t)]; }
protected:
    using BySide = std::array<Score, side_count>;

    virtual void evaluate_lanes(Score ub);
    // Bit t, and bit 32 + t: does a row lie left, or right, in lane t?
    void write_words(const RowSet& set, std::span<const Lane> places, std::uint64_t* words) const;
    // The same of the lanes that are sets of categories, whose bits are 0 before; adds up what the sides
    // weigh.
    void write_subsets(std::uint64_t* words, BySide& masses) const;
    std::uint32_t lanes_in_use() const {
        const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << lanes.size()) - 1);
        return used | (with_whole ? std::uint32_t{1} << whole_lane : 0);
    }
    std::uint32_t subset_lanes() const {
        std::uint32_t found = 0;
        for (std::size_t t = 0; t < lanes.size(); ++t) found |= std::uint32_t{lanes[t].left != nullptr} << t;
        return found;
    }
    bool allows_lane(const Lane& lane) const;
    // Each of these lanes by itself.  With a leaf size, leaves of any size bound what holds beside a lane.
    void evaluate_one_by_one(std::uint32_t lanes_meant);

    const Objective& objective_;
    const Halt halt_;
    const RowSet* set_ = nullptr;
    Arena* arena_ = nullptr;
    Statistics* statistics_ = nullptr;
    std::uint32_t allowed_ = 0;
    alignas(64) BySide reached_{}, proved_{}, near_{}, leaf_{};
};

using OneByOneBatch = Batch;  // what any objective may begin with

// The batch that a row set needs, of those that an objective has.
class Batches {
public:
    virtual ~Batches() = default;
    // A batch that was started for `set`.
    virtual Batch& start(const RowSet& set, Arena& arena, Statistics& statistics) = 0;
};
}  // namespace contree
