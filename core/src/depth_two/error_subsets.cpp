// Categories in a batch of errors: stumps that part categories.
#include "depth_two/error_batch.hpp"
#include "objective/class_table.hpp"

namespace contree {
// What the classes weigh in each category of a feature, on all sides.
void ErrorBatch::weigh_categories(std::uint32_t f) {
    const RowSet& set = *set_;
    category_totals_.assign((set.cuts(f).count + std::size_t{1}) * set.groups, BySide{});
    gathered_words_.resize(set.rows);
    gathered_weights_.resize(set.weighted() ? set.rows : 0);
    with_entry(set.width, [&](auto entry) {
        const auto* const order = set.order(f).as<decltype(entry)>();
        for (Row k = 0; k < set.rows; ++k) {
            const Row row = Packed<decltype(entry)>::row(order[k]);
            gathered_words_[k] = words_[row];
            if (set.weighted()) gathered_weights_[k] = set.weight[row];
        }
    });
    std::size_t category = 0;
    set.for_categories(f, [&](Rank, Position begin, Position end) {
        for (std::uint32_t c = 0; c < set.groups; ++c) {  // rows of a category ascend
            const Position from = begin;
            begin = end_of_group(f, c, begin, end);
            if (begin == from) continue;
            kernel_.weigh_sides(gathered_words_.data() + from,
                set.weighted() ? gathered_weights_.data() + from : nullptr, begin - from,
                category_totals_[category * set.groups + c].data());
        }
        ++category;
    });
    statistics_->row_visits += set.rows;
}

// Behind the rows of a group in a category's part of an order.
Position ErrorBatch::end_of_group(std::uint32_t f, std::uint32_t group, Position begin, Position end) const {
    const Order order = set_->order(f);
    while (begin < end) {
        const Position middle = begin + (end - begin) / 2;
        if (order.row(middle) < set_->group_begin[group + 1]) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

// What the best stumps of categories are right on each side: with leaves large enough, and of any size.
void ErrorBatch::take_subset_stumps(BySide& allowed, BySide& relaxed) {
    const RowSet& set = *set_;
    for (std::uint32_t f = set.features; f < set.columns() && !halt_(); ++f) {
        weigh_categories(f);
        const std::size_t categories = category_totals_.size() / set.groups;
        BySide most{};
        for (std::uint32_t b = 1; b < set.groups; ++b) {
            for (std::uint32_t a = 0; a < b; ++a) {
                BySide sum{};
                for (std::size_t i = 0; i < categories; ++i) {
                    const BySide &of_a = category_totals_[i * set.groups + a],
                                 &of_b = category_totals_[i * set.groups + b];
                    for (std::size_t s = 0; s < side_count; ++s) sum[s] += std::max(of_a[s], of_b[s]);
                }
                for (std::size_t s = 0; s < side_count; ++s) most[s] = std::max(most[s], sum[s]);
            }
        }
        const bool any_size = subset_leaf_size(set).any();
        for (std::size_t s = 0; s < side_count; ++s) {
            relaxed[s] = std::max(relaxed[s], most[s]);
            if (any_size) allowed[s] = std::max(allowed[s], most[s]);
            else if (most[s] > allowed[s]) allowed[s] = allowed_stump(f, s, allowed[s]);
        }
    }
}

// Of one side: what the best stump of a feature with leaves large enough is right, if that is more.
Score ErrorBatch::allowed_stump(std::uint32_t f, std::size_t side, Score least) const {
    const RowSet& set = *set_;
    ClassTable table(set.groups, category_totals_.size() / set.groups);
    std::size_t category = 0;
    set.for_categories(f, [&](Rank, Position begin, Position end) {
        Row rows = 0;
        for (Position k = begin; k < end; ++k) rows += static_cast<Row>(gathered_words_[k] >> side & 1);
        for (std::uint32_t c = 0; c < set.groups; ++c)
            table.add(category, c, category_totals_[category * set.groups + c][side], std::exchange(rows, 0));
        ++category;
    });
    return table.best(subset_leaf_size(set), least).right;
}
}  // namespace contree
