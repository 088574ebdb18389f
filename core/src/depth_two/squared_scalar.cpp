// The meaning of the kernels of squared error, in plain C++.
#include "depth_two/squared_kernel.hpp"

namespace contree {
namespace {
void take(SquaredSides& sides, unsigned t, double sum, double weight) {
    const double distance = sum - sides.mean[t] * weight, product = weight * (sides.weight[t] - weight);
    const double square = distance * distance;
    if (square > sides.best[t] * product + sides.guard[t]) sides.best[t] = square / product;
}

void weigh(const SquaredSweep& input, const double* squares, double* sums, double* sums_of_squares) {
    for (unsigned t = 0; t < input.lanes; ++t) {
        sums[t] = sums_of_squares[t] = 0;
        for (Row r = 0; r < input.rows; ++r)
            if ((input.words[r] >> t & 1) != 0)
                sums[t] += input.terms[r].sum, sums_of_squares[t] += squares[r];
    }
}

void sweep(const SquaredSweep& input, SquaredSides& left, SquaredSides& right) {
    for (unsigned t = 0; t < input.lanes; ++t) {
        for (std::uint32_t f = 0; f < input.features; ++f) {
            const Order order = input.order(f);
            SquaredTerms passed{0, 0}, passed_left{0, 0};
            for (Row k = 0; k < input.rows; ++k) {
                const Row row = order.row(k);
                const auto& [sum, weight] = input.terms[row];
                passed.sum += sum, passed.weight += weight;
                if ((input.words[row] >> t & 1) != 0) passed_left.sum += sum, passed_left.weight += weight;
                if (input.threshold_mask[f * input.stride + k] == 0) continue;
                take(left, t, passed_left.sum, passed_left.weight);
                take(right, t, passed.sum - passed_left.sum, passed.weight - passed_left.weight);
            }
        }
    }
}
}  // namespace

const SquaredKernel squared_scalar{weigh, sweep};
}  // namespace contree
