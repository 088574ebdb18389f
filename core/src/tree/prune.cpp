#include "tree/prune.hpp"
#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>
#include <unordered_map>

namespace contree {
// Sends the rows down the plan: those of a node are a range of one list, and a split parts it.
Prunings::Prunings(const Objective& objective, const RowSet& root, const Plan& plan, Leaves most)
    : plan_(plan), split_(objective.costs.split), nodes_(plan.size()) {
    std::vector<Row> rows(root.rows);
    std::iota(rows.begin(), rows.end(), Row{0});
    std::unordered_map<std::int32_t, std::vector<Rank>> ranks_of;  // by row
    const auto part = [&](std::span<Row> range, const Step& step) {
        std::vector<Rank>& ranks = ranks_of[step.feature];
        if (ranks.empty()) {
            ranks.resize(root.rows);
            const std::uint32_t f = root.number_of(static_cast<FeatureId>(step.feature));
            if (f == root.columns()) throw std::logic_error("contree: a plan splits a constant feature");
            for (Row k = 0; k < root.rows; ++k) ranks[root.order(f).row(k)] = root.order(f).rank(k);
        }
        const GoesLeft left = root.categories->goes_left(static_cast<FeatureId>(step.feature), step.rank);
        const auto goes_left = [&](Row row) { return left(ranks[row]); };
        const auto behind = std::ranges::stable_partition(range, goes_left);
        return range.size() - behind.size();
    };
    const auto send = [&](auto&& self, std::size_t node, std::span<Row> range) -> std::size_t {
        nodes_[node].leaf = objective.costs.loss * objective.leaf_loss(root, range);
        if (plan_[node].feature == Step::leaf) return node + 1;
        assert(plan_[node].feature != Step::stump);
        const std::size_t middle = part(range, plan_[node]);
        nodes_[node].right = self(self, node + 1, range.first(middle));
        return self(self, nodes_[node].right, range.subspan(middle));
    };
    send(send, 0, rows);
    for (std::size_t node = nodes_.size(); node-- > 0;) fill(node, most);  // children first
}

// The best for one number of leaves is the best share of them.  Numbers that change nothing are left out.
void Prunings::fill(std::size_t node, Leaves most) {
    std::vector<Score>& scores = nodes_[node].scores;
    scores = {nodes_[node].leaf};
    if (nodes_[node].right == 0) return;
    const std::vector<Score>&left = nodes_[node + 1].scores, &right = nodes_[nodes_[node].right].scores;
    const std::size_t count = std::min<std::size_t>(most, left.size() + right.size());
    scores.resize(count, scores[0]);
    for (std::size_t a = 0; a < left.size(); ++a)
        for (std::size_t b = 0; b < right.size() && a + b + 2 <= count; ++b)
            scores[a + b + 1] = std::min(scores[a + b + 1], left[a] + right[b] + split_);
    for (std::size_t k = 1; k < count; ++k) scores[k] = std::min(scores[k], scores[k - 1]);
    while (scores.size() > 1 && scores[scores.size() - 2] == scores.back()) scores.pop_back();
}

// The two sides share as many leaves as no fewer can replace.
void Prunings::write(std::size_t node, Leaves leaves, Plan& to) const {
    const std::vector<Score>& scores = nodes_[node].scores;
    const std::size_t right = nodes_[node].right;
    leaves = static_cast<Leaves>(std::min<std::size_t>(leaves, scores.size()));
    while (leaves > 1 && scores[leaves - 2] == scores[leaves - 1]) --leaves;
    to.push_back(leaves > 1 || right == 0 ? plan_[node] : Step{Step::leaf, 0});
    if (leaves == 1) return;
    const std::vector<Score>&lefts = nodes_[node + 1].scores, &rights = nodes_[right].scores;
    const auto is_share = [&](Leaves a) {
        return a <= lefts.size() && leaves - a <= rights.size() &&
               lefts[a - 1] + rights[leaves - a - 1] + split_ == scores[leaves - 1];
    };
    Leaves share = 1;
    while (!is_share(share)) ++share;
    assert(share < leaves);
    write(node + 1, share, to);
    write(right, leaves - share, to);
}

Outcome Prunings::best(Leaves leaves) const {
    const std::vector<Score>& scores = nodes_[0].scores;
    Outcome outcome{0, scores[std::min<std::size_t>(leaves, scores.size()) - 1], {}};
    write(0, leaves, outcome.plan);
    return outcome;
}
}  // namespace contree
