#include "objective/target_table.hpp"
#include <algorithm>
#include <cmath>
#include <utility>

namespace contree {
void TargetTable::sort() {
    order_.clear();
    for (std::size_t i = 0; i < categories_.size(); ++i)
        if (categories_[i].rows > 0) order_.push_back(i);
    std::ranges::stable_sort(order_,
        [&](std::size_t i, std::size_t j) { return categories_[i].all.has_lower_mean(categories_[j].all); });
    before_.assign(1, {});
    for (const std::size_t i : order_) {
        Category sum = before_.back();
        sum.all.add(categories_[i].all);
        sum.rows += categories_[i].rows;
        before_.push_back(sum);
    }
    all_ = before_.back();
}

TargetTable::Best TargetTable::best(const LeafSize& leaf, Score limit) {
    sort();
    Best best{limit, {}, loss_.of_leaf(all_.all)};
    std::size_t prefix = 0;
    for (std::size_t n = 1; n < order_.size(); ++n) {
        const Score loss = loss_of(before_[n]);
        best.relaxed = std::min(best.relaxed, loss);
        if (loss < best.loss && allows(before_[n], leaf)) best.loss = loss, prefix = n;
    }
    if (prefix > 0) {
        best.left.assign(categories_.size(), 0);
        for (std::size_t n = 0; n < prefix; ++n) best.left[order_[n]] = 1;
    }
    if (best.relaxed < best.loss) take_allowed(leaf, best);
    return best;
}

// Categories that are decided, of which these go left.
struct TargetTable::State {
    Category left;
    std::size_t before;  // the state that this one was, one category less
    bool last_left;
};

// The best way for all others: those up to `end` go to one side, those behind to the other.
struct TargetTable::Rest {
    Score loss;
    std::size_t end;
    bool first_left;  // do those up to `end` go left?
    bool allowed;     // are both leaves large enough?
};

TargetTable::Rest TargetTable::best_rest(
    const State& state, std::size_t decided, const LeafSize& leaf) const {
    Rest best{unreached, 0, false, false};
    for (std::size_t end = decided; end <= order_.size(); ++end) {
        for (const bool first_left : {false, true}) {
            Category left = state.left;
            const Category &from = before_[first_left ? decided : end],
                           &to = first_left ? before_[end] : all_;
            left.all.add(to.all.without(from.all));
            left.rows += to.rows - from.rows;
            const Rest rest{loss_of(left), end, first_left, allows(left, leaf)};
            if (rest.loss < best.loss || (rest.loss == best.loss && rest.allowed && !best.allowed))
                best = rest;
        }
    }
    return best;
}

void TargetTable::take_allowed(const LeafSize& leaf, Best& best) const {
    const std::size_t count = order_.size();
    std::vector<std::vector<State>> states(count + 1);
    const auto take = [&](const Rest& rest, std::size_t decided, std::size_t at) {
        best.loss = rest.loss;
        best.left.assign(categories_.size(), 0);
        for (std::size_t n = decided; n < count; ++n)
            best.left[order_[n]] = (n < rest.end) == rest.first_left;
        for (; decided > 0; at = states[decided--][at].before)
            best.left[order_[decided - 1]] = states[decided][at].last_left;
    };
    states[0].push_back({{}, 0, false});
    for (std::size_t n = 0;; ++n) {
        std::vector<std::size_t> open;
        for (std::size_t at = 0; at < states[n].size(); ++at) {
            const Rest rest = best_rest(states[n][at], n, leaf);
            if (rest.loss >= best.loss) continue;
            if (rest.allowed) take(rest, n, at);
            else open.push_back(at);
        }
        if (n == count) return;
        states[n + 1] = with_one_more(states[n], open, n);
    }
}

// One category more to the right and to the left; the first one goes left, as exchanging the sides changes
// nothing.
std::vector<TargetTable::State> TargetTable::with_one_more(
    const std::vector<State>& states, const std::vector<std::size_t>& open, std::size_t decided) const {
    const Category& own = categories_[order_[decided]];
    std::vector<State> next;
    for (const std::size_t at : open) {
        State one{states[at].left, at, false};
        if (decided > 0) next.push_back(one);
        one.left.all.add(own.all);
        one.left.rows += own.rows;
        one.last_left = true;
        next.push_back(one);
    }
    const auto size = [](const State& s) { return std::pair(s.left.rows, s.left.all.weight); };
    std::ranges::sort(next, {}, [&](const State& s) { return std::pair(size(s), s.left.all.sum); });
    std::vector<State> kept;
    for (std::size_t i = 0; i < next.size(); ++i) {
        const bool least = i == 0 || size(next[i - 1]) != size(next[i]),
                   greatest = i + 1 == next.size() || size(next[i]) != size(next[i + 1]);
        if (least || greatest) kept.push_back(next[i]);
    }
    return kept;
}

TargetTable::Purest TargetTable::purest(const LeafSize& leaf) {
    sort();
    Purest best{-1, {}};
    const auto weight = static_cast<double>(all_.all.weight),
               mean = static_cast<double>(all_.all.sum) / weight;
    std::size_t prefix = 0;
    for (std::size_t n = 1; n < order_.size(); ++n) {
        if (!allows(before_[n], leaf)) continue;
        const auto before = static_cast<double>(before_[n].all.weight);
        const double distance = static_cast<double>(before_[n].all.sum) - mean * before;
        const double gain = distance * distance * weight / (before * (weight - before));
        if (gain > best.gain) best.gain = gain, prefix = n;
    }
    if (prefix == 0) return best;
    best.left.assign(categories_.size(), 0);
    for (std::size_t n = 0; n < prefix; ++n) best.left[order_[n]] = 1;
    return best;
}
}  // namespace contree
