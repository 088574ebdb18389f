// What squared error needs of depth two.
#include "depth_two/batch.hpp"
#include "objective/squared_error.hpp"

namespace contree {
namespace {
class SquaredBatches final : public Batches {
public:
    SquaredBatches(const Objective& objective, const Halt& halt) : one_by_one_(objective, halt) {}

    Batch& start(const RowSet& set, Arena& arena, Statistics& statistics) override {
        one_by_one_.start(set, arena, statistics);
        return one_by_one_;
    }
private:
    OneByOneBatch one_by_one_;
};
}  // namespace

std::unique_ptr<Batches> SquaredError::make_batches(const Kernel&, const Halt& halt) const {
    return std::make_unique<SquaredBatches>(*this, halt);
}
}  // namespace contree
