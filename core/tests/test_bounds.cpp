// The bounds hold: against the exact left and right scores of every threshold, found by trying every tree.
#include <deque>

#include "bounds/apart.hpp"
#include "bounds/class_count.hpp"
#include "bounds/cost.hpp"
#include "bounds/inheritance.hpp"
#include "bounds/pruning.hpp"
#include "bounds/segment.hpp"
#include "exhaustive.hpp"
#include "ranked.hpp"

namespace {

using namespace check;
using namespace contree;
using check::leaf_errors;

constexpr Rules all_rules[] = {{true, true}, {true, false}, {false, true}, {false, false}};

Rules with(Rules rules, const Objective& objective) {
    rules.objective = objective;
    return rules;
}

// The least objective of a tree with at most so many leaves.
Score least_score(const Front& front, const Objective& objective, std::size_t leaves) {
    Score least = objective.error * front[0];
    for (std::size_t k = 1; k < std::min(leaves, front.size()); ++k) least = std::min(least, objective.of(front[k], static_cast<Score>(k)));
    return least;
}

// L and R of one feature, exactly, at all its thresholds and at both ends.
std::vector<Point> exact_profile(const Instance& data, const Root<NarrowEntry>& root, std::uint32_t f, std::int64_t depth,
                                 const Objective& objective, const contree::Shape& shape) {
    std::vector<Point> profile;
    const auto left = [&](const RowList& rows) { return least_score(front_of(data, rows, depth), objective, shape.left); };
    const auto right = [&](const RowList& rows) { return least_score(front_of(data, rows, depth), objective, shape.right); };
    profile.push_back({0, 0, right(all_rows(data))});
    for (const Position z : root.thresholds(f)) profile.push_back({z, left(root.rows_left_of(f, z)), right(root.rows_right_of(f, z))});
    profile.push_back({root.sub.rows, left(all_rows(data)), 0});
    return profile;
}

// Any lower bound will do for the rules: at times weaker ones than the exact scores.
Point weakened(Point point, Random& random) {
    if (random.chance(0.3)) point.left = std::max<Score>(0, point.left - random.between(0, 2));
    if (random.chance(0.3)) point.right = std::max<Score>(0, point.right - random.between(0, 2));
    return point;
}

// body(random, data, root, f, exact profile, objective) for random sets.
template <class Body>
void for_profiles(double count, const Body& body) {
    for_seeds(count, [&](Random& random) {
        const std::int64_t depth = random.between(0, 2);
        const Instance data = depth == 2 ? nasty(random, {2, 11, 1, 2, 4}) : nasty(random, {2, 20, 1, 3, 5});
        const Root<NarrowEntry> root(data);
        if (root.sub.features == 0) return;
        const auto f = static_cast<std::uint32_t>(random.below(root.sub.features));
        const bool plain = random.chance(0.4);
        const Objective objective = plain ? Objective{} : Objective{random.between(1, 5), random.between(0, 9)};
        const auto leaves = [&] { return plain || random.chance(0.5) ? any_leaves : static_cast<Leaves>(random.between(1, 3)); };
        body(random, data, root, f, exact_profile(data, root, f, depth, objective, {leaves(), leaves()}), objective);
    });
}

Segment draw_segment(Random& random, std::uint32_t f, const std::vector<Point>& profile, Rules rules, std::size_t& u, std::size_t& v) {
    u = random.below(profile.size() - 1);
    v = u + 1 + random.below(profile.size() - u - 1);
    Point from = weakened(profile[u], random);
    from.open = u > 0 && random.chance(0.3);
    return make_segment(f, 0, from, weakened(profile[v], random), rules);
}

void test_segment_bounds() {
    for_profiles(2500, [](Random& random, const Instance&, const Root<NarrowEntry>&, std::uint32_t f, const std::vector<Point>& profile, const Objective& objective) {
        for (const Rules plain : all_rules) {
            const Rules rules = with(plain, objective);
            std::size_t u, v;
            const Segment s = draw_segment(random, f, profile, rules, u, v);
            for (std::size_t w = u; w <= v; ++w) {
                CHECK_AT_MOST(left_bound(s, profile[w].z, rules), profile[w].left);
                CHECK_AT_MOST(right_bound(s, profile[w].z, rules), profile[w].right);
                CHECK_AT_MOST(s.bound, rules.total(profile[w]));
            }
            Score least = unreached;   // the bound is the least of B1 over all positions, not just a smaller number
            for (Score z = s.u.z; z <= s.v.z; ++z) least = std::min(least, left_bound(s, z, rules) + right_bound(s, z, rules) + objective.split);
            CHECK_AT_MOST(s.bound, least);   // between two rows it may be less by part of one
            CHECK_AT_MOST(least, s.bound + objective.error - 1);
        }
    });
}

void test_live_runs() {
    for_profiles(3000, [](Random& random, const Instance&, const Root<NarrowEntry>& root, std::uint32_t f, const std::vector<Point>& profile, const Objective& objective) {
        const Cuts cuts = root.sub.cuts(f);
        for (const Rules plain : all_rules) {
            const Rules rules = with(plain, objective);
            std::size_t u, v;
            const Segment s = draw_segment(random, f, profile, rules, u, v);
            for (Score ub = 0; ub <= rules.total(s.u) + 2; ++ub) {
                const Run run = live_run(s, root.sub, ub, rules);
                for (std::size_t w = s.u.open ? u : u + 1; w < v; ++w) {
                    const auto index = static_cast<std::uint32_t>(w - 1);   // profile[0] is no threshold
                    const bool live = !run.empty() && run.first <= index && index <= run.last;
                    if (rules.total(profile[w]) < ub) CHECK(live);
                    if (live) CHECK_EQUAL(cuts.at(index, run.low, run.high), profile[w].z);
                }
                if (run.empty()) continue;
                // Nothing beyond the segment, or it would never end.
                CHECK_AT_MOST(s.u.open ? u : u + 1, run.first + 1);
                CHECK_AT_MOST(run.last + 1, v - 1);
            }
        }
    });
}

// B3: where the left side reaches limit - (right bound at the run's end), that half of the run is closed.
void test_run_targets() {
    for_profiles(1500, [](Random& random, const Instance&, const Root<NarrowEntry>& root, std::uint32_t f, const std::vector<Point>& profile, const Objective& objective) {
        const Rules rules = with({true, random.chance(0.7)}, objective);
        std::size_t u, v;
        const Segment s = draw_segment(random, f, profile, rules, u, v);
        const Score limit = random.between(0, rules.total(s.u) + 2);
        const Run run = live_run(s, root.sub, limit, rules);
        if (run.empty()) return;
        const Score target_left = limit - objective.split - right_bound(s, run.high, rules);
        const Score target_right = limit - objective.split - left_bound(s, run.low, rules);
        for (std::size_t w = run.first + 1; w <= run.last + 1; ++w) {
            if (profile[w].left >= target_left)
                for (std::size_t x = w; x <= run.last + 1; ++x) CHECK_AT_MOST(limit, rules.total(profile[x]));
            if (profile[w].right >= target_right)
                for (std::size_t x = run.first + 1; x <= w; ++x) CHECK_AT_MOST(limit, rules.total(profile[x]));
        }
    });
}

// open_between keeps every threshold below the limit in one of its segments, and its floor is below all others.
void test_open_between() {
    for_profiles(2500, [](Random& random, const Instance&, const Root<NarrowEntry>& root, std::uint32_t f, const std::vector<Point>& profile, const Objective& objective) {
        const Rules rules = with(all_rules[random.below(4)], objective);
        std::vector<Point> points;
        for (std::size_t w = 1; w + 1 < profile.size(); ++w) {
            if (!random.chance(0.5)) continue;
            points.push_back(weakened(profile[w], random));
            if (random.chance(0.2)) points.back().left = -random.between(0, 3);   // rows taken away may leave less than nothing
            points.back().open = true;
        }
        const Score limit = random.between(0, profile[0].right + 3);
        std::vector<Segment> open;
        const Score floor = open_between(f, 0, weakened(profile.front(), random), weakened(profile.back(), random), points, limit, rules, open);
        CHECK_AT_MOST(limit, floor);
        for (std::size_t w = 1; w + 1 < profile.size(); ++w) {
            int holders = 0;
            for (const Segment& s : open) {
                const Run run = live_run(s, root.sub, limit, rules);
                holders += !run.empty() && run.first <= w - 1 && w - 1 <= run.last;
                if (s.u.z <= profile[w].z && profile[w].z <= s.v.z && (s.u.z != profile[w].z || s.u.open) && s.v.z != profile[w].z)
                    CHECK_AT_MOST(s.bound, rules.total(profile[w]));
            }
            CHECK_AT_MOST(holders, 1);
            if (rules.total(profile[w]) < limit) CHECK_EQUAL(holders, 1);
            if (holders == 0) CHECK_AT_MOST(std::min(floor, limit), rules.total(profile[w]));
        }
        for (const Point& point : points) {
            const auto exact = std::find_if(profile.begin(), profile.end(), [&](const Point& p) { return p.z == point.z; });
            CHECK_AT_MOST(point.left, exact->left);
            CHECK_AT_MOST(point.right, exact->right);
        }
    });
}

// B4: bounds moved to a subset or superset of the rows stay below the exact scores there.
void test_inheritance() {
    for_seeds(1200, [](Random& random) {
        const std::int64_t depth = random.between(0, 1);
        const Instance data = nasty(random, {4, 14, 2, 3, 4});
        Root<NarrowEntry> root(data);
        if (root.sub.features < 2) return;
        // A chain: the rows left (or right) of three thresholds of one feature.
        const auto f = static_cast<std::uint32_t>(random.below(root.sub.features));
        const std::vector<Position> cuts = root.thresholds(f);
        if (cuts.size() < 3) return;
        const std::size_t at = random.below(cuts.size() - 2);
        const bool lefts = random.chance(0.5);
        std::vector<Subproblem<NarrowEntry>> chain;
        for (const std::size_t i : {at, at + 1, at + 2}) {
            const auto children = split_rows(root.sub, f, cuts[i], true, root.movers, root.arena);
            chain.push_back(lefts ? children.left : children.right);
        }
        if (!lefts) std::swap(chain[0], chain[2]);   // ascending: subset, new, superset
        const auto rows_of = [&](const Subproblem<NarrowEntry>& sub, std::uint32_t g, Position begin, Position end) {
            RowList rows;
            for (Position k = begin; k < end; ++k)
                rows.push_back(root.table.original[sub.origin[Packed<NarrowEntry>::row(sub.order(g)[k])]]);
            return rows;
        };
        const auto profile_of = [&](const Subproblem<NarrowEntry>& sub) {
            Profile profile;
            profile.expect({{}});
            profile.mass = sub.mass;
            for (std::uint32_t g = 0; g < sub.features; ++g)
                for (Position z = 1; z < sub.rows; ++z)
                    if (sub.rank_left_of(g, z) != sub.rank_left_of(g, z + 1) && random.chance(0.7))
                        profile.parts[0].points.push_back({sub.feature[g], sub.rank_left_of(g, z), z, least_errors(data, rows_of(sub, g, 0, z), depth),
                                                  least_errors(data, rows_of(sub, g, z, sub.rows), depth)});
            if (random.chance(0.5)) settle(profile, all_rules[random.below(4)]);
            return profile;
        };
        const Profile subset = profile_of(chain[0]), superset = profile_of(chain[2]);
        Sources sources;
        if (random.chance(0.8)) sources.subset = &subset;
        if (random.chance(0.8)) sources.superset = &superset;
        const Subproblem<NarrowEntry>& sub = chain[1];
        Inheritance<NarrowEntry> inheritance(sub, {}, sources, all_rules[0]);
        std::vector<Point> points;
        for (std::uint32_t g = 0; g < sub.features; ++g) {
            inheritance.points_of(g, points);
            Score last = 0;
            for (const Point& point : points) {
                CHECK(last < point.z && point.z < sub.rows);
                last = point.z;
                const Position z = sub.position_of(g, point.z);
                CHECK(sub.rank_left_of(g, z) != sub.rank_left_of(g, z + 1));
                CHECK_AT_MOST(point.left, least_errors(data, rows_of(sub, g, 0, z), depth));
                CHECK_AT_MOST(point.right, least_errors(data, rows_of(sub, g, z, sub.rows), depth));
            }
        }
    });
}

void test_class_count() {
    for_seeds(800, [](Random& random) {
        const std::int64_t depth = random.between(0, 3);
        const Instance data = nasty(random, {1, depth == 3 ? 9 : 13, 0, 3, 9});
        const Root<NarrowEntry> root(data);
        const Score bound = class_count_bound(root.sub, depth);
        CHECK_AT_MOST(bound, least_errors(data, depth));
        CHECK_EQUAL(contree::leaf_errors(root.sub), leaf_errors(data, all_rows(data)));
        // Reached by a column that parts all rows by class, where there are leaves enough: so it is no smaller than it may be.
        std::vector<Row> sizes;
        for (std::uint32_t c = 0; c < root.sub.classes; ++c) sizes.push_back(root.sub.class_size(c));
        std::sort(sizes.rbegin(), sizes.rend());
        Score kept = 0;
        for (std::size_t i = 0; i < sizes.size() && i < std::size_t{1} << depth; ++i) kept += sizes[i];
        CHECK_EQUAL(bound, Score{root.sub.rows} - kept);
        const Objective objective{random.between(1, 5), random.between(0, 9)};
        const TreeSize size(depth, random.chance(0.5) ? any_leaves : static_cast<Leaves>(random.between(1, 9)), root.sub.rows);
        const Front front = front_of(data, all_rows(data), depth);
        const Score best = least_score(front, objective, size.leaves), leaf = leaf_score(root.sub, objective);
        CHECK_AT_MOST(class_count_bound(root.sub, size, objective), best);
        if (leaf_is_best(leaf, objective)) CHECK_EQUAL(best, leaf);   // C1
        const Score target = random.between(1, leaf + 2);             // C2
        if (best < target && objective.split > 0)
            CHECK_EQUAL(best, least_score(front, objective, std::min<std::size_t>(size.leaves, static_cast<std::size_t>(affordable_splits(target, objective)) + 1)));
    });
    // Depths and numbers of classes beyond what is counted exactly: still a bound.
    const auto one = [](std::uint32_t) { return Row{1}; };
    for (const std::int64_t depth : {5, 6, 7, 31, 32, 63, 64, 1000}) {
        CHECK_AT_MOST(class_count_bound(1000, 1000, depth, one), depth < 10 ? 1000 - (1 << depth) : 0);
        CHECK_AT_MOST(0, class_count_bound(1000, 1000, depth, one));
    }
}

// theta(S | T) of segment.hpp: a set between two others is bounded by the errors of the smaller and the sizes of the larger, and by
// its own superset less what is lacking.
void test_leaf_sizes_between() {
    for_profiles(2000, [](Random& random, const Instance& data, const Root<NarrowEntry>& root, std::uint32_t f, const std::vector<Point>& profile, const Objective&) {
        const std::int64_t depth = random.between(0, 2);
        const auto min_leaf = static_cast<std::size_t>(random.between(2, 4));
        std::size_t at[3];
        for (std::size_t& index : at) index = 1 + random.below(profile.size() - 1);
        std::sort(at, at + 3);
        const auto left = [&](std::size_t w) { return root.rows_left_of(f, static_cast<Position>(profile[w].z)); };
        const Score between = least_errors(data, left(at[1]), depth, min_leaf);
        // Errors that do not count: rows of the larger set that weigh next to nothing.
        Instance weighted = data;
        const Score heavy = 1000;
        weighted.weights.assign(data.rows, 1);
        for (const std::size_t row : left(at[0])) weighted.weights[row] = heavy;
        CHECK_AT_MOST(least_errors(weighted, left(at[2]), depth, min_leaf) / heavy, between);
        CHECK_AT_MOST(least_errors(data, left(at[2]), depth, min_leaf) - (profile[at[2]].z - profile[at[1]].z), between);
    });
}

// The paper's rules on exact scores: none cuts a threshold below ub.
void test_paper_pruning() {
    for_profiles(2500, [](Random& random, const Instance&, const Root<NarrowEntry>&, std::uint32_t, const std::vector<Point>& profile, const Objective& objective) {
        using namespace contree::paper;
        std::vector<Score> z;
        EvaluatedSplits evaluated;
        for (std::size_t w = 1; w + 1 < profile.size(); ++w) {
            z.push_back(objective.error * profile[w].z);
            const Point known = weakened(profile[w], random);
            if (random.chance(0.3)) evaluated[static_cast<SplitIndex>(w - 1)] = {known.left, known.right};
        }
        const auto count = static_cast<SplitIndex>(z.size());
        const auto exact = [&](SplitIndex i) { 
            const Point& point = profile[static_cast<std::size_t>(i) + 1];
            return point.left + point.right;
        };
        Interval interval{static_cast<SplitIndex>(random.below(z.size())), 0};
        interval.j = random.between(interval.i, count - 1);
        for (Score ub = 0; ub <= profile[0].right + 2; ++ub) {
            const Outside outside = nearest_outside(interval, evaluated);
            if (outside.u != evaluated.end()) CHECK(outside.u->first < interval.i);
            if (outside.v != evaluated.end()) CHECK(outside.v->first > interval.j);
            const Interval shrunk = shrink_interval(interval, z, evaluated, outside, ub, 0, count - 1);
            for (SplitIndex i = interval.i; i <= interval.j; ++i)
                if (exact(i) < ub) CHECK(shrunk.i <= i && i <= shrunk.j);
            if (prune_subinterval(evaluated, outside, ub))
                for (SplitIndex i = interval.i; i <= interval.j; ++i) CHECK_AT_MOST(ub, exact(i));
            const SplitIndex w = random.between(interval.i, interval.j);
            const Halves halves = prune_neighbourhood(interval, z, w, rows_to_move(exact(w), ub));
            for (SplitIndex i = interval.i; i <= interval.j; ++i) {
                if (i == w || exact(i) >= ub) continue;
                CHECK(i < w ? halves.left.i <= i && i <= halves.left.j : halves.right.i <= i && i <= halves.right.j);
            }
            CHECK(halves.left.empty() || halves.left.j < w);
            CHECK(halves.right.empty() || halves.right.i > w);
        }
    });
}

// Two sets that some features have apart: each of these does, both keep what they must, and no threshold of theirs has fewer
// errors than the easier of the two sets.
void test_apart() {
    using Sets = Apart<NarrowEntry>;
    long joined = 0, positive = 0;
    for_seeds(300, [&](Random& random) {
        const Instance data = nasty(random, {4, 14, 1, 4, 4});
        const Root<NarrowEntry> root(data);
        if (root.sub.features == 0) return;
        const std::int64_t depth = random.between(0, 1);   // below the split
        const double share = random.pick({1.0, 0.7});
        std::vector<std::uint8_t> counted(root.sub.rows);
        for (std::uint8_t& one : counted) one = random.chance(share);
        Sets apart(root.sub, counted);
        CHECK_EQUAL(apart.all(), static_cast<Row>(std::count(counted.begin(), counted.end(), 1)));
        if (apart.all() < 2) return;
        const auto f = static_cast<std::uint32_t>(random.below(root.sub.features));
        apart.cut(f, static_cast<Row>(random.between(1, apart.all() - 1)));
        std::vector<std::uint32_t> features{f};
        const auto least = static_cast<Row>(random.between(1, 4));
        for (std::uint32_t g = 0; g < root.sub.features; ++g) {
            if (g == f) continue;
            const std::vector<std::uint8_t> before = apart.sets();
            const Row kept = apart.kept(g);
            if (!apart.join(g, least)) {
                CHECK(kept < least);
                CHECK(apart.sets() == before);
                continue;
            }
            CHECK_AT_MOST(least, kept);
            Row sizes[3] = {0, 0, 0};
            for (Row r = 0; r < root.sub.rows; ++r) {
                CHECK(apart.sets()[r] == before[r] || apart.sets()[r] == Sets::neither);
                sizes[apart.sets()[r]] += counted[r];
            }
            CHECK_EQUAL(std::min(sizes[Sets::low], sizes[Sets::high]), kept);
            features.push_back(g);
            ++joined;
        }
        RowList sets[3];
        for (Row r = 0; r < root.sub.rows; ++r) sets[apart.sets()[r]].push_back(root.table.original[root.sub.origin[r]]);
        const auto errors = [&](const RowList& rows) { return rows.empty() ? 0 : front_of(data, rows, depth).back(); };
        const Score bound = std::min(errors(sets[Sets::low]), errors(sets[Sets::high]));
        positive += bound > 0;
        for (const std::uint32_t g : features)
            for (const Position z : root.thresholds(g))
                CHECK_AT_MOST(bound, errors(root.rows_left_of(g, z)) + errors(root.rows_right_of(g, z)));
        CHECK_AT_MOST(bound, errors(all_rows(data)));
    });
    if (all_seeds()) CHECK(joined > 50);
    if (all_seeds()) CHECK(positive > 20);
}

// A family of sets: a feature is answered where it has two of them apart.  Where all are, no tree one level deeper errs less often than the easiest
// set, neither on all rows nor on the rows of the pairs; and a set of any side that is proposed is apart from one of the family.
void test_families() {
    long answered = 0, positive = 0, beside = 0;
    for_seeds(3000, [&](Random& random) {
        const Instance data = nasty(random, {4, 14, 1, 3, 3});
        const Root<NarrowEntry> root(data);
        const Subproblem<NarrowEntry>& sub = root.sub;
        if (sub.features == 0) return;
        const std::int64_t depth = random.between(0, 1);   // of the sets
        std::vector<std::uint8_t> counted(sub.rows);
        for (std::uint8_t& one : counted) one = random.chance(0.8);
        Family<NarrowEntry> family(sub, counted, {});
        const auto columns = static_cast<std::size_t>(sub.feature[sub.features - 1]) + 1;
        const auto errors = [&](const std::vector<Row>& rows, std::int64_t levels) {
            RowList list;
            for (const Row r : rows) list.push_back(root.table.original[r]);
            return list.empty() ? 0 : front_of(data, list, levels).back();
        };
        std::deque<ProvedSet> sets;
        Score least = unreached;
        const auto add = [&](const std::vector<std::uint8_t>& outside) {
            std::vector<Row> rows;
            for (Row r = 0; r < sub.rows; ++r)
                if (!outside[r]) rows.push_back(sub.origin[r]);
            if (rows.empty()) return;
            least = std::min(least, errors(rows, depth));
            sets.push_back(family.known(std::move(rows), columns));
            family.add(sets.back());
        };
        for (auto more = random.between(1, 4); more > 0; --more) {
            std::vector<std::uint8_t> outside(sub.rows);
            for (std::uint8_t& one : outside) one = random.chance(0.6);
            add(outside);
        }
        const auto all = static_cast<Row>(std::count(counted.begin(), counted.end(), 1));
        for (std::uint32_t f = 0; f < sub.features; ++f) {
            if (family.answered(f)) continue;
            const auto side = family.side(f, 0, all, 1);
            if (!side) continue;
            const std::size_t before = sets.size();
            add(family.outside(f, *side));
            const bool below = !side->low || (before > 0 && side->lows != all / 2);   // not the low half
            if (before > 0 && below && sets.size() > before && family.answered(f)) ++beside;
        }
        for (std::uint32_t f = 0; f < sub.features; ++f) {
            if (!family.answered(f)) return;
            const auto column = static_cast<std::size_t>(sub.feature[f]);
            CHECK(std::any_of(sets.begin(), sets.end(), [&](const ProvedSet& a) {
                return std::any_of(sets.begin(), sets.end(), [&](const ProvedSet& b) { return a.last[column] <= b.first[column]; });
            }));
        }
        ++answered;
        positive += least > 0;
        const std::vector<Row> rows = family.rows_of_pairs();
        CHECK(std::is_sorted(rows.begin(), rows.end()));
        CHECK_AT_MOST(least, errors(rows, depth + 1));
        CHECK_AT_MOST(errors(rows, depth + 1), errors(std::vector<Row>(sub.origin, sub.origin + sub.rows), depth + 1));
    });
    CHECK(answered > 200);
    if (all_seeds()) CHECK(positive > 20);
    CHECK(beside > 100);
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("segment bounds (B0, B1)", test_segment_bounds);
    check::run("live runs", test_live_runs);
    check::run("targets that close half a run (B3)", test_run_targets);
    check::run("open segments between known points", test_open_between);
    check::run("inheritance (B4)", test_inheritance);
    check::run("row sets that lie apart (B7)", test_apart);
    check::run("families of sets (B7)", test_families);
    check::run("class counts (B2), costs (C1, C2)", test_class_count);
    check::run("leaf sizes between two sets", test_leaf_sizes_between);
    check::run("the paper's pruning", test_paper_pruning);
    return check::report();
}
