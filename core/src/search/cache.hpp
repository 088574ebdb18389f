// Solved subproblems, by their rows, depth and leaves (dataset caching).
//
// The key is the exact set of rows: a hash only finds the place.  Threads share a cache.  When its memory is
// used up the oldest entries go, but for those asked for since their last turn (second chance).  theta falls
// in the number of leaves: a bound holds for fewer, and a tree serves every number that it does not exceed.
#pragma once
#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>
#include "tree/outcome.hpp"

namespace contree {
class Cache {
public:
    struct Key {
        std::uint64_t hash;
        std::int64_t depth;
        std::vector<std::uint32_t> rows;  // a list of them, or a bit set where that is shorter
        bool operator==(const Key& other) const { return depth == other.depth && rows == other.rows; }
    };

    Cache(Row table_rows, std::size_t bytes) : table_rows_(table_rows), capacity_(bytes) {}

    // `origin` lists the rows in ascending order.  Vectors have no spare room: bytes_of counts sizes.
    Key key(const Row* origin, Row rows, std::int64_t depth) const {
        Key key{mixed(static_cast<std::uint64_t>(depth)), depth, {}};
        for (Row r = 0; r < rows; ++r) key.hash += mixed(origin[r] + mixed_step);
        const Row words = table_rows_ / 32 + 1;
        const bool listed = rows < words - 1;
        key.rows.reserve((listed ? rows : words) + 1);
        if (listed) key.rows.assign(origin, origin + rows);
        else key.rows.assign(words, 0);
        for (Row r = 0; r < rows && !listed; ++r)
            key.rows[origin[r] / 32] |= std::uint32_t{1} << (origin[r] % 32);
        key.rows.push_back(rows);  // keeps a list and a bit set of equal words apart
        return key;
    }

    // What is known of that subproblem, for trees of at most so many leaves; nothing known is Outcome{}.
    Outcome find(const Key& key, Leaves leaves = any_leaves) {
        std::lock_guard lock(mutex_);
        const auto found = entries_.find(key);
        if (found == entries_.end()) return {};
        found->second.used = true;
        Outcome best;
        for (const auto& [allowed, outcome] : found->second.known) {
            if (allowed >= leaves) best.lower = std::max(best.lower, outcome.lower);
            const bool fits = allowed <= leaves || leaves_of(outcome.plan) <= leaves;
            if (fits && outcome.upper < best.upper) best = {best.lower, outcome.upper, outcome.plan};
        }
        return best;
    }
    // Keeps the better of the old and the new bounds.  Where memory runs out it forgets everything.
    void store(Key key, const Outcome& outcome, Leaves leaves = any_leaves) {
        std::lock_guard lock(mutex_);
        try {
            keep(std::move(key), outcome, leaves);
        } catch (const std::bad_alloc&) {
            forget();
        }
    }
    void clear() {
        std::lock_guard lock(mutex_);
        forget();
    }

    std::size_t entries() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_; }
private:
    void forget() {
        entries_ = {};
        by_age_.clear();
        bytes_ = 0;
    }
    void keep(Key key, const Outcome& outcome, Leaves leaves) {
        auto found = entries_.find(key);
        if (found == entries_.end()) {
            if (bytes_of(key, {{{leaves, outcome}}}) > capacity_) return;
            found = entries_.emplace(std::move(key), Entry{}).first;
            by_age_.push_back(&found->first);
        } else {
            bytes_ -= bytes_of(found->first, found->second);
        }
        std::vector<Known>& all = found->second.known;
        const auto is_same = [&](const Known& known) { return known.leaves == leaves; };
        if (const auto same = std::find_if(all.begin(), all.end(), is_same); same == all.end()) {
            all.reserve(all.size() + 1);
            all.push_back({leaves, outcome});
        } else {
            same->outcome.lower = std::max(same->outcome.lower, outcome.lower);
            if (outcome.upper < same->outcome.upper)
                same->outcome = {same->outcome.lower, outcome.upper, outcome.plan};
        }
        bytes_ += bytes_of(found->first, found->second);
        while (bytes_ > capacity_) {
            const auto oldest = entries_.find(*by_age_.front());
            if (std::exchange(oldest->second.used, false)) {
                by_age_.push_back(by_age_.front());
            } else {
                bytes_ -= bytes_of(oldest->first, oldest->second);
                entries_.erase(oldest);
            }
            by_age_.pop_front();
        }
    }
    struct Hash {
        std::size_t operator()(const Key& key) const { return key.hash; }
    };
    struct Known {
        Leaves leaves;  // that were allowed
        Outcome outcome;
    };
    struct Entry {
        std::vector<Known> known;  // in the order in which they came
        bool used = false;         // since it was stored, or last spared
    };
    static std::size_t bytes_of(const Key& key, const Entry& entry) {
        constexpr std::size_t overhead = 64;  // the map's node, its bucket and the queue
        std::size_t bytes = sizeof(Key) + sizeof(Entry) + overhead + key.rows.size() * sizeof(std::uint32_t);
        for (const Known& known : entry.known)
            bytes += sizeof(Known) + known.outcome.plan.size() * sizeof(Step);
        return bytes;
    }

    const Row table_rows_;
    const std::size_t capacity_;
    std::mutex mutex_;
    std::size_t bytes_ = 0;
    std::unordered_map<Key, Entry, Hash> entries_;
    std::deque<const Key*> by_age_;  // keys inside the map never move
};
}  // namespace contree
