// The contract of the depth-two kernels.
//
// A batch holds up to 32 candidate splits ("lanes").  Every row has one 64-bit word: bit t says that it lies
// left in lane t, bit 32 + t right.  So a batch is 64 row sets ("sides"), and the kernel finds for all of
// them at once what the best stump needs.  For two classes, give a row +1 or -1 by its class and let W be
// the prefix sum over the rows of a side in the order of a feature f2, taken where a threshold can stand.
// A stump that says + left and - right errs neg_left + pos_right = pos - W times, the other way round
// neg + W times, with pos and neg the side's totals.  So
//     stump errors = min(pos - max W, neg + min W),
// and since W = 0 before the first row, a leaf is counted too.  The extremes over all f2 are one maximum
// and one minimum, because pos and neg do not depend on f2.
//
// The scalar kernel is the meaning; each vector kernel must equal it bit for bit.
// Tried: two words (64 lanes) a row.  It needs fewer rounds, but the arithmetic bounds the loop: 4 % slower.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "data/subproblem.hpp"

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
Ties kind_of_ties(Row rows, Row skipped);

// takes[k] = 0xff where bit k of an order's cuts (`Cuts::bits`) is set, else 0, for k < rows; up to seven
// more are written.  Returns how many are 0.
Row spread_cuts(const std::uint64_t* bits, Row rows, std::uint8_t* takes);

template <class Entry>
struct Sweep {
    const Entry* entries;         // by feature, `stride` apart
    std::size_t stride;
    const std::uint8_t* takes;    // like entries: 0xff where W is taken behind the row; unset without ties
    const Ties* ties;             // by feature
    std::uint32_t features;       // at least one
    Row rows;                     // in each order
    const std::uint64_t* words;   // by row number
    Row boundary;                 // rows numbered below count +1, the others -1
    // Room for 64 bytes by row number, for the kernel's own use, or null; and whether sweeps with the same
    // words and boundary have left theirs there, for all rows.
    std::int8_t* steps = nullptr;
    bool kept = false;
};

struct SideSums {
    alignas(64) std::int32_t high[side_count];   // max W, at least 0
    alignas(64) std::int32_t low[side_count];    // min W, at most 0
    alignas(64) std::int32_t end[side_count];    // W behind the last row: pos - neg
};

// The general case: rows weigh more than one, or a stump's two leaves must have some rows each.  W is then
// the sum of the rows' steps, and has two pairs of extremes: where the rows inside a side make its two leaves
// large enough, and where those of a larger set do.
template <class Step>
struct WeightedSweep {
    const WideEntry* entries;     // by feature, `stride` apart
    std::size_t stride;
    const std::uint8_t* takes;    // like entries: 0xff where a threshold can stand behind the row, else 0
    std::uint32_t features;
    Row rows;                     // in each order
    const std::uint64_t* words;   // by row number; without a leaf size a row lies on one side of a lane
    const Step* steps;            // by row number: the weight, with its class's sign; 0 for other classes
    Row chunk_rows;               // so many steps add up to less than a Step holds; and so many rows
    std::uint64_t used;           // bit s: side s matters; of the others nothing is said
    Score min_leaf;               // the least size of a leaf; 0: any, and the rest but `halt` is unset
    const std::uint64_t* near_words;   // like words, with rows that count for `high` and `low`
    const Step* row_sizes;        // by row number: what it counts for a size; null: one
    const Score* sizes;           // of each side, by `words`: for `allowed`
    const Score* near_sizes;      // by `near_words`: for `high` and `low`
    Halt halt;                    // after it nothing is said
};

// The steps that a Step is meant for: at least 127 of them add up without overflow.  Byte steps are ones: 126
// of them do.
template <class Step>
inline constexpr Score largest_step = std::numeric_limits<Step>::max() / 128;

struct SideExtremes {
    alignas(64) Score high[side_count], low[side_count];   // max W at least 0, min W at most 0
    alignas(64) Score allowed_high[side_count], allowed_low[side_count];   // by `sizes`; unset without
    alignas(64) Score end[side_count];                                     // W behind the last row
};

struct Kernel {
    const char* name;
    bool (*runs_here)();
    void (*sweep_narrow)(const Sweep<NarrowEntry>&, SideSums&);
    void (*sweep_wide)(const Sweep<WideEntry>&, SideSums&);
    // totals[s] = how many of the words have bit s.
    void (*count_sides)(const std::uint64_t* words, Row rows, std::int32_t* totals);
    void (*sweep_8)(const WeightedSweep<std::int8_t>&, SideExtremes&);
    void (*sweep_16)(const WeightedSweep<std::int16_t>&, SideExtremes&);
    void (*sweep_32)(const WeightedSweep<std::int32_t>&, SideExtremes&);
    void (*sweep_64)(const WeightedSweep<std::int64_t>&, SideExtremes&);
    // totals[s] = what the rows weigh whose words have bit s.
    void (*weigh_sides)(const std::uint64_t* words, const Score* weights, Row rows, Score* totals);
    const Movers* movers;   // the data's own loops, for the same machine
    Row kept_steps;         // up to so many rows a plain sweep wants room for `steps`

    void sweep(const Sweep<NarrowEntry>& input, SideSums& sums) const { sweep_narrow(input, sums); }
    void sweep(const Sweep<WideEntry>& input, SideSums& sums) const { sweep_wide(input, sums); }
    template <class Step>
    void sweep(const WeightedSweep<Step>& input, SideExtremes& extremes) const {
        if constexpr (sizeof(Step) == 1) sweep_8(input, extremes);
        else if constexpr (sizeof(Step) == 2) sweep_16(input, extremes);
        else if constexpr (sizeof(Step) == 4) sweep_32(input, extremes);
        else sweep_64(input, extremes);
    }
};

extern const Kernel scalar_kernel;
#if defined(__x86_64__)
extern const Kernel avx2_kernel;
extern const Kernel avx512_kernel;
#endif

// Those that run on this machine, fastest first.
const std::vector<const Kernel*>& available_kernels();

// The fastest, or the one that CONTREE_KERNEL names.  Throws std::invalid_argument where that is not here.
const Kernel& chosen_kernel();

}  // namespace contree
