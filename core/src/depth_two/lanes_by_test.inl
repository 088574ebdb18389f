// Lanes of any width on a machine without mask registers: a row's bits are copied to all lanes, and each tests its own.

template <class Step>
struct Lanes {
    static constexpr unsigned count = 64 / sizeof(Step);   // of one vector, which is two registers
    static constexpr unsigned parts = 2;                   // vectors that fit at a time
    typedef Step Vector __attribute__((vector_size(64)));
    using Source = std::conditional_t<sizeof(Step) == 8, std::int64_t, std::int32_t>;
    typedef Source Sources __attribute__((vector_size(64)));
    using Sides = Source;   // the bits of the lanes' sides

    // With 16-bit lanes a copy fills two of them, which see its lower and its upper half: so the sides of the lower half
    // are the even lanes.
    static constexpr unsigned place(unsigned lane) { return sizeof(Step) == 2 ? lane % 2 * 16 + lane / 2 : lane; }
    static Sides sides(std::uint64_t word) { return static_cast<Source>(word); }
    static void add(Vector& sum, Sides inside, Step step) {
        const Vector& own = reinterpret_cast<const Vector&>(bits);
        sum += (((reinterpret_cast<Vector>(Sources{} + inside) & own) != 0) & step);
    }

private:
    alignas(64) static constexpr std::array<Step, count> bits = [] {
        std::array<Step, count> made{};
        for (unsigned lane = 0; lane < count; ++lane)
            made[lane] = static_cast<Step>(std::uint64_t{1} << place(lane) % (sizeof(Step) == 2 ? 16 : count));
        return made;
    }();
};
