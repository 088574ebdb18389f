#include "search/prune.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

namespace contree {

namespace {

// Sends rows down a plan; tells what each of its nodes would cost as a leaf.
template <class Entry>
class Sender {
public:
    explicit Sender(const Subproblem<Entry>& sub) : sub_(sub), class_of_(classes_of_rows(sub)), rows_(sub.rows) {
        std::iota(rows_.begin(), rows_.end(), Row{0});
    }

    Score leaf_errors(Row begin, Row end) const {
        std::vector<Score> masses(sub_.classes, 0);
        Score mass = 0;
        for (Row i = begin; i < end; ++i) {
            const Score weight = sub_.weight_of(rows_[i]);
            masses[class_of_[rows_[i]]] += weight;
            mass += weight;
        }
        return mass - *std::max_element(masses.begin(), masses.end());
    }

    // Where the rows that go right begin.
    Row part(Row begin, Row end, const Step& step) {
        const std::vector<Rank>& ranks = ranks_of(static_cast<FeatureId>(step.feature));
        const auto middle = std::stable_partition(rows_.begin() + begin, rows_.begin() + end, [&](Row row) { return ranks[row] <= step.rank; });
        return static_cast<Row>(middle - rows_.begin());
    }

private:
    const std::vector<Rank>& ranks_of(FeatureId feature) {
        std::vector<Rank>& ranks = ranks_[feature];
        if (!ranks.empty()) return ranks;
        const auto f = static_cast<std::uint32_t>(std::find(sub_.feature, sub_.feature + sub_.features, feature) - sub_.feature);
        if (f == sub_.features) throw std::logic_error("contree: a plan splits a constant feature");
        ranks.resize(sub_.rows);
        for (Row k = 0; k < sub_.rows; ++k) ranks[Packed<Entry>::row(sub_.order(f)[k])] = Packed<Entry>::rank(sub_.order(f)[k]);
        return ranks;
    }

    const Subproblem<Entry>& sub_;
    const std::vector<std::uint32_t> class_of_;
    std::vector<Row> rows_;
    std::unordered_map<FeatureId, std::vector<Rank>> ranks_;
};

}  // namespace

template <class Entry>
Prunings::Prunings(const Subproblem<Entry>& root, const Plan& plan, const Objective& objective, Leaves most)
    : plan_(plan), split_(objective.split), nodes_(plan.size()) {
    Sender<Entry> sender(root);
    const auto send = [&](auto&& self, std::size_t node, Row begin, Row end) -> std::size_t {
        nodes_[node].leaf = objective.error * sender.leaf_errors(begin, end);
        if (plan_[node].feature == Step::leaf) return node + 1;
        assert(plan_[node].feature != Step::stump);
        const Row middle = sender.part(begin, end, plan_[node]);
        nodes_[node].right = self(self, node + 1, begin, middle);
        return self(self, nodes_[node].right, middle, end);
    };
    send(send, 0, 0, root.rows);
    for (std::size_t node = nodes_.size(); node-- > 0;) fill(node, objective, most);   // children first
}

// The best for one number of leaves is the best share of them.  Numbers that change nothing any more are left out.
void Prunings::fill(std::size_t node, const Objective& objective, Leaves most) {
    Node& here = nodes_[node];
    here.scores = {here.leaf};
    if (here.right == 0) return;
    const std::vector<Score>&left = nodes_[node + 1].scores, &right = nodes_[here.right].scores;
    const std::size_t count = std::min<std::size_t>(most, left.size() + right.size());
    here.scores.resize(count, here.leaf);
    for (std::size_t a = 0; a < left.size(); ++a)
        for (std::size_t b = 0; b < right.size() && a + b + 2 <= count; ++b)
            here.scores[a + b + 1] = std::min(here.scores[a + b + 1], left[a] + right[b] + objective.split);
    for (std::size_t k = 1; k < count; ++k) here.scores[k] = std::min(here.scores[k], here.scores[k - 1]);
    while (here.scores.size() > 1 && here.scores[here.scores.size() - 2] == here.scores.back()) here.scores.pop_back();
}

// How the two sides share `leaves` leaves, which no fewer can replace; none where a leaf is as good.
std::pair<Leaves, Leaves> Prunings::shares(std::size_t node, Leaves leaves) const {
    const std::vector<Score>&left = nodes_[node + 1].scores, &right = nodes_[nodes_[node].right].scores;
    for (Leaves a = 1; a < leaves; ++a) {
        const Leaves b = leaves - a;
        if (a <= left.size() && b <= right.size() && left[a - 1] + right[b - 1] + split_ == nodes_[node].scores[leaves - 1]) return {a, b};
    }
    return {0, 0};
}

void Prunings::write(std::size_t node, Leaves leaves, Plan& to) const {
    const std::vector<Score>& scores = nodes_[node].scores;
    leaves = static_cast<Leaves>(std::min<std::size_t>(leaves, scores.size()));
    while (leaves > 1 && scores[leaves - 2] == scores[leaves - 1]) --leaves;
    if (leaves == 1) {
        const bool is_leaf = plan_[node].feature == Step::leaf;
        to.push_back(is_leaf ? plan_[node] : Step{Step::leaf, 0});
        return;
    }
    const auto [left, right] = shares(node, leaves);
    assert(left > 0);
    to.push_back(plan_[node]);
    write(node + 1, left, to);
    write(nodes_[node].right, right, to);
}

Outcome Prunings::best(Leaves leaves) const {
    const std::vector<Score>& scores = nodes_[0].scores;
    Outcome outcome{0, scores[std::min<std::size_t>(leaves, scores.size()) - 1], {}};
    write(0, leaves, outcome.plan);
    return outcome;
}

template Prunings::Prunings(const Subproblem<NarrowEntry>&, const Plan&, const Objective&, Leaves);
template Prunings::Prunings(const Subproblem<WideEntry>&, const Plan&, const Objective&, Leaves);

}  // namespace contree
