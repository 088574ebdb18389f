#include "depth_two/d2split.hpp"

#include <algorithm>

namespace contree {

namespace {

// One side of the split: class counts, and how many rows its best stump gets right.
struct Side {
    std::vector<Row> total, passed;   // FQ^y, C^y
    Row most_passed = 0;              // max over C^y: it only grows
    Row right = 0;

    explicit Side(std::uint32_t classes) : total(classes, 0), passed(classes, 0) {}

    void restart() {
        std::fill(passed.begin(), passed.end(), 0);
        most_passed = 0;
    }
    void pass(std::uint32_t c) { most_passed = std::max(most_passed, ++passed[c]); }
    void threshold() {
        Row most_ahead = 0;
        for (std::size_t c = 0; c < total.size(); ++c) most_ahead = std::max(most_ahead, total[c] - passed[c]);
        right = std::max(right, most_passed + most_ahead);
    }
};

}  // namespace

template <class Entry>
SideErrors d2split(const Subproblem<Entry>& sub, const std::vector<std::uint32_t>& class_of, std::uint32_t f1, Position z) {
    using P = Packed<Entry>;
    Side sides[2] = {Side(sub.classes), Side(sub.classes)};
    std::vector<std::uint8_t> side_of(sub.rows, 1);
    for (Position k = 0; k < z; ++k) side_of[P::row(sub.order(f1)[k])] = 0;
    for (Row r = 0; r < sub.rows; ++r) ++sides[side_of[r]].total[class_of[r]];
    for (Side& side : sides) side.threshold();   // a leaf

    const Row all_right = sub.rows;
    for (std::uint32_t f2 = 0; f2 < sub.features && sides[0].right + sides[1].right < all_right; ++f2) {
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
    return {Score{z} - sides[0].right, Score{sub.rows - z} - sides[1].right};
}

template SideErrors d2split(const Subproblem<NarrowEntry>&, const std::vector<std::uint32_t>&, std::uint32_t, Position);
template SideErrors d2split(const Subproblem<WideEntry>&, const std::vector<std::uint32_t>&, std::uint32_t, Position);

}  // namespace contree
