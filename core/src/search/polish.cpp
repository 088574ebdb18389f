#include "search/polish.hpp"

#include "bounds/class_count.hpp"
#include "search/first_trees.hpp"
#include "search/line_search.hpp"

namespace contree {

namespace {

// Where to split so that two given subtrees make the fewest errors.
struct Place {
    Split at;           // z = 0: all rows right, z = rows: all rows left
    Score errors;
};

// Errors at position z of a feature: of the left subtree on the rows before it, of the right one on those behind.
// Only rows that one subtree tells rightly and the other wrongly move that sum, by what they weigh.
template <class Entry>
struct Tellings {
    std::vector<Score> gain;   // by row: errors more, if it goes left
    Score all_right = 0, all_left = 0, present = 0, least = 0;
    Position z = 0;            // of the present split

    Tellings(const Bench<Entry>& bench, const Subproblem<Entry>& sub, const Step* plan) : gain(sub.rows) {
        const auto left = bench.guide(plan + 1), right = bench.guide(end_of(plan + 1));
        bench.for_rows(sub, [&](Row r) {
            const Row origin = sub.origin[r];
            const std::uint32_t label = bench.class_of(origin);
            const Score weight = sub.weight_of(r);
            const Score wrong_left = bench.told(left, origin) != label ? weight : 0;
            const Score wrong_right = bench.told(right, origin) != label ? weight : 0;
            const bool goes_left = bench.goes_left(*plan, origin);
            gain[r] = wrong_left - wrong_right;
            all_right += wrong_right;
            all_left += wrong_left;
            least += std::min(wrong_left, wrong_right);
            present += goes_left ? wrong_left : wrong_right;
            z += goes_left;
        });
    }
};

// A prefix sum over each feature's order finds the best place.  The present split stays unless another is better.
template <class Entry>
Place best_place(Bench<Entry>& bench, const Subproblem<Entry>& sub, const Step* plan) {
    using P = Packed<Entry>;
    const Tellings<Entry> told(bench, sub, plan);
    Place best{{0, 0}, told.all_right};
    if (told.all_left < best.errors) best = {{0, sub.rows}, told.all_left};
    if (told.z > 0 && told.z < sub.rows && told.present <= best.errors)
        if (const Split at = place_of(sub, *plan); at.z > 0 && sub.allows(at.f, at.z)) best = {at, told.present};
    if (best.errors == told.least) return best;
    bench.count_pass(sub);
    for (std::uint32_t f = 0; f < sub.features && !bench.stopped(); ++f) {
        const Entry* const order = sub.order(f);
        Score errors = told.all_right;
        for (Row k = 0; k + 1 < sub.rows; ++k) {
            errors += told.gain[P::row(order[k])];
            if (errors < best.errors && sub.cut_behind(f, k) && sub.allows(f, k + 1)) best = {{f, k + 1}, errors};
        }
    }
    return best;
}

}  // namespace

template <class Entry>
Outcome polish_once(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Step* plan, std::int64_t bottom) {
    Outcome alone = bench.leaf(sub);
    if (alone.upper == 0 || depth == 0 || sub.features == 0 || bench.stopped()) return alone;
    if (depth == 1) return bench.plain(sub, {Step{Step::stump, 0}});
    if (depth == 2) return bench.plain_two(sub);
    if (plan->feature == Step::leaf) {
        const Outcome fresh = rollout_tree(bench, sub, depth);
        return bench.plain(sub, fresh.plan);
    }
    if (depth == 3 && depth <= bottom && bench.along_features) return better_three(bench, sub, polish_once(bench, sub, depth, plan));
    if (depth <= bottom) return bench.exact(sub, depth, polish_once(bench, sub, depth, plan, depth - 1));
    const Place place = best_place(bench, sub, plan);
    if (place.at.z == 0) return polish_once(bench, sub, depth, end_of(plan + 1), bottom);
    if (place.at.z == sub.rows) return polish_once(bench, sub, depth, plan + 1, bottom);
    Arena::Frame frame(bench.arena);
    const Children<Entry> children = bench.split(sub, place.at);
    const Outcome left = polish_once(bench, children.left, depth - 1, plan + 1, bottom);
    const Outcome right = polish_once(bench, children.right, depth - 1, end_of(plan + 1), bottom);
    if (left.upper + right.upper >= alone.upper) return alone;
    return {0, left.upper + right.upper, join(bench.step_at(sub, place.at), left.plan, right.plan)};
}

template <class Entry>
Outcome polish(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree, std::int64_t bottom) {
    while (tree.upper > 0 && !bench.stopped()) {
        Outcome better = polish_once(bench, sub, depth, tree.plan.data(), bottom);
        if (better.upper >= tree.upper) break;
        tree = std::move(better);
    }
    return tree;
}

template <class Entry>
std::vector<Split> other_places(Bench<Entry>& bench, const Subproblem<Entry>& sub, const Step* plan, Row distance) {
    using P = Packed<Entry>;
    const Tellings<Entry> told(bench, sub, plan);
    const Split present = place_of(sub, *plan);
    bench.count_pass(sub);
    std::vector<Place> places;
    for (std::uint32_t f = 0; f < sub.features && !bench.stopped(); ++f) {
        const Entry* const order = sub.order(f);
        Score errors = told.all_right;
        Place best{{f, 0}, unreached};
        for (Row k = 0; k + 1 < sub.rows; ++k) {
            errors += told.gain[P::row(order[k])];
            if (errors >= best.errors || !sub.cut_behind(f, k) || !sub.allows(f, k + 1)) continue;
            if (f == present.f && k + 1 < present.z + distance && k + 1 + distance > present.z) continue;
            best = {{f, k + 1}, errors};
        }
        if (best.at.z > 0) places.push_back(best);
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.errors < b.errors; });
    std::vector<Split> splits;
    for (const Place& place : places) splits.push_back(place.at);
    return splits;
}

template <class Entry>
Outcome polish_below(Bench<Entry>& bench, const Subproblem<Entry>& sub, std::int64_t depth, const Split& at, const Plan& plan) {
    Arena::Frame frame(bench.arena);
    const Children<Entry> children = bench.split(sub, at);
    const Outcome left = polish_once(bench, children.left, depth - 1, plan.data() + 1);
    const Outcome right = polish_once(bench, children.right, depth - 1, end_of(plan.data() + 1));
    return {0, left.upper + right.upper, join(bench.step_at(sub, at), left.plan, right.plan)};
}

template std::vector<Split> other_places(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, const Step*, Row);
template std::vector<Split> other_places(Bench<WideEntry>&, const Subproblem<WideEntry>&, const Step*, Row);
template Outcome polish_below(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::int64_t, const Split&, const Plan&);
template Outcome polish_below(Bench<WideEntry>&, const Subproblem<WideEntry>&, std::int64_t, const Split&, const Plan&);
template Outcome polish_once(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::int64_t, const Step*, std::int64_t);
template Outcome polish_once(Bench<WideEntry>&, const Subproblem<WideEntry>&, std::int64_t, const Step*, std::int64_t);
template Outcome polish(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, std::int64_t, Outcome, std::int64_t);
template Outcome polish(Bench<WideEntry>&, const Subproblem<WideEntry>&, std::int64_t, Outcome, std::int64_t);

}  // namespace contree
