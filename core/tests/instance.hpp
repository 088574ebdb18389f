// Small data sets that hurt: ties, conflicting duplicates, constant columns, values as close, as large and as
// small as doubles go, empty and rare classes.
#pragma once

#include <cmath>
#include <limits>
#include <vector>
#include "check.hpp"
#include "contree/contree.hpp"

namespace check {

struct Instance {
    std::size_t rows = 0;
    std::size_t features = 0;
    std::int32_t classes = 1;
    std::vector<double> values;  // column after column
    std::vector<std::int32_t> labels;
    std::vector<contree::Score> weights = {};   // empty: all one
    std::vector<std::int64_t> targets = {};     // empty: the labels count
    std::vector<std::int32_t> categories = {};  // by feature: how many, 0 for numbers; empty: all are numbers

    contree::Score weight(std::size_t r) const { return weights.empty() ? 1 : weights[r]; }
    double value(std::size_t r, std::size_t f) const { return values[f * rows + r]; }
    bool categorical(std::size_t f) const { return !categories.empty() && categories[f] > 0; }
    contree::Table table() const {
        return {values.data(), rows, features, labels.data(), classes,
            weights.empty() ? nullptr : weights.data(), targets.empty() ? nullptr : targets.data(),
            categories.empty() ? nullptr : categories.data()};
    }
};

inline std::ostream& operator<<(std::ostream& out, const Instance& data) {
    out << data.rows << " rows, " << data.features << " features, " << data.classes << " classes";
    if (data.rows * (data.features + 1) > 400) return out;
    const auto digits = out.precision(17);
    for (std::size_t r = 0; r < data.rows; ++r) {
        out << "\n  ";
        for (std::size_t f = 0; f < data.features; ++f) out << data.value(r, f) << ", ";
        if (data.targets.empty()) out << "class " << data.labels[r];
        else out << "target " << data.targets[r];
        if (!data.weights.empty()) out << ", weight " << data.weights[r];
    }
    for (const std::int32_t count : data.categories) out << "\n  categories " << count;
    out.precision(digits);
    return out;
}

struct Shape {
    std::int64_t least_rows = 1, most_rows = 18;
    std::int64_t least_features = 0, most_features = 4;
    std::int64_t most_classes = 5;
};

enum class ColumnKind {
    few_values,
    distinct,
    constant,
    close,
    neighbours,
    float_neighbours,
    huge,
    denormal,
    zeros,
    ids,
    two_values,
    wide_range,
    count
};

inline double draw(ColumnKind kind, Random& random, double base, std::int64_t spread) {
    const double step = static_cast<double>(random.between(0, spread));
    switch (kind) {
        case ColumnKind::few_values: return static_cast<double>(random.between(0, 3));
        case ColumnKind::distinct: return random.real() * 10 - 5;
        case ColumnKind::constant: return base;
        case ColumnKind::close: return base + step * 1e-9;
        case ColumnKind::neighbours: {
            double value = base;
            for (double i = 0; i < step; ++i) value = std::nextafter(value, 1e300);
            return value;
        }
        case ColumnKind::float_neighbours: {
            float value = static_cast<float>(base);
            for (double i = 0; i < step / 2; ++i) value = std::nextafter(value, 1e30F);
            return random.chance(0.5) ? static_cast<double>(value)
                                      : std::nextafter(static_cast<double>(value), 1e300);
        }
        case ColumnKind::huge:
            return random.pick({1e308, -1e308, std::numeric_limits<double>::max(),
                std::numeric_limits<double>::lowest(), 1.5e308, 0.0, 1e300, 3.5e38, -3.5e38});
        case ColumnKind::denormal: return (step - 3) * std::numeric_limits<double>::denorm_min();
        case ColumnKind::zeros:
            return random.pick({0.0, -0.0, std::numeric_limits<double>::denorm_min(),
                -std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min()});
        case ColumnKind::ids: return 9007199254740992.0 - step;
        case ColumnKind::two_values: return random.chance(0.5) ? base : base + 1;
        case ColumnKind::wide_range:
            return std::ldexp(random.real() - 0.5, static_cast<int>(random.between(-1070, 1023)));
        case ColumnKind::count: break;
    }
    return 0;
}

inline void draw_column(Instance& data, std::size_t f, Random& random) {
    double* const column = data.values.data() + f * data.rows;
    if (f > 0 && random.chance(0.1)) {  // another column again, or its mirror
        const double* const other = data.values.data() + random.below(f) * data.rows;
        const double sign = random.chance(0.5) ? 1 : -1;
        for (std::size_t r = 0; r < data.rows; ++r) column[r] = sign * other[r];
        return;
    }
    const auto kind = random.chance(0.3) ? ColumnKind::distinct
                                         : static_cast<ColumnKind>(
                                               random.below(static_cast<std::uint64_t>(ColumnKind::count)));
    const double base = random.pick({0.0, 1.0, -1.0, 0.1, 1e6, -12345.678, 1.7e12});
    const std::int64_t spread = random.pick<std::int64_t>({1, 3, 8, 30, 30});
    for (std::size_t r = 0; r < data.rows; ++r) column[r] = draw(kind, random, base, spread);
}

// Labels by chance, skewed, or those of a small random tree with some noise: then the search has a structure
// to find.
inline void draw_labels(Instance& data, Random& random) {
    const auto classes = static_cast<std::uint64_t>(data.classes);
    const double skew = random.pick({0.0, 0.0, 0.0, 0.0, 0.5, 0.9});
    const double noise = random.pick({0.0, 0.1, 0.3, 1.0, 1.0});
    struct Cut {
        std::size_t feature;
        double value;
    };
    std::vector<Cut> cuts;
    for (std::int64_t i = random.between(1, 4); i > 0 && data.features > 0; --i) {
        const std::size_t f = random.below(data.features);
        cuts.push_back({f, data.value(random.below(data.rows), f)});
    }
    for (std::size_t r = 0; r < data.rows; ++r) {
        std::uint64_t code = 0;
        for (const Cut& cut : cuts) code = 2 * code + (data.value(r, cut.feature) <= cut.value);
        if (random.chance(noise)) code = random.next();
        data.labels[r] = random.chance(skew) ? 0 : static_cast<std::int32_t>(code % classes);
    }
}

inline Instance nasty(Random& random, const Shape& shape = {}) {
    Instance data;
    // Half of the time near the greatest size, where the search has most to do.
    data.rows = static_cast<std::size_t>(
        random.between(random.chance(0.5) ? shape.least_rows : (shape.least_rows + 3 * shape.most_rows) / 4,
            shape.most_rows));
    data.features = static_cast<std::size_t>(random.between(
        random.chance(0.1) ? shape.least_features : (shape.most_features + 1) / 2, shape.most_features));
    data.classes = static_cast<std::int32_t>(random.chance(0.1)    ? random.between(6, 12)
                                             : random.chance(0.05) ? 1
                                                                   : random.between(2, shape.most_classes));
    data.values.resize(data.rows * data.features);
    data.labels.resize(data.rows);
    for (std::size_t f = 0; f < data.features; ++f) draw_column(data, f, random);
    if (random.chance(0.3)) {  // some rows again; their labels may differ
        for (std::size_t r = 1; r < data.rows; ++r) {
            if (!random.chance(0.4)) continue;
            const std::size_t other = random.below(r);
            for (std::size_t f = 0; f < data.features; ++f)
                data.values[f * data.rows + r] = data.value(other, f);
        }
    }
    draw_labels(data, random);
    return data;
}

// Weights of one kind: small, of very different sizes, or huge, so that sums need 64 bits.
inline void draw_weights(Instance& data, Random& random) {
    const int kind = static_cast<int>(random.below(4));
    for (std::size_t r = 0; r < data.rows; ++r) {
        switch (kind) {
            case 0: data.weights.push_back(random.between(1, 3)); break;
            case 1: data.weights.push_back(random.pick<contree::Score>({1, 1000000})); break;
            case 2: data.weights.push_back(random.between(1, contree::Score{1} << 50)); break;
            default: data.weights.push_back(data.labels[r] == 0 ? 7 : 2); break;
        }
    }
}

// Takes values away, here and there or from whole rows of one class.
inline void draw_missing(Instance& data, Random& random) {
    for (std::size_t f = 0; f < data.features; ++f) {
        const double share = random.pick({0.0, 0.1, 0.4, 0.9});
        const bool by_class = random.chance(0.3);
        for (std::size_t r = 0; r < data.rows; ++r)
            if (random.chance(by_class && data.labels[r] == 0 ? 0.8 : share))
                data.values[f * data.rows + r] = std::nan("");
    }
}

// Makes columns categorical, of up to so many categories, some of which no row has.
inline void draw_categories(Instance& data, Random& random, std::int64_t most) {
    data.categories.assign(data.features, 0);
    for (std::size_t f = 0; f < data.features; ++f) {
        if (random.chance(0.3)) continue;
        data.categories[f] = static_cast<std::int32_t>(random.between(1, most));
        const bool any = random.chance(0.3);  // by chance, or by value
        for (std::size_t r = 0; r < data.rows; ++r) {
            double& value = data.values[f * data.rows + r];
            const auto count = static_cast<std::uint64_t>(data.categories[f]);
            const double scaled = std::isfinite(value) ? std::fmod(std::abs(value) * 7, 1e6) : 0;
            if (std::isnan(value)) continue;
            value =
                static_cast<double>(any ? random.below(count) : static_cast<std::uint64_t>(scaled) % count);
        }
    }
}

// A larger set with structure: `distinct` values in each column (0: all differ) and labels from a noisy
// random tree.
inline Instance structured(Random& random, std::size_t rows, std::size_t features, std::int32_t classes,
    std::uint64_t distinct, double noise) {
    Instance data;
    data.rows = rows;
    data.features = features;
    data.classes = classes;
    data.values.resize(rows * features);
    data.labels.resize(rows);
    for (double& value : data.values)
        value = distinct == 0 ? random.real() : static_cast<double>(random.below(distinct)) / 8;
    struct Cut {
        std::size_t feature;
        double value;
    };
    std::vector<Cut> cuts;
    for (int i = 0; i < 3; ++i) {
        const std::size_t f = random.below(features);
        cuts.push_back({f, data.value(random.below(rows), f)});
    }
    for (std::size_t r = 0; r < rows; ++r) {
        std::uint64_t code = 0;
        for (const Cut& cut : cuts) code = 2 * code + (data.value(r, cut.feature) <= cut.value);
        if (random.chance(noise)) code = random.next();
        data.labels[r] = static_cast<std::int32_t>(code * 7 % 13 % static_cast<std::uint64_t>(classes));
    }
    return data;
}

}  // namespace check
