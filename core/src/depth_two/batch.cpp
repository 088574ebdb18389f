#include "depth_two/batch.hpp"

#include <algorithm>

#include "depth_two/d2split.hpp"
#include "tree/stump.hpp"

namespace contree {

namespace {

// Pairs of classes grow with the square of their number; beyond this, lanes are evaluated one by one.
constexpr std::uint32_t most_paired_classes = 48;

}  // namespace

template <class Entry>
void Batch<Entry>::start(const Subproblem<Entry>& sub, Arena& arena, Statistics& statistics) {
    sub_ = &sub;
    arena_ = &arena;
    statistics_ = &statistics;
    words_ = arena.take<std::uint64_t>(sub.rows);
    general_ = sub.weighted() || sub.min_leaf() > 1;
    if (general_) start_general();
    pairs_.clear();
    if (sub.classes == 2 && !sub.weighted()) {
        pairs_.push_back({0, 1, sub.rows, {}});
        pairs_[0].sweep = {sub.entries, sub.stride, nullptr, nullptr, sub.features, sub.rows, words_, sub.class_begin[1]};
        mark_takes(pairs_[0].sweep);
        if (!general_) return;
    }
    if (sub.classes > most_paired_classes) {
        class_of_ = classes_of_rows(sub);
        return;
    }
    if (pairs_.empty()) {
        for (std::uint32_t b = 1; b < sub.classes; ++b)
            for (std::uint32_t a = 0; a < b; ++a) pairs_.push_back({a, b, sub.class_size(a) + sub.class_size(b), {}});
    }
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& x, const Pair& y) {
        return x.rows != y.rows ? x.rows > y.rows : std::pair(x.a, x.b) < std::pair(y.a, y.b);
    });
    class_totals_.resize(sub.classes);
    potential_.resize(pairs_.size() + 1);
}

template <class Entry>
bool Batch<Entry>::evaluate(Score ub) {
    ++statistics_->depth_two_batches;
    statistics_->d2split_calls += static_cast<std::int64_t>(lanes.size());
    if (sub_->classes > most_paired_classes) {
        evaluate_one_by_one();
        return !halt_();
    }
    write_words();
    side_sizes();
    if (sub_->classes == 2 && !sub_->weighted()) evaluate_two_classes();
    else evaluate_classes(ub);
    if (sub_->min_leaf() > 1) evaluate_allowed(ub);
    return !halt_();
}

// The kernel over all features: a few at a time where there are many rows, so that a stop does not wait for long.
template <class Entry>
void Batch<Entry>::sweep(const Sweep<Entry>& all) {
    constexpr std::uint32_t most_cells = 4'000'000;
    if (std::uint64_t{all.rows} * all.features <= most_cells) return kernel_.sweep(all, sums_);
    const std::uint32_t step = std::max(1u, most_cells / all.rows);
    SideSums part;
    for (std::uint32_t f = 0; f < all.features && !halt_(); f += step) {
        Sweep<Entry> some = all;
        some.entries += f * all.stride;
        some.takes += f * all.stride;
        some.ties += f;
        some.features = std::min(step, all.features - f);
        kernel_.sweep(some, f == 0 ? sums_ : part);
        if (f == 0) continue;
        for (std::size_t s = 0; s < side_count; ++s) {
            sums_.high[s] = std::max(sums_.high[s], part.high[s]);
            sums_.low[s] = std::min(sums_.low[s], part.low[s]);
        }
    }
}

