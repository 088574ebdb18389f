// Checks that say what failed: the expression, its values, and the seed that brings the case back.
//
//     CONTREE_TEST_SEED=123 CONTREE_TEST_SCALE=0 build/tests/core/tests/test_fit_oracle
//
// runs each loop over random cases for seed 123 alone.  CONTREE_TEST_SCALE multiplies the number of cases;
// sanitized builds have a smaller one compiled in.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#ifndef CONTREE_TEST_SCALE
#define CONTREE_TEST_SCALE 1.0
#endif

namespace check {

inline long passed = 0;
inline long failed = 0;
inline std::uint64_t seed = 0;  // of the case that runs
inline std::string part;        // the part of the test that runs

inline std::uint64_t first_seed() {
    const char* const wanted = std::getenv("CONTREE_TEST_SEED");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1;
}

inline double scale() {
    const char* const wanted = std::getenv("CONTREE_TEST_SCALE");
    return wanted != nullptr ? std::strtod(wanted, nullptr) : CONTREE_TEST_SCALE;
}

// Random numbers that are the same with every standard library (splitmix64).
class Random {
public:
    // The first number of a sequence is the start of another, far from that of the next seed.
    explicit Random(std::uint64_t from) : state_(from) { state_ = next(); }

    std::uint64_t next() {
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        return x ^ (x >> 31);
    }
    std::uint64_t below(std::uint64_t end) { return next() % end; }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }
    double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    bool chance(double probability) { return real() < probability; }
    template <class T> T pick(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }
private:
    std::uint64_t state_;
};

// Do as many seeds run as a test was made for?  What some of them must reach is asked for only then.
inline bool all_seeds() { return scale() >= 1; }

// body(random) for each of `count` seeds, scaled; once at least.
template <class Body> void for_seeds(double count, const Body& body) {
    const auto scaled = static_cast<std::uint64_t>(count * scale());
    const std::uint64_t first = first_seed();
    for (seed = first; seed == first || seed < first + scaled; ++seed) {
        Random random(seed);
        body(random);
    }
}

template <class T> std::string shown(const T& value) {
    std::ostringstream text;
    text.precision(17);
    if constexpr (requires { text << value; }) text << value;
    else if constexpr (std::is_enum_v<T>) text << static_cast<long long>(value);
    else text << "?";
    return text.str();
}

inline void fail(const char* file, int line, const std::string& what) {
    ++failed;
    std::cerr << file << ":" << line << ": in '" << part << "', seed " << seed << ": " << what << std::endl;
    if (failed < 10) return;
    std::cerr << "too many failures\n" << passed << " passed, " << failed << " failed" << std::endl;
    std::_Exit(1);
}

inline void that(bool holds, const char* expression, const char* file, int line) {
    if (holds) ++passed;
    else fail(file, line, expression);
}

template <class A, class B> void compare(bool holds, const A& a, const char* relation, const B& b,
    const char* text_a, const char* text_b, const char* file, int line) {
    if (holds) ++passed;
    else
        fail(file, line,
            std::string(text_a) + " " + relation + " " + text_b + ": " + shown(a) + " against " + shown(b));
}

template <class T> inline constexpr bool whole_number = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class A, class B> bool equal(const A& a, const B& b) {
    if constexpr (whole_number<A> && whole_number<B>) return std::cmp_equal(a, b);
    else return a == b;
}

template <class A, class B> bool at_most(const A& a, const B& b) {
    if constexpr (whole_number<A> && whole_number<B>) return std::cmp_less_equal(a, b);
    else return a <= b;
}

// One part of a test, with its time.
template <class Action> void run(const char* title, const Action& action) {
    part = title;
    seed = 0;
    const long before = failed, checks = passed + failed;
    const auto start = std::chrono::steady_clock::now();
    try {
        action();
    } catch (const std::exception& error) {
        fail(title, 0, std::string("threw: ") + error.what());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%-4s %7.2f s %9ld checks  %s\n", failed == before ? "ok" : "FAIL", seconds.count(),
        passed + failed - checks, title);
    std::fflush(stdout);
}

// An assert of the core ends the process: say for which case.
inline void watch_aborts() {
    std::signal(SIGABRT, [](int) {
        std::fprintf(
            stderr, "aborted in '%s', seed %llu\n", part.c_str(), static_cast<unsigned long long>(seed));
    });
}

// The last line of a test, and its exit code.
inline int report() {
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) check::that(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(a, b)                                                                                   \
    do {                                                                                                    \
        const auto check_a = (a);                                                                           \
        const auto check_b = (b);                                                                           \
        check::compare(check::equal(check_a, check_b), check_a, "==", check_b, #a, #b, __FILE__, __LINE__); \
    } while (false)
#define CHECK_AT_MOST(a, b)                                                                        \
    do {                                                                                           \
        const auto check_a = (a);                                                                  \
        const auto check_b = (b);                                                                  \
        check::compare(                                                                            \
            check::at_most(check_a, check_b), check_a, "<=", check_b, #a, #b, __FILE__, __LINE__); \
    } while (false)
#define CHECK_THROWS(type, ...)                                                       \
    do {                                                                              \
        bool check_thrown = false;                                                    \
        try {                                                                         \
            (void)(__VA_ARGS__);                                                      \
        } catch (const type&) {                                                       \
            check_thrown = true;                                                      \
        }                                                                             \
        check::that(check_thrown, #__VA_ARGS__ " throws " #type, __FILE__, __LINE__); \
    } while (false)
