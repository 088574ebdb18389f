// B7. Row sets that lie apart.
//
// Let A and B be sets of rows of S, and F features of which each has them apart: in f's order no row of A stands behind one of B,
// or no row of B behind one of A; a value may be shared where the two meet.  Then every tree of depth k whose root splits by
// a feature of F errs at least min(theta_{k-1}(A), theta_{k-1}(B)) times on S.  Proof, with A first: a threshold below A's
// greatest value is below all values of B, so that B goes right as a whole, and is told apart by a tree of depth k - 1; any
// other leaves A whole on the left.  Errors on a part are errors on S.  A tree without a split is right on no more of A than one of
// depth k - 1 is.
//
// So where every feature is in the F of some pair of sets, the least theta_{k-1} of all these sets bounds theta_k(S); and each of
// theirs is bounded in the same way, down to depth three, which is solved.  Features that go together share a pair: two sets for
// each such group, instead of two for each feature, at each level.
//
// It needs trees of any leaf size.  Weights and costs change nothing: a subtree costs no more than its tree.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "data/subproblem.hpp"

namespace contree {

template <class Entry>
class Apart {
public:
    enum Set : std::uint8_t { low, high, neither };

    // `counted` says by row which ones the sizes of the sets are counted in.
    Apart(const Subproblem<Entry>& sub, std::vector<std::uint8_t> counted) : sub_(sub), counted_(std::move(counted)), set_(sub.rows) {
        for (const std::uint8_t one : counted_) all_ += one;
    }

    Row all() const { return all_; }   // counted rows
    const std::vector<std::uint8_t>& sets() const { return set_; }   // by row

    // Begins with two sets that have all rows: low, up to `lows` counted ones in f's order, and high.
    void cut(std::uint32_t f, Row lows) {
        const Entry* const order = sub_.order(f);
        Row seen = 0;
        for (Row k = 0; k < sub_.rows; ++k) {
            const Row row = Packed<Entry>::row(order[k]);
            set_[row] = seen < lows ? low : high;
            seen += counted_[row];
        }
        size_[low] = lows;
        size_[high] = all_ - lows;
    }

    // How many counted rows both sets keep at the least, if f is to have them apart.
    Row kept(std::uint32_t f) const { return place(f).kept; }

    // Takes rows out of the sets until f has them apart, unless that leaves one of them less than `least` counted rows.
    bool join(std::uint32_t f, Row least) {
        const Place found = place(f);
        if (found.kept < least) return false;
        const Entry* const order = sub_.order(f);
        size_[low] = size_[high] = 0;
        for (Row k = 0; k < sub_.rows; ++k) {
            const Row row = Packed<Entry>::row(order[k]);
            if (set_[row] == neither) continue;
            if (set_[row] != (k < found.z ? found.first : 1 - found.first)) set_[row] = neither;
            else size_[set_[row]] += counted_[row];
        }
        return true;
    }

private:
    struct Place {
        Row kept;
        Row z;                // the rows before it keep the set `first`, the others the other one
        std::uint8_t first;
    };

    Place place(std::uint32_t f) const {
        const Entry* const order = sub_.order(f);
        Place best{0, 0, low};
        Row before[3] = {0, 0, 0};
        for (Row k = 0; k < sub_.rows; ++k) {
            const Row row = Packed<Entry>::row(order[k]);
            before[set_[row]] += counted_[row];
            const Row up = std::min(before[low], size_[high] - before[high]), down = std::min(before[high], size_[low] - before[low]);
            if (std::max(up, down) > best.kept) best = {std::max(up, down), k + 1, static_cast<std::uint8_t>(up >= down ? low : high)};
        }
        return best;
    }

    const Subproblem<Entry>& sub_;
    const std::vector<std::uint8_t> counted_;
    std::vector<std::uint8_t> set_;
    Row size_[2] = {0, 0};
    Row all_ = 0;
};

}  // namespace contree
