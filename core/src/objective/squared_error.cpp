#include "objective/squared_error.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace contree {
namespace {
constexpr Score most_sum = (Score{1} << 53) - 1;

int bits_of(Wide number) {
    const auto high = static_cast<std::uint64_t>(number >> 64), low = static_cast<std::uint64_t>(number);
    return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}
}  // namespace

Score SquaredError::most_loss(const Table& table, int shift, Score mass) {
    Moments all;
    for (std::size_t r = 0; r < table.rows; ++r) {
        const std::int64_t y = table.targets[r];
        if (y > most_sum / mass || y < -(most_sum / mass))
            throw std::invalid_argument("targets must be so small that |y| times all weights is below 2^53");
        all.add(table.weights == nullptr ? 1 : table.weights[r], y);
    }
    const Wide spread = all.spread();
    if (spread != 0 && (shift > 127 || bits_of(spread) + shift > bits_of(static_cast<Wide>(mass)) + 60))
        throw std::invalid_argument("score_shift must be so small that all rows lose less than 2^60");
    return SquaredLoss{shift}.of_leaf(all);
}

SquaredError::SquaredError(
    const Table& table, const RankedTable& ranked, const Costs& what_is_minimised, int shift)
    : Objective(what_is_minimised, false), table_(table), loss_{shift}, unit_(std::ldexp(1.0, shift)),
      weight_of_(ranked.weights) {
    double mass = 0;
    for (const Row r : ranked.original) {
        target_of_.push_back(table.targets[r]);
        mass += table.weights == nullptr ? 1 : static_cast<double>(table.weights[r]);
    }
    const auto [least, greatest] = std::minmax_element(target_of_.begin(), target_of_.end());
    const auto range = static_cast<double>(*greatest) - static_cast<double>(*least);
    lowest_ = static_cast<double>(*least);
    step_ = range / static_cast<double>(~Rank{0});
    if (range > 0) row_unit_ = std::ldexp(1.0, 59 - std::ilogb(mass * range * range) - 1);
}

Moments SquaredError::moments(const RowSet& set) const {
    Moments all;
    for (Row r = 0; r < set.rows; ++r) all.add(set.weight_of(r), target(set, r));
    return all;
}

Moments SquaredError::moments(const RowSet& set, std::span<const Row> rows) const {
    Moments some;
    for (const Row r : rows) some.add(set.weight_of(r), target(set, r));
    return some;
}

Score SquaredError::leaf_loss(const RowSet& set, std::span<const Row> rows) const {
    return loss_of(moments(set, rows));
}

Rank SquaredError::prediction_of(const Moments& all) const {
    if (step_ == 0) return 0;
    const double mean = static_cast<double>(all.sum) / static_cast<double>(all.weight);
    const double place = std::clamp((mean - lowest_) / step_, 0.0, static_cast<double>(~Rank{0}));
    return static_cast<Rank>(std::llround(place));
}

Score SquaredError::row_loss(Row origin, Rank prediction) const {
    const double distance = static_cast<double>(target_of_[origin]) - (lowest_ + prediction * step_);
    const double weight = weight_of_.empty() ? 1 : static_cast<double>(weight_of_[origin]);
    return static_cast<Score>(weight * distance * distance * row_unit_);
}

// The rows of one side of a split, or all, and the best stump that a pass over each order finds for them.
//
// A stump's loss is at least 2^shift (E - gain) - 2 for its leaves' two floors, where E is the side's squared
// error and gain = D^2 W / (k (W - k)), D = A - S k / W, for a left leaf of weight k and sum A.  In doubles E
// and the gain are off by less than `margin`: see kernel_squares.hpp.  So a threshold is counted in integers
// only where that is below the best loss so far.
struct SquaredError::Side {
    Moments all;
    Row rows = 0;
    Score leaf = 0, best = 0, relaxed = 0;  // of a leaf, of stumps with leaves large enough, and of any
    std::uint32_t f = 0;
    Position z = 0;
    Moments left;  // of the present order
    Row rows_left = 0;
    bool changed = false;        // has a row passed since the last threshold?
    double error = 0, mean = 0;  // the squared error less the margin

    void begin(const SquaredError& objective) {
        leaf = best = relaxed = rows == 0 ? 0 : objective.loss_of(all);
        if (rows == 0) return;
        const auto weight = static_cast<double>(all.weight);
        const double margin = std::ldexp(1 + std::sqrt(weight), -49) * static_cast<double>(all.squares);
        error = all.squared_error() - margin;
        mean = static_cast<double>(all.sum) / weight;
    }
    void threshold(const SquaredError& objective, const LeafSize& size, std::uint32_t feature, Position at) {
        changed = false;
        if (left.weight == all.weight) return;
        const auto k = static_cast<double>(left.weight), weight = static_cast<double>(all.weight);
        const bool allowed = rows_left >= size.rows && rows - rows_left >= size.rows &&
                             left.weight >= size.mass && all.weight - left.weight >= size.mass;
        const double to_beat = static_cast<double>(allowed ? best : relaxed) + 2;
        const double distance = static_cast<double>(left.sum) - mean * k;
        // unit (error - gain) >= to_beat, without a division.
        if (objective.unit_ * distance * distance * weight <=
            (objective.unit_ * error - to_beat) * k * (weight - k))
            return;
        const Score loss = objective.loss_of(left) + objective.loss_of(all.without(left));
        relaxed = std::min(relaxed, loss);
        if (allowed && loss < best) best = loss, f = feature, z = at;
    }
};

