// The seam: another objective than errors, written here, solved by the search classes of a fit as they are.
//  The objective is the sum of absolute deviations: a row has an integer target, a leaf says a median of the
// targets that reach it, and a row loses its weight times its distance from what its leaf says.  What the
// search asks of it:
//
// - Losses are integers and add up over leaves: a weighted median of integers can be chosen among them.
// - More rows never lose less.  Let S be a part of S', and take the best tree for S' on S: every row of S
//   loses there what it lost before, and medians of S alone lose no more.  So theta(S) <= theta(S').
// - B0 does not hold: a row that leaves takes its weight times its distance with it, which is more than its
//   mass.  So `similar` is false.
// - A pure set, of one target, loses nothing.
#include <numeric>
#include "exhaustive.hpp"
#include "heuristics/greedy.hpp"
#include "heuristics/schedule.hpp"
#include "search/levels.hpp"
#include "search/size_path.hpp"
#include "tree/build.hpp"
#include "tree/locate.hpp"

namespace {

using namespace check;
using namespace contree;

// What rows of some targets weigh, and what a leaf for them loses.  Targets are by group, ascending.
class Masses {
public:
    explicit Masses(const std::vector<Score>& targets) : targets_(targets), masses_(targets.size(), 0) {}
    void add(std::uint32_t group, Score weight) { masses_[group] += weight; }
    std::uint32_t median() const {
        const Score all = std::accumulate(masses_.begin(), masses_.end(), Score{0});
        Score below = 0;
        for (std::uint32_t g = 0; g < masses_.size(); ++g)
            if (2 * (below += masses_[g]) >= all && masses_[g] > 0) return g;
        return 0;
    }
    Score loss() const {
        const Score middle = targets_[median()];
        Score sum = 0;
        for (std::size_t g = 0; g < masses_.size(); ++g) sum += masses_[g] * std::abs(targets_[g] - middle);
        return sum;
    }
private:
    const std::vector<Score>& targets_;
    std::vector<Score> masses_;
};

class OneBatch final : public Batches {
public:
    OneBatch(const Objective& objective, const Halt& halt) : batch_(objective, halt) {}
    Batch& start(const RowSet& set, Arena& arena, Statistics& statistics) override {
        batch_.start(set, arena, statistics);
        return batch_;
    }
private:
    OneByOneBatch batch_;
};

class AbsoluteDeviation final : public Objective {
public:
    // Rows of one target are a group.
    static RowGroups groups(const Table& table) {
        return {table.labels, static_cast<std::uint32_t>(table.classes)};
    }

    AbsoluteDeviation(const Table& table, const RankedTable& ranked, const std::vector<Score>& targets,
        const Costs& what_is_minimised)
        : Objective(what_is_minimised, false), table_(table), ranked_(ranked), targets_(targets) {}

    Score leaf_loss(const RowSet& set) const override { return masses_of(set).loss(); }
    Score leaf_loss(const RowSet& set, std::span<const Row> rows) const override {
        return masses_of(set, rows).loss();
    }
    Rank prediction(const RowSet& set) const override { return masses_of(set).median(); }
    Rank prediction(const RowSet& set, std::span<const Row> rows) const override {
        return masses_of(set, rows).median();
    }
    Score row_loss(Row origin, Rank said) const override {
        const Score weight = ranked_.weights.empty() ? 1 : ranked_.weights[origin];
        return weight * std::abs(targets_[group_of(origin)] - targets_[said]);
    }

    Stump best_stump(const RowSet& set, const Halt& = {}) const override {
        return best_stump(set, std::vector<char>(set.rows, 1));
    }
    SplitLosses stumps_of_split(const RowSet& set, std::uint32_t f, Position z) const override {
        const auto [left, right] = sides_of(set, f, z);
        const Stump on_left = best_stump(set, left), on_right = best_stump(set, right);
        return {on_left.loss, on_right.loss, on_left.relaxed, on_right.relaxed, masses_of(set, left).loss(),
            masses_of(set, right).loss()};
    }
    // Purer is what loses less.
    void purities(
        const RowSet& set, std::uint32_t f, const Halt&, std::vector<double>& by_position) const override {
        by_position.assign(set.rows, 0);
        for (Position z = 1; z < set.rows; ++z) {
            if (!set.cut_behind(f, z - 1) || !set.allows(f, z)) continue;
            const auto [left, right] = sides_of(set, f, z);
            const Score loss = masses_of(set, left).loss() + masses_of(set, right).loss();
            by_position[z] = 1.0 / (1.0 + static_cast<double>(loss));
        }
    }
    std::unique_ptr<Batches> make_batches(const Kernel&, const Halt& halt) const override {
        return std::make_unique<OneBatch>(*this, halt);
    }

