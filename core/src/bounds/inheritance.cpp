#include "bounds/inheritance.hpp"
#include <tuple>

namespace contree {
namespace {
// Of neighbours that are the same threshold, one with the better bounds.
template <class P, class Same> void merge_equal(std::vector<P>& points, const Same& same) {
    std::size_t kept = 0;
    for (const P& point : points) {
        if (kept == 0 || !same(points[kept - 1], point)) {
            points[kept++] = point;
            continue;
        }
        P& last = points[kept - 1];
        last.left = std::max(last.left, point.left);
        last.right = std::max(last.right, point.right);
    }
    points.resize(kept);
}

void settle(std::vector<ProfilePoint>& points, const Rules& rules) {
    using P = ProfilePoint;
    std::sort(points.begin(), points.end(),
        [](const P& a, const P& b) { return std::tie(a.feature, a.rank) < std::tie(b.feature, b.rank); });
    merge_equal(points, [](const P& a, const P& b) { return a.feature == b.feature && a.z == b.z; });
    const auto as_point = [](const P& p) { return Point{p.z, p.left, p.right}; };
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const P& point = points[i];
        const auto implied = [&](const P& before, const P& behind) {
            if (before.feature != point.feature || behind.feature != point.feature) return false;
            const Segment around{0, as_point(before), as_point(behind), 0};
            return left_bound(around, point.z, rules) >= point.left &&
                   right_bound(around, point.z, rules) >= point.right;
        };
        if (kept == 0 || i + 1 == points.size() || !implied(points[kept - 1], points[i + 1]))
            points[kept++] = point;
    }
    points.resize(kept);
}
}  // namespace

const Profile::Part* Profile::part_for(const LeafBudget& budget, bool left_first) const {
    const Part* best = nullptr;
    const auto excess = [&](const Part& part) {
        const Leaves left = part.budget.left - budget.left, right = part.budget.right - budget.right;
        return left_first ? std::pair(left, right) : std::pair(right, left);
    };
    for (const Part& part : parts)
        if (budget.within(part.budget) && (best == nullptr || excess(part) < excess(*best))) best = &part;
    return best;
}

Inheritance::Cursor::Cursor(const Profile* profile, const LeafBudget& budget, bool left_first) {
    const Profile::Part* const part = profile == nullptr ? nullptr : profile->part_for(budget, left_first);
    if (part == nullptr) return;
    next = part->points.data();
    end = next + part->points.size();
    mass = profile->mass;
}

void Inheritance::take(Cursor& cursor, std::uint32_t f, bool superset, std::vector<Point>& points) {
    const FeatureId feature = set_.feature[f];
    while (cursor.next != cursor.end && cursor.next->feature < feature) ++cursor.next;
    const Order order = set_.order(f);
    Position z = 0;
    for (; cursor.next != cursor.end && cursor.next->feature == feature && z < set_.rows; ++cursor.next) {
        const ProfilePoint& old = *cursor.next;
        z = order.first_behind(old.rank, z, set_.rows);
        if (z == 0 || z == set_.rows) continue;
        const Score mass = set_.mass_at(f, z);
        const Score lost_left = superset ? old.z - mass : 0;
        const Score lost_right = superset ? (cursor.mass - old.z) - (set_.mass - mass) : 0;
        points.push_back({mass, rules_.kept(old.left, lost_left), rules_.kept(old.right, lost_right), true});
    }
}

void Inheritance::points_of(std::uint32_t f, std::vector<Point>& points) {
    points.clear();
    take(subset_, f, false, points);
    const auto middle = static_cast<std::ptrdiff_t>(points.size());
    take(superset_, f, true, points);
    std::inplace_merge(points.begin(), points.begin() + middle, points.end(),
        [](const Point& a, const Point& b) { return a.z < b.z; });
    merge_equal(points, [](const Point& a, const Point& b) { return a.z == b.z; });
}

Score open_between(std::uint32_t f, std::uint32_t budget, const Point& left_end, const Point& right_end,
    std::vector<Point>& points, Score limit, const Rules& rules, std::vector<Segment>& open) {
    const std::size_t count = points.size();
    const auto before = [&](std::size_t i) -> const Point& { return i == 0 ? left_end : points[i - 1]; };
    const auto from = [&](std::size_t i) -> const Point& { return i == count ? right_end : points[i]; };
    const auto carry = [&](Point& to, const Point& known) {
        const Score moved = std::abs(to.z - known.z);
        const bool rightwards = to.z > known.z;
        to.left = std::max({to.left, rules.kept(known.left, rightwards ? 0 : moved), Score{0}});
        to.right = std::max({to.right, rules.kept(known.right, rightwards ? moved : 0), Score{0}});
    };
    for (std::size_t i = 0; i < count; ++i) carry(points[i], before(i));
    for (std::size_t i = count; i-- > 0;) carry(points[i], from(i + 1));

    Score floor = unreached;
    bool joined = false;  // does the part before this one reach up to it, open?
    for (std::size_t i = 0; i <= count; ++i) {
        const Segment part = make_segment(f, budget, before(i), from(i), rules);
        const bool closed = part.bound >= limit;
        if (closed) floor = std::min(floor, part.bound);
        else if (!joined) open.push_back(part);
        else open.back() = {std::min(open.back().bound, part.bound), open.back().u, part.v, f, budget};
        joined = !closed;
    }
    return floor;
}

void settle(Profile& profile, const Rules& rules) {
    for (Profile::Part& part : profile.parts) settle(part.points, rules);
}
}  // namespace contree
