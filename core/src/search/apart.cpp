#include "search/apart.hpp"
#include "tree/locate.hpp"

namespace contree {
namespace {
constexpr int most_tries = 10;  // places of a cut, for one feature
// Two sets take another feature in if they keep so much of their hardness.
constexpr double least_kept = 0.6;
// So much of a row's hardness is the same for all rows: where all rows of a tree's errors are, others may be
// needed to tell the errors from the rest.
constexpr double even_share = 0.5;
constexpr double harder = 1.3;  // than a set that was too easy
constexpr Rank most = ~Rank{0};

// What each row loses in a tree without stumps; 0 where a halt comes first.
void note_losses(const Objective& objective, const RowSet& set, const Step* step,
    const Partitioner& partitioner, Arena& arena, const Halt& halt, std::vector<double>& losses) {
    if (halt()) return;
    const Split at = locate(objective, set, *step);
    if (at.z == 0) {
        const Rank prediction = objective.prediction(set);
        for (Row r = 0; r < set.rows; ++r)
            losses[set.origin[r]] = static_cast<double>(objective.row_loss(set.origin[r], prediction));
        return;
    }
    Arena::Frame frame(arena);
    const Children children = split_rows(set, at, true, partitioner, arena);
    note_losses(objective, children.left, step + 1, partitioner, arena, halt, losses);
    note_losses(objective, children.right, end_of(step + 1), partitioner, arena, halt, losses);
}
}  // namespace

// What is proved of sets within one set, and which features are answered by two of them.
struct Apart::Family {
    Family(
        const RowSet& of, const Box& of_set, std::int64_t depth, const std::vector<double>& hardness_of_all)
        : set(of), around(of_set), below(depth - 1), first_end(of.features, most), last_begin(of.features, 0),
          box{std::vector<Rank>(of_set.first.size(), most), std::vector<Rank>(of_set.first.size(), 0)} {
        for (Row r = 0; r < set.rows; ++r) {
            hardness.push_back(hardness_of_all[set.origin[r]]);
            all += hardness.back();
        }
    }

    bool answered(std::uint32_t f) const { return first_end[f] <= last_begin[f]; }
    bool any(std::uint32_t f) const { return first_end[f] != most; }
    // Would a set answer more?
    bool helped_by(const Box& other) const {
        for (std::uint32_t f = 0; f < set.features; ++f) {
            const FeatureId column = set.feature[f];
            const bool further = other.last[column] < first_end[f] || other.first[column] > last_begin[f];
            if (further && !answered(f)) return true;
        }
        return false;
    }
    void add(const Box& other) {
        for (std::uint32_t f = 0; f < set.features; ++f) {
            first_end[f] = std::min(first_end[f], other.last[set.feature[f]]);
            last_begin[f] = std::max(last_begin[f], other.first[set.feature[f]]);
        }
        for (std::size_t c = 0; c < box.first.size(); ++c) {
            box.first[c] = std::min(box.first[c], other.first[c]);
            box.last[c] = std::max(box.last[c], other.last[c]);
        }
    }
    double hardness_left(std::uint32_t f, Position z) const {
        double sum = 0;
        for (Position k = 0; k < z; ++k) sum += hardness[set.order(f).row(k)];
        return sum;
    }
    // The first threshold with so much on its left, or the last one.
    Position place(std::uint32_t f, double left) const {
        Position z = 0;
        double sum = 0;
        for (Position k = 0; k + 1 < set.rows && (z == 0 || sum < left); ++k) {
            sum += hardness[set.order(f).row(k)];
            if (set.cut_behind(f, k)) z = k + 1;
        }
        return z;
    }

    const RowSet& set;
    const Box& around;
    const std::int64_t below;                 // the depth of its sets
    std::vector<Rank> first_end, last_begin;  // by feature, over all sets
    Box box;                                  // of all sets together
    std::vector<double> hardness;             // by row
    double all = 0;
};

// Two sets of a family that features have apart, as hard as each other.
struct Apart::Halves {
    enum Side : std::uint8_t { low, high, neither };
    struct Place {
        double kept = 0;  // by the easier of both
        std::uint32_t f = 0;
        Position z = 0;
        bool flipped = false;  // is the low set behind z?
    };

