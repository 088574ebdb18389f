#include "tree/stump.hpp"

#include <algorithm>
#include <vector>

#include "bounds/class_count.hpp"

namespace contree {

template <class Entry>
Stump best_stump(const Subproblem<Entry>& sub) {
    using P = Packed<Entry>;
    const auto class_of = classes_of_rows(sub);
    Stump best{leaf_errors(sub), 0, 0};
    std::vector<Row> left(sub.classes), right(sub.classes);
    for (std::uint32_t f = 0; f < sub.features && best.errors > 0; ++f) {
        std::fill(left.begin(), left.end(), 0);
        for (std::uint32_t c = 0; c < sub.classes; ++c) right[c] = sub.class_size(c);
        const Entry* const order = sub.order(f);
        // The largest class of the left side only grows; that of the right side is looked up where it matters.
        Row largest_left = 0;
        for (Row k = 0; k + 1 < sub.rows; ++k) {
            const std::uint32_t c = class_of[P::row(order[k])];
            largest_left = std::max(largest_left, ++left[c]);
            --right[c];
            if (P::rank(order[k]) == P::rank(order[k + 1])) continue;
            const Row largest_right = *std::max_element(right.begin(), right.end());
            const Score errors = Score{sub.rows} - largest_left - largest_right;
            if (errors < best.errors) best = {errors, f, k + 1};
        }
    }
    return best;
}

template Stump best_stump(const Subproblem<NarrowEntry>&);
template Stump best_stump(const Subproblem<WideEntry>&);

}  // namespace contree
