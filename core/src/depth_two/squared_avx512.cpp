// Squared error, eight lanes in a register.
#include "data/simd.hpp"
#include "depth_two/squared_kernel.hpp"

#if CONTREE_X86_KERNELS

CONTREE_TARGET_BEGIN(CONTREE_AVX512)

namespace contree {
namespace {
// A row's bits are a mask register.
struct Doubles {
    using V = __m512d;
    static constexpr unsigned count = 8;

    static V load(const double* from) { return _mm512_load_pd(from); }
    static void store(double* to, V from) { _mm512_store_pd(to, from); }
    static V minus(V from, V a, V b) { return _mm512_fnmadd_pd(a, b, from); }
    static V plus(V to, V a, V b) { return _mm512_fmadd_pd(a, b, to); }
    static __mmask8 inside(const std::uint64_t& word, unsigned from) {
        return static_cast<__mmask8>(word >> from);
    }
    static V added(V to, __mmask8 lanes, V terms) { return _mm512_mask_add_pd(to, lanes, to, terms); }
    static unsigned above(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
    static V select(unsigned lanes, V yes, V no) {
        return _mm512_mask_mov_pd(no, static_cast<__mmask8>(lanes), yes);
    }
};

#include "depth_two/squared_sweep.inl"
}  // namespace
}  // namespace contree

CONTREE_TARGET_END

const contree::SquaredKernel contree::squared_avx512{contree::weigh, contree::sweep};

#endif
