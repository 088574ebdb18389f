#include "search/merge.hpp"

#include "bounds/class_count.hpp"
#include "search/look_ahead.hpp"

namespace contree {

namespace {

constexpr std::int64_t merged_depth = 4;   // of subtrees
constexpr std::size_t most_splits = 40;
constexpr std::size_t most_upper = 8, most_lower = 6;   // of them at a node of depth four and of depth three
constexpr Row closest = 400;   // splits nearer than this part of all rows count as one: local search moves them that far by itself

// A tree for some rows whose upper splits are of the pool: at each node the most promising of them are tried, with all that is below.
//
// Splits of one feature bound those beside them: a row more never means fewer errors, and no more than it weighs (B0 and B1).  That holds of the best trees with any
// upper splits of the pool, and of what is found here nearly so; it need not, because nobody else hears of these bounds.  Where leaves must be of some size there are none.
template <class Entry>
class Merge {
public:
    Merge(Bench<Entry>& bench, const std::vector<Step>& splits, std::int64_t work_end) : bench_(bench), splits_(splits), work_end_(work_end) {}

    // A tree of fewer errors than `target`, or none and what is taken for a bound.
    Outcome solve(const Subproblem<Entry>& sub, std::int64_t depth, Score target) {
        if (leaf_errors(sub) == 0 || sub.features == 0) return bench_.leaf(sub);
        if (depth == 2) return bench_.two_below(sub, target);
        const std::vector<Scored> scored = promising(sub, depth);
        if (scored.empty()) return over() ? Outcome{} : solve(sub, depth - 1, target);
        Outcome best{0, target, {}};
        Score least = unreached;
        std::vector<Tried> tried;
        for (const Scored& one : scored) {
            if (over()) {
                least = 0;
                break;
            }
            Tried next = bounded(sub, one.at, tried);
            if (next.left + next.right < best.upper) {
                try_split(sub, depth, next, best);
                tried.push_back(next);
            }
            least = std::min(least, next.left + next.right);
        }
        if (best.plan.empty()) return {std::min(least, target), unreached, {}};
        best.lower = std::min(least, best.upper);
        return best;
    }

private:
    struct Tried {
        Split at;
        Score left, right;   // bounds of its sides
    };

    // Those of the pool that part the rows, by exact stumps on both sides; where deeper trees follow, the best of them by trees of depth two.
    std::vector<Scored> promising(const Subproblem<Entry>& sub, std::int64_t depth) {
        std::vector<Split> places;
        for (const Step& split : splits_)
            if (const Split at = place_of(sub, split); at.z > 0 && at.z < sub.rows) places.push_back(at);
        std::vector<Scored> scored = score_splits(bench_, sub, std::move(places));
        const std::size_t most = depth == 3 ? most_lower : most_upper;
        if (scored.size() <= most) return scored;
        if (depth > 3) {
            std::vector<Split> best;
            for (std::size_t i = 0; i < std::min(scored.size(), 3 * most); ++i) best.push_back(scored[i].at);
            scored = score_deeper(bench_, sub, best);
        }
        if (scored.size() > most) scored.resize(most);
        return scored;
    }

    Tried bounded(const Subproblem<Entry>& sub, const Split& at, const std::vector<Tried>& tried) const {
        Tried next{at, 0, 0};
        if (sub.limited()) return next;
        for (const Tried& other : tried) {
            if (other.at.f != at.f) continue;
            const Score moved = sub.mass_at(at.f, at.z) - sub.mass_at(at.f, other.at.z);
            next.left = std::max(next.left, other.left + std::min<Score>(moved, 0));
            next.right = std::max(next.right, other.right - std::max<Score>(moved, 0));
        }
        return next;
    }

