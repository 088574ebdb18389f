// The meaning of the kernels of squared error, in plain C++.
#include "depth_two/squared_kernel.hpp"

namespace contree {
namespace {
void take(SquaredSides& sides, unsigned t, double sum, double weight) {
    const double distance = sum - sides.mean[t] * weight, product = weight * (sides.weight[t] - weight);
    const double square = distance * distance;
    if (square > sides.best[t] * product + sides.guard[t]) sides.best[t] = square / product;
}

void weigh(const SquaredSweep& input, double* sums, double* squares) {
    for (unsigned t = 0; t < input.lanes; ++t) {
        sums[t] = squares[t] = 0;
        for (Row r = 0; r < input.rows; ++r)
            if ((input.row[r].word >> t & 1) != 0)
                sums[t] += input.row[r].sum, squares[t] += input.row[r].squares;
    }
}

void sweep(const SquaredSweep& input, SquaredSides& left, SquaredSides& right) {
    for (unsigned t = 0; t < input.lanes; ++t) {
        for (std::uint32_t f = 0; f < input.features; ++f) {
            const Order order = input.order(f);
            double sum = 0, weight = 0, sum_left = 0, weight_left = 0;
            for (Row k = 0; k < input.rows; ++k) {
                const SquaredRow& row = input.row[order.row(k)];
                sum += row.sum, weight += row.weight;
                if ((row.word >> t & 1) != 0) sum_left += row.sum, weight_left += row.weight;
                if (input.threshold_mask[f * input.stride + k] == 0) continue;
                take(left, t, sum_left, weight_left);
                take(right, t, sum - sum_left, weight - weight_left);
            }
        }
    }
}
}  // namespace

const SquaredKernel squared_scalar{weigh, sweep};
}  // namespace contree
