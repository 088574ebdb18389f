// What the solves of the two sides of splits have learnt, for the splits beside them (B4).
//
// Those of all rows outlive a search: one that goes on from a frontier, whole or a part of it, finds what was learnt next to its
// intervals by whoever searched these rows before.  The sides of any threshold between two others are nested in theirs, so
// the nearest on each side serve, be they ends of the interval or not.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "bounds/inheritance.hpp"

namespace contree {

struct Sides {
    Score left, right;
};

struct Memory {
    Profile left, right;
    // With a minimal leaf size: the split's own numbers, and how far off the thresholds were that its sides were last
    // solved for as ends of a run.
    Sides own{};
    Position left_reach = std::numeric_limits<Position>::max(), right_reach = std::numeric_limits<Position>::max();
};

class RootMemories {
public:
    static constexpr std::int32_t none = -1;

    std::deque<Memory> kept;     // by Point::memory
    std::int32_t of_ends = none; // what all rows have learnt at one level less

    // Before a level: what belongs to another one goes, or all.
    void begin(std::int64_t depth, bool anew) {
        if (depth == depth_ && !anew) return;
        kept.clear();
        by_threshold_.clear();
        of_ends = none;
        depth_ = depth;
    }
    void note(std::uint32_t f, std::uint32_t shape, Score z, std::int32_t memory) { by_threshold_[{f, shape, z}] = memory; }

    // The nearest at z or left of it, and at z or right of it.
    std::int32_t before(std::uint32_t f, std::uint32_t shape, Score z) const {
        const auto next = by_threshold_.upper_bound({f, shape, z});
        return next == by_threshold_.begin() ? none : of(std::prev(next), f, shape);
    }
    std::int32_t behind(std::uint32_t f, std::uint32_t shape, Score z) const { return of(by_threshold_.lower_bound({f, shape, z}), f, shape); }

private:
    using Map = std::map<std::tuple<std::uint32_t, std::uint32_t, Score>, std::int32_t>;
    std::int32_t of(Map::const_iterator found, std::uint32_t f, std::uint32_t shape) const {
        if (found == by_threshold_.end() || std::get<0>(found->first) != f || std::get<1>(found->first) != shape) return none;
        return found->second;
    }

    std::int64_t depth_ = 0;
    Map by_threshold_;
};

}  // namespace contree
