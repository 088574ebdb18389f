// The stable partition of an order, entry by entry.  AVX2 has it too: looking up eight routes at once was not tried there.
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
