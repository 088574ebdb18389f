#include "heuristics/local_search.hpp"
#include "heuristics/look_ahead.hpp"
#include "heuristics/polish.hpp"
#include "heuristics/rollout.hpp"

namespace contree {
namespace {
constexpr std::int64_t most_exact = 120'000'000;  // row visits, for all subtrees of one depth of a tree
constexpr int most_stale = 30;  // moves that find nothing before the search starts from elsewhere

// From this loss on, polishing hardly makes a tree as good as the present one.
Score too_far_from(Score present) {
    return present == unreached ? unreached : present + std::max<Score>(40, present / 10) + 1;
}

// Is a tree good enough for the dearest step, exact subtrees of depth three, to make it the best?
bool near_to(Score loss, Score best) { return loss <= best + std::max<Score>(4, best / 20); }
}  // namespace

// Several short searches beat one long one: a walker that has come to rest gives way to the next one.
void LocalSearch::run(Outcome& tree, std::int64_t work_end) {
    work_end_ = work_end;
    context_.exact_budget = std::min(most_exact, 2 * (work_end - context_.work()));
    bool first = walker_.plan.empty();
    if (first) walker_ = tree;
    const auto take = [&](const Outcome& other) {
        if (other.upper >= tree.upper) return;
        tree = other;
        context_.found(root_, tree);
    };
    while (!over() && tree.upper > 0) {
        context_.count_pass(root_);  // so that it ends where all else is known already
        const Score before = walker_.upper;
        const bool fresh = stale_ >= most_stale;
        if (fresh && context_.few_cells()) take(polish(context_, root_, depth_, tree, depth_ - 1));
        changed_ = fresh;
        walker_ = fresh ? start(tree) : move(root_, depth_, std::move(walker_));
        if (changed_) walker_ = polish(context_, root_, depth_, std::move(walker_));
        if (first || (changed_ && near_to(walker_.upper, tree.upper)))
            walker_ = polish(context_, root_, depth_, std::move(walker_), 3);
        stale_ = fresh || walker_.upper < before ? 0 : stale_ + 1;
        take(walker_);
        first = false;
    }
}

// In turn from each of the promising first splits, looking ahead below it, and then from random ones.
Outcome LocalSearch::start(const Outcome& best) {
    if (roots_.empty()) roots_ = promising_splits(context_, root_);
    if (starts_ >= 2 * roots_.size()) {
        Outcome other = resplit(root_, depth_, unreached);
        return other.plan.empty() ? best : other;
    }
    if (starts_++ % 2 == 1) return best;
    return context_.tree_at(root_, roots_[starts_ / 2], [&](const RowSet& side, bool) {
        return context_.plain(side, look_ahead_tree(context_, side, depth_ - 1, work_end_).plan);
    });
}

// Another split, unless it is worse, for one node above the last two levels: most often a low, cheap one.
Outcome LocalSearch::move(const RowSet& set, std::int64_t depth, Outcome tree) {
    if (depth <= 2 || tree.upper == 0 || over()) return tree;
    if (tree.plan.size() < 3 || random() % (std::uint64_t{1} << (depth - 3)) == 0) {
        const bool whole = tree.plan.size() < 3 || random() % 4 == 0;
        Outcome other = whole ? resplit(set, depth, tree.upper) : shift(set, depth, tree);
        if (other.plan.empty()) return tree;
        if (whole && depth > 3 && near_to(other.upper, tree.upper))
            other = polish(context_, set, depth, std::move(other), 3);
        if (other.upper > tree.upper) return tree;
        changed_ = true;
        return other;
    }
    Arena::Frame frame(context_.arena);
    const Children children = context_.split(set, locate(context_.objective, set, tree.plan.front()));
    if (context_.stopped()) return tree;
    const Step *const begin = tree.plan.data(), *const middle = end_of(begin + 1);
    Outcome left{0, 0, Plan(begin + 1, middle)}, right{0, 0, Plan(middle, begin + tree.plan.size())};
    left.upper = context_.loss(children.left, left.plan);
    right.upper = tree.upper - left.upper;
    const bool to_left = right.upper == 0 || (left.upper > 0 && random() % 2 == 0);
    Outcome& side = to_left ? left : right;
    side = move(to_left ? children.left : children.right, depth - 1, std::move(side));
    return {0, left.upper + right.upper, join(tree.plan.front(), left.plan, right.plan)};
}

// The tree with its first split moved to another place that suits its subtrees, and these adapted to it: far
// cheaper than a tree made anew.
Outcome LocalSearch::shift(const RowSet& set, std::int64_t depth, const Outcome& tree) {
    if (over() || set.columns() == 0) return {};
    const auto distance = static_cast<Row>(1 + random() % std::max<Row>(1, set.rows / 10));
    const std::vector<Split> places = other_places(context_, set, tree.plan.data(), distance);
    if (places.empty() || context_.stopped()) return {};
    std::size_t choice = 0;
    while (choice + 1 < places.size() && random() % 2 == 0) ++choice;
    Outcome moved = polish_below(context_, set, depth, places[choice], tree.plan);
    if (moved.upper >= too_far_from(tree.upper)) return {};
    return polish(context_, set, depth, std::move(moved));
}

Split LocalSearch::random_subset(const RowSet& set, std::uint32_t f) {
    SubsetWords left = set.categories->none();
    set.for_categories(f, [&](Rank rank, Position, Position) {
        if (random() % 2 == 0) insert(left.data(), rank);
    });
    return set.split_of(f, left);
}

// A polished tree whose first split is one of the best of a random handful, unless too far from `present`.
Outcome LocalSearch::resplit(const RowSet& set, std::int64_t depth, Score present) {
    if (over() || set.columns() == 0 || context_.objective.leaf_loss(set) == 0) return {};
    std::vector<Split> splits;
    for (std::size_t i = 0; i < lane_count; ++i) {
        const auto f = static_cast<std::uint32_t>(random() % set.columns());
        const Cuts cuts = set.cuts(f);
        if (f >= set.features) {
            splits.push_back(random_subset(set, f));
            continue;
        }
        splits.push_back({f, cuts.at(static_cast<std::uint32_t>(random() % cuts.count), 1, set.rows)});
    }
    const std::vector<Scored> scored = score_splits(context_, set, std::move(splits));
    if (scored.empty()) return {};
    const auto roll = [&](const RowSet& side, bool) {
        return context_.plain(side, rollout_tree(context_, side, depth - 1).plan);
    };
    const Split at = scored[random() % std::min<std::size_t>(scored.size(), 4)].at;
    Outcome tree = context_.tree_at(set, at, roll, too_far_from(present));
    return tree.plan.empty() ? tree : polish(context_, set, depth, std::move(tree));
}
}  // namespace contree
