// When a long loop gives up: at a stop of the fit, or only when nobody will wait for its result, or wants it any more.
#pragma once

#include <algorithm>

#include "types.hpp"

namespace contree {

struct Halt {
    const Control* control = nullptr;   // null: never
    bool (Control::*when)() const = &Control::stopped;

    bool operator()() const { return control != nullptr && (control->*when)(); }
};

inline Halt when_stopped(const Control& control) { return {&control, &Control::stopped}; }
inline Halt when_hurried(const Control& control) { return {&control, &Control::hurried}; }
inline Halt when_abandoned(const Control& control) { return {&control, &Control::abandoned}; }

// Calls action(begin, end) for one stretch of the rows after the other, and looks for a halt between them.  A row costs up to a hundred nanoseconds
// where there are many and they lie apart in memory, so a stretch takes some milliseconds at the most.  Few rows are one stretch, for which nobody looks.
template <class Action>
void in_stretches(Row rows, const Halt& halt, const Action& action) {
    constexpr Row stretch = Row{1} << 15;
    for (Row begin = 0; begin < rows && (begin == 0 || !halt()); begin += stretch) action(begin, std::min(rows, begin + stretch));
}

}  // namespace contree
