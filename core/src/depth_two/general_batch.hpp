// Batches of the general case: rows that weigh more than one, leaves that must be of some size, or both.
#pragma once

#include "depth_two/leaf_sides.hpp"

namespace contree {

class GeneralBatch final : public Batch<WideEntry> {
public:
    using Batch<WideEntry>::Batch;

private:
    void begin() override;
    std::uint32_t lanes_allowed() override {
        return sub_->limited() ? leaf_sides_.place(lanes) : ~std::uint32_t{0};
    }
    void sweep_lanes(Score ub) override;
    void sweep_weights(Score ub);
    void sweep_leaf_sizes(Score ub);
    void sweep_leaf_size(Score ub, std::uint32_t lanes_meant);
    std::uint32_t below(Score ub, std::uint32_t lanes_meant);
    std::uint64_t sides_to_gain(std::size_t pair, std::uint32_t lanes_meant, const BySide& right) const;
    Score least_size() const { return by_mass_ ? sub_->leaf.mass : Score{sub_->leaf.rows}; }
    void sweep_pair(std::size_t i, std::uint64_t sides);
    template <class Step>
    void sweep_steps(std::size_t i, std::uint64_t sides);
    template <class Step>
    const Step* steps_of(const Pair& pair);
    void mark_thresholds();

    unsigned step_bits_ = 0;
    Row chunk_rows_ = 0;               // see WeightedSweep
    std::vector<const void*> steps_;   // by pair, as `step_bits_` says; null until first used
    SideExtremes extremes_;
    // Of leaf sizes.
    LeafSides leaf_sides_;
    bool by_mass_ = false;                  // is the size of a leaf what it weighs?
    const std::uint8_t* takes_ = nullptr;   // of the rows that count for sizes; null until first used,
    const void* row_sizes_ = nullptr;       // like their weights, as steps
};

}  // namespace contree
