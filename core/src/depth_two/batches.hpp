// The batch that a subproblem needs: plain, or general.
#pragma once

#include "depth_two/general_batch.hpp"
#include "depth_two/plain_batch.hpp"

namespace contree {

template <class Entry>
class Batches {
public:
    explicit Batches(const Kernel& kernel, const Halt& halt = {})
        : plain_(kernel, halt), general_(kernel, halt) {}

    // A batch that was started for `sub`.
    Batch<Entry>& start(const Subproblem<Entry>& sub, Arena& arena, Statistics& statistics) {
        Batch<Entry>& batch = sub.weighted() || sub.limited() ? static_cast<Batch<Entry>&>(general_) : plain_;
        batch.start(sub, arena, statistics);
        return batch;
    }

private:
    PlainBatch<Entry> plain_;
    std::conditional_t<Subproblem<Entry>::may_be_general, GeneralBatch, PlainBatch<Entry>> general_;
};

}  // namespace contree
