// B7 in the search: the part of BestFirst that proves an early bound for all rows by sets of them that lie apart.
//
// At depth six an exact search proves nothing for minutes, as each of its levels asks for two sides of every feature at the
// least.  Sets of rows that are hard (hard_rows.hpp) and serve several features at once need fewer and smaller subproblems.
#include "search/best_first.hpp"

namespace contree {

namespace {

constexpr int most_cuts = 4;               // of one feature, where a set proves too little
constexpr Row least_rows = 8;              // fewer are told apart by any tree
constexpr std::size_t pairs_a_leaf = 12, least_pairs_a_leaf = 8;   // to begin with, and for hard rows to do alone

}  // namespace

// A bound of theta_depth(sub), as far as `target`; of no use unless above `apart_.lower`, so that it ends where it cannot be.
// Sizes count the hard rows.  Where the worker's work ends first, the path keeps what is proved, and the same question goes on from there.
//
// A cut in the middle of the hard rows is tried first, for a group of features.  Where one of the two sets proves too
// little, that is the end of a quick pass; a patient one gives it more of the rows, for one feature alone.  Depth three is left to
// the exact search, which knows of sums of both sides: Eeg at depth six 5 instead of 1 for four fifths of the work.
template <class Entry>
Score BestFirst<Entry>::bound_apart(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, Score target) {
    if (depth <= 3 || sub.features == 0) return solve(worker, {sub, {depth, size_.leaves, sub.rows}, 0, target, 0, {}, nullptr, nullptr}).lower;
    std::vector<std::uint8_t> counted(sub.rows);
    for (Row r = 0; r < sub.rows; ++r) counted[r] = apart_.hard[sub.origin[r]];
    Apart<Entry> apart(sub, std::move(counted));
    if (apart.all() < 2 * least_rows) return 0;
    const auto level = static_cast<std::size_t>(size_.depth - depth);
    const typename ApartPass::Step fresh{0, 0, apart.all(), unreached};
    if (apart_.path.size() == level) apart_.path.push_back({std::vector<bool>(sub.features, false), target, fresh});
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        while (!apart_.path[level].answered[f]) {
            typename ApartPass::Step step = apart_.path[level].step;
            const Row lows = step.few + (step.many - step.few) / 2;
            if (step.cuts == (apart_.patient ? most_cuts : 1) || lows < least_rows || apart.all() - lows < least_rows) {
                apart_.path.resize(level);
                return 0;
            }
            apart.cut(f, lows);
            std::vector<std::uint32_t> group{f};
            if (step.cuts == 0) join_features(worker, sub, apart, group, apart_.path[level].answered);
            target = apart_.path[level].target;
            if (step.of_low == unreached) step.of_low = bound_set(worker, sub, depth, apart.sets(), Apart<Entry>::low, target);
            if (stopping() || worker.over()) return 0;
            target = std::min(target, step.of_low);
            apart_.path[level].step.of_low = step.of_low;
            if (step.of_low > apart_.lower) target = std::min(target, bound_set(worker, sub, depth, apart.sets(), Apart<Entry>::high, target));
            if (stopping() || worker.over()) return 0;
            typename ApartPass::Level& known = apart_.path[level];   // the path below has come and gone
            if (target > apart_.lower) {
                known.target = target;
                known.step = fresh;
                for (const std::uint32_t g : group) known.answered[g] = true;
            } else {
                (step.of_low <= apart_.lower ? step.few : step.many) = lows;
                known.step = {step.cuts + 1, step.few, step.many, unreached};
            }
        }
    }
    target = apart_.path[level].target;
    apart_.path.resize(level);
    return target;
}

// Adds to a group the features after its first that are not answered and have the sets apart too, if these give up a few
// rows; after a stop not all.
template <class Entry>
void BestFirst<Entry>::join_features(Worker& worker, const Subproblem<Entry>& sub, Apart<Entry>& apart, std::vector<std::uint32_t>& group,
                                     const std::vector<bool>& answered) {
    const auto least = static_cast<Row>(apart_.kept * apart.all() / 2);
    std::vector<std::pair<Row, std::uint32_t>> near;
    const std::uint32_t first = group.front();
    for (std::uint32_t g = first + 1; g < sub.features && !stopping(); ++g)
        if (!answered[g])
            if (const Row kept = apart.kept(g); kept >= least) near.push_back({apart.all() - kept, g});
    std::sort(near.begin(), near.end());
    for (const auto& [lost, g] : near)
        if (!stopping() && apart.join(g, least)) group.push_back(g);
    worker.cells_moved += std::int64_t{sub.rows} * (sub.features - first + 2 * static_cast<std::uint32_t>(near.size()));
}

