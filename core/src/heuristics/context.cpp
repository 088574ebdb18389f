#include "heuristics/context.hpp"
#include "tree/outcome.hpp"

namespace contree {
namespace {
constexpr Costs loss_alone;
// Names of what is kept, beside the search's own, which are depths.  Exact subtrees have minus their depth.
enum : std::int64_t { two_key = -1, plain_key = -2, rough_key = -1000 };
static_assert(-rough_key > deepest_first_tree);
constexpr Score rough_slack = 2;  // 64ths of the least loss
}  // namespace

std::vector<Split> best_first(std::vector<Scored> scored, std::size_t most) {
    std::stable_sort(scored.begin(), scored.end());
    std::vector<Split> splits;
    for (std::size_t i = 0; i < std::min(most, scored.size()); ++i) splits.push_back(scored[i].at);
    return splits;
}

HeuristicContext::HeuristicContext(const Objective& of, const RowSet& root, const Kernel& kernel,
    const Switches& switches, Cache& cache, Arena& memory, Statistics& counters, const Control& control,
    SolveWithin solve_within)
    : objective(of), arena(memory), statistics(counters),
      batches(of.make_batches(kernel, when_stopped(control))),
      depth_two_(of, kernel, switches, control, &loss_alone), partitioner_(*kernel.partitioner),
      cache_(cache), control_(control), solve_within_(std::move(solve_within)), rows_(root.rows),
      columns_(root.columns()), ranks_(table_.take<Rank>(std::size_t{root.rows} * root.columns())),
      categories_(*root.categories) {
    // Rows come in any order below, and the first of them would ask the system for all pages at once.
    in_chunks(root.rows, halt(),
        [&](Row begin, Row end) { std::fill(ranks_ + begin * columns_, ranks_ + end * columns_, Rank{0}); });
    for (std::uint32_t f = 0; f < root.columns(); ++f) {
        column_of_.resize(root.feature[f] + std::size_t{1}, -1);
        column_of_[root.feature[f]] = static_cast<std::int32_t>(f);
        const Order order = root.order(f);
        // After a stop it is unfinished, and nothing is asked of it.
        for_rows(root, [&](Row k) { ranks_[std::size_t{order.row(k)} * columns_ + f] = order.rank(k); });
    }
}

// The tree that the cache has of these rows under this name; else it is made, and kept unless a stop came.
template <class Make> Outcome HeuristicContext::kept(const RowSet& set, std::int64_t name, const Make& make) {
    Cache::Key key = cache_.key(set.origin, set.rows, name);
    if (Outcome known = cache_.find(key); !known.plan.empty()) return known;
    Outcome made = make();
    if (!stopped()) cache_.store(std::move(key), made);
    return made;
}

Outcome HeuristicContext::two(const RowSet& set, std::int64_t name, Score slack) {
    return kept(set, name, [&] {
        depth_two_.visits_end = statistics.row_visits + visits_for_sets(set);
        return depth_two_.solve(set, any_leaves, 0, unreached, {}, nullptr, arena, statistics, slack);
    });
}

Outcome HeuristicContext::rough_two(const RowSet& set) {
    if (Outcome best = cache_.find(cache_.key(set.origin, set.rows, two_key)); best.proved()) return best;
    return two(set, rough_key, rough_slack);
}

Outcome HeuristicContext::plain_two(const RowSet& set) {
    return kept(set, plain_key, [&] {
        const Outcome open = two(set, two_key, 0);
        Outcome found = plain(set, open.plan);
        found.lower = open.lower;
        return found;
    });
}

// Searched once for the same rows: a second search would find the same.
Outcome HeuristicContext::exact(const RowSet& set, std::int64_t depth, Outcome tree) {
    if (!solve_within_ || tree.upper == 0 || stopped()) return tree;
    const Outcome found = kept(set, -depth, [&] {
        const double share = static_cast<double>(set.rows) / rows_;
        const auto budget = static_cast<std::int64_t>(share * static_cast<double>(exact_budget));
        const Outcome better = solve_within_(set, depth, tree.upper, budget);
        Outcome best = better.upper < tree.upper && !stopped() ? plain(set, better.plan) : tree;
        best.lower = 0;
        return best;
    });
    return found.upper < tree.upper ? found : tree;
}

Outcome HeuristicContext::plain(const RowSet& all, const Plan& plan) {
    const Step end{Step::leaf, 0};
    const auto fill = [&](auto&& self, const RowSet& set, const Step* step) -> Outcome {
        Outcome alone = leaf(set);
        if (step->feature == Step::leaf || alone.upper == 0 || set.columns() == 0 || stopped()) return alone;
        const Split at = locate(objective, set, *step, halt());
        const bool stump = step->feature == Step::stump;
        if (stump) count_pass(set);
        if (at.z == 0) return alone;
        Outcome tree = tree_at(set, at, [&](const RowSet& side, bool right) {
            return self(self, side, stump ? &end : right ? end_of(step + 1) : step + 1);
        });
        return tree.upper < alone.upper ? tree : alone;
    };
    return fill(fill, all, plan.data());
}

HeuristicContext::Guide HeuristicContext::guide(const Step* begin) const {
    Guide guide;
    for (const Step *step = begin, *const end = end_of(begin); step < end; ++step) {
        const bool is_leaf = step->feature == Step::leaf;
        const bool categorical =
            !is_leaf && categories_.is_categorical(static_cast<FeatureId>(step->feature));
        guide.push_back({is_leaf ? -1 : column_of_[static_cast<std::size_t>(step->feature)], step->rank,
            categorical ? categories_.words_of(step->rank) : nullptr,
            is_leaf ? 0 : static_cast<std::uint32_t>(end_of(step + 1) - begin)});
    }
    return guide;
}

void HeuristicContext::found(const RowSet& set, const Outcome& tree) {
    if (!listener || set.rows < rows_) return;
    const Outcome made = plain(set, tree.plan);
    if (!stopped()) listener(made);
}
}  // namespace contree
