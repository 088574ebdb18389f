// Which rows count for the sizes of leaves, on the sides of a batch's lanes.
//
// These are the rows of `Subproblem::sized`: more than the subproblem's own where it has a `wide` set.  A
// side has two sets of them: those of the lane itself, and `near`, those of any threshold from its `before`
// to its `behind`.  Rows that are not the subproblem's own count on both sides where they may lie on either.
#pragma once

#include "depth_two/batch.hpp"

namespace contree {

class LeafSides {
public:
    using Sizes = std::array<Score, side_count>;

    void start(const Subproblem<WideEntry>& sub, Arena& arena);
    // The lanes whose sides are both large enough for a leaf, as bits.
    std::uint32_t place(const std::vector<Lane>& lanes);
    // The words of the lanes that were placed.  `own_words` are those of the subproblem's own rows.
    void write(std::uint64_t* own_words, bool with_whole, const Halt& halt);
    // How many rows the sides have, or what they weigh.
    void weigh(bool by_mass, bool with_whole);

    const Subproblem<WideEntry>& rows() const { return sub_->sized(); }
    // A row's number in the subproblem, or `none`.
    static constexpr Row none = ~Row{0};
    Row own_row(Row row) const { return own_row_ == nullptr ? row : own_row_[row]; }
    const std::uint64_t* words() const { return words_; }
    const std::uint64_t* near_words() const { return near_words_; }
    const Sizes& sizes() const { return sizes_; }
    const Sizes& near_sizes() const { return near_sizes_; }

private:
    struct Ends {   // where a lane's sides end, in the order of its feature
        std::uint32_t f;
        Position left, right, near_left, near_right;
        Subproblem<WideEntry>::Strays stray;
    };

    const Subproblem<WideEntry>* sub_ = nullptr;
    Row* own_row_ = nullptr;   // null where all are the subproblem's own
    std::uint64_t *words_ = nullptr, *near_words_ = nullptr;
    std::vector<Ends> ends_;   // by lane
    Sizes sizes_, near_sizes_;
};

}  // namespace contree
