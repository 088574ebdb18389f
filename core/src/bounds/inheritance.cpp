#include "bounds/inheritance.hpp"

namespace contree {

namespace {

void settle(std::vector<ProfilePoint>& points, const Rules& rules) {
    std::sort(points.begin(), points.end(), [](const ProfilePoint& a, const ProfilePoint& b) {
        return a.feature != b.feature ? a.feature < b.feature : a.rank < b.rank;
    });
    std::size_t kept = 0;
    for (const ProfilePoint& point : points) {
        if (kept > 0 && points[kept - 1].feature == point.feature && points[kept - 1].z == point.z) {
            points[kept - 1].left = std::max(points[kept - 1].left, point.left);
            points[kept - 1].right = std::max(points[kept - 1].right, point.right);
        } else {
            points[kept++] = point;
        }
    }
    points.resize(kept);

    const auto as_point = [](const ProfilePoint& p) { return Point{p.z, p.left, p.right, false}; };
    kept = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool between = kept > 0 && i + 1 < points.size() && points[kept - 1].feature == points[i].feature &&
                             points[i + 1].feature == points[i].feature;
        if (between) {
            const Segment around{0, as_point(points[kept - 1]), as_point(points[i + 1]), 0};
            if (left_bound(around, points[i].z, rules) >= points[i].left &&
                right_bound(around, points[i].z, rules) >= points[i].right)
                continue;
        }
        points[kept++] = points[i];
    }
    points.resize(kept);
}

}  // namespace

void settle(Profile& profile, const Rules& rules) {
    for (Profile::Part& part : profile.parts) settle(part.points, rules);
}

}  // namespace contree
