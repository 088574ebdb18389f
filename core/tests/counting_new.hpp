// Replaces the global operator new: it counts the bytes in use and fails when told to.  Include it once.
#pragma once

#include <malloc.h>
#include <atomic>
#include <cstdlib>
#include <new>

namespace check {

inline std::atomic<long> bytes_in_use{0};
inline std::atomic<long> allocations{0};
inline std::atomic<long> fail_at{-1};  // this allocation, and all after it while `fail_for` lasts, throw
inline std::atomic<long> fail_for{1};

inline void* counted(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    bytes_in_use += static_cast<long>(malloc_usable_size(memory));
    return memory;
}

inline void count_or_throw() {
    const long number = allocations++;
    const long first = fail_at;
    if (first >= 0 && number >= first && number < first + fail_for) throw std::bad_alloc();
}

// Not inlined: GCC would see a free of what new returned, and warn.
[[gnu::noinline]] inline void release(void* memory) {
    if (memory == nullptr) return;
    bytes_in_use -= static_cast<long>(malloc_usable_size(memory));
    std::free(memory);
}

}  // namespace check

void* operator new(std::size_t size) {
    check::count_or_throw();
    return check::counted(std::malloc(size == 0 ? 1 : size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    check::count_or_throw();
    const auto a = static_cast<std::size_t>(alignment);
    return check::counted(std::aligned_alloc(a, (size + a - 1) / a * a));
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
