#pragma once
#include <nanobind/nanobind.h>
#include <exception>
#include <optional>
#include <utility>
#include "contree/contree.hpp"
#include "convert.hpp"
#include "exit.hpp"

namespace contree_python {
// What the calling thread does while others search: it lets Python handle signals and calls `callback`.  It
// calls when the tree or the bound is better than at the last call, a few times a second, and when nothing is
// left open.
class Watcher {
public:
    Watcher(Exit::Call& call, std::optional<Observer> callback, bool keep_on_interrupt)
        : call_(call), callback_(std::move(callback)), keep_on_interrupt_(keep_on_interrupt) {}

    contree::Verdict operator()(const contree::Progress& now) {
        if (Exit::begun()) return contree::Verdict::abandon;
        const HoldGil held;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (call_.interrupted) PyErr_SetNone(PyExc_KeyboardInterrupt), throw nb::python_error();
            if (!callback_ || !is_due(now)) return contree::Verdict::go_on;
            told_ = now;
            return call_back(now) ? contree::Verdict::stop : contree::Verdict::go_on;
        } catch (nb::python_error& error) {
            const bool has_tree = now.objective != contree::no_objective;  // none yet while rows are ranked
            if (keep_on_interrupt_ && has_tree && error.matches(PyExc_KeyboardInterrupt)) {
                interrupted_ = true;
                return contree::Verdict::interrupt;
            }
            failure_ = std::current_exception();
        } catch (...) {
            failure_ = std::current_exception();
        }
        return contree::Verdict::abandon;
    }

    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }
    // Was it Ctrl-C?  The search may have ended by itself since.
    bool interrupted() const { return interrupted_; }
private:
    bool call_back(const contree::Progress& now) {
        const nb::tuple arguments =
            nb::make_tuple(now.seconds, now.objective, now.lower_bound, now.root_closed);
        call_.in_python = true;
        PyObject* const answer =
            surviving([&] { return PyObject_CallObject(callback_->ptr(), arguments.ptr()); });
        call_.in_python = false;
        if (answer == nullptr) throw nb::python_error();
        return nb::cast<bool>(nb::steal(answer));
    }

    bool is_due(const contree::Progress& now) const {
        constexpr double patience = 0.2;  // seconds
        if (now.objective == contree::no_objective) return false;
        return !told_ || now.objective != told_->objective || now.lower_bound != told_->lower_bound ||
               (now.root_closed == 1 && told_->root_closed < 1) || now.seconds - told_->seconds >= patience;
    }

    Exit::Call& call_;
    const std::optional<Observer> callback_;
    const bool keep_on_interrupt_;
    std::optional<contree::Progress> told_;
    std::exception_ptr failure_;
    bool interrupted_ = false;
};
}  // namespace contree_python
