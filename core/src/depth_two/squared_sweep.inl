// The sweep of squared error.  Each vector kernel includes this text inside its own target region, behind its
// `Doubles`: a register of them, and how a row's bits choose the lanes that are added to.

// Some registers' lanes, over all features.
template <class Entry, unsigned parts> class SquaredBlock {
    using V = Doubles::V;
    static constexpr unsigned count = Doubles::count;
    static constexpr unsigned ahead = 32;  // rows to fetch early; entries behind an order can be read
public:
    SquaredBlock(const SquaredSweep& input, unsigned first) : input_(input), first_(first) {}

    void run(SquaredSides& left, SquaredSides& right) {
        load(left, left_);
        load(right, right_);
        for (std::uint32_t f = 0; f < input_.features; ++f) add_rows(f);
        for (unsigned p = 0; p < parts; ++p) {
            Doubles::store(left.best + first_ + p * count, left_[p].best);
            Doubles::store(right.best + first_ + p * count, right_[p].best);
        }
    }
private:
    struct Side {
        V mean, weight, guard, best;
        // A threshold where so much lies on the left.
        inline void take(V sum, V before) {
            const V distance = Doubles::minus(sum, mean, before), product = before * (weight - before);
            const V square = distance * distance;
            const unsigned higher = Doubles::above(square, Doubles::plus(guard, best, product));
            if (higher != 0) [[unlikely]]
                best = Doubles::select(higher, square / product, best);
        }
    };

    void load(const SquaredSides& sides, Side* to) const {
        for (unsigned p = 0; p < parts; ++p) {
            const unsigned t = first_ + p * count;
            to[p] = {Doubles::load(sides.mean + t), Doubles::load(sides.weight + t),
                Doubles::load(sides.guard + t), Doubles::load(sides.best + t)};
        }
    }

    void add_rows(std::uint32_t f) {
        const Entry* const order = input_.order(f).template as<Entry>();
        const std::uint8_t* const mask = input_.threshold_mask + f * input_.stride;
        Side left[parts], right[parts];  // copies, for registers
        std::copy_n(left_, parts, left);
        std::copy_n(right_, parts, right);
        V all_sum = V{}, all_weight = V{}, sum[parts], weight[parts];
        for (unsigned p = 0; p < parts; ++p) sum[p] = weight[p] = V{};
        for (Row k = 0; k < input_.rows; ++k) {
            __builtin_prefetch(input_.row + Packed<Entry>::row(order[k + ahead]));
            const SquaredRow& row = input_.row[Packed<Entry>::row(order[k])];
            const V row_sum = V{} + row.sum, row_weight = V{} + row.weight;
            all_sum += row_sum, all_weight += row_weight;
            for (unsigned p = 0; p < parts; ++p) {
                const auto inside = Doubles::inside(row.word, first_ + p * count);
                sum[p] = Doubles::added(sum[p], inside, row_sum);
                weight[p] = Doubles::added(weight[p], inside, row_weight);
            }
            if (mask[k] == 0) continue;
            for (unsigned p = 0; p < parts; ++p) {
                left[p].take(sum[p], weight[p]);
                right[p].take(all_sum - sum[p], all_weight - weight[p]);
            }
        }
        std::copy_n(left, parts, left_);
        std::copy_n(right, parts, right_);
    }

    const SquaredSweep& input_;
    const unsigned first_;
    Side left_[parts], right_[parts];
};

void weigh(const SquaredSweep& input, double* sums, double* squares) {
    for (unsigned first = 0; first < input.lanes; first += Doubles::count) {
        Doubles::V sum{}, sum_of_squares{};
        for (Row r = 0; r < input.rows; ++r) {
            const SquaredRow& row = input.row[r];
            const auto inside = Doubles::inside(row.word, first);
            sum = Doubles::added(sum, inside, Doubles::V{} + row.sum);
            sum_of_squares = Doubles::added(sum_of_squares, inside, Doubles::V{} + row.squares);
        }
        Doubles::store(sums + first, sum);
        Doubles::store(squares + first, sum_of_squares);
    }
}

void sweep(const SquaredSweep& input, SquaredSides& left, SquaredSides& right) {
    with_entry(input.width, [&](auto entry) {
        for (unsigned first = 0; first < input.lanes;) {
            const auto sweep_some = [&]<unsigned parts>() {
                SquaredBlock<decltype(entry), parts>(input, first).run(left, right);
                first += parts * Doubles::count;
            };
            const unsigned more = input.lanes - first;
            more > 2 * Doubles::count ? sweep_some.template operator()<4>()
            : more > Doubles::count   ? sweep_some.template operator()<2>()
                                      : sweep_some.template operator()<1>();
        }
    });
}
