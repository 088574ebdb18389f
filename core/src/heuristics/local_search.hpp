// Iterated local search: a good tree is made better by trying other splits at its inner nodes, over and over.
#pragma once
#include "heuristics/context.hpp"

namespace contree {
class LocalSearch {
public:
    LocalSearch(HeuristicContext& context, const RowSet& root, std::int64_t depth, std::uint64_t seed)
        : context_(context), root_(root), depth_(depth), state_(seed) {}

    // Goes on until `work_end` row visits are reached, and takes `tree`, which is plain, to the best found.
    void run(Outcome& tree, std::int64_t work_end);
private:
    Outcome start(const Outcome& best);
    Outcome move(const RowSet& set, std::int64_t depth, Outcome tree);
    Outcome shift(const RowSet& set, std::int64_t depth, const Outcome& tree);
    Outcome resplit(const RowSet& set, std::int64_t depth, Score present);
    Split random_subset(const RowSet& set, std::uint32_t f);
    bool over() const { return context_.stopped() || context_.work() >= work_end_; }
    std::uint64_t random() { return mixed(state_ += mixed_step); }

    HeuristicContext& context_;
    const RowSet& root_;
    const std::int64_t depth_;
    std::int64_t work_end_ = 0;
    std::uint64_t state_;       // of the random numbers
    Outcome walker_;            // where the search stands; no better than the best tree
    bool changed_ = false;      // did the last move change it?
    int stale_ = 0;             // moves since it last became better
    std::vector<Split> roots_;  // first splits to start from
    std::size_t starts_ = 0;
};
}  // namespace contree