// The rows' words.  The thresholds z_1 < .. < z_m of one feature part its order into m + 1 buckets, and all
// rows of a bucket have the same bits in the feature's lanes.  The largest bucket gets its bits by default.
template <class Entry>
void Batch<Entry>::write_words() {
    using P = Packed<Entry>;
    struct Bucket {
        std::uint32_t f;
        Position begin, end;
        std::uint64_t flip;
    };
    std::array<Bucket, 2 * lane_count> buckets;
    std::size_t bucket_count = 0;
    std::uint64_t common = with_whole ? std::uint64_t{1} << whole_lane : 0;
    for (std::size_t t = 0; t < lanes.size();) {
        const std::uint32_t f = lanes[t].f;
        std::size_t m = 1;
        while (t + m < lanes.size() && lanes[t + m].f == f) ++m;
        const auto bits = [&](std::size_t b) {
            const std::uint64_t passed = (std::uint64_t{1} << b) - 1, all = (std::uint64_t{1} << m) - 1;
            return (all & ~passed) << t | passed << (lane_count + t);
        };
        const auto begin = [&](std::size_t b) { return b == 0 ? 0 : lanes[t + b - 1].z; };
        const auto end = [&](std::size_t b) { return b == m ? sub_->rows : lanes[t + b].z; };
        std::size_t largest = 0;
        for (std::size_t b = 1; b <= m; ++b)
            if (end(b) - begin(b) > end(largest) - begin(largest)) largest = b;
        common |= bits(largest);
        for (std::size_t b = 0; b <= m; ++b)
            if (b != largest) buckets[bucket_count++] = {f, begin(b), end(b), bits(b) ^ bits(largest)};
        t += m;
    }
    std::fill_n(words_, sub_->rows, common);
    for (std::size_t i = 0; i < bucket_count; ++i) {
        const Bucket& bucket = buckets[i];
        const Entry* const order = sub_->order(bucket.f);
        for (Position k = bucket.begin; k < bucket.end; ++k) words_[P::row(order[k])] ^= bucket.flip;
    }
}

template <class Entry>
void Batch<Entry>::side_sizes() {
    size_.fill(0);
    for (std::size_t t = 0; t < lanes.size(); ++t) {
        const Score left = sub_->mass_at(lanes[t].f, lanes[t].z);
        size_[left_side(t)] = static_cast<Sum>(left);
        size_[right_side(t)] = static_cast<Sum>(sub_->mass - left);
    }
    if (with_whole) size_[left_side(whole_lane)] = static_cast<Sum>(sub_->mass);
}

template <class Entry>
std::uint32_t Batch<Entry>::lanes_in_use() const {
    const auto used = static_cast<std::uint32_t>((std::uint64_t{1} << lanes.size()) - 1);
    return used | (with_whole ? std::uint32_t{1} << whole_lane : 0);
}

template <class Entry>
void Batch<Entry>::evaluate_two_classes() {
    statistics_->row_visits += std::int64_t{sub_->rows} * sub_->features;
    sweep(pairs_[0].sweep);
    for (std::size_t s = 0; s < side_count; ++s) {
        const Sum positive = (size_[s] + sums_.end[s]) / 2, negative = size_[s] - positive;
        reached_[s] = proved_[s] = relaxed_[s] = std::min(positive - sums_.high[s], negative + sums_.low[s]);
    }
}

// More classes: a stump that says a left and b right is right tot_b + W times, with W = pre_a - pre_b over
// the rows of classes a and b alone, so
//     rows - errors = max over pairs {a, b} of max(tot_b + max W, tot_a - min W),
// and a pair is a two-class sweep over its own rows.  No stump on {a, b} is right more than tot_a + tot_b
// times: `potential_[i]` is the most that pairs i, i+1, .. can give.
template <class Entry>
void Batch<Entry>::evaluate_classes(Score ub) {
    weigh_classes();
    BySide right{};   // what the best stump so far gets right
    for (std::uint32_t c = 0; c < sub_->classes; ++c)
        for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max(right[s], class_totals_[c][s]);
    potential_[pairs_.size()].fill(0);
    for (std::size_t i = pairs_.size(); i-- > 0;) {
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for (std::size_t s = 0; s < side_count; ++s) potential_[i][s] = std::max(potential_[i + 1][s], a[s] + b[s]);
    }
    std::array<std::size_t, lane_count> death;
    sweep_pairs(ub, lanes_in_use(), right, death, [&](Pair& pair) {
        if (sub_->weighted()) sweep_general(pair, false, lanes_in_use(), right);
        else sweep_pair(pair, right);
    });
    for (std::size_t t = 0; t < lane_count; ++t) {
        for (const std::size_t s : {left_side(t), right_side(t)}) {
            reached_[s] = size_[s] - right[s];
            proved_[s] = relaxed_[s] = size_[s] - std::max(right[s], potential_[death[t]][s]);
        }
    }
}

