// What the solves of the two sides of splits have learnt, for the splits beside them (B4).
//
// Those of all rows outlive a search: one that goes on from a frontier finds what was learnt next to its
// intervals.  A threshold's sides are nested in those of its neighbours, so the nearest on each side serve.
#pragma once
#include <deque>
#include <iterator>
#include <map>
#include <tuple>
#include "bounds/inheritance.hpp"

namespace contree {
struct SideProfiles {
    Profile left, right;
    // With a leaf size: the split's own numbers, and the lengths of the runs its sides were last solved for.
    Sides own{};
    Position left_reach = ~Position{0}, right_reach = ~Position{0};
};

class RootProfiles {
public:
    static constexpr std::int32_t none = -1;

    std::deque<SideProfiles> kept;  // by Point::profile
    std::int32_t of_ends = none;    // what all rows have learnt at one level less

    // Before a level: what belongs to another one goes, or all.
    void begin(std::int64_t depth, bool anew) {
        if (depth == depth_ && !anew) return;
        kept.clear();
        by_threshold_.clear();
        of_ends = none;
        depth_ = depth;
    }
    void note(std::uint32_t f, std::uint32_t budget, Score z, std::int32_t profile) {
        by_threshold_[{f, budget, z}] = profile;
    }

    // The nearest at z or left of it, and at z or right of it.
    std::int32_t before(std::uint32_t f, std::uint32_t budget, Score z) const {
        const auto next = by_threshold_.upper_bound({f, budget, z});
        return next == by_threshold_.begin() ? none : of(std::prev(next), f, budget);
    }
    std::int32_t behind(std::uint32_t f, std::uint32_t budget, Score z) const {
        return of(by_threshold_.lower_bound({f, budget, z}), f, budget);
    }
private:
    using Map = std::map<std::tuple<std::uint32_t, std::uint32_t, Score>, std::int32_t>;
    std::int32_t of(Map::const_iterator found, std::uint32_t f, std::uint32_t budget) const {
        if (found == by_threshold_.end()) return none;
        const auto [of_f, of_budget, z] = found->first;
        return of_f == f && of_budget == budget ? found->second : none;
    }

    std::int64_t depth_ = 0;
    Map by_threshold_;
};
}  // namespace contree