    // Of a node: what the rows of each target weigh.
    std::size_t counts() const override { return targets_.size(); }
    void count(std::span<const Row> raw_rows, Score* counts) const override {
        std::fill_n(counts, targets_.size(), 0);
        for (const Row r : raw_rows)
            counts[static_cast<std::size_t>(table_.labels[r])] +=
                table_.weights == nullptr ? 1 : table_.weights[r];
    }
    Score loss_of_counts(const Score* counts) const override {
        Masses masses(targets_);
        for (std::uint32_t g = 0; g < targets_.size(); ++g) masses.add(g, counts[g]);
        return masses.loss();
    }
private:
    using Members = std::vector<char>;  // by row of a set

    std::uint32_t group_of(Row origin) const {
        return static_cast<std::uint32_t>(table_.labels[ranked_.original[origin]]);
    }
    Masses masses_of(const RowSet& set) const {
        Masses masses(targets_);
        for (std::uint32_t g = 0; g < set.groups; ++g) masses.add(set.group[g], set.group_mass(g));
        return masses;
    }
    Masses masses_of(const RowSet& set, std::span<const Row> rows) const {
        Masses masses(targets_);
        for (const Row r : rows) masses.add(group_of(set.origin[r]), set.weight_of(r));
        return masses;
    }
    Masses masses_of(const RowSet& set, const Members& in) const {
        Masses masses(targets_);
        const std::vector<std::uint32_t> group = groups_of_rows(set);
        for (Row r = 0; r < set.rows; ++r)
            if (in[r]) masses.add(set.group[group[r]], set.weight_of(r));
        return masses;
    }
    static std::pair<Members, Members> sides_of(const RowSet& set, std::uint32_t f, Position z) {
        std::pair<Members, Members> sides{Members(set.rows, 0), Members(set.rows, 0)};
        for (Position k = 0; k < set.rows; ++k) (k < z ? sides.first : sides.second)[set.order(f).row(k)] = 1;
        return sides;
    }
    // The best stump for some of a set's rows.
    Stump best_stump(const RowSet& set, const Members& in) const {
        const std::vector<std::uint32_t> group = groups_of_rows(set);
        const Score leaf = masses_of(set, in).loss();
        Stump best{leaf, 0, 0, leaf};
        for (std::uint32_t f = 0; f < set.features; ++f) {
            const Order order = set.order(f);
            for (Position z = 1; z < set.rows; ++z) {
                if (order.rank(z - 1) == order.rank(z)) continue;
                Masses masses[2] = {Masses(targets_), Masses(targets_)};
                Row rows[2] = {0, 0};
                Score mass[2] = {0, 0};
                for (Position k = 0; k < set.rows; ++k) {
                    const Row r = order.row(k);
                    if (!in[r]) continue;
                    masses[k >= z].add(set.group[group[r]], set.weight_of(r));
                    ++rows[k >= z];
                    mass[k >= z] += set.weight_of(r);
                }
                if (rows[0] == 0 || rows[1] == 0) continue;
                const Score loss = masses[0].loss() + masses[1].loss();
                best.relaxed = std::min(best.relaxed, loss);
                const bool allowed = std::min(rows[0], rows[1]) >= set.leaf.rows &&
                                     std::min(mass[0], mass[1]) >= set.leaf.mass;
                if (allowed && loss < best.loss) best = {loss, f, z, best.relaxed};
            }
        }
        return best;
    }

    const Table table_;
    const RankedTable& ranked_;
    const std::vector<Score> targets_;
};

// An instance whose labels are groups of rows with the same target.
struct Case {
    Instance data;
    std::vector<Score> targets;  // by group, ascending

