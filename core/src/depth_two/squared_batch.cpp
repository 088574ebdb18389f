// Batches of squared error.
//
// The kernel tells what no stump gets below, in doubles and rounded down (squared_kernel.hpp).  Where that is
// below `ub`, the lane is counted again in integers; the others have reached nothing.
#include <cmath>
#include "depth_two/batch.hpp"
#include "depth_two/squared_categories.hpp"
#include "depth_two/squared_kernel.hpp"
#include "objective/squared_error.hpp"

namespace contree {
namespace {
// Lanes at once: those of the widest register, or as many as there are where the rows' own memory is far
// away.
constexpr Row few_rows = 1 << 16;

class SquaredBatch final : public Batch {
public:
    SquaredBatch(const SquaredError& objective, const SquaredKernel& kernel, const Halt& halt)
        : Batch(objective, halt), squared_(objective), kernel_(kernel) {}

    void start(const RowSet& set, Arena& arena, Statistics& statistics) override {
        Batch::start(set, arena, statistics);
        width = set.rows <= few_rows ? 8 : 32;
        words_ = arena.take<std::uint64_t>(set.rows);
        rows_ = arena.take<SquaredRow>(set.rows);
        moments_ = arena.take<Moments>(set.rows);
        mask_ = arena.take<std::uint8_t>(set.stride * set.features);
        Moments all;
        for (Row r = 0; r < set.rows; ++r) {
            const std::int64_t w = set.weight_of(r), y = squared_.target(set, r);
            moments_[r] = {};
            moments_[r].add(w, y);
            all.add(moments_[r]);
            const auto sum = static_cast<double>(w * y);
            rows_[r] = {sum, static_cast<double>(w), sum * static_cast<double>(y), 0};
        }
        leaf_of_all_ = squared_.loss_of(all);
        for (std::uint32_t f = 0; f < set.features; ++f)
            spread_cuts(set.cuts(f).bits, set.rows, mask_ + f * set.stride);
        all_ = {static_cast<double>(all.sum), static_cast<double>(all.weight),
            static_cast<double>(all.squares), 0};
        // Of a side: what squared_kernel.hpp derives, and the sum of w y^2, each row's part of which may
        // be off by 2 u of all.
        margin_ = std::ldexp(64 + 4 * std::sqrt(all_.weight) + 4.0 * set.rows, -53) * all_.squares;
        categories_.start(set, rows_);
    }
private:
    void evaluate_lanes(Score ub) override {
        write_words(*set_, lanes, words_);
        sizes_.fill(0);
        const std::uint32_t subsets = subset_lanes();
        if (subsets != 0) write_subsets(words_, sizes_);
        // The kernel's lanes: all of these, the whole set, and the right sides of those of categories.
        used_ = static_cast<unsigned>(lanes.size());
        first_subset_ = subsets == 0 ? used_ : static_cast<unsigned>(std::countr_zero(subsets));
        own_sides_ = used_ + with_whole;
        const std::uint64_t left = (std::uint64_t{1} << used_) - 1,
                            whole = std::uint64_t{with_whole} << used_;
        for (Row r = 0; r < set_->rows; ++r) {
            rows_[r].word = (words_[r] & left) | whole;
            if (subsets != 0) rows_[r].word |= words_[r] >> (lane_count + first_subset_) << own_sides_;
        }
        sweep(own_sides_ + used_ - first_subset_);
        for (unsigned t = 0; t < used_ + with_whole; ++t) {
            const std::size_t lane = t < used_ ? t : whole_lane;
            for (const bool is_left : {false, true}) {
                const std::size_t s = is_left ? left_side(lane) : right_side(lane);
                const auto [sides, errors, k] = kernel_side(t, is_left);
                proved_[s] = least_loss(errors[k] - sides.weight[k] * sides.best[k]);
                leaf_[s] = least_loss(errors[k]);
                reached_[s] = unreached;
            }
        }
        if (with_whole) leaf_[left_side(whole_lane)] = leaf_of_all_;
        if (rough) reached_ = proved_;
        else count_again(ub);
    }

    // Where the kernel has a side of its lane `t`, and the side's squared error.
    struct KernelSide {
        const SquaredSides& sides;
        const double* errors;
        unsigned lane;
    };
    KernelSide kernel_side(unsigned t, bool left) const {
        if (left || t < first_subset_ || t >= used_)
            return {left ? left_ : right_, left ? error_left_ : error_right_, t};
        return {left_, error_left_, own_sides_ + t - first_subset_};
    }

