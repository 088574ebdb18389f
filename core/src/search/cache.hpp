// Solved subproblems, by their rows, depth and leaves (dataset caching).
//
// The key is the exact set of rows: a hash only finds the place, and equal sets are compared in full.
// One fit owns a cache and its threads share it.  When its memory is used up the oldest entries go, but for those that
// were asked for since their last turn (second chance); that costs time, never exactness.
//
// theta(S, d, l) falls in l.  So what is known for one number of leaves tells of others: a bound holds for fewer, and a
// tree serves every number that it does not exceed.
#pragma once

#include <deque>
#include <mutex>
#include <unordered_map>

#include "bounds/outcome.hpp"
#include "data/subproblem.hpp"

namespace contree {

class Cache {
public:
    struct Key {
        std::uint64_t hash;
        std::int64_t depth;
        std::vector<std::uint32_t> rows;   // a list of them, or a bit set where that is shorter
        bool operator==(const Key& other) const { return depth == other.depth && rows == other.rows; }
    };

    Cache(Row table_rows, std::size_t bytes) : table_rows_(table_rows), capacity_(bytes) {}

    // `origin` lists the rows in ascending order.
    Key key(const Row* origin, Row rows, std::int64_t depth) const;

    // What is known of that subproblem, for trees of at most so many leaves; nothing known is Outcome{}.
    Outcome find(const Key& key, Leaves leaves = any_leaves);
    // Keeps the better of the old and the new bounds.
    void store(Key key, const Outcome& outcome, Leaves leaves = any_leaves);

    std::size_t entries() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    struct Hash {
        std::size_t operator()(const Key& key) const { return key.hash; }
    };
    struct Known {
        Leaves leaves;         // that were allowed
        Leaves in_plan;        // that the plan has at most
        Outcome outcome;
    };
    struct Entry {
        std::vector<Known> known;   // in the order in which they came
        bool used;                  // since it was stored, or last spared
    };
    static std::size_t bytes_of(const Key& key, const Entry& entry);
    void make_room(std::size_t bytes);

    const Row table_rows_;
    const std::size_t capacity_;
    std::mutex mutex_;
    std::size_t bytes_ = 0;
    std::unordered_map<Key, Entry, Hash> entries_;
    std::deque<const Key*> by_age_;   // keys inside the map never move
};

}  // namespace contree
