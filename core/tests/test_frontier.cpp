// A search that is cut anywhere and goes on from its frontier, whole or in parts, proves the same optimum.
#include <atomic>
#include "data/joining_thread.hpp"
#include "fit_checks.hpp"

namespace {

using namespace check;
using contree::Control;
using contree::Frontier;
using contree::Options;
using contree::Result;
using contree::Searcher;
using contree::Start;
using contree::Status;
using contree::Tree;

// Ends a search at some moment, by another thread that counts.
struct Cut {
    explicit Cut(Control& control, std::int64_t count)
        : other([&control, count] {
              std::atomic<std::int64_t> counted{0};
              while (counted.fetch_add(1) < count) {}
              control.stop();
          }) {}
    contree::JoiningThread other;
};

std::string shown(const Frontier& frontier) {
    std::string text = "depth " + check::shown(frontier.depth) + " floor " + check::shown(frontier.floor);
    for (const auto& i : frontier.intervals)
        text += " [" + check::shown(i.column) + "/" + check::shown(i.budget) + ": " + check::shown(i.u.z) +
                (i.with_u ? "+" : "") + " .. " + check::shown(i.v.z) + ", " + check::shown(i.bound) + "]";
    return text;
}

Score least_bound(const Frontier& frontier) {
    Score least = frontier.floor;
    for (const auto& interval : frontier.intervals) least = std::min(least, interval.bound);
    return least;
}

struct Case {
    Instance data;
    Options options;
    Score optimum;

