#include "objective/class_table.hpp"
#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

namespace contree {
Score ClassTable::mass(std::size_t category) const {
    const auto begin = mass_.begin() + static_cast<std::ptrdiff_t>(category * classes_);
    return std::accumulate(begin, begin + classes_, Score{0});
}

Score ClassTable::pair_right(std::uint32_t a, std::uint32_t b) const {
    Score right = 0;
    for (std::size_t i = 0; i < categories(); ++i) right += std::max(mass(i, a), mass(i, b));
    return right;
}

Score ClassTable::most_right() const {
    Score most = 0;
    for (std::uint32_t b = 0; b < classes_; ++b)
        for (std::uint32_t a = 0; a <= b; ++a) most = std::max(most, pair_right(a, b));
    return most;
}

ClassTable::Best ClassTable::best(const LeafSize& leaf, Score least) const {
    Best best{least, {}};
    for (std::uint32_t b = 1; b < classes_; ++b)
        for (std::uint32_t a = 0; a < b; ++a) take_pair(a, b, leaf, best);
    return best;
}

void ClassTable::take_pair(std::uint32_t a, std::uint32_t b, const LeafSize& leaf, Best& best) const {
    const Score right = pair_right(a, b);
    if (right <= best.right) return;
    Sides left(categories());
    Row rows[2] = {0, 0};
    Score masses[2] = {0, 0};
    for (std::size_t i = 0; i < categories(); ++i) {
        left[i] = mass(i, a) >= mass(i, b);
        rows[left[i]] += rows_[i];
        masses[left[i]] += mass(i);
    }
    const bool enough =
        std::min(rows[0], rows[1]) >= leaf.rows && std::min(masses[0], masses[1]) >= leaf.mass;
    if (enough) best = {right, std::move(left)};
    else take_allowed(a, b, leaf, best);
}

// With leaf sizes, of all sets of categories with the same rows and mass on the left only the one that is
// right most often matters: category by category, that is all that is kept.
void ClassTable::take_allowed(std::uint32_t a, std::uint32_t b, const LeafSize& leaf, Best& best) const {
    struct State {
        Row rows;    // on the left
        Score mass;  // the same; 0 if no mass is asked for
        Score right;
        std::size_t before;  // the state that this one was, one category less
        bool left;
    };
    const std::size_t count = categories();
    std::vector<Score> ahead(count + 1, 0), mass_ahead(count + 1, 0);
    std::vector<Row> rows_ahead(count + 1, 0);
    for (std::size_t i = count; i-- > 0;) {
        ahead[i] = ahead[i + 1] + std::max(mass(i, a), mass(i, b));
        rows_ahead[i] = rows_ahead[i + 1] + rows_[i];
        mass_ahead[i] = mass_ahead[i + 1] + mass(i);
    }
    const Row all_rows = rows_ahead[0];
    const Score all_mass = leaf.mass > 0 ? mass_ahead[0] : 0;
    std::vector<std::vector<State>> states(count + 1);
    states[0] = {{0, 0, 0, 0, false}};
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<State>& next = states[i + 1];
        const auto add = [&](std::size_t before, bool left) {
            const State& from = states[i][before];
            const State to{from.rows + (left ? rows_[i] : 0),
                from.mass + (left && leaf.mass > 0 ? mass(i) : 0), from.right + mass(i, left ? a : b), before,
                left};
            const bool can_be_better = to.right + ahead[i + 1] > best.right;
            const bool rows = to.rows + rows_ahead[i + 1] >= leaf.rows && all_rows - to.rows >= leaf.rows;
            const bool mass = to.mass + mass_ahead[i + 1] >= leaf.mass && all_mass - to.mass >= leaf.mass;
            if (can_be_better && rows && mass) next.push_back(to);
        };
        for (std::size_t s = 0; s < states[i].size(); ++s) add(s, true), add(s, false);
        std::ranges::sort(next, {}, [](const State& s) { return std::tuple(s.rows, s.mass, -s.right); });
        const auto same = [](const State& x, const State& y) { return x.rows == y.rows && x.mass == y.mass; };
        next.erase(std::unique(next.begin(), next.end(), same), next.end());
    }
    const auto found = std::ranges::max_element(states[count], {}, &State::right);
    if (found == states[count].end()) return;
    best = {found->right, Sides(count)};
    auto at = static_cast<std::size_t>(found - states[count].begin());
    for (std::size_t i = count; i-- > 0;) {
        const State& state = states[i + 1][at];
        best.left[i] = state.left;
        at = state.before;
    }
}

ClassTable::Purest ClassTable::purest(const LeafSize& leaf) const {
    Purest best{0, {}};
    std::vector<std::size_t> order(categories());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::uint32_t c = 0; c < (classes_ == 2 ? 1 : classes_); ++c) {
        const auto share = [&](std::size_t i) {
            return static_cast<double>(mass(i, c)) / static_cast<double>(mass(i));
        };
        std::ranges::stable_sort(order, std::greater(), share);
        std::vector<double> left(classes_, 0), right(classes_, 0);
        Row rows_left = 0, rows = 0;
        Score mass_left = 0, all = 0;
        for (std::size_t i = 0; i < categories(); ++i) {
            for (std::uint32_t k = 0; k < classes_; ++k) right[k] += static_cast<double>(mass(i, k));
            rows += rows_[i], all += mass(i);
        }
        const auto gini = [](const std::vector<double>& masses, Score of) {
            double squares = 0;
            for (const double m : masses) squares += m * m;
            return squares / static_cast<double>(of);
        };
        for (std::size_t n = 0; n + 1 < order.size(); ++n) {
            for (std::uint32_t k = 0; k < classes_; ++k) {
                left[k] += static_cast<double>(mass(order[n], k));
                right[k] -= static_cast<double>(mass(order[n], k));
            }
            rows_left += rows_[order[n]], mass_left += mass(order[n]);
            if (std::min(rows_left, rows - rows_left) < leaf.rows ||
                std::min(mass_left, all - mass_left) < leaf.mass)
                continue;
            const double purity = gini(left, mass_left) + gini(right, all - mass_left);
            if (purity <= best.purity) continue;
            best = {purity, Sides(categories(), 0)};
            for (std::size_t i = 0; i <= n; ++i) best.left[order[i]] = 1;
        }
    }
    return best;
}
}  // namespace contree