    Score leaf_loss(const RowList& rows) const {
        Score least = std::numeric_limits<Score>::max();
        for (const Score said : targets) {
            Score sum = 0;
            for (const std::size_t r : rows)
                sum += data.weight(r) * std::abs(targets[static_cast<std::size_t>(data.labels[r])] - said);
            least = std::min(least, sum);
        }
        return least;
    }
    Score optimum(const Options& options) const {
        const auto loss = [&](const Instance&, const RowList& rows) { return leaf_loss(rows); };
        const Front front = front_of(data, all_rows(data), options.max_depth,
            static_cast<std::size_t>(options.min_samples_leaf), options.min_weight_leaf, loss);
        return least_objective(front, options);
    }
};

// Solves a case as Session::search_best_first does, with the other objective.
struct Search {
    Search(const Case& of, const Options& asked)
        : one(of), options(asked), ranked(ranked_table(of, asked)),
          objective(of.data.table(), ranked, of.targets, costs_of(asked)),
          root(all_rows(ranked, width(), *kernel.partitioner, arena)),
          size(asked.max_depth, leaves_of(asked), root.rows) {}

    static RankedTable ranked_table(const Case& of, const Options& asked) {
        RankedTable table =
            rank_columns(of.data.table(), AbsoluteDeviation::groups(of.data.table()), 0, Control());
        table.min_leaf = {static_cast<Row>(asked.min_samples_leaf), asked.min_weight_leaf};
        return table;
    }
    Width width() const {
        return ranked.weights.empty() && ranked.min_leaf.any() ? Width::narrow : Width::wide;
    }

    Outcome run() {
        Cache cache(root.rows, options.cache_capacity());
        StopFlags flags(control);
        std::vector<std::unique_ptr<Worker>> workers;
        for (int i = 0; i < options.n_jobs; ++i)
            workers.push_back(std::make_unique<Worker>(objective, kernel, options.switches, control));
        Worker& first = *workers.front();
        Crew crew(std::move(workers), flags);
        Incumbent incumbent(options, flags, [](const Outcome&) {});
        Solver solver(objective, root, options, kernel, cache, crew, flags);
        Schedule heuristics(root, options, size, solver, incumbent, cache, kernel, first);
        RootProfiles profiles;
        RootShare share;
        const Start start;
        const Frontier beginning;
        Levels levels({root, options, size, start, beginning, {}}, solver, incumbent, heuristics, profiles,
            crew, share);
        SizePath path(root, options, solver, incumbent, flags);
        crew.run([&](Worker& worker) {
            if (options.all_sizes) path.run(worker, levels, heuristics);
            else levels.run(worker);
        });
        sizes = path.take_sizes();
        return incumbent.best();
    }

    // The loss of a plan's tree on the raw values, by the tree that a fit would return.
    Score recounted(const Plan& plan, Leaves most_leaves_allowed) {
        const Plan plain = plain_plan(objective, root, plan, *kernel.partitioner, arena, {});
        const Tree tree = build_tree(objective, ranked, one.data.table(), plain);
        CHECK_AT_MOST((tree.size() + 1) / 2, most_leaves_allowed);
        const Score loss = recounted(tree, 0, check::all_rows(one.data), options.max_depth);
        CHECK_EQUAL(verify(objective, tree, one.data.table(), root.leaf), loss);
        leaves = static_cast<Score>((tree.size() + 1) / 2);
        return loss;
    }
    Score recounted(const Tree& tree, std::size_t node, const RowList& rows, std::int64_t depth_left) {
        if (tree.children_left[node] < 0) return one.leaf_loss(rows);
        CHECK(depth_left > 0);
        const auto [left, right] = parted(one.data, rows, static_cast<std::size_t>(tree.feature[node]),
            tree.threshold[node], tree.missing_left[node] != 0);
        return recounted(tree, static_cast<std::size_t>(tree.children_left[node]), left, depth_left - 1) +
               recounted(tree, static_cast<std::size_t>(tree.children_right[node]), right, depth_left - 1);
    }

