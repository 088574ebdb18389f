// Lanes of any width on a machine without mask registers (AVX2): a row's bits are copied to all lanes, and each tests its own.

template <class Step>
struct Lanes {
    static constexpr unsigned count = registers.bytes / sizeof(Step);   // of one register
    typedef Step Vector __attribute__((vector_size(32)));
    using Sides = __m256i;   // all bits set in the lanes of the sides that the row lies on

    // Places and ranges are kept with the sign turned: comparisons have signs here.
    static constexpr Step bias = std::numeric_limits<Step>::min();

    // The sides from `from` on; their bits are loaded to all lanes at once where they are whole bytes.
    static Sides sides(const std::uint64_t& word, unsigned from) {
        const char* const at = reinterpret_cast<const char*>(&word) + from / 8;
        if constexpr (sizeof(Step) == 1) {
            const __m256i byte_of = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                                     2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
            const __m256i own = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
            const __m256i bits = _mm256_shuffle_epi8(_mm256_broadcastd_epi32(_mm_loadu_si32(at)), byte_of);
            return _mm256_cmpeq_epi8(_mm256_and_si256(bits, own), own);
        } else if constexpr (sizeof(Step) == 2) {
            const __m256i own = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
            return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_broadcastw_epi16(_mm_loadu_si16(at)), own), own);
        } else if constexpr (sizeof(Step) == 4) {
            const __m256i own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi8(*at), own), own);
        } else {
            const __m256i own = _mm256_setr_epi64x(1, 2, 4, 8);
            return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(word >> from)), own), own);
        }
    }
    static void add(Vector& sum, Sides inside, Step step) {
        const auto w = reinterpret_cast<__m256i>(sum);
        if constexpr (sizeof(Step) == 1) sum = reinterpret_cast<Vector>(_mm256_add_epi8(w, _mm256_and_si256(inside, _mm256_set1_epi8(step))));
        else if constexpr (sizeof(Step) == 2) sum = reinterpret_cast<Vector>(_mm256_add_epi16(w, _mm256_and_si256(inside, _mm256_set1_epi16(step))));
        else if constexpr (sizeof(Step) == 4) sum = reinterpret_cast<Vector>(_mm256_add_epi32(w, _mm256_and_si256(inside, _mm256_set1_epi32(step))));
        else sum = reinterpret_cast<Vector>(_mm256_add_epi64(w, _mm256_and_si256(inside, _mm256_set1_epi64x(step))));
    }
    // The set bits are -1.
    static void add_one(Vector& sum, Sides inside) {
        const auto w = reinterpret_cast<__m256i>(sum);
        if constexpr (sizeof(Step) == 1) sum = reinterpret_cast<Vector>(_mm256_sub_epi8(w, inside));
        else if constexpr (sizeof(Step) == 2) sum = reinterpret_cast<Vector>(_mm256_sub_epi16(w, inside));
        else if constexpr (sizeof(Step) == 4) sum = reinterpret_cast<Vector>(_mm256_sub_epi32(w, inside));
        else sum = reinterpret_cast<Vector>(_mm256_sub_epi64(w, inside));
    }
    static void take(const Vector& sum, Vector& high, Vector& low) {
        high = reinterpret_cast<Vector>(larger(reinterpret_cast<__m256i>(high), reinterpret_cast<__m256i>(sum)));
        low = reinterpret_cast<Vector>(smaller(reinterpret_cast<__m256i>(low), reinterpret_cast<__m256i>(sum)));
    }
    // The same in the lanes whose place is at most the range; the others take what changes nothing.
    static void take(const Vector& sum, const Vector& place, const Vector& range, Vector& high, Vector& low) {
        const auto w = reinterpret_cast<__m256i>(sum), out = reinterpret_cast<__m256i>(place > range);
        const auto least = reinterpret_cast<__m256i>(Vector{} + std::numeric_limits<Step>::min()), most = reinterpret_cast<__m256i>(Vector{} + std::numeric_limits<Step>::max());
        high = reinterpret_cast<Vector>(larger(reinterpret_cast<__m256i>(high), _mm256_blendv_epi8(w, least, out)));
        low = reinterpret_cast<Vector>(smaller(reinterpret_cast<__m256i>(low), _mm256_blendv_epi8(w, most, out)));
    }

private:
    static __m256i larger(__m256i a, __m256i b) {
        if constexpr (sizeof(Step) == 1) return _mm256_max_epi8(a, b);
        else if constexpr (sizeof(Step) == 2) return _mm256_max_epi16(a, b);
        else if constexpr (sizeof(Step) == 4) return _mm256_max_epi32(a, b);
        else return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
    }
    static __m256i smaller(__m256i a, __m256i b) {
        if constexpr (sizeof(Step) == 1) return _mm256_min_epi8(a, b);
        else if constexpr (sizeof(Step) == 2) return _mm256_min_epi16(a, b);
        else if constexpr (sizeof(Step) == 4) return _mm256_min_epi32(a, b);
        else return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(b, a));
    }
};
