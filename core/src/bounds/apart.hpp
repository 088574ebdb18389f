// B7. Row sets that lie apart.
//
// Let A and B be sets of rows of S, and f a feature that has them apart: in f's order no row of A stands behind one of B; a value
// may be shared where the two meet.  Then every tree of depth k whose root splits by f errs at least min(theta_{k-1}(A),
// theta_{k-1}(B)) times on S.  Proof: a threshold below A's greatest value is below all values of B, so that B goes right as a
// whole, and is told apart by a tree of depth k - 1; any other leaves A whole on the left.  Errors on a part are errors on S.  A tree
// without a split is right on no more of A than one of depth k - 1 is.
//
// So where every feature that has a threshold in S has two sets of a family apart, and theta_{k-1} of each set is t at the
// least, theta_k(S) >= t; and theta_k(C) >= t for the union C of those pairs, which is all that the proof speaks of.  Each set
// of the family is proved in the same way, down to depth three, which is solved.  A few small sets serve many features, and what is
// proved of C serves every other S that holds it.
//
// It needs trees of any leaf size.  Weights and costs change nothing: a subtree costs no more than its tree.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "data/subproblem.hpp"

namespace contree {

// Rows of which something is proved.
struct ProvedSet {
    std::vector<Row> rows;           // numbers of the ranked table, ascending
    std::vector<Rank> first, last;   // by the table's number of a feature: its least and greatest rank; all ranks where that is not known

    std::size_t words() const { return rows.size() + first.size() + last.size(); }
};

// Sets of that kind in the rows of one subproblem.
template <class Entry>
class Family {
public:
    // `counted` says by row which ones the sizes of sets are counted in.  A halt leaves features out, and what is
    // found then means nothing.
    Family(const Subproblem<Entry>& sub, const std::vector<std::uint8_t>& counted, const Halt& halt)
        : sub_(sub), halt_(halt), counted_(counted), reach_(sub.features) {
        for (const std::uint8_t one : counted_) all_ += one;
    }

    void add(const ProvedSet& set) {
        for (std::uint32_t f = 0; f < sub_.features; ++f) {
            const auto column = static_cast<std::size_t>(sub_.feature[f]);
            Reach& reach = reach_[f];
            reach.first_end = std::min(reach.first_end, set.last[column]);
            reach.last_begin = std::max(reach.last_begin, set.first[column]);
        }
        sets_.push_back(&set);
    }

    // Has f two sets apart?
    bool answered(std::uint32_t f) const { return !sets_.empty() && reach_[f].first_end <= reach_[f].last_begin; }

    // The rows of one side of f's order: up to a rank, or from it on.
    struct Side {
        Rank rank;
        bool low;
        Row lows;   // counted rows of the low side
    };

    // Which side of f is to be the next set: the larger one that a set of the family has room beside, else the low half of
    // what is open.  Low sides with
    // up to `few` counted rows, and high ones behind `many`, are known to prove too little.
    std::optional<Side> side(std::uint32_t f, Row few, Row many, Row least) const {
        if (!sets_.empty()) {
            const Side high{reach_[f].first_end, false, count_below(f, reach_[f].first_end)};
            const Side low{reach_[f].last_begin, true, count_below(f, reach_[f].last_begin + 1)};
            const bool high_open = high.lows < many && all_ - high.lows >= least, low_open = low.lows > few && low.lows >= least;
            if (high_open && (!low_open || all_ - high.lows >= low.lows)) return high;
            if (low_open) return low;
        }
        const Row lows = few + (many - few) / 2;
        if (lows == few || lows < least || all_ - lows < least) return std::nullopt;
        return Side{rank_of_counted(f, lows - 1), true, lows};
    }

    // By row: is it outside of a set of that side's rows?
    std::vector<std::uint8_t> outside(std::uint32_t f, const Side& side) const {
        std::vector<std::uint8_t> out(sub_.rows);
        const Entry* const order = sub_.order(f);
        for (Row k = 0; k < sub_.rows; ++k) out[P::row(order[k])] = side.low ? P::rank(order[k]) > side.rank : P::rank(order[k]) < side.rank;
        return out;
    }