// A lane whose two sides cannot get below ub even with all that is left is dead, and a pair that can help no side of
// a live lane is left out.  (Testing one side alone would be wrong: left and right may use different pairs.)
// `death[t]` is the pair at which lane t died; its bound counts all from there.
template <class Entry>
template <class SweepPair>
void Batch<Entry>::sweep_pairs(Score ub, std::uint32_t lanes_meant, BySide& right, std::array<std::size_t, lane_count>& death,
                               const SweepPair& sweep_this) {
    death.fill(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        bool any_live = false, helps = false;
        const auto &a = class_totals_[pairs_[i].a], &b = class_totals_[pairs_[i].b];
        for (std::size_t t = 0; t < lane_count; ++t) {
            if ((lanes_meant >> t & 1) == 0) continue;
            const std::size_t l = left_side(t), r = right_side(t);
            const Sum best_left = std::max(right[l], potential_[i][l]), best_right = std::max(right[r], potential_[i][r]);
            const bool live = size_[l] + size_[r] - best_left - best_right < ub;
            any_live |= live;
            if (!live) death[t] = std::min(death[t], i);
            helps |= live && (a[l] + b[l] > right[l] || a[r] + b[r] > right[r]);
        }
        if (!any_live || halt_()) break;
        if (helps) sweep_this(pairs_[i]);
    }
}

// Stumps with leaves large enough, for the lanes that lie below ub without that: the others do not with it.
template <class Entry>
void Batch<Entry>::evaluate_allowed(Score ub) {
    std::uint32_t meant = 0;
    for (std::size_t t = 0; t < lane_count; ++t)
        if ((lanes_in_use() >> t & 1) != 0 && proved(t) < ub) meant |= std::uint32_t{1} << t;
    if (meant == 0) return;
    if (sub_->classes == 2 && !sub_->weighted()) {
        weigh_classes();
        potential_[1].fill(0);
        for (std::size_t s = 0; s < side_count; ++s) potential_[0][s] = size_[s];
    }
    BySide right{};
    for (std::uint32_t c = 0; c < sub_->classes; ++c)
        for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max(right[s], class_totals_[c][s]);
    std::array<std::size_t, lane_count> death;
    sweep_pairs(ub, meant, right, death, [&](Pair& pair) { sweep_general(pair, true, meant, right); });
    for (std::size_t t = 0; t < lane_count; ++t) {
        if ((meant >> t & 1) == 0) continue;
        for (const std::size_t s : {left_side(t), right_side(t)}) {
            reached_[s] = size_[s] - right[s];
            proved_[s] = std::max(proved_[s], size_[s] - std::max(right[s], potential_[death[t]][s]));
        }
    }
}

template <class Entry>
void Batch<Entry>::weigh_classes() {
    const Subproblem<Entry>& sub = *sub_;
    for (std::uint32_t c = 0; c < sub.classes; ++c) {
        const std::uint64_t* const words = words_ + sub.class_begin[c];
        if constexpr (may_be_general) {
            if (sub.weighted()) {
                kernel_.weigh_sides(words, sub.weight + sub.class_begin[c], sub.class_size(c), class_totals_[c].data());
                continue;
            }
            std::array<std::int32_t, side_count> counts;
            kernel_.count_sides(words, sub.class_size(c), counts.data());
            std::copy(counts.begin(), counts.end(), class_totals_[c].begin());
        } else {
            kernel_.count_sides(words, sub.class_size(c), class_totals_[c].data());
        }
    }
}

template <class Entry>
void Batch<Entry>::sweep_pair(Pair& pair, BySide& right) {
    if (pair.sweep.entries == nullptr) filter_rows(pair);
    statistics_->row_visits += std::int64_t{pair.rows} * sub_->features;
    sweep(pair.sweep);
    const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
    for (std::size_t s = 0; s < side_count; ++s) right[s] = std::max({right[s], b[s] + sums_.high[s], a[s] - sums_.low[s]});
}

