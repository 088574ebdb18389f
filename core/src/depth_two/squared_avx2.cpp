// Squared error, four lanes in a register.
#include "data/simd.hpp"
#include "depth_two/squared_kernel.hpp"

#if CONTREE_X86_KERNELS

CONTREE_TARGET_BEGIN(CONTREE_AVX2)

namespace contree {
namespace {
// There are no mask registers: a row's bits are copied to all lanes, and each tests its own.
struct Doubles {
    using V = __m256d;
    static constexpr unsigned count = 4;

    static V load(const double* from) { return _mm256_load_pd(from); }
    static void store(double* to, V from) { _mm256_store_pd(to, from); }
    static V minus(V from, V a, V b) { return _mm256_fnmadd_pd(a, b, from); }
    static V plus(V to, V a, V b) { return _mm256_fmadd_pd(a, b, to); }
    static V inside(const std::uint64_t& word, unsigned from) {
        const __m256i own = _mm256_slli_epi64(_mm256_setr_epi64x(1, 2, 4, 8), static_cast<int>(from));
        const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(word));
        return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(bits, own), own));
    }
    static V added(V to, V lanes, V terms) { return to + _mm256_and_pd(lanes, terms); }
    static unsigned above(V a, V b) {
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)));
    }
    static V select(unsigned lanes, V yes, V no) {
        const std::uint64_t word = lanes;
        return _mm256_blendv_pd(no, yes, inside(word, 0));
    }
};

#include "depth_two/squared_sweep.inl"
}  // namespace
}  // namespace contree

CONTREE_TARGET_END

const contree::SquaredKernel contree::squared_avx2{contree::weigh, contree::sweep};

#endif