    Halves(const Family& of, std::uint32_t f) : family(of), side(of.set.rows, low) {
        const Position z = family.place(f, family.all / 2);
        for (Position k = z; k < family.set.rows; ++k) side[family.set.order(f).row(k)] = high;
        cut({0, f, z, false});
    }
    Place best_place(std::uint32_t f) const {
        Place best{0, f};
        double before[3] = {0, 0, 0};
        const Order order = family.set.order(f);
        for (Position k = 0; k + 1 < family.set.rows; ++k) {
            const Row row = order.row(k);
            before[side[row]] += family.hardness[row];
            if (!family.set.cut_behind(f, k)) continue;
            const double as_is = std::min(before[low], size[high] - before[high]),
                         flipped = std::min(before[high], size[low] - before[low]);
            if (std::max(as_is, flipped) > best.kept)
                best = {std::max(as_is, flipped), f, k + 1, flipped > as_is};
        }
        return best;
    }
    // Leaves out the rows that stand on the wrong side.
    void cut(const Place& at) {
        const Order order = family.set.order(at.f);
        size[low] = size[high] = 0;
        for (Position k = 0; k < family.set.rows; ++k) {
            std::uint8_t& one = side[order.row(k)];
            if (one != neither && (one == low) != ((k < at.z) != at.flipped)) one = neither;
            if (one != neither) size[one] += family.hardness[order.row(k)];
        }
        const FeatureId column = family.set.feature[at.f];
        cuts[low].push_back({column, order.rank(at.z - 1), !at.flipped});
        cuts[high].push_back({column, order.rank(at.z - 1), at.flipped});
    }
    double least() const { return std::min(size[low], size[high]); }