void SquaredError::search_stumps(const RowSet& set, const std::vector<std::uint8_t>& side_of,
    std::span<Side> sides, const Halt& halt) const {
    for (Row r = 0; r < set.rows; ++r) {
        Side& side = sides[side_of[r]];
        side.all.add(set.weight_of(r), target(set, r));
        ++side.rows;
    }
    for (Side& side : sides) side.begin(*this);
    for (std::uint32_t f = 0; f < set.features && !halt(); ++f) {
        for (Side& side : sides) side.left = {}, side.rows_left = 0, side.changed = false;
        const Order order = set.order(f);
        in_chunks(set.rows - 1, halt, [&](Row begin, Row end) {
            for (Row k = begin; k < end; ++k) {
                const Row r = order.row(k);
                Side& side = sides[side_of[r]];
                side.left.add(set.weight_of(r), target(set, r));
                ++side.rows_left;
                side.changed = true;
                if (!set.cut_behind(f, k)) continue;
                for (Side& one : sides)
                    if (one.changed) one.threshold(*this, set.leaf, f, k + 1);
            }
        });
    }
}

Stump SquaredError::best_stump(const RowSet& set, const Halt& halt) const {
    Side all[1];
    search_stumps(set, std::vector<std::uint8_t>(set.rows, 0), all, halt);
    return with_categories(set, {all[0].best, all[0].f, all[0].z, all[0].relaxed}, halt);
}

SplitLosses SquaredError::stumps_of_split(const RowSet& set, std::uint32_t f, Position z) const {
    std::vector<std::uint8_t> side_of(set.rows, 1);
    for (Position k = 0; k < z; ++k) side_of[set.order(f).row(k)] = 0;
    return stumps_of_sides(set, side_of);
}

SplitLosses SquaredError::stumps_of_sides(const RowSet& set, const std::vector<std::uint8_t>& side_of) const {
    Side sides[neither + 1];  // what the last one finds, nobody asks for
    search_stumps(set, side_of, sides, Halt{});
    for (std::uint32_t f = set.features; f < set.columns(); ++f) {
        std::vector<TargetTable> tables = targets_by_category(set, f, side_of, neither);
        for (std::size_t s = 0; s < neither; ++s) {
            const TargetTable::Best found = tables[s].best(subset_leaf_size(set), sides[s].best);
            sides[s].best = found.loss;
            sides[s].relaxed = std::min(sides[s].relaxed, found.relaxed);
        }
    }
    const Side &left = sides[0], &right = sides[1];
    return {left.best, right.best, left.relaxed, right.relaxed, left.leaf, right.leaf};
}

// What a split gains, and the squared error of all rows: so a split that gains nothing is allowed too, as
// CART has it, and purities are equal where gains are, in proportion to that error.
void SquaredError::purities(
    const RowSet& set, std::uint32_t f, const Halt& halt, std::vector<double>& by_position) const {
    by_position.assign(set.rows, 0);
    const Moments all = moments(set);
    const double weight = static_cast<double>(all.weight), mean = static_cast<double>(all.sum) / weight;
    const double error = all.squared_error();
    Moments left;
    const Order order = set.order(f);
    in_chunks(set.rows - 1, halt, [&](Row begin, Row end) {
        for (Row k = begin; k < end; ++k) {
            const Row r = order.row(k);
            left.add(set.weight_of(r), target(set, r));
            if (!set.cut_behind(f, k) || !set.allows(f, k + 1)) continue;
            const auto before = static_cast<double>(left.weight);
            const double distance = static_cast<double>(left.sum) - mean * before;
            by_position[k + 1] = error + distance * distance * weight / (before * (weight - before));
        }
    });
}

void SquaredError::count(std::span<const Row> raw_rows, Score* counts) const {
    Moments all;
    for (const Row r : raw_rows)
        all.add(table_.weights == nullptr ? 1 : table_.weights[r], table_.targets[r]);
    constexpr Wide rest = (Wide{1} << 62) - 1;
    counts[0] = static_cast<Score>(raw_rows.size());
    counts[1] = all.weight;
    counts[2] = all.sum;
    counts[3] = static_cast<Score>(all.squares >> 62);
    counts[4] = static_cast<Score>(all.squares & rest);
}

Score SquaredError::loss_of_counts(const Score* counts) const {
    return loss_of(
        {counts[1], counts[2], (static_cast<Wide>(counts[3]) << 62) + static_cast<Wide>(counts[4])});
}
}  // namespace contree
