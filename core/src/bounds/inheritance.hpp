// B4. What solved row sets tell of a new one.
//
// Let D_old be solved, D new, and both split on feature g behind rank r.  By B0 for each side,
//     L_new(g, r) >= L_old(g, r) - (mass of D_old \ D that lies left),
//     R_new(g, r) >= R_old(g, r) - (mass of D_old \ D that lies right).
// The sources are the nearest solved neighbours in a chain D(f <= t): they are nested.  From a subset nothing was
// taken away, so its bounds hold as they are; in a superset the mass taken away on the left is the difference
// of what lies left of r in the two, and on the right the rest.  So no rows are looked at.  What was proved of sides
// with at least as many leaves holds too (shape.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "bounds/segment.hpp"
#include "bounds/shape.hpp"

namespace contree {

// A threshold's proved bounds, by (feature, rank), and where it stood.
struct ProfilePoint {
    FeatureId feature;
    Rank rank;
    Score z;         // the mass on its left
    Score left, right;
};

// All that one solve proved, shape by shape, sorted by (feature, rank).
struct Profile {
    struct Part {
        Shape shape;   // the leaves that the sides of its splits may have
        std::vector<ProfilePoint> points;
    };
    Score mass = 0;   // of the row set
    std::vector<Part> parts;

    bool empty() const {
        return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.points.empty(); });
    }
    // Makes room for what is learnt of splits of these shapes.
    void expect(const std::vector<Shape>& shapes) {
        for (const Shape& shape : shapes) parts.push_back({shape, {}});
    }
    // The part that tells most of splits of a shape: of those that hold for it the one with the fewest leaves too many,
    // on the left first or on the right first.  Null: none.
    const Part* part_for(const Shape& shape, bool left_first) const {
        const Part* best = nullptr;
        const auto excess = [&](const Part& part) {
            const Leaves left = part.shape.left - shape.left, right = part.shape.right - shape.right;
            return left_first ? std::pair(left, right) : std::pair(right, left);
        };
        for (const Part& part : parts)
            if (shape.within(part.shape) && (best == nullptr || excess(part) < excess(*best))) best = &part;
        return best;
    }
};

// Solved neighbours of a new row set; either may be missing.
struct Sources {
    const Profile* subset = nullptr;
    const Profile* superset = nullptr;
    bool any() const { return subset != nullptr || superset != nullptr; }
};

// Hands out what profiles know of splits of one shape, feature by feature, moved to a new row set.
template <class Entry>
class Inheritance {
public:
    Inheritance(const Subproblem<Entry>& sub, const Shape& shape, const Sources& sources, const Rules& rules)
        : sub_(sub), rules_(rules), subset_(cursor(sources.subset, shape, true)), superset_(cursor(sources.superset, shape, false)) {}

    // The points of feature f, ascending, into `points`; features must be asked for in ascending order.
    void points_of(std::uint32_t f, std::vector<Point>& points) {
        points.clear();
        take(subset_, f, false, points);
        const auto middle = static_cast<std::ptrdiff_t>(points.size());
        take(superset_, f, true, points);
        std::inplace_merge(points.begin(), points.begin() + middle, points.end(),
                           [](const Point& a, const Point& b) { return a.z < b.z; });
        std::size_t kept = 0;
        for (const Point& point : points) {
            if (kept > 0 && points[kept - 1].z == point.z) {
                points[kept - 1].left = std::max(points[kept - 1].left, point.left);
                points[kept - 1].right = std::max(points[kept - 1].right, point.right);
            } else {
                points[kept++] = point;
            }
        }
        points.resize(kept);
    }

private:
    struct Cursor {
        const ProfilePoint* next = nullptr;
        const ProfilePoint* end = nullptr;
        Score mass = 0;
    };

    static Cursor cursor(const Profile* profile, const Shape& shape, bool left_first) {
        const Profile::Part* const part = profile == nullptr ? nullptr : profile->part_for(shape, left_first);
        if (part == nullptr) return {};
        return {part->points.data(), part->points.data() + part->points.size(), profile->mass};
    }

    void take(Cursor& cursor, std::uint32_t f, bool superset, std::vector<Point>& points) {
        using P = Packed<Entry>;
        const FeatureId feature = sub_.feature[f];
        while (cursor.next != cursor.end && cursor.next->feature < feature) ++cursor.next;
        const Entry* const order = sub_.order(f);
        Position z = 0;
        for (; cursor.next != cursor.end && cursor.next->feature == feature; ++cursor.next) {
            const ProfilePoint& old = *cursor.next;
            const Entry behind = P::make(old.rank, 0) | P::row_mask;
            z = static_cast<Position>(std::upper_bound(order + z, order + sub_.rows, behind) - order);
            if (z == 0) continue;
            if (z == sub_.rows) break;
            Point point{sub_.mass_at(f, z), old.left, old.right, true};
            if (superset) {
                point.left -= rules_.worth(old.z - point.z);
                point.right -= rules_.worth((cursor.mass - old.z) - (sub_.mass - point.z));
            }
            points.push_back(point);
        }
        while (cursor.next != cursor.end && cursor.next->feature == feature) ++cursor.next;
    }

    const Subproblem<Entry>& sub_;
    const Rules& rules_;
    Cursor subset_, superset_;
};

// The open segments of feature f, for one shape, between its ends, given what is known of some points inside: bounds are carried
// along to both sides (B1), stretches whose bound reaches `limit` are closed, and what lies between two closed
// stretches is one segment: the points inside it are weaker than what one evaluation in its middle will tell.
// Returns the least bound of what was closed.
inline Score open_between(std::uint32_t f, std::uint32_t shape, const Point& left_end, const Point& right_end,
                          std::vector<Point>& points, Score limit, const Rules& rules, std::vector<Segment>& open) {
    const auto carry = [&](Point& to, const Point& from) {
        const Score apart = rules.worth(std::abs(to.z - from.z));
        const Score grown = rules.monotone ? 0 : unreached, moved = rules.similarity ? apart : unreached;
        const bool rightwards = to.z > from.z;
        to.left = std::max({to.left, from.left - (rightwards ? grown : moved), Score{0}});
        to.right = std::max({to.right, from.right - (rightwards ? moved : grown), Score{0}});
    };
    for (std::size_t i = 0; i < points.size(); ++i) carry(points[i], i == 0 ? left_end : points[i - 1]);
    for (std::size_t i = points.size(); i-- > 0;) carry(points[i], i + 1 == points.size() ? right_end : points[i + 1]);

    Score floor = unreached;
    bool joined = false;   // does the stretch before this one reach up to it, open?
    for (std::size_t i = 0; i <= points.size(); ++i) {
        const Segment stretch = make_segment(f, shape, i == 0 ? left_end : points[i - 1], i == points.size() ? right_end : points[i], rules);
        if (stretch.bound >= limit) {
            floor = std::min(floor, stretch.bound);
            joined = false;
        } else if (joined) {
            open.back().v = stretch.v;
            open.back().bound = std::min(open.back().bound, stretch.bound);
        } else {
            open.push_back(stretch);
            joined = true;
        }
    }
    return floor;
}

// Sorts and thins what a solve learnt: of equal thresholds the better bounds, and no point that its neighbours
// imply by B1.
void settle(Profile& profile, const Rules& rules);

}  // namespace contree
