// Replaces the global operator new: it counts the bytes in use, and fails or calls when told to.  Include it
// once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace check {

inline std::atomic<long> bytes_in_use{0};
inline std::atomic<long> allocations{0};
inline std::atomic<long> fail_at{-1};  // this allocation, and all after it while `fail_for` lasts, throw
inline std::atomic<long> fail_for{1};
inline std::atomic<long> call_at{-1};  // at this allocation `called` is called
inline std::atomic<void (*)()> called{nullptr};

// Stands before the memory that is given out: no function tells a block's size on every system.
struct Block {
    void* begin;
    std::size_t size;
};

inline void* take(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
    const long number = allocations++;
    if (number == call_at) called.load()();
    const long first = fail_at;
    if (first >= 0 && number >= first && number < first + fail_for) throw std::bad_alloc();
    void* const begin = std::malloc(sizeof(Block) + alignment + size);
    if (begin == nullptr) throw std::bad_alloc();
    const auto behind = reinterpret_cast<std::uintptr_t>(begin) + sizeof(Block);
    auto* const memory = reinterpret_cast<void*>((behind + alignment - 1) / alignment * alignment);
    static_cast<Block*>(memory)[-1] = {begin, size};
    bytes_in_use += static_cast<long>(size);
    return memory;
}

// Not inlined: GCC would see a free of what new returned, and warn.
[[gnu::noinline]] inline void release(void* memory) {
    if (memory == nullptr) return;
    const Block block = static_cast<Block*>(memory)[-1];
    bytes_in_use -= static_cast<long>(block.size);
    std::free(block.begin);
}

}  // namespace check

void* operator new(std::size_t size) { return check::take(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return check::take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size) { return operator new(size); }
// Sorts ask this way for a buffer that they can do without.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return operator new(size);
    } catch (...) {
        return nullptr;
    }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { check::release(memory); }
void operator delete(void* memory) noexcept { check::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { check::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { check::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { check::release(memory); }
void operator delete[](void* memory) noexcept { check::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { check::release(memory); }
