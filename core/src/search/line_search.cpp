#include "search/line_search.hpp"

#include "search/look_ahead.hpp"

namespace contree {

namespace {

template <class Entry>
class LineSearch {
public:
    LineSearch(Bench<Entry>& bench, const Subproblem<Entry>& sub, const Outcome& tree)
        : bench_(bench), sub_(sub), best_(tree), at_(tree.plan.size() < 3 ? Split{0, 0} : place_of(sub, tree.plan.front())) {}

    Outcome run() {
        for (const Split& split : promising_splits(bench_, sub_)) better(split);
        if (at_.z == 0) return best_;
        for (Row step = std::max<Row>(1, sub_.rows / 16); step > 0 && step >= sub_.rows / 512; step /= 2) {
            while (at_.z > step && better(near(at_.z - step))) {}
            while (at_.z + step < sub_.rows && better(near(at_.z + step))) {}
        }
        return best_;
    }

private:
    // The threshold of the present feature that is at this place, or the next.
    Split near(Position wanted) const {
        const Cuts cuts = sub_.cuts(at_.f);
        return {at_.f, cuts.at(std::min(cuts.below(wanted), cuts.count - 1), 1, sub_.rows)};
    }

    // Is it better than the present split?  Then it is the present one.
    bool better(const Split& split) {
        if (bench_.stopped() || !sub_.allows(split.f, split.z)) return false;
        Arena::Frame frame(bench_.arena);
        const Children<Entry> children = bench_.split(sub_, split);
        const Outcome left = bench_.two_below(children.left, best_.upper);
        if (left.upper >= best_.upper) return false;
        const Outcome right = bench_.two_below(children.right, best_.upper - left.upper);
        if (right.upper >= best_.upper - left.upper || bench_.stopped()) return false;
        best_ = {0, left.upper + right.upper, join(bench_.step_at(sub_, split), left.plan, right.plan)};
        at_ = split;
        return true;
    }

    Bench<Entry>& bench_;
    const Subproblem<Entry>& sub_;
    Outcome best_;
    Split at_;   // its first split; z = 0: none
};

}  // namespace

template <class Entry>
Outcome better_three(Bench<Entry>& bench, const Subproblem<Entry>& sub, const Outcome& tree) {
    if (tree.upper == 0 || sub.features == 0 || bench.stopped()) return tree;
    return bench.once(sub, tree, [&] {
        const Outcome best = LineSearch<Entry>(bench, sub, tree).run();
        return best.upper < tree.upper ? bench.plain(sub, best.plan) : tree;
    });
}

template Outcome better_three(Bench<NarrowEntry>&, const Subproblem<NarrowEntry>&, const Outcome&);
template Outcome better_three(Bench<WideEntry>&, const Subproblem<WideEntry>&, const Outcome&);

}  // namespace contree
