// Memory for subproblems: taken in stack order, never given back to the system during a search.
#pragma once
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "types.hpp"

namespace contree {
class Arena {
public:
    // Room for `count` values, aligned to a cache line, not initialised.
    template <class T> T* take(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
        while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].size) {
            ++block_;
            used_ = 0;
        }
        if (block_ == blocks_.size()) add_block(bytes);
        used_ += bytes;
        return reinterpret_cast<T*>(blocks_[block_].memory.get() + used_ - bytes);
    }

    // Everything taken while a Frame lives is free again when it ends.
    class Frame {
    public:
        explicit Frame(Arena& arena) : arena_(arena), block_(arena.block_), used_(arena.used_) {}
        ~Frame() {
            arena_.block_ = block_;
            arena_.used_ = used_;
        }
        Frame(const Frame&) = delete;
        Frame& operator=(const Frame&) = delete;
    private:
        Arena& arena_;
        std::size_t block_, used_;
    };

    std::size_t bytes() const { return total_; }
private:
    static constexpr std::size_t alignment = 64;
    static constexpr std::size_t page = std::size_t{1} << 21;  // large blocks ask for large pages
    struct Release {
        std::align_val_t aligned_to;
        void operator()(std::byte* memory) const { ::operator delete(memory, aligned_to); }
    };
    struct Block {
        std::unique_ptr<std::byte, Release> memory;
        std::size_t size;
    };

    void add_block(std::size_t at_least) {
        const std::size_t size = std::max(2 * at_least, std::size_t{1} << 18);
        const std::align_val_t aligned_to{size >= 8 * page ? page : alignment};
        auto* const memory = static_cast<std::byte*>(::operator new(size, aligned_to));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (size >= 8 * page) madvise(memory, size / page * page, MADV_HUGEPAGE);  // only a hint
#endif
        blocks_.push_back({std::unique_ptr<std::byte, Release>(memory, Release{aligned_to}), size});
        total_ += size;
        used_ = 0;
    }

    std::vector<Block> blocks_;
    std::size_t block_ = 0;  // the block in use
    std::size_t used_ = 0;   // bytes of it
    std::size_t total_ = 0;
};
}  // namespace contree
