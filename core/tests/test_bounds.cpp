// The bounds hold for the exact left and right scores of every threshold, which trying every tree finds.
#include "bounds/inheritance.hpp"
#include "bounds/irreducible.hpp"
#include "bounds/segment.hpp"
#include "bounds/split_cost.hpp"
#include "exhaustive.hpp"
#include "paper/pruning.hpp"
#include "ranked.hpp"

namespace {

using namespace check;
using namespace contree;

// With similarity and without.
std::vector<Rules> all_rules(const Costs& costs) { return {{true, costs}, {false, costs}}; }

Rules draw_rules(Random& random, const Costs& costs) { return {random.chance(0.5), costs}; }

// The least objective of a tree with at most so many leaves.
Score least_score(const Front& front, const Costs& costs, std::size_t leaves) {
    Score least = costs.of(front[0], 0);
    for (std::size_t k = 1; k < std::min(leaves, front.size()); ++k)
        least = std::min(least, costs.of(front[k], static_cast<Score>(k)));
    return least;
}

// L and R of one feature, exactly, at all its thresholds and at both ends.
std::vector<Point> exact_profile(const Instance& data, const Root& root, std::uint32_t f, std::int64_t depth,
    const Costs& costs, const LeafBudget& budget) {
    std::vector<Point> profile;
    const auto left = [&](const RowList& rows) {
        return least_score(front_of(data, rows, depth), costs, budget.left);
    };
    const auto right = [&](const RowList& rows) {
        return least_score(front_of(data, rows, depth), costs, budget.right);
    };
    profile.push_back({0, 0, right(all_rows(data))});
    for (const Position z : root.thresholds(f))
        profile.push_back({z, left(root.rows_left_of(f, z)), right(root.rows_right_of(f, z))});
    profile.push_back({root.set.rows, left(all_rows(data)), 0});
    return profile;
}

// The rules take any lower bounds, so weaker ones than the exact scores are tried too.
Point weakened(Point point, Random& random) {
    if (random.chance(0.3)) point.left = std::max<Score>(0, point.left - random.between(0, 2));
    if (random.chance(0.3)) point.right = std::max<Score>(0, point.right - random.between(0, 2));
    return point;
}

// One feature of a random set, with its exact profile.
struct Case {
    const Instance& data;
    const Root& root;
    std::uint32_t f;
    std::vector<Point> profile;
    Costs costs;
};

// body(random, case) for random sets.
template <class Body> void for_profiles(double count, const Body& body) {
    for_seeds(count, [&](Random& random) {
        const std::int64_t depth = random.between(0, 2);
        const Instance data = depth == 2 ? nasty(random, {2, 11, 1, 2, 4}) : nasty(random, {2, 20, 1, 3, 5});
        const Root root(data, Width::narrow);
        if (root.set.features == 0) return;
        const auto f = static_cast<std::uint32_t>(random.below(root.set.features));
        const bool plain = random.chance(0.4);
        const Costs costs = plain ? Costs{} : Costs{random.between(1, 5), random.between(0, 9)};
        const auto leaves = [&] {
            return plain || random.chance(0.5) ? any_leaves : static_cast<Leaves>(random.between(1, 3));
        };
        const LeafBudget budget{leaves(), leaves()};
        body(random, Case{data, root, f, exact_profile(data, root, f, depth, costs, budget), costs});
    });
}

// A segment between points u and v of the profile.
Segment draw_segment(Random& random, const Case& one, const Rules& rules, std::size_t& u, std::size_t& v) {
    const std::vector<Point>& profile = one.profile;
    u = random.below(profile.size() - 1);
    v = u + 1 + random.below(profile.size() - u - 1);
    Point from = weakened(profile[u], random);
    from.open = u > 0 && random.chance(0.3);
    return make_segment(one.f, 0, from, weakened(profile[v], random), rules);
}

void test_segment_bounds() {
    for_profiles(2500, [](Random& random, const Case& one) {
        const std::vector<Point>& profile = one.profile;
        for (const Rules& rules : all_rules(one.costs)) {
            std::size_t u, v;
            const Segment s = draw_segment(random, one, rules, u, v);
            for (std::size_t w = u; w <= v; ++w) {
                CHECK_AT_MOST(left_bound(s, profile[w].z, rules), profile[w].left);
                CHECK_AT_MOST(right_bound(s, profile[w].z, rules), profile[w].right);
                CHECK_AT_MOST(s.bound, rules.total(profile[w]));
            }
            // The bound is the least of B1 over all positions, or less by a part of one row.
            Score least = unreached;
            for (Score z = s.u.z; z <= s.v.z; ++z)
                least = std::min(least, left_bound(s, z, rules) + right_bound(s, z, rules) + one.costs.split);
            CHECK_AT_MOST(s.bound, least);
            CHECK_AT_MOST(least, s.bound + one.costs.loss - 1);
        }
    });
}

void test_live_runs() {
    for_profiles(3000, [](Random& random, const Case& one) {
        const std::vector<Point>& profile = one.profile;
        const Cuts cuts = one.root.set.cuts(one.f);
        for (const Rules& rules : all_rules(one.costs)) {
            std::size_t u, v;
            const Segment s = draw_segment(random, one, rules, u, v);
            for (Score ub = 0; ub <= rules.total(s.u) + 2; ++ub) {
                const Run run = live_run(s, one.root.set, ub, rules);
                for (std::size_t w = s.u.open ? u : u + 1; w < v; ++w) {
                    const auto index = static_cast<std::uint32_t>(w - 1);  // profile[0] is no threshold
                    const bool live = !run.empty() && run.first <= index && index <= run.last;
                    if (rules.total(profile[w]) < ub) CHECK(live);
                    if (live) CHECK_EQUAL(cuts.at(index, run.low, run.high), profile[w].z);
                }
                if (run.empty()) continue;
                // Nothing beyond the segment, or the search would never end.
                CHECK_AT_MOST(s.u.open ? u : u + 1, run.first + 1);
                CHECK_AT_MOST(run.last + 1, v - 1);
            }
        }
    });
}

// B3: where the left side reaches limit - (right bound at the run's end), that half of the run is closed.
void test_run_targets() {
    for_profiles(1500, [](Random& random, const Case& one) {
        const std::vector<Point>& profile = one.profile;
        const Rules rules{random.chance(0.7), one.costs};
        std::size_t u, v;
        const Segment s = draw_segment(random, one, rules, u, v);
        const Score limit = random.between(0, rules.total(s.u) + 2);
        const Run run = live_run(s, one.root.set, limit, rules);
        if (run.empty()) return;
        const Score target_left = limit - one.costs.split - right_bound(s, run.high, rules);
        const Score target_right = limit - one.costs.split - left_bound(s, run.low, rules);
        for (std::size_t w = run.first + 1; w <= run.last + 1; ++w) {
            if (profile[w].left >= target_left)
                for (std::size_t x = w; x <= run.last + 1; ++x) CHECK_AT_MOST(limit, rules.total(profile[x]));
            if (profile[w].right >= target_right)
                for (std::size_t x = run.first + 1; x <= w; ++x)
                    CHECK_AT_MOST(limit, rules.total(profile[x]));
        }
    });
}

// open_between keeps every threshold below the limit in one segment, and its floor is below all others.
void test_open_between() {
    for_profiles(2500, [](Random& random, const Case& one) {
        const std::vector<Point>& profile = one.profile;
        const Rules rules = draw_rules(random, one.costs);
        std::vector<Point> points;
        for (std::size_t w = 1; w + 1 < profile.size(); ++w) {
            if (!random.chance(0.5)) continue;
            points.push_back(weakened(profile[w], random));
            // Where rows are taken away, a bound may fall below nothing.
            if (random.chance(0.2)) points.back().left = -random.between(0, 3);
            points.back().open = true;
        }
        const Score limit = random.between(0, profile[0].right + 3);
        std::vector<Segment> open;
        const Score floor = open_between(one.f, 0, weakened(profile.front(), random),
            weakened(profile.back(), random), points, limit, rules, open);
        CHECK_AT_MOST(limit, floor);
        for (std::size_t w = 1; w + 1 < profile.size(); ++w) {
            int holders = 0;
            for (const Segment& s : open) {
                const Run run = live_run(s, one.root.set, limit, rules);
                holders += !run.empty() && run.first <= w - 1 && w - 1 <= run.last;
                const Score z = profile[w].z;
                if ((s.u.z < z || (s.u.z == z && s.u.open)) && z < s.v.z)
                    CHECK_AT_MOST(s.bound, rules.total(profile[w]));
            }
            CHECK_AT_MOST(holders, 1);
            if (rules.total(profile[w]) < limit) CHECK_EQUAL(holders, 1);
            if (holders == 0) CHECK_AT_MOST(std::min(floor, limit), rules.total(profile[w]));
        }
        for (const Point& point : points) {
            const auto exact =
                std::find_if(profile.begin(), profile.end(), [&](const Point& p) { return p.z == point.z; });
            CHECK_AT_MOST(point.left, exact->left);
            CHECK_AT_MOST(point.right, exact->right);
        }
    });
}

// The caller's rows from position `begin` to `end` of feature f of a set.
RowList rows_between(const Root& root, const RowSet& set, std::uint32_t f, Position begin, Position end) {
    RowList rows;
    for (Position k = begin; k < end; ++k)
        rows.push_back(root.table.original[set.origin[set.order(f).row(k)]]);
    return rows;
}

// What a solve of the set may have learnt: the exact scores of some thresholds.
Profile draw_profile(
    Random& random, const Instance& data, const Root& root, const RowSet& set, std::int64_t depth) {
    Profile profile;
    profile.expect({LeafBudget{}});
    profile.mass = set.mass;
    for (std::uint32_t f = 0; f < set.features; ++f) {
        for (Position z = 1; z < set.rows; ++z) {
            const Rank rank = set.rank_left_of(f, z);
            if (rank == set.rank_left_of(f, z + 1) || !random.chance(0.7)) continue;
            const Score left = least_errors(data, rows_between(root, set, f, 0, z), depth);
            const Score right = least_errors(data, rows_between(root, set, f, z, set.rows), depth);
            profile.parts[0].points.push_back({set.feature[f], rank, z, left, right});
        }
    }
    if (random.chance(0.5)) settle(profile, draw_rules(random, {}));
    return profile;
}

// B4: bounds moved to a subset or superset of the rows stay below the exact scores there.
void test_inheritance() {
    for_seeds(1200, [](Random& random) {
        const std::int64_t depth = random.between(0, 1);
        const Instance data = nasty(random, {4, 14, 2, 3, 4});
        Root root(data, Width::narrow);
        if (root.set.features < 2) return;
        // A chain: the rows left (or right) of three thresholds of one feature.
        const auto f = static_cast<std::uint32_t>(random.below(root.set.features));
        const std::vector<Position> cuts = root.thresholds(f);
        if (cuts.size() < 3) return;
        const std::size_t at = random.below(cuts.size() - 2);
        const bool lefts = random.chance(0.5);
        std::vector<RowSet> chain;
        for (const std::size_t i : {at, at + 1, at + 2}) {
            const Children children = split_rows(root.set, {f, cuts[i]}, true, root.partitioner, root.arena);
            chain.push_back(lefts ? children.left : children.right);
        }
        if (!lefts) std::swap(chain[0], chain[2]);  // ascending: subset, new, superset
        const Profile subset = draw_profile(random, data, root, chain[0], depth);
        const Profile superset = draw_profile(random, data, root, chain[2], depth);
        Sources sources;
        if (random.chance(0.8)) sources.subset = &subset;
        if (random.chance(0.8)) sources.superset = &superset;
        const RowSet& set = chain[1];
        const Rules rules = draw_rules(random, {});
        Inheritance inheritance(set, {}, sources, rules);
        std::vector<Point> points;
        for (std::uint32_t g = 0; g < set.features; ++g) {
            inheritance.points_of(g, points);
            Score last = 0;
            for (const Point& point : points) {
                CHECK(last < point.z && point.z < set.rows);
                last = point.z;
                const Position z = set.position_of(g, point.z);
                CHECK(set.rank_left_of(g, z) != set.rank_left_of(g, z + 1));
                CHECK_AT_MOST(point.left, least_errors(data, rows_between(root, set, g, 0, z), depth));
                CHECK_AT_MOST(
                    point.right, least_errors(data, rows_between(root, set, g, z, set.rows), depth));
            }
        }
    });
}

void test_costs() {
    for_seeds(800, [](Random& random) {
        const std::int64_t depth = random.between(0, 3);
        const Instance data = nasty(random, {1, depth == 3 ? 9 : 13, 0, 3, 9});
        const Costs costs{random.between(1, 5), random.between(0, 9)};
        const Root root(data, Width::narrow, chosen_kernel(), costs);
        CHECK_EQUAL(root.objective.leaf_loss(root.set), leaf_errors(data, all_rows(data)));
        const Leaves most = random.chance(0.5) ? any_leaves : static_cast<Leaves>(random.between(1, 9));
        const TreeSize size(depth, most, root.set.rows);
        const Front front = front_of(data, all_rows(data), depth);
        const Score best = least_score(front, costs, size.leaves), leaf = root.objective.leaf_score(root.set);
        if (leaf_is_best(leaf, costs)) CHECK_EQUAL(best, leaf);  // C1
        const Score target = random.between(1, leaf + 2);        // C2
        if (best >= target || costs.split == 0) return;
        const auto affordable = static_cast<std::size_t>(affordable_splits(target, costs)) + 1;
        CHECK_EQUAL(best, least_score(front, costs, std::min<std::size_t>(size.leaves, affordable)));
    });
}

// Every tree shares its leaves out within one of the budgets: the least over them is the least of all trees.
void test_leaf_budgets() {
    for_seeds(200, [](Random& random) {
        const std::int64_t depth = random.between(1, 3);
        const Instance data = nasty(random, {2, depth == 3 ? 8 : 13, 1, 2, 4});
        const Root root(data, Width::narrow);
        const TreeSize size(depth, static_cast<Leaves>(random.between(2, 9)), root.set.rows);
        const std::vector<LeafBudget> budgets = leaf_budgets(size);
        for (const LeafBudget& a : budgets)
            for (const LeafBudget& b : budgets) CHECK(a == b || !a.within(b));
        const Leaves side = most_leaves(size.depth - 1);
        for (Leaves left = 1; left <= side; ++left) {
            for (Leaves right = 1; right <= side; ++right) {
                const bool covered = std::any_of(budgets.begin(), budgets.end(),
                    [&](const LeafBudget& budget) { return LeafBudget{left, right}.within(budget); });
                CHECK_EQUAL(covered, left + right <= size.leaves);
            }
        }
        Score least = leaf_errors(data, all_rows(data));
        for (std::uint32_t f = 0; f < root.set.features; ++f) {
            for (const Position z : root.thresholds(f)) {
                const Front left = front_of(data, root.rows_left_of(f, z), size.depth - 1);
                const Front right = front_of(data, root.rows_right_of(f, z), size.depth - 1);
                for (const LeafBudget& budget : budgets)
                    least = std::min(
                        least, least_score(left, {}, budget.left) + least_score(right, {}, budget.right));
            }
        }
        CHECK_EQUAL(least, least_score(front_of(data, all_rows(data), depth), {}, size.leaves));
    });
}

// Rows that agree in every feature lose together: this much, and no tree loses less.
void test_irreducible() {
    for_seeds(500, [](Random& random) {
        const Instance data = nasty(random, {1, 30, 0, 3, 5});
        const Root root(data, random.pick({Width::narrow, Width::wide}));
        std::vector<RowList> alike;
        for (std::size_t r = 0; r < data.rows; ++r) {
            const auto agrees = [&](const RowList& rows) {
                for (std::size_t f = 0; f < data.features; ++f)
                    if (data.value(r, f) != data.value(rows[0], f)) return false;
                return true;
            };
            const auto at = std::find_if(alike.begin(), alike.end(), agrees);
            if (at == alike.end()) alike.push_back({r});
            else at->push_back(r);
        }
        Score loss = 0;
        for (const RowList& rows : alike) loss += leaf_errors(data, rows);
        CHECK_EQUAL(irreducible_loss(root.objective, root.set), loss);
    });
}

// theta(S | T) of segment.hpp bounds a set between two others.  It loses no less than the smaller set with
// sizes of the larger one, and no less than the larger set minus the rows that it lacks.
void test_leaf_sizes_between() {
    for_profiles(2000, [](Random& random, const Case& one) {
        const std::vector<Point>& profile = one.profile;
        const std::int64_t depth = random.between(0, 2);
        const auto min_leaf = static_cast<std::size_t>(random.between(2, 4));
        std::size_t at[3];
        for (std::size_t& index : at) index = 1 + random.below(profile.size() - 1);
        std::sort(at, at + 3);
        const auto left = [&](std::size_t w) {
            return one.root.rows_left_of(one.f, static_cast<Position>(profile[w].z));
        };
        const Score between = least_errors(one.data, left(at[1]), depth, min_leaf);
        // Rows of the larger set alone weigh next to nothing, so that their errors do not count.
        Instance weighted = one.data;
        const Score heavy = 1000;
        weighted.weights.assign(one.data.rows, 1);
        for (const std::size_t row : left(at[0])) weighted.weights[row] = heavy;
        CHECK_AT_MOST(least_errors(weighted, left(at[2]), depth, min_leaf) / heavy, between);
        CHECK_AT_MOST(
            least_errors(one.data, left(at[2]), depth, min_leaf) - (profile[at[2]].z - profile[at[1]].z),
            between);
    });
}

// None of the paper's rules cuts off a threshold whose exact score is below ub.
void test_paper_pruning() {
    for_profiles(2500, [](Random& random, const Case& one) {
        const std::vector<Point>& profile = one.profile;
        using namespace contree::paper;
        std::vector<Score> z;
        EvaluatedSplits evaluated;
        for (std::size_t w = 1; w + 1 < profile.size(); ++w) {
            z.push_back(one.costs.loss * profile[w].z);
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
                CHECK(i < w ? halves.left.i <= i && i <= halves.left.j
                            : halves.right.i <= i && i <= halves.right.j);
            }
            CHECK(halves.left.empty() || halves.left.j < w);
            CHECK(halves.right.empty() || halves.right.i > w);
        }
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("segment bounds (B0, B1)", test_segment_bounds);
    check::run("live runs", test_live_runs);
    check::run("targets that close half a run (B3)", test_run_targets);
    check::run("open segments between known points", test_open_between);
    check::run("inheritance (B4)", test_inheritance);
    check::run("costs (C1, C2)", test_costs);
    check::run("leaf budgets", test_leaf_budgets);
    check::run("irreducible loss", test_irreducible);
    check::run("leaf sizes between two sets", test_leaf_sizes_between);
    check::run("the paper's pruning", test_paper_pruning);
    return check::report();
}
