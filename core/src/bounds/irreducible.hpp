// Rows that agree in every feature go together through every tree, to one leaf.  So no tree, of any depth,
// loses less than the best leaf of each such group, in all.
#pragma once
#include <numeric>
#include <utility>
#include "objective/objective.hpp"

namespace contree {
// Begins with one group of all rows; each feature parts the groups by rank.  An order ascends, so the rows of
// a group that share a rank come up between its change to that rank and its next change.  Halted: 0, which
// is true as well.
inline Score irreducible_loss(const Objective& objective, const RowSet& set, const Halt& halt = {}) {
    constexpr Rank none = ~Rank{0};
    std::vector<Row> group(set.rows, 0), part(set.rows);  // by row; by group: its present part
    std::vector<Rank> rank_of_part(set.rows);
    Row groups = 1;
    for (std::uint32_t f = 0; f < set.columns(); ++f) {
        std::fill_n(rank_of_part.begin(), std::exchange(groups, 0), none);
        const Order order = set.order(f);
        in_chunks(set.rows, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) {
                Row& g = group[order.row(k)];
                if (std::exchange(rank_of_part[g], order.rank(k)) != order.rank(k)) part[g] = groups++;
                g = part[g];
            }
        });
        if (halt()) return 0;
    }

    std::vector<Row> end(groups + 1, 0), rows(set.rows);  // rows by group
    for (const Row g : group) ++end[g + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    for (Row row = 0; row < set.rows; ++row) rows[end[group[row]]++] = row;
    Score loss = 0;
    for (Row g = 0, begin = 0; g < groups; begin = end[g++])
        if (end[g] - begin > 1)
            loss += objective.leaf_loss(set, std::span(rows).subspan(begin, end[g] - begin));
    return loss;
}
}  // namespace contree