    // What is known of rows of the subproblem, given by the table's numbers.
    ProvedSet known(std::vector<Row> rows, std::size_t columns) const {
        std::vector<std::uint8_t> in(sub_.rows, 0);
        for (std::size_t i = 0, r = 0; i < rows.size(); ++r)
            if (sub_.origin[r] == rows[i]) in[r] = 1, ++i;
        ProvedSet set{std::move(rows), std::vector<Rank>(columns, 0), std::vector<Rank>(columns, ~Rank{0})};
        for (std::uint32_t f = 0; f < sub_.features && !halt_(); ++f) {
            const Entry* const order = sub_.order(f);
            const Entry *from = order, *to = order + sub_.rows - 1;
            while (!in[P::row(*from)]) ++from;
            while (!in[P::row(*to)]) --to;
            set.first[static_cast<std::size_t>(sub_.feature[f])] = P::rank(*from);
            set.last[static_cast<std::size_t>(sub_.feature[f])] = P::rank(*to);
        }
        return set;
    }

    // The rows of two sets for each feature, which all must have answered; few in all.
    std::vector<Row> rows_of_pairs() const {
        std::vector<const ProvedSet*> chosen;
        for (std::uint32_t f = 0; f < sub_.features; ++f) choose_pair(static_cast<std::size_t>(sub_.feature[f]), chosen);
        std::vector<Row> rows;
        for (const ProvedSet* const set : chosen) rows.insert(rows.end(), set->rows.begin(), set->rows.end());
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        return rows;
    }

private:
    using P = Packed<Entry>;

    // In a feature's order: the first end and the last beginning of a set.
    struct Reach {
        Rank first_end = ~Rank{0}, last_begin = 0;
    };

    Rank rank_of_counted(std::uint32_t f, Row index) const {
        const Entry* at = sub_.order(f);
        for (;; ++at)
            if (counted_[P::row(*at)] && index-- == 0) return P::rank(*at);
    }

    // Counted rows of less than a rank.
    Row count_below(std::uint32_t f, Rank rank) const {
        Row count = 0;
        const Entry* const order = sub_.order(f);
        for (Row k = 0; k < sub_.rows && P::rank(order[k]) < rank; ++k) count += counted_[P::row(order[k])];
        return count;
    }

    void choose_pair(std::size_t column, std::vector<const ProvedSet*>& chosen) const {
        Rank end = ~Rank{0}, begin = 0;
        for (const ProvedSet* const set : chosen) {
            end = std::min(end, set->last[column]);
            begin = std::max(begin, set->first[column]);
        }
        if (!chosen.empty() && end <= begin) return;
        const ProvedSet *one = nullptr, *low = nullptr, *high = nullptr;
        for (const ProvedSet* const set : sets_) {
            const bool fits = !chosen.empty() && (set->first[column] >= end || set->last[column] <= begin);
            if (fits && (one == nullptr || set->rows.size() < one->rows.size())) one = set;
            if (low == nullptr || set->last[column] < low->last[column]) low = set;
            if (high == nullptr || set->first[column] > high->first[column]) high = set;
        }
        if (one != nullptr) chosen.push_back(one);
        else chosen.insert(chosen.end(), {low, high});
    }

    const Subproblem<Entry>& sub_;
    const Halt halt_;
    const std::vector<std::uint8_t>& counted_;
    std::vector<Reach> reach_;              // by feature
    std::vector<const ProvedSet*> sets_;
    Row all_ = 0;
};

// Two sets for as many features as can be.
template <class Entry>
class Apart {
public:
    enum Set : std::uint8_t { low, high, neither };

    // `counted` says by row which ones the sizes of the sets are counted in.
    Apart(const Subproblem<Entry>& sub, const std::vector<std::uint8_t>& counted) : sub_(sub), counted_(counted), set_(sub.rows) {
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
    const std::vector<std::uint8_t>& counted_;
    std::vector<std::uint8_t> set_;
    Row size_[2] = {0, 0};
    Row all_ = 0;
};

}  // namespace contree