    // The larger side first, which leaves less for the other one.
    void try_split(const Subproblem<Entry>& sub, std::int64_t depth, Tried& split, Outcome& best) {
        Arena::Frame frame(bench_.arena);
        const Children<Entry> children = bench_.split(sub, split.at);
        const bool left_first = children.left.rows >= children.right.rows;
        const Subproblem<Entry> &large = left_first ? children.left : children.right, &small = left_first ? children.right : children.left;
        Score &of_large = left_first ? split.left : split.right, &of_small = left_first ? split.right : split.left;
        Outcome first = solve(large, depth - 1, best.upper - of_small);
        of_large = std::max(of_large, first.lower);
        if (first.plan.empty() || first.upper >= best.upper - of_small || bench_.stopped()) return;
        Outcome second = solve(small, depth - 1, best.upper - first.upper);
        of_small = std::max(of_small, second.lower);
        if (second.plan.empty() || first.upper + second.upper >= best.upper || bench_.stopped()) return;
        if (!left_first) std::swap(first, second);
        best = {0, first.upper + second.upper, join(bench_.step_at(sub, split.at), first.plan, second.plan)};
    }

    bool over() const { return bench_.stopped() || bench_.work() >= work_end_; }

    Bench<Entry>& bench_;
    const std::vector<Step>& splits_;
    const std::int64_t work_end_;
};

}  // namespace

template <class Entry>
void SplitPool::note(const Subproblem<Entry>& root, const Plan& plan, std::int64_t depth, Score errors) {
    const Row near = root.rows / closest;
    const auto collect = [&](auto&& self, const Step* step, std::int64_t levels) -> void {
        if (levels <= 2 || step->feature == Step::leaf || step->feature == Step::stump) return;
        const Position z = place_of(root, *step).z;
        bool met = false;
        for (Met& other : met_) {
            if (other.split.feature != step->feature || other.z + near < z || z + near < other.z) continue;
            met = true;
            if (errors < other.errors) other = {*step, z, errors};
        }
        if (!met) met_.push_back({*step, z, errors});
        self(self, step + 1, levels - 1);
        self(self, end_of(step + 1), levels - 1);
    };
    collect(collect, plan.data(), depth);
}

std::vector<Step> SplitPool::best() {
    constexpr std::size_t most_kept = 10 * most_splits;   // so that a long search does not fill memory
    std::stable_sort(met_.begin(), met_.end(), [](const Met& a, const Met& b) { return a.errors < b.errors; });
    if (met_.size() > most_kept) met_.resize(most_kept);
    std::vector<Step> splits;
    for (const Met& one : met_) {
        if (splits.size() == most_splits) break;
        if (std::find(splits.begin(), splits.end(), one.split) == splits.end()) splits.push_back(one.split);
    }
    return splits;
}

template <class Entry>
Outcome merged_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Outcome& tree, const std::vector<Step>& splits,
                    std::int64_t work_end) {
    if (depth <= 2 || tree.upper == 0 || tree.plan.size() < 3 || bench.stopped() || bench.work() >= work_end) return tree;
    if (depth <= merged_depth) {
        const Outcome found = Merge<Entry>(bench, splits, work_end).solve(sub, depth, tree.upper);
        return found.plan.empty() || found.upper >= tree.upper || bench.stopped() ? tree : bench.plain(sub, found.plan);
    }
    Arena::Frame frame(bench.arena);
    const Step first = tree.plan.front();
    const Children<Entry> children = bench.split(sub, locate(sub, first));
    if (bench.stopped()) return tree;
    const Step *const begin = tree.plan.data() + 1, *const middle = end_of(begin), *const end = tree.plan.data() + tree.plan.size();
    Outcome left{0, 0, Plan(begin, middle)}, right{0, 0, Plan(middle, end)};
    left.upper = bench.errors(children.left, left.plan);
    right.upper = tree.upper - left.upper;
    const std::int64_t half = bench.work() + (work_end - bench.work()) / 2;
    left = merged_tree(bench, children.left, depth - 1, left, splits, half);
    right = merged_tree(bench, children.right, depth - 1, right, splits, work_end);
    if (bench.stopped()) return tree;   // what was counted since means nothing
    return {0, left.upper + right.upper, join(first, left.plan, right.plan)};
}

#define CONTREE_MERGE(Entry)                                                                              \
    template void SplitPool::note(const Subproblem<Entry>&, const Plan&, std::int64_t, Score);             \
    template Outcome merged_tree(Bench<Entry>&, const Subproblem<Entry>&, std::int64_t, const Outcome&, const std::vector<Step>&, std::int64_t);
CONTREE_MERGE(NarrowEntry)
CONTREE_MERGE(WideEntry)
#undef CONTREE_MERGE

}  // namespace contree