template <class Entry>
void Batch<Entry>::evaluate_one_by_one() {
    for (std::size_t t = 0; t < lanes.size() && !halt_(); ++t) {
        const SplitErrors errors = d2split(*sub_, class_of_, lanes[t].f, lanes[t].z);
        reached_[left_side(t)] = static_cast<Sum>(errors.left);
        reached_[right_side(t)] = static_cast<Sum>(errors.right);
        relaxed_[left_side(t)] = static_cast<Sum>(errors.relaxed_left);
        relaxed_[right_side(t)] = static_cast<Sum>(errors.relaxed_right);
    }
    if (with_whole) {
        const Stump stump = best_stump(*sub_);
        reached_[left_side(whole_lane)] = static_cast<Sum>(stump.errors);
        relaxed_[left_side(whole_lane)] = static_cast<Sum>(stump.relaxed);
        reached_[right_side(whole_lane)] = relaxed_[right_side(whole_lane)] = 0;
    }
    proved_ = reached_;
    statistics_->row_visits += static_cast<std::int64_t>(lanes.size()) * sub_->rows * sub_->features;
}

template <class Entry>
void Batch<Entry>::filter_rows(Pair& pair) {
    const Subproblem<Entry>& sub = *sub_;
    const std::size_t stride = pair.rows + mover_padding;
    Entry* const entries = arena_->take<Entry>(stride * sub.features);
    for (std::uint32_t f = 0; f < sub.features; ++f) {
        Entry* const to = entries + f * stride;
        kernel_.movers->of<Entry>().filter(sub.order(f), sub.rows, sub.class_begin[pair.a], sub.class_size(pair.a),
                                           sub.class_begin[pair.b], sub.class_size(pair.b), to);
        to[pair.rows] = Packed<Entry>::sentinel();
    }
    pair.sweep = {entries, stride, nullptr, nullptr, sub.features, pair.rows, words_, sub.class_begin[pair.b]};
    if (sub.weighted()) pair.sweep.takes = mark_ends(entries, stride, pair.rows);
    else mark_takes(pair.sweep);
}

// Looking for groups that mix classes pays while ties are few.
template <class Entry>
void Batch<Entry>::mark_takes(Sweep<Entry>& sweep) {
    const EntryMovers<Entry>& movers = kernel_.movers->of<Entry>();
    auto* const takes = arena_->take<std::uint8_t>(sweep.stride * sweep.features);
    auto* const ties = arena_->take<Ties>(sweep.features);
    for (std::uint32_t f = 0; f < sweep.features; ++f) {
        const Entry* const order = sweep.entries + f * sweep.stride;
        std::uint8_t* const to = takes + f * sweep.stride;
        const Row tied = sub_->rows - 1 - sub_->cut_count[f];
        if (tied == 0) {
            ties[f] = Ties::none;
            continue;
        }
        const Row skipped = tied < sub_->rows / 8 ? movers.mark_takes(order, sweep.rows, sweep.boundary, to)
                                                  : movers.mark_ends(order, sweep.rows, to);
        ties[f] = kind_of_ties(sweep.rows, skipped);
    }
    sweep.takes = takes;
    sweep.ties = ties;
}

// The general case.  Steps are as narrow as the weights allow.
template <class Entry>
void Batch<Entry>::start_general() {
    const Subproblem<Entry>& sub = *sub_;
    const Score largest = sub.weighted() ? *std::max_element(sub.weight, sub.weight + sub.rows) : 1;
    const auto chunk = [&](auto greatest) { return static_cast<Row>(std::min<Score>(sub.rows, greatest / largest)); };
    if (largest <= largest_step<std::int16_t>) step_bits_ = 16, chunk_rows_ = chunk(std::numeric_limits<std::int16_t>::max() - 1);
    else if (largest <= largest_step<std::int32_t>) step_bits_ = 32, chunk_rows_ = chunk(std::numeric_limits<std::int32_t>::max() - 1);
    else step_bits_ = 64, chunk_rows_ = sub.rows;
    ends_ = nullptr;
}

