#include "search/bench.hpp"

#include "bounds/class_count.hpp"
#include "search/first_trees.hpp"

namespace contree {

template <class Entry>
Bench<Entry>::Bench(const Subproblem<Entry>& root, DepthTwo<Entry>& depth_two, const Kernel& kernel, Cache& cache,
                    Arena& memory, Statistics& statistics, const Control& control)
    : arena(memory), batches(kernel, when_stopped(control)), depth_two_(depth_two), movers_(*kernel.movers), cache_(cache),
      statistics_(statistics), control_(control), columns_(root.features),
      ranks_(table_.take<RowRank>(std::size_t{root.rows} * root.features)),
      class_of_(classes_of_rows(root)) {
    using P = Packed<Entry>;
    // Rows come in any order below, and the first of them would ask the system for all pages at once.
    in_stretches(root.rows, halt(), [&](Row begin, Row end) { std::fill(ranks_ + begin * columns_, ranks_ + end * columns_, RowRank{0}); });
    for (std::uint32_t f = 0; f < root.features; ++f) {
        column_of_.resize(root.feature[f] + std::size_t{1}, -1);
        column_of_[root.feature[f]] = static_cast<std::int32_t>(f);
        const Entry* const order = root.order(f);
        // After a stop it is unfinished, and nothing is asked of it.
        for_rows(root, [&](Row k) { ranks_[std::size_t{P::row(order[k])} * columns_ + f] = static_cast<RowRank>(P::rank(order[k])); });
    }
}

namespace {

// Names of what is kept.  The search's own have their depth and size; exact subtrees minus their depth, from -3 down.
enum : std::int64_t { two_key = -1, plain_key = -2, rough_key = -1000, once_key = -1001 };
static_assert(-rough_key > deepest_first_tree);

}  // namespace

template <class Entry>
Outcome Bench<Entry>::two(const Subproblem<Entry>& sub) {
    Cache::Key key = cache_.key(sub.origin, sub.rows, two_key);
    Outcome known = cache_.find(key);
    if (known.proved()) return known;
    Outcome found = depth_two_.solve(sub, any_leaves, 0, unreached, {}, nullptr, arena, statistics_);
    if (found.proved() && !stopped()) cache_.store(std::move(key), found);
    return found;
}

template <class Entry>
Outcome Bench<Entry>::two_below(const Subproblem<Entry>& sub, Score target) {
    Cache::Key key = cache_.key(sub.origin, sub.rows, two_key);
    Outcome known = cache_.find(key);
    if (known.proved() || known.lower >= target) return known;
    Outcome found = depth_two_.solve(sub, any_leaves, 0, target, {}, nullptr, arena, statistics_);
    if (!stopped()) cache_.store(std::move(key), found);
    return found;
}

template <class Entry>
Outcome Bench<Entry>::rough_two(const Subproblem<Entry>& sub) {
    constexpr Score slack = 2;
    if (Outcome exact = cache_.find(cache_.key(sub.origin, sub.rows, two_key)); exact.proved()) return exact;
    Cache::Key key = cache_.key(sub.origin, sub.rows, rough_key);
    Outcome known = cache_.find(key);
    if (!known.plan.empty()) return known;
    Outcome found = depth_two_.solve(sub, any_leaves, 0, unreached, {}, nullptr, arena, statistics_, slack);
    if (!stopped()) cache_.store(std::move(key), found);
    return found;
}

template <class Entry>
Outcome Bench<Entry>::plain_two(const Subproblem<Entry>& sub) {
    Cache::Key key = cache_.key(sub.origin, sub.rows, plain_key);
    Outcome known = cache_.find(key);
    if (known.proved()) return known;
    const Outcome open = two(sub);
    Outcome found = plain(sub, open.plan);
    found.lower = open.lower;
    if (found.proved() && !stopped()) cache_.store(std::move(key), found);
    return found;
}

// Searched once for the same rows: whoever asks again would only find the same.
template <class Entry>
Outcome Bench<Entry>::exact(const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree) {
    if (!solve_exact || tree.upper == 0 || stopped()) return tree;
    Cache::Key key = cache_.key(sub.origin, sub.rows, -depth);
    Outcome known = cache_.find(key);
    if (known.plan.empty()) {
        const double share = static_cast<double>(sub.rows) / static_cast<double>(class_of_.size());
        const Outcome found = solve_exact(sub, depth, tree.upper, static_cast<std::int64_t>(share * static_cast<double>(exact_budget)));
        known = found.upper < tree.upper && !stopped() ? plain(sub, found.plan) : tree;
        known.lower = 0;
        if (!stopped()) cache_.store(std::move(key), known);
    }
    return known.upper < tree.upper ? known : tree;
}

template <class Entry>
Outcome Bench<Entry>::once(const Subproblem<Entry>& sub, const Outcome& tree, const std::function<Outcome()>& make) {
    Cache::Key key = cache_.key(sub.origin, sub.rows, once_key);
    Outcome known = cache_.find(key);
    if (known.plan.empty()) {
        known = make();
        known.lower = 0;
        if (!stopped()) cache_.store(std::move(key), known);
    }
    return known.upper < tree.upper && !stopped() ? known : tree;
}

template <class Entry>
Outcome Bench<Entry>::plain(const Subproblem<Entry>& sub, const Plan& plan) {
    const auto fill = [&](auto&& self, const Subproblem<Entry>& part, const Step* step) -> Outcome {
        Outcome alone = leaf(part);
        if (step->feature == Step::leaf || alone.upper == 0 || part.features == 0 || stopped()) return alone;
        const Split at = locate(part, *step, halt());
        if (step->feature == Step::stump) count_pass(part);
        if (at.z == 0) return alone;
        const Step end{Step::leaf, 0};
        const bool stump = step->feature == Step::stump;
        Arena::Frame frame(arena);
        const Children<Entry> children = split(part, at);
        const Outcome left = self(self, children.left, stump ? &end : step + 1);
        const Outcome right = self(self, children.right, stump ? &end : end_of(step + 1));
        if (left.upper + right.upper >= alone.upper) return alone;
        return {0, left.upper + right.upper, join(step_at(part, at), left.plan, right.plan)};
    };
    return fill(fill, sub, plan.data());
}

template <class Entry>
Outcome Bench<Entry>::leaf(const Subproblem<Entry>& sub) const {
    std::uint32_t largest = 0;
    for (std::uint32_t c = 1; c < sub.classes; ++c)
        if (sub.class_mass(c) > sub.class_mass(largest)) largest = c;
    return {0, leaf_errors(sub), {Step{Step::leaf, class_of_[sub.origin[sub.class_begin[largest]]]}}};
}

template <class Entry>
Children<Entry> Bench<Entry>::split(const Subproblem<Entry>& sub, const Split& at) {
    return split_rows(sub, at.f, at.z, true, movers_, arena, when_stopped(control_));
}

template <class Entry>
Step Bench<Entry>::step_at(const Subproblem<Entry>& sub, const Split& at) const {
    return {static_cast<std::int32_t>(sub.feature[at.f]), sub.rank_left_of(at.f, at.z)};
}

template <class Entry>
typename Bench<Entry>::Guide Bench<Entry>::guide(const Step* begin) const {
    Guide guide;
    const auto add = [&](auto&& self, const Step* step) -> const Step* {
        const std::size_t at = guide.hops.size();
        assert(step->feature != Step::stump);
        if (step->feature == Step::leaf) {
            guide.hops.push_back({-1, step->rank, 0});
            return step + 1;
        }
        guide.hops.push_back({column_of_[static_cast<std::size_t>(step->feature)], step->rank, 0});
        const Step* const right = self(self, step + 1);
        guide.hops[at].right = static_cast<std::uint32_t>(guide.hops.size());
        return self(self, right);
    };
    add(add, begin);
    return guide;
}

template <class Entry>
Score Bench<Entry>::errors(const Subproblem<Entry>& sub, const Plan& plan) const {
    const Guide down = guide(plan.data());
    Score wrong = 0;
    for_rows(sub, [&](Row r) {
        if (told(down, sub.origin[r]) != class_of_[sub.origin[r]]) wrong += sub.weight_of(r);
    });
    return wrong;
}

template class Bench<NarrowEntry>;
template class Bench<WideEntry>;

}  // namespace contree
