// When a long loop gives up: at a stop of the fit, or only when nobody will wait for its result, or wants it any more.
#pragma once

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

}  // namespace contree
