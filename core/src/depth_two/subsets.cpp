// Categories at depth two: sets of categories, the most promising first (bounds/subset.hpp).
#include <deque>
#include <tuple>
#include "bounds/subset.hpp"
#include "depth_two/depth_two.hpp"

namespace contree {
// Begins each categorical feature with its first category on the left.  Every category alone, two in a lane,
// gives what undecided ones lose at the least, and CART's choice a first tree.
void DepthTwo::open_subsets() {
    const RowSet& set = *set_;
    lattices_.clear();
    partial_.clear();
    deepest_first_ = false;
    for (std::uint32_t f = set.features; f < set.columns(); ++f) {
        if (control_.stopped()) return close(0);
        Lattice& lattice = lattices_.emplace_back(ranks_of(set, f));
        SubsetWords first = set.categories->none();
        insert(first.data(), lattice.ranks[0]);
        std::vector<Score> alone(lattice.ranks.size(), 0);
        if (alone.size() > 2) weigh_categories_alone(f, lattice, alone);
        lattice.sum_up(alone);
        push({rules_.costs.split + lattice.rest[0], f, 1, std::move(first)});
        const PurestSubset purest = objective_.purest_subset(set, f);
        if (purest.left.empty()) continue;
        std::deque<SubsetWords> kept;
        batch_->lanes = {lane_of(set, set.split_of(f, purest.left), kept)};
        batch_->with_whole = false;
        if (batch_->evaluate(raw_limit())) take_lane(0);
    }
}

void DepthTwo::weigh_categories_alone(std::uint32_t f, const Lattice& lattice, std::vector<Score>& alone) {
    const SubsetWords none = set_->categories->none();
    std::deque<SubsetWords> kept;
    const auto only = [&](std::size_t i) {
        kept.push_back(none);
        if (i < alone.size()) insert(kept.back().data(), lattice.ranks[i]);
        return kept.back().data();
    };
    batch_->with_whole = false;
    for (std::size_t begin = 0; begin < alone.size(); begin += 2 * lane_count) {
        batch_->lanes.clear();
        const std::size_t end = std::min(alone.size(), begin + 2 * lane_count);
        for (std::size_t i = begin; i < end; i += 2)
            batch_->lanes.push_back({f, 0, 0, 0, 0, only(i), only(i + 1), true});
        if (!batch_->evaluate(unreached)) return;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t t = (i - begin) / 2;
            alone[i] = rules_.worth(i % 2 == 0 ? any_size_left(t) : any_size_right(t));
        }
    }
}

namespace {
// So many open sets take some hundred megabytes at the most.
constexpr std::size_t most_partial = std::size_t{1} << 20;

// The least bound on top, and of equal bounds the most decided; or these first.
template <class Partial> auto later(bool deepest_first) {
    return [deepest_first](const Partial& a, const Partial& b) {
        return deepest_first ? std::tuple(a.decided, -a.bound) < std::tuple(b.decided, -b.bound)
                             : std::tuple(-a.bound, a.decided) < std::tuple(-b.bound, b.decided);
    };
}
}  // namespace

void DepthTwo::push(PartialSubset node) {
    if (node.bound >= limit_) return close(node.bound);
    partial_.push_back(std::move(node));
    std::push_heap(partial_.begin(), partial_.end(), later<PartialSubset>(deepest_first_));
}

DepthTwo::PartialSubset DepthTwo::pop() {
    std::pop_heap(partial_.begin(), partial_.end(), later<PartialSubset>(deepest_first_));
    PartialSubset node = std::move(partial_.back());
    partial_.pop_back();
    return node;
}

void DepthTwo::order_subsets(bool deepest_first) {
    if (deepest_first == deepest_first_) return;
    deepest_first_ = deepest_first;
    std::make_heap(partial_.begin(), partial_.end(), later<PartialSubset>(deepest_first_));
}

void DepthTwo::search_subsets(Score lower) {
    std::vector<PartialSubset> chosen;
    std::deque<SubsetWords> kept;
    // The last half of what there is goes into whole sets, a bundle at a time, for a good tree.
    const std::int64_t begin = statistics_->row_visits, dive = begin + (visits_end - begin) / 2;
    while (!partial_.empty() && lower < ub_ && !control_.stopped() && statistics_->row_visits < visits_end) {
        chosen.clear();
        const bool diving = statistics_->row_visits >= dive;
        if (partial_.size() > most_partial || diving) order_subsets(true);
        if (partial_.size() < most_partial / 2 && !diving) order_subsets(false);
        while (!partial_.empty() && chosen.size() < batch_->width) {
            PartialSubset node = pop();
            if (node.bound >= limit_) close(node.bound);
            else chosen.push_back(std::move(node));
        }
        if (chosen.empty()) break;
        std::ranges::stable_sort(chosen, {}, &PartialSubset::f);
        kept.clear();
        batch_->lanes.clear();
        batch_->with_whole = false;
        for (const PartialSubset& node : chosen) {
            kept.push_back(lattice_of(node).right_of(node.left, node.decided));
            const bool whole = node.decided == lattice_of(node).ranks.size();
            batch_->lanes.push_back({node.f, 0, 0, 0, 0, node.left.data(), kept.back().data(), !whole});
        }
        const bool done = batch_->evaluate(raw_limit());
        for (std::size_t t = 0; t < chosen.size(); ++t) {
            if (done) learn_subset(t, std::move(chosen[t]));
            else close(chosen[t].bound);
        }
    }
    for (const PartialSubset& node : partial_) close(node.bound);
}

void DepthTwo::learn_subset(std::size_t t, PartialSubset node) {
    const Lattice& lattice = lattice_of(node);
    const bool whole = node.decided == lattice.ranks.size();
    const Sides stumps = whole ? Sides{batch_->proved_left(t), batch_->proved_right(t)}
                               : Sides{any_size_left(t), any_size_right(t)};
    const Score bound = std::max(node.bound, lane_score(t, stumps) + lattice.rest[node.decided]);
    if (whole) {
        if (!batch_->allows(t)) return;
        take_lane(t);
        return close(bound);
    }
    if (bound >= limit_) return close(bound);
    node.bound = bound;
    ++node.decided;
    push(node);  // the next category on the right
    insert(node.left.data(), lattice.ranks[node.decided - 1]);
    if (!lattice.is_all(node.left)) push(std::move(node));
}
}  // namespace contree
