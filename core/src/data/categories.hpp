// Categorical features: their columns come behind all others, and their splits send any set of ranks left.
//
// A categorical column has the order of a number: its rows by (rank, row), a rank for each category that some
// row has, a rank of its own for missing values.  Categories with more rows have lower ranks, because the
// search decides these first.  No threshold stands in it; the places where the rank changes part its
// categories.  A set of ranks is a bit set of `words` words.  Plans and segments name it by a number.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <vector>
#include "types.hpp"

namespace contree {
using SubsetId = std::uint32_t;  // a set of ranks; `no_subset`: a threshold instead
inline constexpr SubsetId no_subset = 0;

using SubsetWords = std::vector<std::uint64_t>;
inline bool contains(const std::uint64_t* subset, Rank rank) {
    return (subset[rank / 64] >> (rank % 64) & 1) != 0;
}
inline void insert(std::uint64_t* subset, Rank rank) { subset[rank / 64] |= std::uint64_t{1} << (rank % 64); }

// Does a row of that rank go left in a step of a plan?
struct GoesLeft {
    const std::uint64_t* subset;  // null: up to `last`
    Rank last;
    bool operator()(Rank rank) const { return subset == nullptr ? rank <= last : contains(subset, rank); }
};

class Categories {
public:
    // Columns from `first` on are categorical; none has more than `most_ranks` ranks.
    Categories(FeatureId first_column, std::size_t most_ranks)
        : first(first_column), words(most_ranks / 64 + 1) {}

    const FeatureId first;
    const std::size_t words;

    bool is_categorical(FeatureId column) const { return column >= first; }
    SubsetWords none() const {
        SubsetWords empty(words, 0);
        return empty;
    }

    // The number of a set; the same set has the same number.  Any thread may ask.
    SubsetId id_of(const SubsetWords& subset) {
        std::lock_guard lock(mutex_);
        const auto [at, is_new] = ids_.emplace(subset, static_cast<SubsetId>(subsets_.size() + 1));
        if (is_new) subsets_.push_back(&at->first);
        return at->second;
    }
    // The words stay where they are.
    const std::uint64_t* words_of(SubsetId id) const {
        assert(id != no_subset);
        std::lock_guard lock(mutex_);
        return subsets_[id - 1]->data();
    }
    GoesLeft goes_left(FeatureId column, Rank of_step) const {
        return {is_categorical(column) ? words_of(of_step) : nullptr, of_step};
    }
    SubsetWords subset(SubsetId id) const {
        const std::uint64_t* const from = words_of(id);
        return {from, from + words};
    }
private:
    mutable std::mutex mutex_;
    std::map<SubsetWords, SubsetId> ids_;  // keys never move
    std::deque<const SubsetWords*> subsets_;
};
}  // namespace contree
