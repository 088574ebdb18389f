// When a long loop gives up: at a stop of the fit, or only when nobody waits for its result any more.
#pragma once
#include <algorithm>
#include "types.hpp"

namespace contree {
struct Halt {
    const Control* control = nullptr;  // null: never
    bool (Control::*when)() const = &Control::stopped;

    bool operator()() const { return control != nullptr && (control->*when)(); }
};

inline Halt when_stopped(const Control& control) { return {&control, &Control::stopped}; }
inline Halt when_hurried(const Control& control) { return {&control, &Control::hurried}; }
inline Halt when_abandoned(const Control& control) { return {&control, &Control::abandoned}; }

// Calls action(begin, end) for one chunk of the rows after the other, and looks for a halt between them.
template <class Action> void in_chunks(Row rows, const Halt& halt, const Action& action) {
    constexpr Row chunk = Row{1} << 15;
    for (Row begin = 0; begin < rows && (begin == 0 || !halt()); begin += chunk)
        action(begin, std::min(rows, begin + chunk));
}
}  // namespace contree
