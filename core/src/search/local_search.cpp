#include "search/local_search.hpp"

#include "bounds/class_count.hpp"
#include "search/first_trees.hpp"
#include "search/look_ahead.hpp"
#include "search/polish.hpp"

namespace contree {

namespace {

constexpr std::int64_t most_exact = 120'000'000;   // row visits, for all subtrees of one depth of a tree
constexpr int most_stale = 30;   // moves that find nothing before the search starts from elsewhere

// Is a tree that was moved or made anew, and not polished yet, too bad to become as good as the one it is to replace?
bool far_from(Score errors, Score present) { return errors > present + std::max<Score>(40, present / 10); }

// Is a tree good enough for the dearest step, exact subtrees of depth three, to make it the best?
bool near_to(Score errors, Score best) { return errors <= best + std::max<Score>(4, best / 20); }

}  // namespace

// Several short searches beat one long one: a walker that has come to rest is thrown away, and the next one starts.
template <class Entry>
void LocalSearch<Entry>::run(Outcome& tree, std::int64_t work_end) {
    work_end_ = work_end;
    bench_.along_features = !bench_.few_cells();
    bench_.exact_budget = std::min(most_exact, 2 * (work_end - bench_.work()));
    bool first = walker_.plan.empty();
    if (first) walker_ = tree;
    const auto take = [&](const Outcome& other) {
        if (other.upper >= tree.upper) return;
        tree = other;
        bench_.found(root_, tree);
    };
    while (!over() && tree.upper > 0) {
        bench_.count_pass(root_);   // so that it ends where all else is known already
        const Score before = walker_.upper;
        const bool fresh = stale_ >= most_stale;
        if (fresh && bench_.few_cells()) take(polish(bench_, root_, depth_, tree, depth_ - 1));
        changed_ = fresh;
        Outcome next = fresh ? start(tree) : move(root_, depth_, std::move(walker_));
        walker_ = changed_ ? polish(bench_, root_, depth_, std::move(next)) : std::move(next);
        if (first || (changed_ && near_to(walker_.upper, tree.upper))) walker_ = polish(bench_, root_, depth_, std::move(walker_), 3);
        stale_ = fresh || walker_.upper < before ? 0 : stale_ + 1;
        take(walker_);
        first = false;
    }
}

// In turn from each of the promising first splits, looking ahead below it, and then from random ones.
template <class Entry>
Outcome LocalSearch<Entry>::start(const Outcome& best) {
    if (roots_.empty()) roots_ = promising_splits(bench_, root_);
    if (starts_ >= 2 * roots_.size()) {
        Outcome other = resplit(root_, depth_, unreached);
        return other.plan.empty() ? best : other;
    }
    if (starts_++ % 2 == 1) return best;
    const Split at = roots_[starts_ / 2];
    Arena::Frame frame(bench_.arena);
    const Children<Entry> children = bench_.split(root_, at);
    const auto grow = [&](const Subproblem<Entry>& side) {
        return bench_.plain(side, look_ahead_tree(bench_, side, depth_ - 1, work_end_).plan);
    };
    const Outcome left = grow(children.left), right = grow(children.right);
    return {0, left.upper + right.upper, join(bench_.step_at(root_, at), left.plan, right.plan)};
}

// One inner node above the last two levels, most often a low one, where trying costs least, gets another split unless
// that is worse.
template <class Entry>
Outcome LocalSearch<Entry>::move(const Subproblem<Entry>& sub, std::int64_t depth, Outcome tree) {
    if (depth <= 2 || tree.upper == 0 || over()) return tree;
    if (tree.plan.size() < 3 || random() % (std::uint64_t{1} << (depth - 3)) == 0) {
        const bool whole = tree.plan.size() < 3 || random() % 4 == 0;
        Outcome other = whole ? resplit(sub, depth, tree.upper) : shift(sub, depth, tree);
        if (other.plan.empty()) return tree;
        if (whole && depth > 3 && near_to(other.upper, tree.upper)) other = polish(bench_, sub, depth, std::move(other), 3);
        if (other.upper > tree.upper) return tree;
        changed_ = true;
        return other;
    }
    Arena::Frame frame(bench_.arena);
    const Step first = tree.plan.front();
    const Children<Entry> children = bench_.split(sub, locate(sub, first));
    if (bench_.stopped()) return tree;
    const Step *const begin = tree.plan.data() + 1, *const end = tree.plan.data() + tree.plan.size();
    const Step* const middle = end_of(begin);
    Outcome left{0, 0, Plan(begin, middle)}, right{0, 0, Plan(middle, end)};
    left.upper = bench_.errors(children.left, left.plan);
    right.upper = tree.upper - left.upper;
    const bool to_left = right.upper == 0 || (left.upper > 0 && random() % 2 == 0);
    if (to_left) left = move(children.left, depth - 1, std::move(left));
    else right = move(children.right, depth - 1, std::move(right));
    return {0, left.upper + right.upper, join(first, left.plan, right.plan)};
}

// The tree with its first split moved to another place that suits its subtrees, and these adapted to it.  Far cheaper than
// a tree made anew, and what the search has found below is kept.
template <class Entry>
Outcome LocalSearch<Entry>::shift(const Subproblem<Entry>& sub, std::int64_t depth, const Outcome& tree) {
    if (over() || sub.features == 0) return {};
    const Row far = std::max<Row>(1, sub.rows / 10);
    const auto distance = static_cast<Row>(1 + random() % far);
    const std::vector<Split> places = other_places(bench_, sub, tree.plan.data(), distance);
    if (places.empty() || bench_.stopped()) return {};
    std::size_t choice = 0;
    while (choice + 1 < places.size() && random() % 2 == 0) ++choice;
    Outcome moved = polish_below(bench_, sub, depth, places[choice], tree.plan);
    if (far_from(moved.upper, tree.upper)) return {};
    return polish(bench_, sub, depth, std::move(moved));
}

// A tree whose first split is the best of a random handful, rolled out and polished, if it may become as good as `present`.
template <class Entry>
Outcome LocalSearch<Entry>::resplit(const Subproblem<Entry>& sub, std::int64_t depth, Score present) {
    if (over() || sub.features == 0 || leaf_errors(sub) == 0) return {};
    std::vector<Split> splits;
    for (std::size_t i = 0; i < lane_count; ++i) {
        const auto f = static_cast<std::uint32_t>(random() % sub.features);
        const Cuts cuts = sub.cuts(f);
        splits.push_back({f, cuts.at(static_cast<std::uint32_t>(random() % cuts.count), 1, sub.rows)});
    }
    const std::vector<Scored> scored = score_splits(bench_, sub, std::move(splits));
    if (scored.empty()) return {};
    Arena::Frame frame(bench_.arena);
    const Split at = scored[random() % std::min<std::size_t>(scored.size(), 4)].at;
    const Children<Entry> children = bench_.split(sub, at);
    const auto roll = [&](const Subproblem<Entry>& side) { return bench_.plain(side, rollout_tree(bench_, side, depth - 1).plan); };
    const Outcome left = roll(children.left);
    if (present != unreached && far_from(left.upper, present)) return {};
    const Outcome right = roll(children.right);
    if (present != unreached && far_from(left.upper + right.upper, present)) return {};
    Outcome tree{0, left.upper + right.upper, join(bench_.step_at(sub, at), left.plan, right.plan)};
    return polish(bench_, sub, depth, std::move(tree));
}

template <class Entry>
std::uint64_t LocalSearch<Entry>::random() {   // splitmix64
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

template class LocalSearch<NarrowEntry>;
template class LocalSearch<WideEntry>;

}  // namespace contree
