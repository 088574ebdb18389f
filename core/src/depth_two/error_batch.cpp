#include "depth_two/general_batch.hpp"
#include "depth_two/plain_batch.hpp"
#include "objective/misclassification.hpp"

namespace contree {
void ErrorBatch::start(const RowSet& set, Arena& arena, Statistics& statistics) {
    Batch::start(set, arena, statistics);
    words_ = arena.take<std::uint64_t>(set.rows);
    pairs_.clear();
    for (std::uint32_t b = 1; b < set.groups && set.features > 0; ++b)
        for (std::uint32_t a = 0; a < b; ++a) pairs_.push_back({a, b, set.group_size(a) + set.group_size(b)});
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) {
        return x.rows != y.rows ? x.rows > y.rows : std::pair(x.a, x.b) < std::pair(y.a, y.b);
    });
    class_totals_.resize(set.groups);
    potential_.resize(pairs_.size() + 1);
    begin();
}

void ErrorBatch::evaluate_lanes(Score ub) {
    write_words(*set_, lanes, words_);
    size_.fill(0);
    if (subset_lanes() != 0) write_subsets(words_, size_);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        if (lanes[t].left != nullptr) continue;
        size_[left_side(t)] = set_->mass_at(lanes[t].f, lanes[t].z);
        size_[right_side(t)] = set_->mass - size_[left_side(t)];
    }
    if (with_whole) size_[left_side(whole_lane)] = set_->mass;
    sweep_lanes(ub);
    if (!with_leaves) return;
    if (set_->groups == 2 && set_->categorical == 0) weigh_classes();  // else the sweeps have
    const BySide right = leaves();
    for (std::size_t s = 0; s < side_count; ++s) leaf_[s] = size_[s] - right[s];
}

// What the classes weigh on all sides, and so what pairs of them get right at the most.
void ErrorBatch::weigh_classes() {
    const RowSet& set = *set_;
    for (std::uint32_t c = 0; c < set.groups; ++c) {
        const Row begin = set.group_begin[c];
        const Score* const weights = set.weighted() ? set.weight + begin : nullptr;
        kernel_.weigh_sides(words_ + begin, weights, set.group_size(c), class_totals_[c].data());
    }
    potential_[pairs_.size()].fill(0);
    for (std::size_t i = pairs_.size(); i-- > 0;)
        for (std::size_t s = 0; s < side_count; ++s)
            potential_[i][s] = std::max(potential_[i + 1][s], most_of(i, s));
}

// What a leaf gets right on each side.
auto ErrorBatch::leaves() const -> BySide {
    BySide right{};
    for (std::uint32_t c = 0; c < set_->groups; ++c)
        for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max(right[s], class_totals_[c][s]);
    return right;
}

// The pair's rows in every order, with the places where W is taken; unfinished after a halt.  Plain sweeps
// look neither at orders with missing values first nor at the mask without ties.
void ErrorBatch::prepare(Pair& pair) {
    const RowSet& set = *set_;
    const bool all = pair.rows == set.rows;
    pair.stride = all ? set.stride : pair.rows + partition_padding;
    auto* const mask = arena_->take<std::uint8_t>(pair.stride * set.features);
    auto* const ties = arena_->take<Ties>(set.features);
    pair.threshold_mask = mask, pair.ties = ties;
    with_entry(set.width, [&](auto entry) {
        using Entry = decltype(entry);
        const EntryLoops<Entry>& loops = kernel_.partitioner->of<Entry>();
        Entry* const own = all ? nullptr : arena_->take<Entry>(pair.stride * set.features);
        pair.entries = all ? set.entries : reinterpret_cast<const std::byte*>(own);
        Arena::Frame frame(*arena_);
        auto* const own_cuts = arena_->take<std::uint64_t>(set.words);
        for (std::uint32_t f = 0; f < set.features && !halt_(); ++f) {
            ties[f] = Ties::none;
            if (!set.weighted() && set.missing[set.feature[f]] == Missing::first) continue;
            Entry* const order = all ? nullptr : own + f * pair.stride;
            if (!all) {
                loops.filter(set.order(f).as<Entry>(), set.rows, set.group_begin[pair.a],
                    set.group_size(pair.a), set.group_begin[pair.b], set.group_size(pair.b), order);
                order[pair.rows] = Packed<Entry>::sentinel();
            }
            if (!set.weighted() && set.cuts(f).everywhere()) continue;
            if (!all) loops.mark_cuts(order, pair.rows, own_cuts);
            const std::uint64_t* const cuts = all ? set.cuts(f).bits : own_cuts;
            const Row skipped = spread_cuts(cuts, pair.rows, mask + f * pair.stride);
            const bool regular = skipped <= pair.rows / 32 || skipped >= pair.rows - pair.rows / 8;
            if (skipped > 0) ties[f] = regular ? Ties::regular : Ties::irregular;
        }
    });
}

namespace {
// The batches of errors, and which of them a row set needs.
class ErrorBatches final : public Batches {
public:
    ErrorBatches(const Objective& objective, const Kernel& kernel, const Halt& halt)
        : plain_(objective, kernel, halt), general_(objective, kernel, halt), one_by_one_(objective, halt) {}

    Batch& start(const RowSet& set, Arena& arena, Statistics& statistics) override {
        const bool plain = !set.weighted() && !set.has_leaf_size();
        Batch& batch = set.groups > most_paired_classes ? one_by_one_
                       : plain                          ? static_cast<Batch&>(plain_)
                                                        : general_;
        batch.start(set, arena, statistics);
        return batch;
    }
private:
    PlainBatch plain_;
    GeneralBatch general_;
    Batch one_by_one_;
};
}  // namespace

// What errors need of depth two.
std::unique_ptr<Batches> Misclassification::make_batches(const Kernel& kernel, const Halt& halt) const {
    return std::make_unique<ErrorBatches>(*this, kernel, halt);
}

bool Misclassification::bounds_runs(const RowSet& set) const { return set.groups <= most_paired_classes; }
}  // namespace contree