    const Case& one;
    const Options& options;
    const Kernel& kernel = chosen_kernel();
    Control control;
    RankedTable ranked;
    Arena arena;
    AbsoluteDeviation objective;
    RowSet root;
    TreeSize size;
    std::vector<Outcome> sizes;
    Score leaves = 0;  // of the last tree that was recounted
};

Case draw_case(Random& random, const Shape& shape, bool weights, bool missing) {
    Case one;
    one.data = random.chance(0.6)
                   ? nasty(random, shape)
                   : structured(random,
                         static_cast<std::size_t>(random.between(shape.most_rows / 2, shape.most_rows)),
                         static_cast<std::size_t>(random.between(1, shape.most_features)),
                         static_cast<std::int32_t>(random.between(2, 5)),
                         random.pick<std::uint64_t>({0, 3, 6}), random.pick({0.1, 0.4, 1.0}));
    Score target = random.between(-9, 0);
    for (std::int32_t g = 0; g < one.data.classes; ++g) one.targets.push_back(target += random.between(1, 6));
    if (weights)
        for (std::size_t r = 0; r < one.data.rows; ++r)
            one.data.weights.push_back(random.chance(0.1) ? 1000 : random.between(1, 4));
    if (missing) draw_missing(one.data, random);
    return one;
}

Options draw_options(Random& random, const Case& one, std::int64_t depth, bool leaf_size) {
    Options options;
    options.max_depth = depth;
    options.n_jobs = random.pick({1, 1, 1, 2});
    const auto rows = static_cast<std::int64_t>(one.data.rows);
    if (leaf_size) options.min_samples_leaf = std::min<std::int64_t>(rows, random.between(2, 2 + rows / 5));
    if (leaf_size && random.chance(0.3)) options.min_weight_leaf = random.between(1, 2 + rows / 4);
    if (random.chance(0.4)) {
        options.error_cost = random.pick<Score>({1, 2, 5});
        options.leaf_cost = random.between(0, 8 * options.error_cost);
    }
    if (random.chance(0.3)) options.max_leaves = random.between(1, 1 + (std::int64_t{1} << depth));
    if (random.chance(0.2)) options.max_gap = random.pick<std::int64_t>({1, 4, 1000});
    options.switches.inheritance_cells = random.pick({0, 0, 20000});
    if (random.chance(0.3))
        for (const SwitchRow& row : switch_rows())
            if (random.chance(0.2)) options.switches.*row.field = row.low;
    return options;
}

void check_case(const Case& one, const Options& options) {
    const Score optimum = one.optimum(options);
    Search search(one, options);
    const Outcome found = search.run();
    const Score upper = found.upper + options.leaf_cost, lower = found.lower + options.leaf_cost;
    const Score loss = search.recounted(found.plan, search.size.leaves);
    CHECK_EQUAL(options.error_cost * loss + options.leaf_cost * search.leaves, upper);
    CHECK_AT_MOST(lower, optimum);
    CHECK_AT_MOST(optimum, upper);
    CHECK_AT_MOST(upper - lower, options.max_gap);
}

void against_exhaustive_search(double count, std::int64_t depth, const Shape& shape) {
    for_seeds(count, [&](Random& random) {
        const Case one = draw_case(random, shape, random.chance(0.4), random.chance(0.3));
        check_case(one, draw_options(random, one, depth, random.chance(0.3)));
    });
}

// Every number of leaves at once.
void test_all_sizes() {
    for_seeds(300, [](Random& random) {
        const std::int64_t depth = random.between(1, 3);
        const Case one =
            draw_case(random, {1, depth == 3 ? 11 : 16, 0, 2, 5}, random.chance(0.4), random.chance(0.3));
        Options options = draw_options(random, one, depth, random.chance(0.3));
        options.all_sizes = true;
        options.error_cost = 1;
        options.leaf_cost = options.max_gap = options.max_leaves = 0;
        Search search(one, options);
        search.run();
        for (std::size_t k = 0; k < search.sizes.size(); ++k) {
            Options own = options;
            own.max_leaves = static_cast<std::int64_t>(k + 1);
            const Score optimum = one.optimum(own);
            CHECK_EQUAL(search.sizes[k].upper, optimum);
            CHECK_EQUAL(search.sizes[k].lower, optimum);
            CHECK_EQUAL(search.recounted(search.sizes[k].plan, static_cast<Leaves>(k + 1)), optimum);
        }
        CHECK_EQUAL(search.sizes.back().upper, one.optimum(options));
    });
}

}  // namespace

int main() {
    check::watch_aborts();
    check::run("depth zero and one", [] {
        against_exhaustive_search(300, 0, {1, 30, 0, 4, 6}),
            against_exhaustive_search(300, 1, {1, 30, 0, 4, 6});
    });
    check::run("depth two", [] { against_exhaustive_search(800, 2, {1, 25, 0, 3, 6}); });
    check::run("depth three", [] { against_exhaustive_search(800, 3, {1, 13, 0, 3, 6}); });
    check::run("depth four, with heuristics", [] { against_exhaustive_search(200, 4, {1, 9, 0, 2, 6}); });
    check::run("every size", test_all_sizes);
    return check::report();
}
