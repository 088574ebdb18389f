// B4. What solved row sets tell of a new one.
//
// Let D_old be solved, D new, and both split on feature g behind rank r.  By B0 for each side,
//     L_new(g, r) >= L_old(g, r) - (mass of D_old \ D that lies left), and the same for R on the right.
// The sources are the nearest solved neighbours in a chain D(f <= t), so they are nested.  A subset lost no
// rows: its bounds hold as they are, for every objective.  What a superset lost on a side is the difference
// of the two masses there, so no rows are looked at; without B0 it tells only of sides that lost nothing.
// What was proved of sides with at least as many leaves holds too (leaf_budget.hpp).
#pragma once
#include <algorithm>
#include <vector>
#include "bounds/leaf_budget.hpp"
#include "bounds/segment.hpp"

namespace contree {
// A threshold's proved bounds, by (feature, rank), and where it stood.
struct ProfilePoint {
    FeatureId feature;
    Rank rank;
    Score z;  // the mass on its left
    Score left, right;
};

// All that one solve proved, budget by budget, sorted by (feature, rank).
struct Profile {
    struct Part {
        LeafBudget budget;  // the leaves that the sides of its splits may have
        std::vector<ProfilePoint> points;
    };
    Score mass = 0;  // of the row set
    std::vector<Part> parts;

    bool empty() const {
        return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.points.empty(); });
    }
    // Makes room for what is learnt of splits with these budgets.
    void expect(const std::vector<LeafBudget>& budgets) {
        for (const LeafBudget& budget : budgets) parts.push_back({budget, {}});
    }
    void note(const RowSet& set, std::uint32_t f, std::uint32_t budget, Position z, const Point& point) {
        parts[budget].points.push_back(
            {set.feature[f], set.rank_left_of(f, z), point.z, point.left, point.right});
    }
    // Of the parts that hold for a budget the one with the fewest leaves too many, on the left first or on
    // the right first.  Null: none.
    const Part* part_for(const LeafBudget& budget, bool left_first) const;
};

// Solved neighbours of a new row set; either may be missing.
struct Sources {
    const Profile *subset = nullptr, *superset = nullptr;
};

// Hands out what profiles know of splits with one budget, feature by feature, moved to a new row set.
class Inheritance {
public:
    Inheritance(const RowSet& set, const LeafBudget& budget, const Sources& sources, const Rules& rules)
        : set_(set), rules_(rules), subset_(sources.subset, budget, true),
          superset_(sources.superset, budget, false) {}

    // The points of feature f, ascending, into `points`; features must be asked for in ascending order.
    void points_of(std::uint32_t f, std::vector<Point>& points);
private:
    struct Cursor {
        Cursor(const Profile* profile, const LeafBudget& budget, bool left_first);
        const ProfilePoint *next = nullptr, *end = nullptr;
        Score mass = 0;
    };
    void take(Cursor& cursor, std::uint32_t f, bool superset, std::vector<Point>& points);

    const RowSet& set_;
    const Rules& rules_;
    Cursor subset_, superset_;
};

// The open segments of feature f, for one budget, between its ends, given bounds of some points inside: B1
// carries these to both sides, parts whose bound reaches `limit` are closed, and all between two closed parts
// is one segment.  Returns the least bound of what was closed.
Score open_between(std::uint32_t f, std::uint32_t budget, const Point& left_end, const Point& right_end,
    std::vector<Point>& points, Score limit, const Rules& rules, std::vector<Segment>& open);

// Sorts what a solve learnt and drops equal thresholds and points that their neighbours imply by B1.
void settle(Profile& profile, const Rules& rules);
}  // namespace contree
