#include "search/cache.hpp"

#include <algorithm>

namespace contree {

namespace {

std::uint64_t mix(std::uint64_t x) {   // splitmix64's finaliser
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace

Cache::Key Cache::key(const Row* origin, Row rows, std::int64_t depth) const {
    Key key{mix(static_cast<std::uint64_t>(depth)), depth, {}};
    for (Row r = 0; r < rows; ++r) key.hash += mix(origin[r] + std::uint64_t{0x9e3779b97f4a7c15});
    const bool listed = rows < table_rows_ / 32;
    key.rows.reserve((listed ? rows : table_rows_ / 32 + 1) + 1);   // exactly, since bytes_of counts what is used
    if (listed) {
        key.rows.assign(origin, origin + rows);
    } else {
        key.rows.assign(table_rows_ / 32 + 1, 0);
        for (Row r = 0; r < rows; ++r) key.rows[origin[r] / 32] |= std::uint32_t{1} << (origin[r] % 32);
    }
    key.rows.push_back(rows);   // keeps a list and a bit set of equal words apart
    return key;
}

Outcome Cache::find(const Key& key) {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return {};
    found->second.used = true;
    return found->second.outcome;
}

std::size_t Cache::bytes_of(const Key& key, const Outcome& outcome) {
    constexpr std::size_t overhead = 64;   // the map's node, its bucket and the queue
    return sizeof(Key) + sizeof(Outcome) + overhead + key.rows.size() * sizeof(std::uint32_t) +
           outcome.plan.size() * sizeof(Step);
}

// Until so many bytes are free, which must not be more than there are.
void Cache::make_room(std::size_t bytes) {
    while (bytes_ + bytes > capacity_) {
        const auto oldest = entries_.find(*by_age_.front());
        if (oldest->second.used) {
            oldest->second.used = false;
            by_age_.push_back(by_age_.front());
        } else {
            bytes_ -= bytes_of(oldest->first, oldest->second.outcome);
            entries_.erase(oldest);
        }
        by_age_.pop_front();
    }
}

void Cache::store(Key key, const Outcome& outcome) {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
        const std::size_t bytes = bytes_of(key, outcome);
        if (bytes > capacity_) return;
        make_room(bytes);
        const auto stored = entries_.emplace(std::move(key), Entry{outcome, false}).first;
        by_age_.push_back(&stored->first);
        bytes_ += bytes;
        return;
    }
    Outcome& known = found->second.outcome;
    bytes_ -= bytes_of(found->first, known);
    known.lower = std::max(known.lower, outcome.lower);
    if (outcome.upper < known.upper) {
        known.upper = outcome.upper;
        known.plan = outcome.plan;
    }
    bytes_ += bytes_of(found->first, known);
    make_room(0);   // its plan may have grown
}

}  // namespace contree