    explicit Case(Random& random) {
        const auto depth = static_cast<std::int64_t>(random.pick({2, 3, 3, 3, 4, 4}));
        data = random.chance(0.4) ? draw_mixed(random, depth) : draw_data(random, depth);
        options = draw_options(random, depth, data);
        options.switches.heuristics = random.pick({0, 1});
        optimum = optimum_of(data, options);
    }
    void expect(bool holds, const std::string& what) const {
        if (holds) ++passed;
        else
            fail("frontier", 0,
                what + "\nwith " + described(options) + "\noptimum " + check::shown(optimum) + "\n" +
                    check::shown(data));
    }
    void expect_sound(const Result& result) const {
        const std::string faults = result_faults(result, data, options, optimum);
        expect(faults.empty(), faults);
    }
    void expect_proved(const Result& result) const {
        expect_sound(result);
        expect(result.objective - result.lower_bound <= options.max_gap && result.lower_bound <= optimum &&
                   optimum <= result.objective,
            "not proved: " + check::shown(result.lower_bound) + " " + check::shown(result.objective) + "; " +
                shown(result.frontier));
        expect(result.frontier.intervals.empty(), "open though proved: " + shown(result.frontier));
    }
};

// Cut again and again, each time with a little more time; with one Searcher, or with a new one as after a
// reboot; from the result's frontier, or from a snapshot that was taken on the way.
void test_resumed() {
    for_seeds(450, [](Random& random) {
        const Case one(random);
        auto searcher = std::make_unique<Searcher>(one.data.table(), one.options);
        Tree tree;
        Frontier frontier;
        Score lower = 0, upper = contree::no_objective;
        std::int64_t spins = random.pick<std::int64_t>({1, 1000, 10000});
        for (int round = 0; round < 60; ++round, spins += spins / 4 + 50) {
            Start start{tree.size() == 0 ? nullptr : &tree, &frontier, lower, random.chance(0.1), true};
            Control control;
            contree::Snapshot taken;
            Result result;
            {
                std::optional<Cut> cut;
                if (round < 59) cut.emplace(control, spins);
                result = searcher->run(start, control);
            }
            one.expect_sound(result);
            one.expect(result.objective <= upper && result.lower_bound >= lower, "worse than before");
            one.expect(result.frontier.depth >= frontier.depth, "a level lost");
            if (result.objective - result.lower_bound <= one.options.max_gap) {
                one.expect_proved(result);
                return;
            }
            one.expect(result.status != Status::optimal, "status");
            if (result.frontier.depth == one.options.max_depth)
                one.expect(least_bound(result.frontier) <= one.optimum,
                    "bounds above the optimum: " + shown(result.frontier));
            tree = result.tree;
            frontier = result.frontier;
            lower = result.lower_bound;
            upper = result.objective;
            if (random.chance(0.5)) searcher = std::make_unique<Searcher>(one.data.table(), one.options);
        }
        one.expect(false, "never proved: " + shown(frontier));
    });
}

// Snapshots from another thread while a search runs: each is a place to go on from.
void test_snapshots() {
    for_seeds(120, [](Random& random) {
        const Case one(random);
        Searcher searcher(one.data.table(), one.options);
        std::vector<contree::Snapshot> taken;
        Control control;
        std::atomic<bool> done{false};
        std::thread other([&] {
            while (!done.load()) {
                contree::Snapshot now = searcher.snapshot();
                if (now.tree.size() > 0 && (taken.size() < 50)) taken.push_back(std::move(now));
            }
        });
        const Result whole = searcher.run({.resumable = true}, control);
        done = true;
        other.join();
        one.expect_proved(whole);
        for (std::size_t i = 0; i < taken.size(); i += 1 + random.below(10)) {
            const contree::Snapshot& now = taken[i];
            one.expect(now.lower_bound <= one.optimum && one.optimum <= now.objective, "a snapshot's bounds");
            Control again;
            Searcher fresh(one.data.table(), one.options);
            one.expect_proved(fresh.run({&now.tree, &now.frontier, now.lower_bound, false, true}, again));
        }
    });
}

// The last level's frontier in parts, each cut and gone on with by itself, with cutoffs that may be stale:
// the least bound of all parts and of the floor is the optimum's.
void test_parts() {
    for_seeds(400, [](Random& random) {
        const Case one(random);
        Searcher searcher(one.data.table(), one.options);
        Control opening;
        const Result opened = searcher.run({.open_only = true, .resumable = true}, opening);
        one.expect_sound(opened);
        Score best = opened.objective, floor = opened.frontier.floor;
        std::vector<Frontier> open(1, opened.frontier);
        Score whole_lower = opened.lower_bound;
        if (opened.frontier.intervals.empty()) {
            one.expect_proved(opened);
            return;
        }
        one.expect(
            opened.frontier.depth == std::min<std::int64_t>(one.options.max_depth, opened.frontier.depth),
            "depth");
        Score proved = contree::no_objective;  // of all closed parts
        std::int64_t spins = 500;
        for (int round = 0; !open.empty(); ++round) {
            if (round > 3000) return one.expect(false, "never ends");
            const std::size_t pick = random.below(open.size());
            Frontier part = std::move(open[pick]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
            if (part.intervals.size() > 1 && random.chance(0.6)) {
                Frontier other{part.depth, contree::no_objective, {}};
                Frontier kept{part.depth, part.floor, {}};
                for (const auto& interval : part.intervals)
                    (random.chance(0.5) ? kept : other).intervals.push_back(interval);
                open.push_back(other);
                part = kept;
            }
            Control control;
            const Score stale =
                random.chance(0.5) ? best : best + random.between(0, 3) * one.options.error_cost;
            control.lower_cutoff(stale);
            if (random.chance(0.2)) control.lower_cutoff(best);
            Searcher fresh(one.data.table(), one.options);
            Searcher& used = random.chance(0.7) ? searcher : fresh;
            Result result;
            {
                std::optional<Cut> cut;
                if (random.chance(0.6)) cut.emplace(control, random.between(1, spins += 20));
                Start start{nullptr, &part, whole_lower, false, true};
                if (random.chance(0.5)) start.first = &opened.tree;
                result = used.run(start, control);
            }
            one.expect(one.optimum <= result.objective, "below the optimum");
            best = std::min(best, result.objective);
            if (result.status == Status::optimal || result.status == Status::gap_reached ||
                result.status == Status::cutoff) {
                one.expect(result.frontier.intervals.empty(), "open though closed");
                proved = std::min(proved, result.lower_bound);
            } else if (result.frontier.intervals.empty()) {
                proved = std::min(proved, least_bound(result.frontier));
            } else {
                one.expect(
                    result.lower_bound <= least_bound(result.frontier) || result.lower_bound <= one.optimum,
                    "a part's bound");
                open.push_back(result.frontier);
            }
        }
        const Score lower = std::min({proved, floor, best});
        one.expect(lower <= one.optimum, "a bound above the optimum: " + check::shown(lower));
        one.expect(best >= one.optimum && best - lower <= one.options.max_gap,
            "not proved: " + check::shown(lower) + " " + check::shown(best) + "; " + shown(opened.frontier));
    });
}

// Numbers that are no frontier are refused, and numbers that only look like one do no harm.
void test_refused() {
    for_seeds(400, [](Random& random) {
        const Case one(random);
        Searcher searcher(one.data.table(), one.options);
        Control control;
        Frontier frontier = searcher.run({.open_only = true, .resumable = true}, control).frontier;
        if (frontier.intervals.empty()) return;
        auto& i = frontier.intervals[random.below(frontier.intervals.size())];
        std::int64_t* const fields[] = {&i.column, &i.budget, &i.u.z, &i.u.left, &i.u.right, &i.v.z,
            &i.v.left, &i.v.right, &i.bound, &frontier.depth, &frontier.floor};
        std::int64_t& field = *fields[random.below(std::size(fields))];
        const bool far = random.chance(0.5);
        field = far ? random.pick<std::int64_t>(
                          {-1, std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 62})
                    : random.between(-2, 2 * static_cast<std::int64_t>(one.data.rows));
        const bool possible =
            field >= 0 && (&field == &i.bound || &field == &frontier.floor || (!far && field >= 0));
        Control again;
        try {
            searcher.run({nullptr, &frontier, 0, false, true}, again);
            one.expect(possible, "taken: " + shown(frontier));
        } catch (const std::invalid_argument&) {
            ++passed;
        }
    });
    Random random(1);
    const Case one(random);
    for (const bool paper : {false, true}) {
        Options options = one.options;
        options.search = paper ? contree::SearchKind::paper : contree::SearchKind::best_first;
        options.leaf_cost = 0;
        options.error_cost = 1;
        options.all_sizes = !paper;
        Searcher searcher(one.data.table(), options);
        Control control;
        bool refused = false;
        try {
            searcher.run({.resumable = true}, control);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        CHECK(refused);
    }
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("cut and resumed", test_resumed);
    check::run("snapshots", test_snapshots);
    check::run("in parts", test_parts);
    check::run("refused", test_refused);
    return check::report();
}
