#include "data/partitioner.hpp"

namespace contree {
namespace {
template <class Entry>
Row partition(const Entry* order, Row rows, const Row* route, Entry* left, Entry* right) {
    using P = Packed<Entry>;
    const Entry* const begin = left;
    for (Row k = 0; k < rows; ++k) {
        const Row target = route[P::row(order[k])];
        const Entry entry = (order[k] & ~P::row_mask) | (target & ~right_bit);
        const std::size_t is_right = target >> 31;
        *left = entry;
        *right = entry;
        left += 1 - is_right;
        right += is_right;
    }
    return static_cast<Row>(left - begin);
}

template <class Entry>
void filter(const Entry* order, Row rows, Row a, Row a_size, Row b, Row b_size, Entry* to) {
    for (Row k = 0; k < rows; ++k) {
        const Row row = Packed<Entry>::row(order[k]);
        *to = order[k];
        to += (row - a < a_size) | (row - b < b_size);
    }
}

template <class Entry> void mark_cuts(const Entry* order, Row rows, std::uint64_t* bits) {
    for (Row begin = 0; begin < rows; begin += 64) {
        const Row end = rows - begin < 64 ? rows : begin + 64;
        std::uint64_t word = 0;
        for (Row k = begin; k < end; ++k)
            word |= std::uint64_t{(order[k] ^ order[k + 1]) > Packed<Entry>::row_mask} << (k - begin);
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

template <class Entry> constexpr EntryLoops<Entry> loops{partition<Entry>, filter<Entry>, mark_cuts<Entry>};
}  // namespace

const Partitioner scalar_partitioner{loops<NarrowEntry>, loops<WideEntry>, number_sides};
}  // namespace contree
