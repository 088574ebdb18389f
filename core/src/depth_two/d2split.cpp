#include "depth_two/d2split.hpp"

#include <algorithm>
#include <utility>

namespace contree {

namespace {

// One side of the split: class counts, and how many rows its best stump gets right.  A count changes by one at a
// time, so the largest ones are followed in constant time.
class Side {
public:
    explicit Side(std::uint32_t classes) : total_(classes, 0), passed_(classes, 0) {}

    void count(std::uint32_t c) { ++total_[c]; }
    void restart() {
        std::fill(passed_.begin(), passed_.end(), 0);
        most_passed_ = 0;
        most_ahead_ = *std::max_element(total_.begin(), total_.end());
        with_ahead_.assign(most_ahead_ + 1, 0);
        for (const Row rows : total_) ++with_ahead_[rows];
        threshold();   // a leaf
    }
    void pass(std::uint32_t c) {
        most_passed_ = std::max(most_passed_, ++passed_[c]);
        const Row ahead = total_[c] - passed_[c];
        --with_ahead_[ahead + 1];
        ++with_ahead_[ahead];
        if (with_ahead_[most_ahead_] == 0) --most_ahead_;
    }
    void threshold() { right_ = std::max(right_, most_passed_ + most_ahead_); }
    Row right() const { return right_; }

private:
    std::vector<Row> total_, passed_;     // FQ^y, C^y
    std::vector<std::uint32_t> with_ahead_;   // how many classes have so many rows still ahead
    Row most_passed_ = 0, most_ahead_ = 0;
    Row right_ = 0;
};

}  // namespace

template <class Entry>
SideErrors d2split(const Subproblem<Entry>& sub, const std::vector<std::uint32_t>& class_of, std::uint32_t f1, Position z) {
    using P = Packed<Entry>;
    Side sides[2] = {Side(sub.classes), Side(sub.classes)};
    std::vector<std::uint8_t> side_of(sub.rows, 1);
    for (Position k = 0; k < z; ++k) side_of[P::row(sub.order(f1)[k])] = 0;
    for (Row r = 0; r < sub.rows; ++r) sides[side_of[r]].count(class_of[r]);
    for (std::uint32_t f2 = 0; f2 < sub.features && sides[0].right() + sides[1].right() < sub.rows; ++f2) {
        sides[0].restart();
        sides[1].restart();
        const Entry* const order = sub.order(f2);
        bool moved[2] = {false, false};
        for (Row k = 0; k < sub.rows; ++k) {
            const Row row = P::row(order[k]);
            sides[side_of[row]].pass(class_of[row]);
            moved[side_of[row]] = true;
            if (P::rank(order[k]) == P::rank(order[k + 1])) continue;
            for (int s = 0; s < 2; ++s)
                if (std::exchange(moved[s], false)) sides[s].threshold();
        }
    }
    return {Score{z} - sides[0].right(), Score{sub.rows - z} - sides[1].right()};
}

template SideErrors d2split(const Subproblem<NarrowEntry>&, const std::vector<std::uint32_t>&, std::uint32_t, Position);
template SideErrors d2split(const Subproblem<WideEntry>&, const std::vector<std::uint32_t>&, std::uint32_t, Position);

}  // namespace contree
