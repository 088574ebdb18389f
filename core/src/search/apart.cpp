// B7 in the search: the part of BestFirst that proves an early bound for all rows by sets of them that lie apart.
//
// At depth six an exact search proves nothing for minutes, as each of its levels asks for two sides of every feature at the
// least.  Sets of rows that are hard (hard_rows.hpp) and serve several features at once need fewer and smaller subproblems.
#include "search/best_first.hpp"

namespace contree {

namespace {

constexpr std::int64_t lowest_depth = 3;   // is left to the exact search, which knows of sums of both sides
constexpr int most_cuts = 6;               // of one feature, where a set proves too little
constexpr Row least_rows = 8;              // fewer are told apart by any tree
constexpr std::size_t pairs_a_leaf = 12, least_pairs_a_leaf = 8;   // to begin with, and for hard rows to do alone
constexpr std::size_t most_words_kept = 4'000'000;                 // of sets, 16 MB: what is more is proved again where it is needed

}  // namespace

// Is `apart_.target` proved of theta_depth(sub)?  If so, `rows` are those that prove it.  Where a set proves less than the target, but more than
// was known before, the target is lowered to that; all sets so far prove it too.  Sizes count the hard rows.  Where the worker's
// work ends first, the path and the sets keep what is proved, and the same question goes on from there.
//
// A cut in the middle of the hard rows is tried first, for a group of features.  Where one of its two sets proves too
// little, that is the end of a quick pass; a patient one then takes all rows of a side, for one feature alone: what lies beside a set that is
// proved, or else what is left in the middle.  Depth three is left to the exact search, which knows of sums of both sides: Eeg at depth six 5
// instead of 1 for four fifths of the work.
template <class Entry>
bool BestFirst<Entry>::bound_apart(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, std::vector<Row>& rows) {
    if (depth <= lowest_depth || sub.features == 0) {
        const Score proved = solve(worker, {sub, {depth, size_.leaves, sub.rows}, 0, apart_.target, 0, {}, nullptr, nullptr}).lower;
        if (worker.over() || stopping() || proved <= apart_.lower) return false;
        apart_.target = std::min(apart_.target, proved);
        rows.assign(sub.origin, sub.origin + sub.rows);
        return true;
    }
    std::vector<std::uint8_t> counted(sub.rows);
    for (Row r = 0; r < sub.rows; ++r) counted[r] = apart_.hard[sub.origin[r]];
    Apart<Entry> apart(sub, counted);
    if (apart.all() < 2 * least_rows) return false;
    Family<Entry> family(sub, counted, when_stopped(control_));
    const auto level = static_cast<std::size_t>(size_.depth - depth);
    if (apart_.path.size() == level) apart_.path.push_back({proved_below(depth).size(), {0, apart.all()}});
    add_known_sets(worker, sub, depth, family);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        while (!family.answered(f)) {
            const typename ApartPass::Step step = apart_.path[level].step;
            const typename ApartPass::Step fresh{0, apart.all()};
            std::vector<std::uint8_t> outside(sub.rows);
            std::optional<typename Family<Entry>::Side> side;
            if (step.cuts == 0) {
                apart.cut(f, apart.all() / 2);
                join_features(worker, sub, apart, f, family);
                const std::uint8_t set = step.low_proved ? Apart<Entry>::high : Apart<Entry>::low;
                std::transform(apart.sets().begin(), apart.sets().end(), outside.begin(), [&](std::uint8_t one) { return one != set; });
            } else {
                side = family.side(f, step.few, step.many, least_rows);
                if (side) outside = family.outside(f, *side);
            }
            if (step.cuts == (apart_.patient ? most_cuts : 1) || (step.cuts > 0 && !side) || apart_.words_kept > most_words_kept) {
                leave_apart(level, depth);
                return false;
            }
            std::vector<Row> found;
            const bool proved = bound_set(worker, sub, depth, outside, found);
            if (stopping() || worker.over()) return false;
            typename ApartPass::Step& now = apart_.path[level].step;   // the path below has come and gone
            if (proved) {
                keep_set(depth, family, std::move(found));
                now.low_proved = true;
                if (family.answered(f)) now = fresh;
            } else {
                ++now.cuts;
                if (side) (side->low ? now.few : now.many) = side->lows;
            }
        }
    }
    rows = family.rows_of_pairs();
    leave_apart(level, depth);
    return !stopping();
}

