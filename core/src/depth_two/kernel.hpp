// The contract of the depth-two kernels.
//
// A batch holds up to 32 splits ("lanes").  Every row has one 64-bit word: bit t says that it lies left in
// lane t, bit 32 + t right.  So a batch is 64 row sets ("sides"), and the kernel finds what the best stump of
// each needs.  A row counts +1 or -1 by its class, and W is the prefix sum over the rows of a side in the
// order of a feature f2, taken where a threshold can stand.  A stump that says + left and - right errs
// neg_left + pos_right = pos - W times, the other way round neg + W times.  So
//     stump errors = min(pos - max W, neg + min W),
// with max and min over all f2.  W = 0 before the first row, so a leaf is counted too.  The scalar kernel is
// the meaning; each vector kernel must equal it bit for bit.
#pragma once
#include <limits>
#include <string>
#include <tuple>
#include <vector>
#include "data/halt.hpp"
#include "data/partitioner.hpp"

namespace contree {
inline constexpr unsigned lane_count = 32;
inline constexpr unsigned side_count = 2 * lane_count;

inline constexpr std::size_t left_side(std::size_t lane) { return lane; }
inline constexpr std::size_t right_side(std::size_t lane) { return lane_count + lane; }
inline constexpr std::uint64_t both_sides(std::uint32_t lanes) {
    return lanes | std::uint64_t{lanes} << lane_count;
}

// W is taken behind a row unless the next has the same value, as no threshold lies there.  Regular: such rows
// are so rare, or so many, that a loop may branch on them; irregular: it had better not.
enum class Ties : std::uint8_t { none, regular, irregular };

// mask[k] = 0xff where bit k of an order's cuts (`Cuts::bits`) is set, else 0, for k < rows; up to seven more
// are written.  Returns how many are 0.
Row spread_cuts(const std::uint64_t* bits, Row rows, std::uint8_t* mask);

// Rows of weight one, for leaves of any size.
struct Sweep {
    const std::byte* entries;  // by feature, `stride` entries apart
    Width width;
    std::size_t stride;
    const std::uint8_t* threshold_mask;  // like entries: 0xff where W is taken; unset without ties
    const Ties* ties;                    // by feature
    std::uint32_t features;              // at least one
    Row rows;                            // in each order
    const std::uint64_t* words;          // by row number
    Row boundary;                        // rows numbered below count +1, the others -1
    std::int8_t* steps = nullptr;        // room for 64 bytes by row number, for the kernel's use, or null
    bool kept = false;  // have sweeps with the same words and boundary left theirs there, for all rows?

    Order order(std::uint32_t f) const {
        return {entries + f * stride * static_cast<std::size_t>(width), width};
    }
};

struct SideSums {
    alignas(64) std::int32_t high[side_count];  // max W, at least 0
    alignas(64) std::int32_t low[side_count];   // min W, at most 0
    alignas(64) std::int32_t end[side_count];   // W behind the last row: pos - neg
};

// The general case: rows weigh more than one, or leaves must have a size.  W is the sum of the rows' steps,
// with two pairs of extremes: where a side's rows make both leaves large enough, and where a larger set does.
template <class Step> struct WeightedSweep {
    const WideEntry* entries;  // by feature, `stride` apart
    std::size_t stride;
    const std::uint8_t* threshold_mask;  // like entries: 0xff where a threshold can stand behind, else 0
    std::uint32_t features;
    Row rows;                    // in each order
    const std::uint64_t* words;  // by row number; without a leaf size a row lies on one side of a lane
    Score min_leaf = 0;          // the least size of a leaf; 0: any, and the next four are unset
    const std::uint64_t* near_words = nullptr;  // like words, with rows that count for `high` and `low`
    const Step* row_sizes = nullptr;            // by row number: what it counts for a size; null: one
    const Score* sizes = nullptr;               // of each side, by `words`: for `allowed`
    const Score* near_sizes = nullptr;          // by `near_words`: for `high` and `low`
    const Step* steps = nullptr;  // by row number: the weight, with its class's sign; 0 for other classes
    Row chunk_rows = 0;           // so many steps add up to less than a Step holds; and so many rows
    std::uint64_t used = 0;       // bit s: side s matters; of the others nothing is said
    Halt halt = {};               // after it nothing is said
};

// The steps that a Step is meant for: at least 127 add up without overflow.  Byte steps are ones: 126 do.
template <class Step> inline constexpr Score largest_step = std::numeric_limits<Step>::max() / 128;

struct SideExtremes {
    alignas(64) Score high[side_count], low[side_count];                  // max W at least 0, min W at most 0
    alignas(64) Score allowed_high[side_count], allowed_low[side_count];  // by `sizes`; unset without
    alignas(64) Score end[side_count];                                    // W behind the last row
};

struct SquaredKernel;
extern const SquaredKernel squared_scalar, squared_avx2, squared_avx512;

// The loops for one machine.
struct Kernel {
    template <class Step> using SweepWeighted = void (*)(const WeightedSweep<Step>&, SideExtremes&);

    const char* name;
    bool (*runs_here)();
    void (*sweep)(const Sweep&, SideSums&);
    // totals[s] = what the rows weigh whose words have bit s; null weights are ones.
    void (*weigh_sides)(const std::uint64_t* words, const Score* weights, Row rows, Score* totals);
    std::tuple<SweepWeighted<std::int8_t>, SweepWeighted<std::int16_t>, SweepWeighted<std::int32_t>,
        SweepWeighted<std::int64_t>>
        weighted;
    const Partitioner* partitioner;  // the data's own loops, for the same machine
    Row kept_steps;                  // up to so many rows a plain sweep wants room for `steps`
    const SquaredKernel* squared;    // the loops of squared error, for the same machine

    template <class Step>
    void sweep_weighted(const WeightedSweep<Step>& input, SideExtremes& extremes) const {
        std::get<SweepWeighted<Step>>(weighted)(input, extremes);
    }
};

extern const Kernel scalar_kernel;
extern const Kernel avx2_kernel, avx512_kernel, neon_kernel;  // each where it can be compiled

// Those that run on this machine, fastest first.
const std::vector<const Kernel*>& available_kernels();
// The fastest, or the one that CONTREE_KERNEL names.  Throws std::invalid_argument where that is not here.
const Kernel& chosen_kernel();
}  // namespace contree