    // A few features at a time where there are many rows, so that a stop does not wait for long.
    void sweep(unsigned count) {
        constexpr std::uint32_t most_cells = 1'000'000;
        const RowSet& set = *set_;
        SquaredSweep input{nullptr, set.width, set.stride, nullptr, 0, set.rows, rows_, count};
        weigh_sides(input);
        const std::uint32_t step = std::max(1u, most_cells / set.rows);
        for (std::uint32_t f = 0; f < set.features && !halt_(); f += step) {
            input.entries = set.entries + f * set.stride * static_cast<std::size_t>(set.width);
            input.threshold_mask = mask_ + f * set.stride;
            input.features = std::min(step, set.features - f);
            kernel_.sweep(input, left_, right_);
        }
        if (!halt_()) categories_.sweep(kernel_, rows_, count, own_sides_, left_, right_);
        statistics_->row_visits += static_cast<std::int64_t>(set.cells());
    }

    // What no stump of a side loses less than: two floors take off less than 2, and the sum is rounded up.
    Score least_loss(double error) const {
        return static_cast<Score>(std::max(0.0, std::floor((error - margin_) * squared_.unit()) - 1));
    }

    // Weights, sums and squared errors of both sides.  Lanes that are not used take nothing.
    void weigh_sides(const SquaredSweep& input) {
        alignas(64) double sums[side_count], squares[side_count];
        kernel_.weigh(input, sums, squares);
        std::fill_n(left_.guard, side_count, std::numeric_limits<double>::infinity());
        std::fill_n(right_.guard, side_count, std::numeric_limits<double>::infinity());
        for (unsigned t = 0; t < input.lanes; ++t) {
            const Score mass = t < first_subset_ ? set_->mass_at(lanes[t].f, lanes[t].z)
                               : t < used_       ? sizes_[left_side(t)]
                               : t < own_sides_  ? set_->mass
                                                 : sizes_[right_side(t - own_sides_ + first_subset_)];
            const auto weight = static_cast<double>(mass);
            error_left_[t] = weigh(left_, t, sums[t], weight, squares[t]);
            error_right_[t] =
                weigh(right_, t, all_.sum - sums[t], all_.weight - weight, all_.squares - squares[t]);
        }
    }
    static double weigh(SquaredSides& sides, unsigned t, double sum, double weight, double squares) {
        sides.mean[t] = weight > 0 ? sum / weight : 0;
        sides.weight[t] = weight;
        sides.guard[t] = std::ldexp(sum * sum, -102);
        sides.best[t] = 0;
        return squares - sum * sides.mean[t];
    }

    // In integers what may be below `ub`, the most promising first: once one is counted, only what may be
    // below that matters, and what `wanted` says.
    void count_again(Score ub) {
        std::vector<std::pair<Score, std::size_t>> order;
        order.reserve(lanes.size());
        for (std::size_t t = 0; t < lanes.size(); ++t)
            if (!lanes[t].bound_only) order.emplace_back(proved(t), t);
        std::sort(order.begin(), order.end());
        if (with_whole && proved(whole_lane) < ub) {
            count(whole_lane, static_cast<unsigned>(lanes.size()));
            if (!with_leaves) ub = std::min(ub, reached(whole_lane));
        }
        for (const auto& [least, t] : order) {
            if (least >= ub || halt_()) break;
            if (with_leaves && !wanted(t)) continue;
            count(t, static_cast<unsigned>(t));
            if (!with_leaves) ub = std::min(ub, reached(t));
        }
    }

    // One side of a lane in integers.  Its best stump is among the thresholds that the kernel puts near its
    // best one: the loss of each is known but for the margin, and floors take off less than 2.
    struct Count {
        Moments all, left = {};
        double mean, weight, least;  // what D^2 / (k (n - k)) a threshold must have to be looked at
        Score loss;                  // of a leaf, then of the best stump
        bool changed = false;        // has a row passed since the last threshold?