// What a row adds to W is its weight, with the sign of its class, and nothing where it is of a third one.  Without a
// limit the pair's own rows are enough; with it every row counts towards the size of a leaf.
template <class Entry>
void Batch<Entry>::sweep_general(Pair& pair, bool limited, std::uint32_t lanes_meant, BySide& right) {
    if constexpr (may_be_general) {
        if (!limited && pair.sweep.entries == nullptr) filter_rows(pair);
        statistics_->row_visits += std::int64_t{limited ? sub_->rows : pair.rows} * sub_->features;
        if (step_bits_ == 16) sweep_steps<std::int16_t>(pair, limited, lanes_meant);
        else if (step_bits_ == 32) sweep_steps<std::int32_t>(pair, limited, lanes_meant);
        else sweep_steps<std::int64_t>(pair, limited, lanes_meant);
        const auto &a = class_totals_[pair.a], &b = class_totals_[pair.b];
        const Score *const high = limited ? extremes_.allowed_high : extremes_.high, *const low = limited ? extremes_.allowed_low : extremes_.low;
        for (std::size_t t = 0; t < lane_count; ++t) {
            if ((lanes_meant >> t & 1) == 0) continue;
            for (const std::size_t s : {left_side(t), right_side(t)}) right[s] = std::max({right[s], b[s] + high[s], a[s] - low[s]});
        }
    }
}

template <class Entry>
template <class Step>
void Batch<Entry>::sweep_steps(Pair& pair, bool limited, std::uint32_t lanes_meant) {
    const Subproblem<Entry>& sub = *sub_;
    if (pair.steps == nullptr) {
        auto* const steps = arena_->take<Step>(sub.rows);
        std::fill_n(steps, sub.rows, Step{0});
        for (Row r = sub.class_begin[pair.a]; r < sub.class_begin[pair.a + 1]; ++r) steps[r] = static_cast<Step>(sub.weight_of(r));
        for (Row r = sub.class_begin[pair.b]; r < sub.class_begin[pair.b + 1]; ++r) steps[r] = static_cast<Step>(-sub.weight_of(r));
        pair.steps = steps;
    }
    WeightedSweep<Step> input{pair.sweep.entries, pair.sweep.stride, pair.sweep.takes, sub.features, pair.rows, words_,
                              static_cast<const Step*>(pair.steps), chunk_rows_, 1, nullptr, 0};
    input.used = lanes_meant | std::uint64_t{lanes_meant} << lane_count;
    std::array<std::int32_t, side_count> sizes{};
    if (limited) {
        if (ends_ == nullptr) ends_ = mark_ends(sub.entries, sub.stride, sub.rows);
        for (std::size_t t = 0; t < lanes.size(); ++t) {
            sizes[left_side(t)] = static_cast<std::int32_t>(lanes[t].z);
            sizes[right_side(t)] = static_cast<std::int32_t>(sub.rows - lanes[t].z);
        }
        if (with_whole) sizes[left_side(whole_lane)] = static_cast<std::int32_t>(sub.rows);
        input.entries = sub.entries;
        input.stride = sub.stride;
        input.takes = ends_;
        input.rows = sub.rows;
        input.min_leaf = sub.min_leaf();
        input.sizes = sizes.data();
    }
    kernel_.sweep(input, extremes_);
}

template <class Entry>
const std::uint8_t* Batch<Entry>::mark_ends(const Entry* entries, std::size_t stride, Row rows) {
    auto* const takes = arena_->take<std::uint8_t>(stride * sub_->features);
    for (std::uint32_t f = 0; f < sub_->features; ++f)
        kernel_.movers->of<Entry>().mark_ends(entries + f * stride, rows, takes + f * stride);
    return takes;
}

template class Batch<NarrowEntry>;
template class Batch<WideEntry>;

}  // namespace contree
