#include "tree/stump.hpp"

#include <algorithm>
#include <vector>

#include "bounds/class_count.hpp"

namespace contree {

template <class Entry>
Stump best_stump(const Subproblem<Entry>& sub, const Halt& halt) {
    using P = Packed<Entry>;
    const auto class_of = classes_of_rows(sub);
    const Score leaf = leaf_errors(sub);
    Stump best{leaf, 0, 0, leaf};
    std::vector<Score> left(sub.classes), right(sub.classes);
    for (std::uint32_t f = 0; f < sub.features && best.errors > 0 && !halt(); ++f) {
        std::fill(left.begin(), left.end(), 0);
        for (std::uint32_t c = 0; c < sub.classes; ++c) right[c] = sub.class_mass(c);
        const Entry* const order = sub.order(f);
        // The largest class of the left side only grows; that of the right side is looked up where it matters.
        Score largest_left = 0;
        in_stretches(sub.rows - 1, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) {
                const Row row = P::row(order[k]);
                const Score weight = sub.weight_of(row);
                largest_left = std::max(largest_left, left[class_of[row]] += weight);
                right[class_of[row]] -= weight;
                if (!sub.cut_behind(f, k)) continue;
                const Score errors = sub.mass - largest_left - *std::max_element(right.begin(), right.end());
                best.relaxed = std::min(best.relaxed, errors);
                if (sub.allows(f, k + 1) && errors < best.errors) best = {errors, f, k + 1, best.relaxed};
            }
        });
    }
    return best;
}

template Stump best_stump(const Subproblem<NarrowEntry>&, const Halt&);
template Stump best_stump(const Subproblem<WideEntry>&, const Halt&);

}  // namespace contree
