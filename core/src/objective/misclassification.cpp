#include "objective/misclassification.hpp"
#include <algorithm>
#include <numeric>

namespace contree {
namespace {
Score largest(std::span<const Score> masses) { return *std::max_element(masses.begin(), masses.end()); }
Score errors(std::span<const Score> masses) {
    return std::accumulate(masses.begin(), masses.end(), Score{0}) - largest(masses);
}
}  // namespace

Misclassification::Misclassification(
    const Table& table, const RankedTable& ranked, const Costs& what_is_minimised)
    : Objective(what_is_minimised, true), table_(table), classes_(static_cast<std::size_t>(table.classes)),
      class_of_(table.rows), weight_of_(ranked.weights) {
    for (std::size_t r = 0; r < table.rows; ++r)
        class_of_[r] = static_cast<Rank>(table.labels[ranked.original[r]]);
}

Score Misclassification::leaf_loss(const RowSet& set) const {
    Score most = 0;
    for (std::uint32_t c = 0; c < set.groups; ++c) most = std::max(most, set.group_mass(c));
    return set.mass - most;
}

Score Misclassification::leaf_loss(const RowSet& set, std::span<const Row> rows) const {
    std::vector<Score> masses(classes_, 0);
    for (const Row r : rows) masses[class_of_[set.origin[r]]] += set.weight_of(r);
    return errors(masses);
}

Rank Misclassification::prediction(const RowSet& set) const {
    std::uint32_t best = 0;
    for (std::uint32_t c = 1; c < set.groups; ++c)
        if (set.group_mass(c) > set.group_mass(best)) best = c;
    return class_of_[set.origin[set.group_begin[best]]];
}

Rank Misclassification::prediction(const RowSet& set, std::span<const Row> rows) const {
    std::vector<Score> masses(classes_, 0);
    for (const Row r : rows) masses[class_of_[set.origin[r]]] += set.weight_of(r);
    return static_cast<Rank>(std::ranges::max_element(masses) - masses.begin());
}

Score Misclassification::row_loss(Row origin, Rank prediction) const {
    return class_of_[origin] == prediction ? 0 : weight_of_.empty() ? 1 : weight_of_[origin];
}

Stump Misclassification::best_stump(const RowSet& set, const Halt& halt) const {
    const std::vector<std::uint32_t> class_of = groups_of_rows(set);
    const Score leaf = leaf_loss(set);
    Stump best{leaf, 0, 0, leaf};
    std::vector<Score> left, right(set.groups);
    for (std::uint32_t f = 0; f < set.features && best.loss > 0 && !halt(); ++f) {
        left.assign(set.groups, 0);
        for (std::uint32_t c = 0; c < set.groups; ++c) right[c] = set.group_mass(c);
        const Order order = set.order(f);
        Score largest_left = 0;  // only grows
        in_chunks(set.rows - 1, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) {
                const Row row = order.row(k);
                const Score weight = set.weight_of(row);
                largest_left = std::max(largest_left, left[class_of[row]] += weight);
                right[class_of[row]] -= weight;
                if (!set.cut_behind(f, k)) continue;
                const Score loss = set.mass - largest_left - largest(right);
                best.relaxed = std::min(best.relaxed, loss);
                if (loss < best.loss && set.allows(f, k + 1)) best = {loss, f, k + 1, best.relaxed};
            }
        });
    }
    return with_categories(set, best, halt);
}

// Gini: the sum over both sides of (sum of squared class masses) / mass.
void Misclassification::purities(
    const RowSet& set, std::uint32_t f, const Halt& halt, std::vector<double>& by_position) const {
    by_position.assign(set.rows, 0);
    const std::vector<std::uint32_t> class_of = groups_of_rows(set);
    std::vector<double> left(set.groups, 0), right(set.groups, 0);
    double mass_left = 0, squares_left = 0, squares_right = 0;
    const auto mass = static_cast<double>(set.mass);
    for (std::uint32_t c = 0; c < set.groups; ++c) {
        right[c] = static_cast<double>(set.group_mass(c));
        squares_right += right[c] * right[c];
    }
    const Order order = set.order(f);
    in_chunks(set.rows - 1, halt, [&](Row begin, Row end) {
        for (Row k = begin; k < end; ++k) {
            const Row row = order.row(k);
            const std::uint32_t c = class_of[row];
            const auto weight = static_cast<double>(set.weight_of(row));
            squares_left += weight * (2 * left[c] + weight);
            squares_right -= weight * (2 * right[c] - weight);
            left[c] += weight;
            right[c] -= weight;
            mass_left += weight;
            if (!set.cut_behind(f, k) || !set.allows(f, k + 1)) continue;
            by_position[k + 1] = squares_left / mass_left + squares_right / (mass - mass_left);
        }
    });
}

void Misclassification::count(std::span<const Row> raw_rows, Score* counts) const {
    std::fill_n(counts, 2 * classes_, 0);
    for (const Row r : raw_rows) {
        Score* const count = counts + table_.labels[r];
        ++count[0];
        count[classes_] += table_.weights == nullptr ? 1 : table_.weights[r];
    }
}

Score Misclassification::loss_of_counts(const Score* counts) const {
    return errors({counts + classes_, classes_});
}
}  // namespace contree