template <class Entry>
Score BestFirst<Entry>::bound_set(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, const std::vector<std::uint8_t>& sets,
                                  std::uint8_t set, Score target) {
    if (stopping() || worker.over()) return 0;
    Arena::Frame frame(worker.arena);
    std::vector<std::uint8_t> outside(sub.rows);
    std::transform(sets.begin(), sets.end(), outside.begin(), [&](std::uint8_t one) { return one != set; });
    const auto rows = static_cast<Row>(std::count(outside.begin(), outside.end(), 0));
    worker.cells_moved += std::int64_t{sub.rows} * sub.features + Worker::cells_of_a_split;
    const Subproblem<Entry> part = part_rows(sub, outside.data(), rows, true, *kernel_.movers, worker.arena, when_stopped(control_)).left;
    const Score proved = stopping() ? 0 : bound_apart(worker, part, depth - 1, target);
    worker.statistics.sets_apart += !worker.over();
    return proved;
}

// Pass after pass for so much work, each against twice the bound: a quick one, and where that raises nothing, a patient
// one.  Those that fall short are followed by twice as many hard rows.  Where there are too few of these, or when all have had their
// turn, all rows are taken, with sizes counted in hard ones; and then larger sets, for smaller groups of features.
template <class Entry>
void BestFirst<Entry>::bound_by_sets_apart(Worker& worker, std::int64_t budget) {
    const std::size_t leaves = std::size_t{1} << std::min<std::int64_t>(size_.depth, 20), all_rows = root_.rows;
    const std::int64_t before = worker.work(), sets = worker.statistics.sets_apart;
    worker.work_end = before + budget;
    if (apart_.pairs == 0) apart_.pairs = std::min(pairs_a_leaf * leaves, all_rows);
    if (apart_.path.empty()) {
        const Outcome best = incumbent();
        apart_.hard = stages_->hard_rows(best, apart_.pairs);
        apart_.lower = best.lower;
    }
    const auto count = static_cast<Row>(std::count(apart_.hard.begin(), apart_.hard.end(), 1));
    const bool all = apart_.pairs == all_rows || count == all_rows || count < least_pairs_a_leaf * 2 * leaves;
    Arena::Frame frame(worker.arena);
    std::vector<std::uint8_t> outside(all_rows);
    std::transform(apart_.hard.begin(), apart_.hard.end(), outside.begin(), [](std::uint8_t one) { return !one; });
    Subproblem<Entry> part = all ? root_ : part_rows(root_, outside.data(), count, true, *kernel_.movers, worker.arena, when_stopped(control_)).left;
    part.leaf = {};
    if (stopping()) return;
    const Score a_row = std::max<Score>(1, root_.mass / root_.rows) * rules_.objective.error;   // what an error on it costs, on average
    const Score target = 2 * apart_.lower + a_row, proved = bound_apart(worker, part, size_.depth, target);
    raise(proved);
    const std::int64_t took = worker.work() - before;
    apart_.work += took;
    apart_.next = worker.statistics.sets_apart > sets ? 0 : 2 * took;   // a set that needs more than this
    if (worker.over()) return;
    apart_.patient = !apart_.patient && proved <= apart_.lower;
    if (apart_.patient || proved >= target) return;
    if (!all) apart_.pairs = count < 2 * apart_.pairs ? all_rows : std::min(2 * apart_.pairs, all_rows);
    else apart_.kept = (1 + apart_.kept) / 2;
}

#define CONTREE_APART(Entry)                                                                                                      \
    template Score BestFirst<Entry>::bound_apart(Worker&, const Subproblem<Entry>&, std::int64_t, Score);                          \
    template void BestFirst<Entry>::join_features(Worker&, const Subproblem<Entry>&, Apart<Entry>&, std::vector<std::uint32_t>&,   \
                                                  const std::vector<bool>&);                                                      \
    template Score BestFirst<Entry>::bound_set(Worker&, const Subproblem<Entry>&, std::int64_t, const std::vector<std::uint8_t>&,   \
                                               std::uint8_t, Score);                                                              \
    template void BestFirst<Entry>::bound_by_sets_apart(Worker&, std::int64_t);
CONTREE_APART(NarrowEntry)
CONTREE_APART(WideEntry)
#undef CONTREE_APART

}  // namespace contree
