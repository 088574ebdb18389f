#include "data/movers.hpp"
#include "data/subproblem.hpp"

namespace contree {

namespace {

#include "data/partition.inl"

template <class Entry>
void filter(const Entry* order, Row rows, Row a, Row a_size, Row b, Row b_size, Entry* to) {
    for (Row k = 0; k < rows; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
        *to = order[k];
        to += (row - a < a_size) | (row - b < b_size);
    }
}

template <class Entry>
void mark_cuts(const Entry* order, Row rows, std::uint64_t* bits) {
    for (Row begin = 0; begin < rows; begin += 64) {
        const Row end = rows - begin < 64 ? rows : begin + 64;
        std::uint64_t word = 0;
        for (Row k = begin; k < end; ++k)
            word |= static_cast<std::uint64_t>((order[k] ^ order[k + 1]) > Packed<Entry>::row_mask)
                    << (k - begin);
        bits[begin / 64] = word;
    }
}

Row number_sides(const std::uint8_t* goes_right, Row rows, Row lefts, Row rights, Row* route) {
    const Row before = rights;
    for (Row r = 0; r < rows; ++r) {
        const Row is_right = goes_right[r];
        route[r] = is_right ? rights | right_bit : lefts;
        rights += is_right;
        lefts += 1 - is_right;
    }
    return rights - before;
}

}  // namespace

const Movers scalar_movers{{partition<NarrowEntry>, filter<NarrowEntry>, mark_cuts<NarrowEntry>},
                           {partition<WideEntry>, filter<WideEntry>, mark_cuts<WideEntry>},
                           number_sides};

}  // namespace contree
