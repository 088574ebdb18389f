// Lanes of any width on a machine without mask registers: a row's bits are copied to all lanes, and each tests its own.

template <class Step>
struct Lanes {
    static constexpr unsigned count = 64 / sizeof(Step);   // of one vector, which is two registers
    static constexpr unsigned parts = 2;                   // vectors that fit at a time
    typedef Step Vector __attribute__((vector_size(64)));
    using Source = std::conditional_t<sizeof(Step) == 8 || sizeof(Step) == 1, std::int64_t, std::int32_t>;
    typedef Source Sources __attribute__((vector_size(64)));
    using Sides = Source;   // the bits of the lanes' sides

    // With 16-bit lanes a copy fills two of them, which see its lower and its upper half: so the sides of the lower half
    // are the even lanes.  With 8-bit lanes it fills eight, one for each of its bytes.
    static constexpr unsigned place(unsigned lane) {
        if (sizeof(Step) == 1) return lane % 8 * 8 + lane / 8;
        return sizeof(Step) == 2 ? lane % 2 * 16 + lane / 2 : lane;
    }
    static Sides sides(std::uint64_t word) { return static_cast<Source>(word); }
    static void add(Vector& sum, Sides inside, Step step) {
        const Vector& own = reinterpret_cast<const Vector&>(bits);
        sum += (((reinterpret_cast<Vector>(Sources{} + inside) & own) != 0) & step);
    }
    // Takes the sum into its extremes in the lanes whose place is at most the range, both without a sign.
    static void take(const Vector& sum, const Vector& place, const Vector& range, Vector& high, Vector& low) {
        typedef std::make_unsigned_t<Step> Unsigned __attribute__((vector_size(64)));
        const Vector in = reinterpret_cast<Vector>(reinterpret_cast<const Unsigned&>(place) <= reinterpret_cast<const Unsigned&>(range));
        high = in & (sum > high) ? sum : high;
        low = in & (sum < low) ? sum : low;
    }

private:
    alignas(64) static constexpr std::array<Step, count> bits = [] {
        std::array<Step, count> made{};
        for (unsigned lane = 0; lane < count; ++lane)
            made[lane] = static_cast<Step>(std::uint64_t{1} << place(lane) % (sizeof(Step) == 1 ? 8 : sizeof(Step) == 2 ? 16 : count));
        return made;
    }();
};
