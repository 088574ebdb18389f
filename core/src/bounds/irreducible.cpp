#include "bounds/irreducible.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace contree {

namespace {

// Rows by (hash, row): first by the hash's leading bits, then each such part, so that a stop need not wait for all.
std::vector<Row> sorted_by(const std::vector<std::uint64_t>& hash, const Halt& halt) {
    constexpr int bits = 8;
    constexpr std::size_t parts = std::size_t{1} << bits;
    std::vector<std::size_t> end(parts + 1, 0);
    const auto part_of = [&](Row row) { return static_cast<std::size_t>(hash[row] >> (64 - bits)); };
    const auto count = static_cast<Row>(hash.size());
    for (Row row = 0; row < count; ++row) ++end[part_of(row) + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<Row> rows(count);
    for (Row row = 0; row < count; ++row) rows[end[part_of(row)]++] = row;
    std::size_t begin = 0;
    for (std::size_t part = 0; part < parts && !halt(); begin = end[part++])
        std::sort(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.begin() + static_cast<std::ptrdiff_t>(end[part]),
                  [&](Row a, Row b) { return hash[a] != hash[b] ? hash[a] < hash[b] : a < b; });
    return rows;
}

}  // namespace

// A hash of a row's ranks finds the groups; every feature then confirms that its rows agree.  A group in which they
// do not (rows of equal hash by chance) counts nothing, which leaves the bound true.
template <class Entry>
Score irreducible_errors(const Subproblem<Entry>& sub, const Halt& halt) {
    using P = Packed<Entry>;
    std::vector<std::uint64_t> hash(sub.rows, 0);
    for (std::uint32_t f = 0; f < sub.features && !halt(); ++f)
        for (Row k = 0; k < sub.rows; ++k) {
            std::uint64_t& h = hash[P::row(sub.order(f)[k])];
            h = (h ^ P::rank(sub.order(f)[k])) * 0x9e3779b97f4a7c15ULL;
            h ^= h >> 32;
        }
    if (halt()) return 0;
    const std::vector<Row> rows = sorted_by(hash, halt);
    if (halt()) return 0;

    std::vector<Row> group(sub.rows);   // by row: the first row of its group
    for (Row i = 0; i < sub.rows; ++i)
        group[rows[i]] = i > 0 && hash[rows[i]] == hash[rows[i - 1]] ? group[rows[i - 1]] : rows[i];
    std::vector<std::uint8_t> agrees(sub.rows, 1);
    std::vector<Rank> rank_of_group(sub.rows);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        if (halt()) return 0;
        const Entry* const order = sub.order(f);
        for (Row k = 0; k < sub.rows; ++k) {
            const Row row = P::row(order[k]);
            if (group[row] == row) rank_of_group[row] = P::rank(order[k]);
        }
        for (Row k = 0; k < sub.rows; ++k) {
            const Row first = group[P::row(order[k])];
            if (rank_of_group[first] != P::rank(order[k])) agrees[first] = 0;
        }
    }

    // Rows are ordered by class, so inside a group the classes are runs.
    const auto class_of = classes_of_rows(sub);
    Score errors = 0;
    for (Row i = 0; i < sub.rows;) {
        Row end = i;
        Score total = 0, largest = 0, run = 0;
        for (; end < sub.rows && group[rows[end]] == group[rows[i]]; ++end) {
            const Score weight = sub.weight_of(rows[end]);
            run = end > i && class_of[rows[end]] == class_of[rows[end - 1]] ? run + weight : weight;
            largest = std::max(largest, run);
            total += weight;
        }
        if (agrees[group[rows[i]]]) errors += total - largest;
        i = end;
    }
    return errors;
}

template Score irreducible_errors(const Subproblem<NarrowEntry>&, const Halt&);
template Score irreducible_errors(const Subproblem<WideEntry>&, const Halt&);

}  // namespace contree
