// B6 in the search: the part of BestFirst that cuts a node's rows into strips, and uses them.
//
// To solve all strips of all features costs about as much as a few splits of the node.  So they are cut where a node is
// large enough to need many splits, and not so large that even this takes long, and where a strip has, at the rate of the best
// tree, ten errors or more (Wilt at depth three: 18 % more instructions without that); a node takes over those of a solved
// subset of its rows that is not much smaller; and if the first feature's strips make up too little, no more are cut.
// Depth three and two classes alone: with more classes a strip costs more than it saves (Fault at depth three: 14 %
// fewer row visits, 28 % more time), and above depth three it has not been tried.
#include "bounds/class_count.hpp"
#include "search/best_first.hpp"

namespace contree {

namespace {

// By rank, what holds for every superset of the rows.
template <class Entry>
void keep_strips(const Subproblem<Entry>& sub, const std::vector<Strips>& strips, Profile& profile) {
    using P = Packed<Entry>;
    profile.strip_mass = sub.mass;
    for (std::uint32_t f = 0; f < sub.features; ++f)
        for (const Strips::Strip& strip : strips[f].all())
            profile.strips.push_back({sub.feature[f], P::rank(sub.order(f)[strip.begin]), P::rank(sub.order(f)[strip.end - 1]), strip.errors});
}

template <class Entry>
std::vector<Strips> inherited_strips(const Subproblem<Entry>& sub, const Profile& subset) {
    using P = Packed<Entry>;
    std::vector<Strips> strips(sub.features);
    std::uint32_t f = 0;
    Position z = 0;
    for (const ProfileStrip& strip : subset.strips) {
        for (; f < sub.features && sub.feature[f] < strip.feature; ++f) z = 0;
        if (f == sub.features) break;
        if (sub.feature[f] != strip.feature) continue;
        const auto behind = [&](Rank rank) {
            const Entry* const order = sub.order(f);
            return static_cast<Position>(std::partition_point(order + z, order + sub.rows, [&](Entry e) { return P::rank(e) < rank; }) - order);
        };
        const Position begin = behind(strip.first);
        z = behind(strip.last + 1);
        strips[f].add({begin, z, strip.errors});
    }
    return strips;
}

}  // namespace

template <class Entry>
void BestFirst<Entry>::find_strips(Worker& worker, Node& node, const Question& question) {
    constexpr std::uint64_t most_cells = 1'000'000;
    const Subproblem<Entry>& sub = *node.sub;
    if (!options_.switches.strips || node.depth != 3 || sub.classes != 2 || sub.limited() || question.size.limited() || !rules_.objective.plain() || worker.work_end != Worker::endless) return;
    const std::uint64_t cells = std::uint64_t{sub.rows} * sub.features, least_cells = static_cast<std::uint64_t>(options_.switches.strip_cells);
    if (cells < least_cells || cells > most_cells) return;
    const bool errors_are_many = static_cast<double>(node.limit()) * options_.switches.strip_rows >= 10.0 * static_cast<double>(sub.mass);
    if (!errors_are_many && least_cells > 0) return;
    const Profile* const subset = question.sources.subset;
    if (subset != nullptr && !subset->strips.empty() && 5 * subset->strip_mass >= 4 * sub.mass) {
        node.strips = inherited_strips(sub, *subset);
        if (node.learnt != nullptr) {
            node.learnt->strips = subset->strips;
            node.learnt->strip_mass = subset->strip_mass;
        }
        return;
    }
    std::vector<Strips> strips(sub.features);
    for (std::uint32_t f = 0; f < sub.features && !stopping(); ++f) {
        cut_strips(worker, node, sub, f, 0, strips[f]);
        if (f == 0 && 4 * strips[f].between(0, sub.rows) < node.limit()) break;
    }
    if (stopping()) return;   // a halt leaves features out
    if (node.learnt != nullptr) keep_strips(sub, strips, *node.learnt);
    node.strips = std::move(strips);
}

// The rows in halves, down to strips, each solved.
template <class Entry>
void BestFirst<Entry>::cut_strips(Worker& worker, const Node& node, const Subproblem<Entry>& sub, std::uint32_t f,
                                  Position offset, Strips& strips) {
    const auto size = static_cast<std::uint64_t>(options_.switches.strip_rows);   // few rows cost nothing by themselves
    const auto solve_this = [&] {
        const Score leaf = leaf_errors(sub);
        const bool alone = leaf == 0 || sub.features == 0;
        ++worker.statistics.strips_solved;
        strips.add({offset, offset + sub.rows,
                    alone ? leaf : worker.depth_two.solve(sub, most_leaves(2), 0, unreached, {}, nullptr, worker.arena, worker.statistics).lower});
    };
    if (f == sub.features && sub.rows > 8 * size) return;   // all of one value, and more to solve than it may save
    if (sub.rows <= size + size / 2 || f == sub.features) return solve_this();
    const Cuts cuts = sub.cuts(f);
    const Position z = cuts.at(std::min(cuts.below(sub.rows / 2), cuts.count - 1), 1, sub.rows);
    Arena::Frame frame(worker.arena);
    const Children<Entry> halves = split_rows(sub, f, z, false, *kernel_.movers, worker.arena, when_stopped(control_));
    const auto number_in = [&](const Subproblem<Entry>& half) {
        return static_cast<std::uint32_t>(std::find(half.feature, half.feature + half.features, sub.feature[f]) - half.feature);
    };
    cut_strips(worker, node, halves.left, number_in(halves.left), offset, strips);
    cut_strips(worker, node, halves.right, number_in(halves.right), offset + z, strips);
}

// The node is locked, or not open yet.
template <class Entry>
void BestFirst<Entry>::raise_by_strips(const Node& node, Segment& s, Statistics& statistics) const {
    if (node.strips.empty() || node.strips[s.f].empty()) return;
    const Score limit = node.limit();
    if (s.bound >= limit) return;
    const Position u = node.sub->position_of(s.f, s.u.z), v = node.sub->position_of(s.f, s.v.z);
    Run run = live_run(s, *node.sub, limit, rules_);   // the other thresholds are closed
    trim_by_strips(node, s, limit, run);
    const Score bound = run.empty() ? limit : s.u.left + s.v.right + node.strips[s.f].around(u, run.low, run.high, v);
    statistics.closed_by_strips += bound >= limit;
    s.bound = std::max(s.bound, std::min(bound, limit));
}

// Takes off a run's ends what the strips beside them close.
template <class Entry>
void BestFirst<Entry>::trim_by_strips(const Node& node, const Segment& s, Score limit, Run& run) const {
    if (node.strips.empty() || node.strips[s.f].empty() || !rules_.similarity || run.empty()) return;
    const Subproblem<Entry>& sub = *node.sub;
    const Strips& strips = node.strips[s.f];
    const Position u = sub.position_of(s.f, s.u.z), v = sub.position_of(s.f, s.v.z);
    constexpr Run none{1, 0, 0, 0};
    for (;;) {   // the further it reaches, the more strips count
        const Score reach = s.u.z + rules_.total(s.u) - limit + 2 * strips.between(u, run.low);   // masses up to this are closed
        if (sub.mass_at(s.f, run.low) > reach) break;
        if (reach + 1 >= s.v.z) return void(run = none);
        run.low = sub.position_of(s.f, reach + 1);
    }
    for (;;) {
        const Score reach = s.v.z - (rules_.total(s.v) - limit) - 2 * strips.between(run.high, v);   // masses from this on are closed
        if (sub.mass_at(s.f, run.high) < reach) break;
        if (reach <= s.u.z + 1) return void(run = none);
        run.high = sub.position_of(s.f, reach) - 1;
    }
    if (run.low > run.high) return void(run = none);
    const Cuts cuts = sub.cuts(s.f);
    run.first = cuts.below(run.low);
    run.last = cuts.below(run.high + 1) - 1;
}

#define CONTREE_STRIPS(Entry)                                                                                              \
    template void BestFirst<Entry>::find_strips(Worker&, Node&, const Question&);                                          \
    template void BestFirst<Entry>::cut_strips(Worker&, const Node&, const Subproblem<Entry>&, std::uint32_t, Position, Strips&); \
    template void BestFirst<Entry>::raise_by_strips(const Node&, Segment&, Statistics&) const;                             \
    template void BestFirst<Entry>::trim_by_strips(const Node&, const Segment&, Score, Run&) const;
CONTREE_STRIPS(NarrowEntry)
CONTREE_STRIPS(WideEntry)
#undef CONTREE_STRIPS

}  // namespace contree