        void take(const SquaredError& squared) {
            const auto before = static_cast<double>(left.weight);
            const double distance = static_cast<double>(left.sum) - mean * before;
            changed = false;
            if (distance * distance < least * before * (weight - before) || left.weight == all.weight) return;
            loss = std::min(loss, squared.loss_of(left) + squared.loss_of(all.without(left)));
        }
    };

    // Lane `t` of the kernel.  Rows that lie on neither side come last.
    void count(std::size_t lane, unsigned t) {
        Count sides[3] = {};  // right, left, neither
        const auto side_of = [&](Row r) -> std::size_t {
            const std::uint64_t word = words_[r];
            return (word >> left_side(lane) & 1) != 0 ? 1 : (word >> right_side(lane) & 1) != 0 ? 0 : 2;
        };
        for (Row r = 0; r < set_->rows; ++r) sides[side_of(r)].all.add(moments_[r]);
        const double slack = 3 * (margin_ + 1 / squared_.unit());
        for (const bool left : {false, true}) {
            const auto [of, errors, k] = kernel_side(t, left);
            Count& side = sides[left];
            side.mean = of.mean[k], side.weight = of.weight[k];
            side.least = of.best[k] - slack / side.weight;
            leaf_[left ? left_side(lane) : right_side(lane)] = side.loss =
                side.all.weight == 0 ? 0 : squared_.loss_of(side.all);
        }
        for (std::uint32_t f = 0; f < set_->features && !halt_(); ++f) {
            for (Count& side : sides) side.left = {}, side.changed = false;
            const Order order = set_->order(f);
            for (Row k = 0; k < set_->rows; ++k) {
                const Row r = order.row(k);
                Count& side = sides[side_of(r)];
                side.left.add(moments_[r]);
                side.changed = true;
                if (mask_[f * set_->stride + k] == 0) continue;
                if (sides[0].changed) sides[0].take(squared_);
                if (sides[1].changed) sides[1].take(squared_);
            }
        }
        for (std::uint32_t f = set_->features; f < set_->columns() && !halt_(); ++f) {
            std::vector<TargetTable> tables(
                2, TargetTable(set_->cuts(f).count + std::size_t{1}, squared_.loss()));
            std::size_t category = 0;
            set_->for_categories(f, [&](Rank, Position begin, Position end) {
                for (Position k = begin; k < end; ++k) {
                    const Row r = set_->order(f).row(k);
                    if (const std::size_t side = side_of(r); side < 2)
                        tables[side].add(category, moments_[r]);
                }
                ++category;
            });
            for (const std::size_t side : {0, 1})
                sides[side].loss = std::min(sides[side].loss, tables[side].best({}, unreached).relaxed);
        }
        reached_[left_side(lane)] = proved_[left_side(lane)] = sides[1].loss;
        reached_[right_side(lane)] = proved_[right_side(lane)] = sides[0].loss;
        statistics_->row_visits += static_cast<std::int64_t>(set_->cells());
    }

    const SquaredError& squared_;
    const SquaredKernel& kernel_;
    std::uint64_t* words_ = nullptr;
    SquaredRow* rows_ = nullptr;
    Moments* moments_ = nullptr;  // by row, in integers
    std::uint8_t* mask_ = nullptr;
    SquaredRow all_{};
    double margin_ = 0;
    Score leaf_of_all_ = 0;
    SquaredSides left_{}, right_{};
    double error_left_[side_count] = {}, error_right_[side_count] = {};
    SquaredCategories categories_;
    BySide sizes_{};  // of the lanes of categories
    unsigned used_ = 0, first_subset_ = 0, own_sides_ = 0;
};

class SquaredBatches final : public Batches {
public:
    SquaredBatches(const SquaredError& objective, const SquaredKernel& kernel, const Halt& halt)
        : batch_(objective, kernel, halt), one_by_one_(objective, halt) {}

    Batch& start(const RowSet& set, Arena& arena, Statistics& statistics) override {
        Batch& batch = set.has_leaf_size() ? one_by_one_ : static_cast<Batch&>(batch_);
        batch.start(set, arena, statistics);
        return batch;
    }
private:
    SquaredBatch batch_;
    OneByOneBatch one_by_one_;
};
}  // namespace

std::unique_ptr<Batches> SquaredError::make_batches(const Kernel& kernel, const Halt& halt) const {
    return std::make_unique<SquaredBatches>(*this, *kernel.squared, halt);
}
}  // namespace contree
