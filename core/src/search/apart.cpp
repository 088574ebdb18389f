// B7 in the search: the part of BestFirst that proves an early bound for all rows by sets of them that lie apart.
//
// At depth six an exact search proves nothing for minutes, as each of its levels asks for two sides of every feature at the
// least.  Sets of rows that are hard (hard_rows.hpp) and serve several features at once need fewer and smaller subproblems.
#include "search/best_first.hpp"

namespace contree {

namespace {

constexpr double kept_in_group = 0.8;      // of a set's rows, for all features of its group together
constexpr int most_cuts = 4;               // of one feature, where a set proves too little
constexpr Row least_rows = 8;              // fewer are told apart by any tree
constexpr std::size_t pairs_a_leaf = 12, least_pairs_a_leaf = 8;   // to begin with, and for hard rows to do alone

}  // namespace

// A bound of theta_depth(sub), as far as `target`; of no use unless above `lower`, so that it ends where it cannot be.
// Sizes count the rows that are `hard`, by the ranked table's number.
//
// A cut in the middle of the hard rows is tried first, for a group of features.  Where one of the two sets proves too
// little, that is the end of a quick pass; a patient one (`apart_patient_`) gives it more of the rows, for one feature alone, and leaves depth
// three to the exact search, which knows of sums of both sides.
template <class Entry>
Score BestFirst<Entry>::bound_apart(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, const std::vector<std::uint8_t>& hard,
                                    Score lower, Score target) {
    const auto exactly = [&](Score up_to) { return solve(worker, {sub, {depth, size_.leaves, sub.rows}, 0, up_to, 0, {}, nullptr, nullptr}).lower; };
    if (depth <= 2 || sub.features == 0) return exactly(target);
    std::vector<std::uint8_t> counted(sub.rows);
    for (Row r = 0; r < sub.rows; ++r) counted[r] = hard[sub.origin[r]];
    Apart<Entry> apart(sub, std::move(counted));
    if (apart.all() < 2 * least_rows) return 0;
    std::vector<bool> answered(sub.features, false);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        if (answered[f]) continue;
        Row few = 0, many = apart.all();   // low sets of these sizes prove too little, or leave too little for the high one
        bool proved = false;
        for (int cuts = 0; !proved && cuts < (apart_patient_ && depth > 3 ? most_cuts : 1); ++cuts) {
            const Row lows = few + (many - few) / 2;
            if (lows < least_rows || apart.all() - lows < least_rows) break;
            apart.cut(f, lows);
            const std::vector<std::uint32_t> group = cuts == 0 ? join_features(worker, sub, apart, f, answered) : std::vector<std::uint32_t>{};
            const Score of_low = bound_set(worker, sub, depth, apart.sets(), Apart<Entry>::low, hard, lower, target);
            const Score of_high = of_low > lower ? bound_set(worker, sub, depth, apart.sets(), Apart<Entry>::high, hard, lower, of_low) : 0;
            if (stopping() || worker.over()) return 0;
            if (of_low <= lower) few = lows;
            else if (of_high <= lower) many = lows;
            else {
                proved = true;
                target = std::min({target, of_low, of_high});
                for (const std::uint32_t g : group) answered[g] = true;
            }
        }
        if (!proved) return apart_patient_ && depth == 3 ? exactly(lower + 1) : 0;
    }
    return target;
}

// The features after f that are not answered and have the sets apart too, if these give up a few rows; after a stop not all.
template <class Entry>
std::vector<std::uint32_t> BestFirst<Entry>::join_features(Worker& worker, const Subproblem<Entry>& sub, Apart<Entry>& apart, std::uint32_t f,
                                                           const std::vector<bool>& answered) {
    const auto least = static_cast<Row>(kept_in_group * apart.all() / 2);
    std::vector<std::pair<Row, std::uint32_t>> near;
    for (std::uint32_t g = f + 1; g < sub.features && !stopping(); ++g)
        if (!answered[g])
            if (const Row kept = apart.kept(g); kept >= least) near.push_back({apart.all() - kept, g});
    std::sort(near.begin(), near.end());
    std::vector<std::uint32_t> group;
    for (const auto& [lost, g] : near)
        if (!stopping() && apart.join(g, least)) group.push_back(g);
    worker.cells_moved += std::int64_t{sub.rows} * (sub.features - f + 2 * static_cast<std::uint32_t>(near.size()));
    return group;
}

