// The oracle: every tree there is, on the raw values.  No pruning, no ranks, no cleverness.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>
#include "instance.hpp"

namespace check {

using contree::Score;
using RowList = std::vector<std::size_t>;

inline RowList all_rows(const Instance& data) {
    RowList rows(data.rows);
    for (std::size_t r = 0; r < data.rows; ++r) rows[r] = r;
    return rows;
}

inline Score mass_of(const Instance& data, const RowList& rows) {
    Score mass = 0;
    for (const std::size_t r : rows) mass += data.weight(r);
    return mass;
}

inline Score leaf_errors(const Instance& data, const RowList& rows) {
    std::vector<Score> masses(static_cast<std::size_t>(data.classes), 0);
    for (const std::size_t r : rows) masses[static_cast<std::size_t>(data.labels[r])] += data.weight(r);
    return mass_of(data, rows) - *std::max_element(masses.begin(), masses.end());
}

inline std::pair<RowList, RowList> parted(
    const Instance& data, const RowList& rows, std::size_t f, double threshold, bool missing_left = false) {
    std::pair<RowList, RowList> sides;
    for (const std::size_t r : rows) {
        const double value = data.value(r, f);
        const bool left = std::isnan(value) ? missing_left : value <= threshold;
        (left ? sides.first : sides.second).push_back(r);
    }
    return sides;
}

// The category of each row, missing ones as one more, and the rows whose category is in a set.
inline std::size_t category_of(const Instance& data, std::size_t row, std::size_t f) {
    const double value = data.value(row, f);
    return std::isnan(value) ? static_cast<std::size_t>(data.categories[f]) : static_cast<std::size_t>(value);
}
inline std::pair<RowList, RowList> parted_by(
    const Instance& data, const RowList& rows, std::size_t f, const std::set<std::size_t>& left) {
    std::pair<RowList, RowList> sides;
    for (const std::size_t r : rows)
        (left.contains(category_of(data, r, f)) ? sides.first : sides.second).push_back(r);
    return sides;
}

// Every way to part rows by the categories that they have, the last one on the right.
inline std::vector<std::pair<RowList, RowList>> partings(
    const Instance& data, const RowList& rows, std::size_t f) {
    std::set<std::size_t> present;
    for (const std::size_t r : rows) present.insert(category_of(data, r, f));
    const std::vector<std::size_t> list(present.begin(), present.end());
    std::vector<std::pair<RowList, RowList>> all;
    for (std::size_t mask = 1; mask < std::size_t{1} << (list.size() - 1); ++mask) {
        std::set<std::size_t> left;
        for (std::size_t i = 0; i < list.size(); ++i)
            if ((mask >> i & 1) != 0) left.insert(list[i]);
        all.push_back(parted_by(data, rows, f, left));
    }
    return all;
}

// Errors by the number of leaves, less one, that a tree may have: the least of at most so many.
using Front = std::vector<Score>;

// Takes a split into a front, given those of its sides.
inline void join_fronts(Front& front, const Front& left, const Front& right) {
    for (std::size_t a = 0; a < left.size(); ++a) {
        for (std::size_t b = 0; b < right.size(); ++b) {
            if (front.size() < a + b + 2) front.resize(a + b + 2, front.back());
            front[a + b + 1] = std::min(front[a + b + 1], left[a] + right[b]);
        }
    }
}
// More leaves are never worse.
inline void level(Front& front) {
    for (std::size_t k = 1; k < front.size(); ++k) front[k] = std::min(front[k], front[k - 1]);
}

// The least loss of all trees of at most that depth whose leaves have at least `min_leaf` rows and weigh
// `min_mass`, where leaf_loss(data, rows) is a leaf's.  Rows without a value may go either way at every
// threshold, and a threshold above all values parts them from the others.
template <class LeafLoss = decltype(&leaf_errors)> Front front_of(const Instance& data, const RowList& rows,
    std::int64_t depth, std::size_t min_leaf = 1, Score min_mass = 0,
    const LeafLoss& leaf_loss = &leaf_errors) {
    Front front{leaf_loss(data, rows)};
    if (depth == 0) return front;
    const auto enough = [&](const RowList& side) {
        return side.size() >= min_leaf && mass_of(data, side) >= min_mass;
    };
    const auto take = [&](const RowList& left, const RowList& right) {
        if (!enough(left) || !enough(right)) return;
        join_fronts(front, front_of(data, left, depth - 1, min_leaf, min_mass, leaf_loss),
            front_of(data, right, depth - 1, min_leaf, min_mass, leaf_loss));
    };
    for (std::size_t f = 0; f < data.features; ++f) {
        if (data.categorical(f)) {
            for (const auto& [left, right] : partings(data, rows, f)) take(left, right);
            continue;
        }
        std::set<double> values;
        for (const std::size_t r : rows)
            if (!std::isnan(data.value(r, f))) values.insert(data.value(r, f));
        const bool any_missing = std::any_of(
            rows.begin(), rows.end(), [&](std::size_t r) { return std::isnan(data.value(r, f)); });
        for (const double threshold : values) {
            for (const bool missing_left : {false, true}) {
                const auto [left, right] = parted(data, rows, f, threshold, missing_left);
                take(left, right);
                if (!any_missing) break;  // the other way is the same
            }
        }
    }
    level(front);
    return front;
}

inline Score least_errors(const Instance& data, const RowList& rows, std::int64_t depth,
    std::size_t min_leaf = 1, Score min_mass = 0) {
    return front_of(data, rows, depth, min_leaf, min_mass).back();
}
inline Score least_errors(
    const Instance& data, std::int64_t depth, std::size_t min_leaf = 1, Score min_mass = 0) {
    return least_errors(data, all_rows(data), depth, min_leaf, min_mass);
}

// The same for larger sets: stumps by one pass over each sorted column, with missing values behind and in
// front. Checked against the above.
class Swept {
public:
    explicit Swept(const Instance& data, std::size_t min_leaf = 1, Score min_mass = 0)
        : data_(data), min_leaf_(min_leaf), min_mass_(min_mass) {
        for (std::size_t f = 0; f < data.features; ++f) {
            for (const double stand_in :
                {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
                std::vector<double> values;
                bool any_missing = false;
                for (std::size_t r = 0; r < data.rows; ++r) {
                    values.push_back(std::isnan(data.value(r, f)) ? stand_in : data.value(r, f));
                    any_missing |= std::isnan(data.value(r, f));
                }
                orders_.push_back(all_rows(data));
                std::sort(orders_.back().begin(), orders_.back().end(),
                    [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
                values_.push_back(std::move(values));
                if (!any_missing) break;
            }
        }
    }

    Score least_errors(std::int64_t depth) const { return front(depth).back(); }
    Front front(std::int64_t depth) const { return front(std::vector<char>(data_.rows, 1), depth); }
private:
    using Members = std::vector<char>;  // by row

    Front front(const Members& in, std::int64_t depth) const {
        const auto classes = static_cast<std::size_t>(data_.classes);
        std::vector<Score> total(classes, 0);
        Score mass = 0;
        for (std::size_t r = 0; r < data_.rows; ++r)
            if (in[r])
                total[static_cast<std::size_t>(data_.labels[r])] += data_.weight(r), mass += data_.weight(r);
        Front found{mass - *std::max_element(total.begin(), total.end())};
        if (depth == 0 || found[0] == 0) return found;
        for (std::size_t o = 0; o < orders_.size(); ++o) {
            std::vector<std::size_t> order;
            for (const std::size_t r : orders_[o])
                if (in[r]) order.push_back(r);
            std::vector<Score> left(classes, 0), right = total;
            Members left_in(data_.rows, 0), right_in = in;
            Score mass_left = 0;
            for (std::size_t k = 0; k + 1 < order.size(); ++k) {
                const std::size_t r = order[k];
                left[static_cast<std::size_t>(data_.labels[r])] += data_.weight(r);
                right[static_cast<std::size_t>(data_.labels[r])] -= data_.weight(r);
                left_in[r] = 1;
                right_in[r] = 0;
                mass_left += data_.weight(r);
                if (values_[o][r] == values_[o][order[k + 1]]) continue;
                if (k + 1 < min_leaf_ || order.size() - (k + 1) < min_leaf_ || mass_left < min_mass_ ||
                    mass - mass_left < min_mass_)
                    continue;
                if (depth == 1) {
                    const Score errors = mass - *std::max_element(left.begin(), left.end()) -
                                         *std::max_element(right.begin(), right.end());
                    found.resize(2, found[0]);
                    found[1] = std::min(found[1], errors);
                } else {
                    join_fronts(found, front(left_in, depth - 1), front(right_in, depth - 1));
                }
            }
        }
        level(found);
        return found;
    }

    const Instance& data_;
    const std::size_t min_leaf_;
    const Score min_mass_;
    std::vector<RowList> orders_;              // two for a column with missing values
    std::vector<std::vector<double>> values_;  // by order and row, missing ones beyond all others
};

// The same with categories, for up to 64 rows: every set of rows is looked at once.  leaf_loss(data, rows) is
// a leaf's; a stump of categories at depth one may lose something else, stump_loss(data, left, right).
struct LeafByLeaf {};
template <class LeafLoss = decltype(&leaf_errors), class StumpLoss = LeafByLeaf> class Remembered {
public:
    explicit Remembered(const Instance& data, std::size_t min_leaf = 1, Score min_mass = 0,
        const LeafLoss& leaf_loss = &leaf_errors, const StumpLoss& stump_loss = {})
        : data_(data), min_leaf_(min_leaf), min_mass_(min_mass), leaf_loss_(leaf_loss),
          stump_loss_(stump_loss) {}

    Front front(std::int64_t depth) { return front(all_rows(data_), depth); }
    Front front(const RowList& rows, std::int64_t depth) {
        std::uint64_t key = 0;
        for (const std::size_t r : rows) key |= std::uint64_t{1} << r;
        if (const auto known = fronts_.find({key, depth}); known != fronts_.end()) return known->second;
        Front found{leaf_loss_(data_, rows)};
        for (std::size_t f = 0; f < data_.features && depth > 0 && found[0] > 0; ++f) {
            for (const auto& [left, right] :
                data_.categorical(f) ? partings(data_, rows, f) : cuts(rows, f)) {
                if (!enough(left) || !enough(right)) continue;
                if constexpr (!std::is_same_v<StumpLoss, LeafByLeaf>)
                    if (depth == 1 && data_.categorical(f)) {
                        found.resize(2, found[0]);
                        found[1] = std::min(found[1], stump_loss_(data_, left, right));
                        continue;
                    }
                join_fronts(found, front(left, depth - 1), front(right, depth - 1));
            }
        }
        level(found);
        return fronts_[{key, depth}] = found;
    }
private:
    bool enough(const RowList& side) const {
        return side.size() >= min_leaf_ && mass_of(data_, side) >= min_mass_;
    }
    std::vector<std::pair<RowList, RowList>> cuts(const RowList& rows, std::size_t f) const {
        std::set<double> values;
        for (const std::size_t r : rows)
            if (!std::isnan(data_.value(r, f))) values.insert(data_.value(r, f));
        std::vector<std::pair<RowList, RowList>> all;
        for (const double threshold : values)
            for (const bool missing_left : {false, true})
                all.push_back(parted(data_, rows, f, threshold, missing_left));
        return all;
    }

    const Instance& data_;
    const std::size_t min_leaf_;
    const Score min_mass_;
    const LeafLoss leaf_loss_;
    const StumpLoss stump_loss_;
    std::map<std::pair<std::uint64_t, std::int64_t>, Front> fronts_;
};

// The least objective that the options allow, by the errors for each number of leaves.
inline Score least_objective(const Front& front, const contree::Options& options) {
    Score least = std::numeric_limits<Score>::max();
    for (std::size_t k = 0; k < front.size(); ++k)
        if (options.max_leaves == 0 || std::cmp_less(k, options.max_leaves))
            least = std::min(
                least, options.error_cost * front[k] + options.leaf_cost * static_cast<Score>(k + 1));
    return least;
}

inline Score optimum_of(const Instance& data, const contree::Options& options) {
    const auto rows = static_cast<std::size_t>(options.min_samples_leaf);
    if (!data.categories.empty())
        return least_objective(
            Remembered(data, rows, options.min_weight_leaf).front(options.max_depth), options);
    const Swept swept(data, rows, options.min_weight_leaf);
    return least_objective(swept.front(options.max_depth), options);
}

}  // namespace check
