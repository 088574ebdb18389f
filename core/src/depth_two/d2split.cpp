// D2Split (Algorithm 2): the best stumps on both sides of one split, in O(rows * features).
//
// Two places differ from the printed algorithm.  A leaf errs total - max times; min over the counts is that
// for two classes only.  And equal values of f2 are passed together, because no threshold lies between them.
#include <algorithm>
#include "objective/class_table.hpp"
#include "objective/misclassification.hpp"

namespace contree {
namespace {
// One side: class masses, and how much its best stump gets right.  The largest mass ahead is looked up again
// only after its class has lost some.
class Side {
public:
    Side(std::uint32_t classes, const LeafSize& size) : size_(size), total_(classes, 0) {}

    void count(std::uint32_t c, Score weight) {
        total_[c] += weight;
        ++rows_;
        mass_ += weight;
    }
    void restart() {
        ahead_ = total_;
        rows_passed_ = 0;
        mass_passed_ = most_passed_ = 0;
        most_ahead_ = leaf();
        right = std::max(right, most_ahead_);
        allowed = std::max(allowed, most_ahead_);
    }
    void pass(std::uint32_t c, Score weight) {
        const bool was_most = ahead_[c] == most_ahead_;
        ahead_[c] -= weight;
        ++rows_passed_;
        mass_passed_ += weight;
        most_passed_ = std::max(most_passed_, total_[c] - ahead_[c]);
        if (was_most) most_ahead_ = *std::max_element(ahead_.begin(), ahead_.end());
    }
    void threshold() {
        right = std::max(right, most_passed_ + most_ahead_);
        if (rows_passed_ >= size_.rows && rows_ - rows_passed_ >= size_.rows && mass_passed_ >= size_.mass &&
            mass_ - mass_passed_ >= size_.mass)
            allowed = std::max(allowed, most_passed_ + most_ahead_);
    }
    Score mass() const { return mass_; }
    Score leaf() const { return *std::max_element(total_.begin(), total_.end()); }

    Score right = 0, allowed = 0;  // by leaves of any size, and by leaves large enough
private:
    const LeafSize size_;
    std::vector<Score> total_, ahead_;  // FQ^y, FQ^y - C^y
    Row rows_ = 0, rows_passed_ = 0;
    Score mass_ = 0, mass_passed_ = 0, most_passed_ = 0, most_ahead_ = 0;
};
}  // namespace

SplitLosses Misclassification::stumps_of_split(const RowSet& set, std::uint32_t f1, Position z) const {
    std::vector<std::uint8_t> side_of(set.rows, 1);
    for (Position k = 0; k < z; ++k) side_of[set.order(f1).row(k)] = 0;
    return stumps_of_sides(set, side_of);
}

SplitLosses Misclassification::stumps_of_sides(
    const RowSet& set, const std::vector<std::uint8_t>& side_of) const {
    const std::vector<std::uint32_t> class_of = groups_of_rows(set);
    const LeafSize size = subset_leaf_size(set);
    Side sides[2] = {Side(set.groups, size), Side(set.groups, size)};
    for (Row r = 0; r < set.rows; ++r)
        if (side_of[r] != neither) sides[side_of[r]].count(class_of[r], set.weight_of(r));
    for (Side& side : sides) side.restart();
    for (std::uint32_t f2 = 0; f2 < set.features && sides[0].allowed + sides[1].allowed < set.mass; ++f2) {
        for (Side& side : sides) side.restart();
        const Order order = set.order(f2);
        for (Row k = 0; k < set.rows; ++k) {
            const Row row = order.row(k);
            if (side_of[row] != neither) sides[side_of[row]].pass(class_of[row], set.weight_of(row));
            if (order.rank(k) == order.rank(k + 1)) continue;
            for (Side& side : sides) side.threshold();
        }
    }
    for (std::uint32_t f2 = set.features; f2 < set.columns(); ++f2) {
        const std::size_t categories = set.cuts(f2).count + std::size_t{1};
        ClassTable tables[2] = {{set.groups, categories}, {set.groups, categories}};
        std::size_t category = 0;
        set.for_categories(f2, [&](Rank, Position begin, Position end) {
            for (Position k = begin; k < end; ++k) {
                const Row row = set.order(f2).row(k);
                if (side_of[row] != neither)
                    tables[side_of[row]].add(category, class_of[row], set.weight_of(row));
            }
            ++category;
        });
        for (std::size_t s = 0; s < 2; ++s) {
            sides[s].right = std::max(sides[s].right, tables[s].most_right());
            sides[s].allowed = tables[s].best(size, sides[s].allowed).right;
        }
    }
    const Score left = sides[0].mass(), right = sides[1].mass();
    return {left - sides[0].allowed, right - sides[1].allowed, left - sides[0].right, right - sides[1].right,
        left - sides[0].leaf(), right - sides[1].leaf()};
}
}  // namespace contree