    const Family& family;
    std::vector<std::uint8_t> side;  // by row
    double size[2] = {0, 0};
    std::vector<Cut> cuts[2];
};

Apart::Apart(Solver& solver, Worker& worker, const RowSet& root, const Plan& tree, std::int64_t exact_depth)
    : solver_(solver), worker_(worker), root_(root), exact_depth_(exact_depth), hardness_(root.rows, 0) {
    root_.leaf = LeafSize{};
    const Objective& objective = solver.objective();
    const Partitioner& partitioner = solver.partitioner();
    const Halt halt = when_stopped(solver.flags().control);
    const Plan plain = plain_plan(objective, root, tree, partitioner, worker.arena, halt);
    if (!plain.empty())
        note_losses(objective, root, plain.data(), partitioner, worker.arena, halt, hardness_);
    double sum = 0;
    for (const double one : hardness_) sum += one;
    for (double& one : hardness_) one = (1 - even_share) * one + even_share * sum / root.rows;
}

bool Apart::prove(std::int64_t depth, Score target) {
    if (root_.features == 0 || root_.categorical > 0) return false;
    target_ = target;
    proved_.assign(static_cast<std::size_t>(depth) + 1, {});
    too_easy_.assign(static_cast<std::size_t>(depth) + 1, 0);
    const std::size_t columns = root_.feature[root_.features - 1] + std::size_t{1};
    return prove(root_, {std::vector<Rank>(columns, 0), std::vector<Rank>(columns, most)}, depth);
}

// `box` is of the set.
bool Apart::prove(const RowSet& set, const Box& box, std::int64_t depth) {
    const auto level = static_cast<std::size_t>(depth);
    if (depth <= exact_depth_ || set.features == 0) {
        const Outcome outcome = solver_.solve(worker_, {set, {depth, any_leaves, set.rows}, 0, target_});
        if (outcome.lower < target_) return false;
        proved_[level].push_back(box);
        return true;
    }
    Family family(set, box, depth, hardness_);
    const auto inside = [&](const Box& other) {
        return std::all_of(within_.begin(), within_.end(), [&](const Cut& cut) {
            return cut.low ? other.last[cut.column] <= cut.rank : other.first[cut.column] > cut.rank;
        });
    };
    for (const Box& other : proved_[level - 1])
        if (inside(other) && family.helped_by(other)) family.add(other);
    for (std::uint32_t f = 0; f < set.features; ++f) {
        if (!family.answered(f)) answer_with_others(family, f);
        if (!family.answered(f)) answer_alone(family, f);
        if (!family.answered(f) || over()) return false;
    }
    proved_[level].push_back(family.box);
    return true;
}

// Two sets for a feature, and for all others that can have them apart.
void Apart::answer_with_others(Family& family, std::uint32_t f) {
    double& too_easy = too_easy_[static_cast<std::size_t>(family.below)];
    Halves halves(family, f);
    std::vector<bool> taken(family.set.features, false);
    for (;;) {
        Halves::Place best;
        for (std::uint32_t g = f + 1; g < family.set.features && !over(); ++g) {
            if (taken[g] || family.answered(g)) continue;
            worker_.cells_moved += family.set.rows;
            if (const Halves::Place one = halves.best_place(g); one.kept > best.kept) best = one;
        }
        if (best.kept <= std::max(too_easy, least_kept * halves.least())) break;
        halves.cut(best);
        taken[best.f] = true;
    }
    if (halves.cuts[0].size() == 1) return;
    const bool proved = prove_part(family, halves.cuts[Halves::low]) &&
                        (family.answered(f) || prove_part(family, halves.cuts[Halves::high]));
    if (!proved) too_easy = std::max(too_easy, harder * halves.least());
}

// All rows of a side: the one with more room beside a set that is proved, or else half of what is left.
void Apart::answer_alone(Family& family, std::uint32_t f) {
    const RowSet& set = family.set;
    const Order order = set.order(f);
    double few = 0, many = family.all;  // to prove a low side, and to leave too little for a high one
    for (int tries = 0; tries < most_tries && !family.answered(f) && !over(); ++tries) {
        Position z = 0, end = 0;
        if (family.any(f)) {
            z = order.first_from(family.first_end[f], 0, set.rows);
            end = order.first_behind(std::min(family.last_begin[f], most - 1), 0, set.rows);
        }
        const double below = family.hardness_left(f, z), below_end = family.hardness_left(f, end);
        const bool high = below > 0 && below<many, low = family.last_begin[f]> order.rank(0) &&
                          end < set.rows && below_end > few;
        const bool is_low = !high || (low && below_end > family.all - below);
        if (is_low) z = low ? end : family.place(f, (few + many) / 2);
        const double left = family.hardness_left(f, z);
        if (z == 0 || z == set.rows || (is_low ? left <= few : left >= many)) return;
        if (!prove_part(family, {{set.feature[f], order.rank(z - 1), is_low}})) (is_low ? few : many) = left;
    }
}

// The rows on one side of each of some cuts.
bool Apart::prove_part(Family& family, const std::vector<Cut>& cuts) {
    const Arena::Frame frame(worker_.arena);
    RowSet part = family.set;
    Box box = family.around;
    for (const Cut& cut : cuts) {
        const std::uint32_t f = part.number_of(cut.column);
        if (f >= part.features) continue;  // where all rows agree, or their other order counts
        const Position z = part.order(f).first_behind(cut.rank, 0, part.rows);
        if (z == (cut.low ? 0 : part.rows)) return false;
        if (z == (cut.low ? part.rows : 0)) continue;
        (cut.low ? box.last : box.first)[cut.column] = part.order(f).rank(cut.low ? z - 1 : z);
        worker_.count_split(part);
        const Children sides = split_rows(
            part, {f, z}, true, solver_.partitioner(), worker_.arena, when_stopped(solver_.flags().control));
        part = cut.low ? sides.left : sides.right;
    }
    if (over()) return false;
    for (std::uint32_t f = 0; f < part.features; ++f) {
        box.first[part.feature[f]] = part.order(f).rank(0);
        box.last[part.feature[f]] = part.order(f).rank(part.rows - 1);
    }
    within_.insert(within_.end(), cuts.begin(), cuts.end());
    const bool proved = prove(part, box, family.below);
    within_.resize(within_.size() - cuts.size());
    if (proved) family.add(proved_[static_cast<std::size_t>(family.below)].back());
    return proved;
}
}  // namespace contree
