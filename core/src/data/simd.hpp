// What the vector kernels need of a compiler and a processor.
//
// A kernel's file is compiled for the least machine of its architecture, as all files are.  Only the
// functions between CONTREE_TARGET_BEGIN(...) and CONTREE_TARGET_END may use more instructions, and only a
// machine that `has_avx2` or `has_avx512` runs them.  GCC and clang spell this differently.  Other compilers
// have no kernel but the scalar one.  Include this file before such a region: what stands in it is compiled
// for it.
#pragma once

#define CONTREE_PRAGMA(text) _Pragma(#text)

#if defined(__clang__)
#define CONTREE_TARGET_BEGIN(instructions) \
    CONTREE_PRAGMA(clang attribute push(__attribute__((target(instructions))), apply_to = function))
#define CONTREE_TARGET_END CONTREE_PRAGMA(clang attribute pop)
#define CONTREE_UNROLL(times) CONTREE_PRAGMA(unroll times)
#else
#define CONTREE_TARGET_BEGIN(instructions) \
    CONTREE_PRAGMA(GCC push_options) CONTREE_PRAGMA(GCC target(instructions))
#define CONTREE_TARGET_END CONTREE_PRAGMA(GCC pop_options)
#define CONTREE_UNROLL(times) CONTREE_PRAGMA(GCC unroll times)
#endif

#if defined(__x86_64__)
#define CONTREE_X86_KERNELS true
#define CONTREE_AVX2 "avx2,fma,bmi,bmi2,popcnt"
#define CONTREE_AVX512 "avx512f,avx512bw,avx512vl,bmi,bmi2,popcnt"
#if !defined(__clang__)  // GCC 12 warns of its own AVX-512 headers (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <cpuid.h>
#include <immintrin.h>

namespace contree {
// Does the processor have the instructions, and does the system save their registers?  __builtin_cpu_supports
// says the same, but on Windows clang has no library for it.
inline bool has_instructions(unsigned in_ebx_of_7, unsigned saved) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned os_saves = 1U << 27, popcnt = 1U << 23, fma = 1U << 12;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (~c & (os_saves | popcnt | fma)) != 0) return false;
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((~low & saved) != 0 || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    return (~b & in_ebx_of_7) == 0;
}
inline constexpr unsigned avx2_and_bmi = 1U << 5 | 1U << 3 | 1U << 8;
inline bool has_avx2() { return has_instructions(avx2_and_bmi, 0x6); }
// Besides, the subsets F, BW and VL, and three more kinds of registers.
inline bool has_avx512() { return has_instructions(avx2_and_bmi | 1U << 16 | 1U << 30 | 1U << 31, 0xe6); }
}  // namespace contree
#elif defined(__aarch64__) && defined(__GNUC__)
#define CONTREE_NEON_KERNEL true  // every machine of this architecture has these instructions
#include <arm_neon.h>
#endif
