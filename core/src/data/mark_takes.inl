// Groups of equal ranks that mix classes, from 64 entries at a time as bits (`bits_of`); follows the groups from one word into the
// next: most words hold none.
template <class Entry>
Row mark_takes(const Entry* order, Row rows, Row boundary, std::uint8_t* takes) {
    std::memset(takes, 0xff, rows);
    Row skipped = 0, begin = 0;
    bool inside = false, first_below = false;   // a group is open, and its first row lies below the boundary
    for (Row base = 0; base < rows; base += 64) {
        const Bits bits = bits_of(order + base, rows - base < 64 ? rows - base : 64, boundary);
        for (unsigned at = 0; at < 64;) {
            if (!inside) {
                const std::uint64_t rest = bits.same >> at;
                if (rest == 0) break;
                at += static_cast<unsigned>(_tzcnt_u64(rest));
                begin = base + at;
                first_below = (bits.beyond >> at & 1) == 0;
                inside = true;
            }
            const auto ones = static_cast<unsigned>(_tzcnt_u64(~(bits.same >> at)));
            at += ones;
            if (at >= 64) break;   // the group goes on in the next word
            if (first_below && (bits.beyond >> at & 1) != 0) {
                std::memset(takes + begin, 0, base + at - begin);
                skipped += base + at - begin;
            }
            inside = false;
            ++at;
        }
    }
    return skipped;
}