// Features that are not answered and have the two sets of a cut of f apart too, if these give up a few rows; after a stop not all.
template <class Entry>
void BestFirst<Entry>::join_features(Worker& worker, const Subproblem<Entry>& sub, Apart<Entry>& apart, std::uint32_t f, const Family<Entry>& family) {
    const auto least = static_cast<Row>(apart_.kept * apart.all() / 2);
    std::vector<std::pair<Row, std::uint32_t>> near;
    for (std::uint32_t g = f + 1; g < sub.features && !stopping(); ++g)
        if (!family.answered(g))
            if (const Row kept = apart.kept(g); kept >= least) near.push_back({apart.all() - kept, g});
    std::sort(near.begin(), near.end());
    for (const auto& [lost, g] : near)
        if (!stopping()) apart.join(g, least);
    worker.cells_moved += std::int64_t{sub.rows} * (sub.features - f + 2 * static_cast<std::uint32_t>(near.size()));
}

// The set of the rows that are not outside, one level down.
template <class Entry>
bool BestFirst<Entry>::bound_set(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, const std::vector<std::uint8_t>& outside,
                                 std::vector<Row>& rows) {
    const auto count = static_cast<Row>(std::count(outside.begin(), outside.end(), 0));
    if (stopping() || worker.over() || count == 0 || count == sub.rows) return false;
    Arena::Frame frame(worker.arena);
    worker.cells_moved += std::int64_t{sub.rows} * sub.features + Worker::cells_of_a_split;
    const Subproblem<Entry> part = part_rows(sub, outside.data(), count, true, *kernel_.movers, worker.arena, when_stopped(control_)).left;
    const bool proved = !stopping() && bound_apart(worker, part, depth - 1, rows);
    worker.statistics.sets_apart += !worker.over();
    return proved;
}

template <class Entry>
std::deque<ProvedSet>& BestFirst<Entry>::proved_below(std::int64_t depth) {
    return apart_.proved[static_cast<std::size_t>(depth - 1)];
}

// Sets that were proved for other rows, or before the work ended, and lie in these.
template <class Entry>
void BestFirst<Entry>::add_known_sets(Worker& worker, const Subproblem<Entry>& sub, std::int64_t depth, Family<Entry>& family) {
    std::vector<std::uint8_t> in(root_.rows, 0);
    for (Row r = 0; r < sub.rows; ++r) in[sub.origin[r]] = 1;
    worker.cells_moved += root_.rows / 8 + sub.rows;
    for (const ProvedSet& set : proved_below(depth)) {
        const auto out = std::find_if(set.rows.begin(), set.rows.end(), [&](Row row) { return !in[row]; });
        worker.cells_moved += out - set.rows.begin();
        if (out == set.rows.end()) family.add(set);
    }
}

template <class Entry>
void BestFirst<Entry>::keep_set(std::int64_t depth, Family<Entry>& family, std::vector<Row> rows) {
    ProvedSet& set = proved_below(depth).emplace_back(family.known(std::move(rows), static_cast<std::size_t>(root_.feature[root_.features - 1]) + 1));
    apart_.words_kept += set.words();
    family.add(set);
}

// Nothing more is asked about this part of the path.  What it proved stays for others, as long as that is not too much.
template <class Entry>
void BestFirst<Entry>::leave_apart(std::size_t level, std::int64_t depth) {
    std::deque<ProvedSet>& sets = proved_below(depth);
    while (apart_.words_kept > most_words_kept / 2 && sets.size() > apart_.path[level].known) {
        apart_.words_kept -= sets.back().words();
        sets.pop_back();
    }
    apart_.path.resize(level);
}

template <class Entry>
void BestFirst<Entry>::bound_by_sets_apart(Worker& worker, std::int64_t budget) {
    const std::int64_t end = worker.work() + budget;
    do pass_apart(worker, end);
    while (worker.work() < end && !apart_.done() && !stopping());
}

