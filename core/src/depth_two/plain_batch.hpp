// Batches where every row weighs one and leaves may have any size.
#pragma once

#include "depth_two/batch.hpp"

namespace contree {

template <class Entry>
class PlainBatch final : public Batch<Entry> {
public:
    using Batch<Entry>::Batch;

private:
    using Base = Batch<Entry>;
    using Base::arena_, Base::class_totals_, Base::halt_, Base::kernel_, Base::pairs_, Base::proved_,
        Base::reached_, Base::size_;
    using Base::statistics_, Base::sub_, Base::words_;
    using typename Base::BySide, typename Base::Pair, typename Base::Sum;

    void begin() override;
    void sweep_lanes(Score ub) override;
    void sweep_pair(Pair& pair);
    void sweep(const Sweep<Entry>& all);
    void sweep_features(const Sweep<Entry>& all, SideSums& sums);
    void sweep_in_parts(const Sweep<Entry>& all, SideSums& sums);

    static constexpr Row most_rows = Row{1}
                                     << 18;   // that a kernel goes over at once; of more, a quarter of that
    static constexpr std::uint32_t most_cells = 1'000'000;   // rows x features, likewise
    std::int8_t* steps_ = nullptr;                           // room for the kernel's own
    bool has_second_orders_ = false;                         // those with missing values first
    SideSums sums_;
};

extern template class PlainBatch<NarrowEntry>;
extern template class PlainBatch<WideEntry>;

}  // namespace contree