template <class Entry>
Score BestFirst<Entry>::bound_set(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, const std::vector<std::uint8_t>& sets,
                                  std::uint8_t set, const std::vector<std::uint8_t>& hard, Score lower, Score target) {
    if (stopping() || worker.over()) return 0;
    Arena::Frame frame(worker.arena);
    std::vector<std::uint8_t> outside(sub.rows);
    std::transform(sets.begin(), sets.end(), outside.begin(), [&](std::uint8_t one) { return one != set; });
    const auto rows = static_cast<Row>(std::count(outside.begin(), outside.end(), 0));
    ++worker.statistics.sets_apart;
    worker.cells_moved += std::int64_t{sub.rows} * sub.features + Worker::cells_of_a_split;
    const Subproblem<Entry> part = part_rows(sub, outside.data(), rows, true, *kernel_.movers, worker.arena, when_stopped(control_)).left;
    return stopping() ? 0 : bound_apart(worker, part, depth - 1, hard, lower, target);
}

// Pass after pass, each with twice as many hard rows, as long as another one can be afforded; quick ones, and where that raises
// nothing, patient ones.  Where there are too few hard rows, or when all have had their turn, all rows are taken, with
// sizes counted in hard ones.
template <class Entry>
void BestFirst<Entry>::bound_by_sets_apart(Worker& worker, std::int64_t budget) {
    if (!options_.switches.sets_apart || stages_ == nullptr) return;
    const std::int64_t end = worker.work() + budget;
    worker.work_end = end;
    const Outcome best = incumbent();
    const std::size_t leaves = std::size_t{1} << std::min<std::int64_t>(size_.depth, 20), all_rows = root_.rows;
    if (apart_pairs_ == 0) apart_pairs_ = std::min(pairs_a_leaf * leaves, all_rows);
    std::int64_t last = 0;   // what a pass took
    while (apart_pairs_ <= all_rows && !stopping() && worker.work() + 2 * last < end) {
        const std::int64_t before = worker.work();
        const Score lower = incumbent().lower;
        const std::vector<std::uint8_t> outside = stages_->outside_hard_rows(best, apart_pairs_);
        const auto count = static_cast<Row>(std::count(outside.begin(), outside.end(), 0));
        if (stopping() || count == 0) break;
        const bool all = apart_pairs_ == all_rows || count == all_rows || count < least_pairs_a_leaf * 2 * leaves;
        std::vector<std::uint8_t> hard(all_rows);
        std::transform(outside.begin(), outside.end(), hard.begin(), [](std::uint8_t one) { return !one; });
        Arena::Frame frame(worker.arena);
        Subproblem<Entry> part = all ? root_ : part_rows(root_, outside.data(), count, true, *kernel_.movers, worker.arena, when_stopped(control_)).left;
        part.leaf = {};
        if (stopping()) break;
        const Score proved = bound_apart(worker, part, size_.depth, hard, lower, unreached);
        raise(proved);
        if (worker.over()) break;
        last = worker.work() - before;
        apart_patient_ = !apart_patient_ && proved <= lower;
        if (apart_patient_) continue;
        apart_pairs_ = all ? all_rows + 1 : count < 2 * apart_pairs_ ? all_rows : std::min(2 * apart_pairs_, all_rows);
    }
    worker.work_end = Worker::endless;
}

#define CONTREE_APART(Entry)                                                                                                      \
    template Score BestFirst<Entry>::bound_apart(Worker&, const Subproblem<Entry>&, std::int64_t, const std::vector<std::uint8_t>&, \
                                                 Score, Score);                                                                   \
    template std::vector<std::uint32_t> BestFirst<Entry>::join_features(Worker&, const Subproblem<Entry>&, Apart<Entry>&,          \
                                                                        std::uint32_t, const std::vector<bool>&);                 \
    template Score BestFirst<Entry>::bound_set(Worker&, const Subproblem<Entry>&, std::int64_t, const std::vector<std::uint8_t>&,   \
                                               std::uint8_t, const std::vector<std::uint8_t>&, Score, Score);                     \
    template void BestFirst<Entry>::bound_by_sets_apart(Worker&, std::int64_t);
CONTREE_APART(NarrowEntry)
CONTREE_APART(WideEntry)
#undef CONTREE_APART

}  // namespace contree
