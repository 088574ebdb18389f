#include "depth_two/d2split.hpp"

#include <algorithm>
#include <utility>

namespace contree {

namespace {

// One side of the split: class masses, and how much its best stump gets right.  The largest mass still ahead
// is looked up again only after its class has lost some; where all rows weigh one, counting how many classes
// have so many rows ahead saves even that.
class Side {
public:
    Side(std::uint32_t classes, bool weighted, const LeafSize& leaf)
        : weighted_(weighted), leaf_(leaf), total_(classes, 0), passed_(classes, 0) {}

    void count(std::uint32_t c, Score weight) {
        total_[c] += weight;
        ++rows_;
        mass_ += weight;
    }
    void restart() {
        std::fill(passed_.begin(), passed_.end(), 0);
        most_passed_ = 0;
        rows_passed_ = 0;
        mass_passed_ = 0;
        most_ahead_ = *std::max_element(total_.begin(), total_.end());
        right_ = std::max(right_, most_ahead_);   // a leaf
        allowed_ = std::max(allowed_, most_ahead_);
        if (weighted_) return;
        with_ahead_.assign(static_cast<std::size_t>(most_ahead_) + 1, 0);
        for (const Score rows : total_) ++with_ahead_[static_cast<std::size_t>(rows)];
    }
    void pass(std::uint32_t c, Score weight) {
        const Score before = total_[c] - passed_[c];
        passed_[c] += weight;
        most_passed_ = std::max(most_passed_, passed_[c]);
        ++rows_passed_;
        mass_passed_ += weight;
        if (weighted_) {
            if (before != most_ahead_) return;
            most_ahead_ = 0;
            for (std::size_t other = 0; other < total_.size(); ++other)
                most_ahead_ = std::max(most_ahead_, total_[other] - passed_[other]);
        } else {
            --with_ahead_[static_cast<std::size_t>(before)];
            ++with_ahead_[static_cast<std::size_t>(before - 1)];
            if (with_ahead_[static_cast<std::size_t>(most_ahead_)] == 0) --most_ahead_;
        }
    }
    void threshold() {
        right_ = std::max(right_, most_passed_ + most_ahead_);
        const bool allowed = rows_passed_ >= leaf_.rows && rows_ - rows_passed_ >= leaf_.rows &&
                             mass_passed_ >= leaf_.mass && mass_ - mass_passed_ >= leaf_.mass;
        if (allowed) allowed_ = std::max(allowed_, most_passed_ + most_ahead_);
    }
    Score leaf() const { return *std::max_element(total_.begin(), total_.end()); }
    Score right() const { return right_; }       // by leaves of any size
    Score allowed() const { return allowed_; }   // by leaves large enough

private:
    const bool weighted_;
    const LeafSize leaf_;
    std::vector<Score> total_, passed_;       // FQ^y, C^y
    std::vector<std::uint32_t> with_ahead_;   // how many classes have so many rows still ahead
    Row rows_ = 0, rows_passed_ = 0;
    Score mass_ = 0, mass_passed_ = 0;
    Score most_passed_ = 0, most_ahead_ = 0;
    Score right_ = 0, allowed_ = 0;
};

}  // namespace

template <class Entry>
SplitErrors d2split(const Subproblem<Entry>& sub, const std::vector<std::uint32_t>& class_of,
                    std::uint32_t f1, Position z) {
    using P = Packed<Entry>;
    Side sides[2] = {Side(sub.classes, sub.weighted(), sub.leaf),
                     Side(sub.classes, sub.weighted(), sub.leaf)};
    std::vector<std::uint8_t> side_of(sub.rows, 1);
    for (Position k = 0; k < z; ++k) side_of[P::row(sub.order(f1)[k])] = 0;
    for (Row r = 0; r < sub.rows; ++r) sides[side_of[r]].count(class_of[r], sub.weight_of(r));
    for (std::uint32_t f2 = 0; f2 < sub.features && sides[0].allowed() + sides[1].allowed() < sub.mass;
         ++f2) {
        sides[0].restart();
        sides[1].restart();
        const Entry* const order = sub.order(f2);
        bool moved[2] = {false, false};
        for (Row k = 0; k < sub.rows; ++k) {
            const Row row = P::row(order[k]);
            sides[side_of[row]].pass(class_of[row], sub.weight_of(row));
            moved[side_of[row]] = true;
            if (P::rank(order[k]) == P::rank(order[k + 1])) continue;
            for (int s = 0; s < 2; ++s)
                if (std::exchange(moved[s], false)) sides[s].threshold();
        }
    }
    const Score left = sub.mass_at(f1, z), right = sub.mass - left;
    return {left - sides[0].allowed(), right - sides[1].allowed(), left - sides[0].right(),
            right - sides[1].right(),  left - sides[0].leaf(),     right - sides[1].leaf()};
}

template SplitErrors d2split(const Subproblem<NarrowEntry>&, const std::vector<std::uint32_t>&, std::uint32_t,
                             Position);
template SplitErrors d2split(const Subproblem<WideEntry>&, const std::vector<std::uint32_t>&, std::uint32_t,
                             Position);

}  // namespace contree
