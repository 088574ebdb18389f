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

Outcome Cache::find(const Key& key, Leaves leaves) {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return {};
    found->second.used = true;
    Outcome best;
    const Plan* plan = nullptr;
    for (const Known& known : found->second.known) {
        if (known.leaves >= leaves) best.lower = std::max(best.lower, known.outcome.lower);
        if ((known.leaves > leaves && known.in_plan > leaves) || known.outcome.upper >= best.upper) continue;
        best.upper = known.outcome.upper;
        plan = &known.outcome.plan;
    }
    if (plan != nullptr) best.plan = *plan;
    return best;
}

std::size_t Cache::bytes_of(const Key& key, const Entry& entry) {
    constexpr std::size_t overhead = 64;   // the map's node, its bucket and the queue
    std::size_t bytes = sizeof(Key) + sizeof(Entry) + overhead + key.rows.size() * sizeof(std::uint32_t);
    for (const Known& known : entry.known) bytes += sizeof(Known) + known.outcome.plan.size() * sizeof(Step);
    return bytes;
}

// Until so many bytes are free, which must not be more than there are.
void Cache::make_room(std::size_t bytes) {
    while (bytes_ + bytes > capacity_) {
        const auto oldest = entries_.find(*by_age_.front());
        if (oldest->second.used) {
            oldest->second.used = false;
            by_age_.push_back(by_age_.front());
        } else {
            bytes_ -= bytes_of(oldest->first, oldest->second);
            entries_.erase(oldest);
        }
        by_age_.pop_front();
    }
}

void Cache::store(Key key, const Outcome& outcome, Leaves leaves) {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    const Known news{leaves, leaves_of(outcome.plan), outcome};
    if (found == entries_.end()) {
        Entry entry{{}, false};
        entry.known.reserve(1);   // exactly, as above
        entry.known.push_back(news);
        const std::size_t bytes = bytes_of(key, entry);
        if (bytes > capacity_) return;
        make_room(bytes);
        const auto stored = entries_.emplace(std::move(key), std::move(entry)).first;
        by_age_.push_back(&stored->first);
        bytes_ += bytes;
        return;
    }
    std::vector<Known>& all = found->second.known;
    bytes_ -= bytes_of(found->first, found->second);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Known& known) { return known.leaves == leaves; });
    if (same == all.end()) {
        all.reserve(all.size() + 1);
        all.push_back(news);
    } else {
        same->outcome.lower = std::max(same->outcome.lower, outcome.lower);
        if (outcome.upper < same->outcome.upper) {
            same->outcome.upper = outcome.upper;
            same->outcome.plan = outcome.plan;
            same->in_plan = news.in_plan;
        }
    }
    bytes_ += bytes_of(found->first, found->second);
    make_room(0);   // what is known may have grown
}

}  // namespace contree