// One pass after the other, each against twice the bound: a quick one, and where that raises nothing, a patient
// one.  Those that fall short are followed by twice as many hard rows.  Where there are too few of these, or when all have had their
// turn, all rows are taken, with sizes counted in hard ones; and then larger sets, for smaller groups of features.
template <class Entry>
void BestFirst<Entry>::pass_apart(Worker& worker, std::int64_t work_end) {
    const std::size_t leaves = std::size_t{1} << std::min<std::int64_t>(size_.depth, 20), all_rows = root_.rows;
    const std::int64_t before = worker.work(), sets = worker.statistics.sets_apart;
    const Score a_row = std::max<Score>(1, root_.mass / root_.rows) * rules_.objective.error;   // what an error on it costs, on average
    worker.work_end = work_end;
    if (apart_.pairs == 0) apart_.pairs = std::min(pairs_a_leaf * leaves, all_rows);
    if (apart_.path.empty()) {
        const Outcome best = incumbent();
        apart_.hard = stages_->hard_rows(best, apart_.pairs);
        const Score target = 2 * best.lower + a_row;
        if (apart_.proved.empty() || target > apart_.target) {
            apart_.forget();
            apart_.proved.resize(static_cast<std::size_t>(size_.depth));
        }
        apart_.lower = best.lower;
        apart_.target = target;
    }
    const auto count = static_cast<Row>(std::count(apart_.hard.begin(), apart_.hard.end(), 1));
    const bool all = apart_.pairs == all_rows || count == all_rows || count < least_pairs_a_leaf * 2 * leaves;
    Arena::Frame frame(worker.arena);
    std::vector<std::uint8_t> outside(all_rows);
    std::transform(apart_.hard.begin(), apart_.hard.end(), outside.begin(), [](std::uint8_t one) { return !one; });
    Subproblem<Entry> part = all ? root_ : part_rows(root_, outside.data(), count, true, *kernel_.movers, worker.arena, when_stopped(control_)).left;
    part.leaf = {};
    if (stopping()) return;
    std::vector<Row> rows;
    const bool proved = bound_apart(worker, part, size_.depth, rows);
    if (proved) raise(apart_.target);
    const std::int64_t took = worker.work() - before;
    apart_.work += took;
    apart_.next = worker.statistics.sets_apart > sets ? 0 : 2 * took;   // a set that needs more than this
    if (!apart_.path.empty() || stopping()) return;
    apart_.patient = !apart_.patient && !proved;
    if (apart_.patient || (proved && apart_.target >= 2 * apart_.lower + a_row)) return;
    if (!all) apart_.pairs = count < 2 * apart_.pairs ? all_rows : std::min(2 * apart_.pairs, all_rows);
    else apart_.kept = (1 + apart_.kept) / 2;
}

#define CONTREE_APART(Entry)                                                                                                      \
    template bool BestFirst<Entry>::bound_apart(Worker&, const Subproblem<Entry>&, std::int64_t, std::vector<Row>&);               \
    template void BestFirst<Entry>::join_features(Worker&, const Subproblem<Entry>&, Apart<Entry>&, std::uint32_t,                 \
                                                  const Family<Entry>&);                                                          \
    template bool BestFirst<Entry>::bound_set(Worker&, const Subproblem<Entry>&, std::int64_t, const std::vector<std::uint8_t>&,   \
                                              std::vector<Row>&);                                                                 \
    template std::deque<ProvedSet>& BestFirst<Entry>::proved_below(std::int64_t);                                                 \
    template void BestFirst<Entry>::add_known_sets(Worker&, const Subproblem<Entry>&, std::int64_t, Family<Entry>&);               \
    template void BestFirst<Entry>::keep_set(std::int64_t, Family<Entry>&, std::vector<Row>);                                     \
    template void BestFirst<Entry>::leave_apart(std::size_t, std::int64_t);                                                       \
    template void BestFirst<Entry>::pass_apart(Worker&, std::int64_t);                                                            \
    template void BestFirst<Entry>::bound_by_sets_apart(Worker&, std::int64_t);
CONTREE_APART(NarrowEntry)
CONTREE_APART(WideEntry)
#undef CONTREE_APART

}  // namespace contree
