// Lanes of any width on a machine without mask registers (AVX2): a row's bits are copied to all lanes, and
// each tests its own.

constexpr unsigned register_bytes = 32;

template <class Step>
struct Lanes {
    using Sides = __m256i;   // all bits set in the lanes of the sides that the row lies on

    // The sides from `from` on; their bits are loaded to all lanes at once where they are whole bytes.
    static Sides sides(const std::uint64_t& word, unsigned from) {
        const char* const at = reinterpret_cast<const char*>(&word) + from / 8;
        if constexpr (sizeof(Step) == 1) {
            return spread(word, from / 32);
        } else if constexpr (sizeof(Step) == 2) {
            const __m256i own = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                                  8192, 16384, -32768);
            return _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_broadcastw_epi16(_mm_loadu_si16(at)), own),
                                      own);
        } else if constexpr (sizeof(Step) == 4) {
            const __m256i own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi8(*at), own), own);
        } else {
            const __m256i own = _mm256_setr_epi64x(1, 2, 4, 8);
            return _mm256_cmpeq_epi64(
                _mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(word >> from)), own), own);
        }
    }
    // `steps` in the lanes inside, else nothing.
    template <class Vector>
    static Vector added(const Vector& sum, Sides inside, const Vector& steps) {
        return sum + (reinterpret_cast<Vector>(inside) & steps);
    }
};
