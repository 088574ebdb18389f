#include "search/look_ahead.hpp"

#include "bounds/class_count.hpp"
#include "search/first_trees.hpp"
#include "tree/purity.hpp"

namespace contree {

namespace {

constexpr std::uint32_t quantiles = 16;
constexpr std::size_t most_deep = 6;        // splits to roll out
constexpr std::int64_t deep = 5;            // from this depth on, where there are many rows

template <class Entry>
std::vector<Split> candidates(const Subproblem<Entry>& sub, const Halt& halt) {
    std::vector<Split> splits;
    const auto class_of = classes_of_rows(sub);
    for (std::uint32_t f = 0; f < sub.features && !halt(); ++f) {
        const Cuts cuts = sub.cuts(f);
        const std::uint32_t count = std::min(quantiles, cuts.count);
        for (std::uint32_t i = 0; i < count; ++i) {
            // Quantiles of rows, not of thresholds, moved to the next threshold.
            const auto wanted = static_cast<Position>(std::uint64_t{sub.rows} * (i + 1) / (count + 1));
            const std::uint32_t index = std::min(cuts.below(std::max<Position>(wanted, 1)), cuts.count - 1);
            splits.push_back({f, cuts.at(index, 1, sub.rows)});
        }
        splits.push_back({f, purest_threshold(sub, f, class_of, halt).z});
    }
    return splits;
}

}  // namespace

template <class Entry>
std::vector<Scored> score_splits(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::vector<Split> splits) {
    const auto before = [](const Split& a, const Split& b) { return a.f != b.f ? a.f < b.f : a.z < b.z; };
    std::sort(splits.begin(), splits.end(), before);
    std::erase_if(splits, [&](const Split& split) { return split.z == 0 || !sub.allows(split.f, split.z); });
    splits.erase(std::unique(splits.begin(), splits.end(), [](const Split& a, const Split& b) { return a.f == b.f && a.z == b.z; }),
                 splits.end());
    Arena::Frame frame(bench.arena);
    Batch<Entry>& batch = bench.batches.start(sub, bench.arena, bench.statistics());
    batch.with_whole = false;
    std::vector<Scored> scored;
    for (std::size_t i = 0; i < splits.size() && !bench.stopped(); i += lane_count) {
        batch.lanes.clear();
        for (std::size_t j = i; j < std::min(splits.size(), i + lane_count); ++j)
            batch.lanes.push_back({splits[j].f, splits[j].z, 0});
        if (!batch.evaluate(unreached)) break;
        for (std::size_t t = 0; t < batch.lanes.size(); ++t) scored.push_back({batch.reached(t), splits[i + t]});
    }
    std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.errors < b.errors; });
    return scored;
}

template <class Entry>
std::vector<Split> promising_splits(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::size_t most, int of_each) {
    std::vector<int> of_feature(sub.features, 0);
    std::vector<Split> best;
    for (const Scored& split : score_splits(bench, sub, candidates(sub, bench.halt()))) {
        if (best.size() == most) break;
        if (of_feature[split.at.f]++ < of_each) best.push_back(split.at);
    }
    return best;
}

template <class Entry>
std::vector<Scored> score_deeper(Bench<Entry>& bench, const Subproblem<Entry>& sub, const std::vector<Split>& splits) {
    std::vector<Scored> scored;
    for (const Split& split : splits) {
        if (bench.stopped()) break;
        Arena::Frame frame(bench.arena);
        const Children<Entry> children = bench.split(sub, split);
        scored.push_back({bench.rough_two(children.left).upper + bench.rough_two(children.right).upper, split});
    }
    std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.errors < b.errors; });
    return scored;
}

template <class Entry>
Outcome look_ahead_tree(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, std::int64_t work_end) {
    Outcome best = rollout_tree(bench, sub, depth);
    if (depth <= 2 || best.upper == 0 || sub.features == 0 || bench.stopped() || bench.work() >= work_end) return best;
    Split at = best.plan.size() < 3 ? Split{0, 0} : locate(sub, best.plan.front());
    std::vector<Split> splits = promising_splits(bench, sub);
    if (depth >= deep && !bench.few_cells() && splits.size() > most_deep) {   // a deep rollout costs several times what a closer look does
        const std::vector<Scored> scored = score_deeper(bench, sub, splits);
        splits.clear();
        for (std::size_t i = 0; i < std::min(scored.size(), most_deep); ++i) splits.push_back(scored[i].at);
    }
    for (const Split& split : splits) {
        if (best.upper == 0 || bench.stopped() || bench.work() >= work_end) break;
        Arena::Frame frame(bench.arena);
        const Children<Entry> children = bench.split(sub, split);
        const Outcome left = rollout_tree(bench, children.left, depth - 1);
        if (left.upper >= best.upper) continue;
        const Outcome right = rollout_tree(bench, children.right, depth - 1);
        if (left.upper + right.upper >= best.upper) continue;
        best = {0, left.upper + right.upper, join(bench.step_at(sub, split), left.plan, right.plan)};
        at = split;
        bench.found(sub, best);
    }
    if (at.z == 0 || depth == 3) return best;
    Arena::Frame frame(bench.arena);
    const Children<Entry> children = bench.split(sub, at);
    const Outcome left = look_ahead_tree(bench, children.left, depth - 1, work_end);
    const Outcome right = look_ahead_tree(bench, children.right, depth - 1, work_end);
    if (left.upper + right.upper >= best.upper) return best;
    return {0, left.upper + right.upper, join(bench.step_at(sub, at), left.plan, right.plan)};
}

template std::vector<Scored> score_splits(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::vector<Split>);
template std::vector<Scored> score_splits(Bench<WideEntry>&, const Subproblem<WideEntry>&, std::vector<Split>);
template std::vector<Split> promising_splits(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::size_t, int);
template std::vector<Split> promising_splits(Bench<WideEntry>&, const Subproblem<WideEntry>&, std::size_t, int);
template std::vector<Scored> score_deeper(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, const std::vector<Split>&);
template std::vector<Scored> score_deeper(Bench<WideEntry>&, const Subproblem<WideEntry>&, const std::vector<Split>&);
template Outcome look_ahead_tree(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::int64_t, std::int64_t);
template Outcome look_ahead_tree(Bench<WideEntry>&, const Subproblem<WideEntry>&, std::int64_t, std::int64_t);

}  // namespace contree
