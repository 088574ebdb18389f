// What happens to searches when the interpreter ends.
//
// A daemon thread may be inside `run` then.  Python 3.11 to 3.13 end such a thread by pthread_exit when it
// asks for the GIL, and unwinding through C++ frames that must not throw aborts the process.  So an atexit
// hook tells all searches to end and waits for them.  From then on their threads no longer call Python.  A
// thread that Python wants to end all the same, inside a callback, sleeps instead until the process is gone.
#pragma once
#include <nanobind/nanobind.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <thread>
#include <utility>
#include "contree/contree.hpp"

#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace contree_python {
namespace nb = nanobind;

// Calls a function of Python's that may end this thread, and sleeps for good if it does.
template <class Action> auto surviving(const Action& action) {
#if defined(__GLIBCXX__)
    try {
        return action();
    } catch (abi::__forced_unwind&) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
#else
    return action();
#endif
}

class HoldGil {
public:
    HoldGil() : state_(surviving([] { return PyGILState_Ensure(); })) {}
    ~HoldGil() { PyGILState_Release(state_); }
    HoldGil(const HoldGil&) = delete;
    HoldGil& operator=(const HoldGil&) = delete;
private:
    const PyGILState_STATE state_;
};

class ReleaseGil {
public:
    ReleaseGil() : thread_(PyEval_SaveThread()) {}
    ~ReleaseGil() {
        surviving([this] { PyEval_RestoreThread(thread_); });
    }
    ReleaseGil(const ReleaseGil&) = delete;
    ReleaseGil& operator=(const ReleaseGil&) = delete;
private:
    PyThreadState* const thread_;
};

// The calls of this process that are inside the core.  The list is for threads that hold the GIL.
class Exit {
public:
    struct Call {
        std::shared_ptr<contree::Control> control;
        std::atomic<bool> interrupted{false};  // Ctrl-C has ended the main program
        std::atomic<bool> in_python{false};    // inside the caller's callback
        const std::thread::id thread = std::this_thread::get_id();
    };

    // Enters one call for the time that it lives.  Throws SystemExit, which ends a thread without a word, in
    // other threads than the one that ends the interpreter.
    class Entry {
    public:
        explicit Entry(std::shared_ptr<contree::Control> control = nullptr) {
            throw_if_begun();
            calls.emplace_front();
            place_ = calls.begin();
            place_->control = std::move(control);
        }
        ~Entry() { calls.erase(place_); }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        Call& operator*() const { return *place_; }
    private:
        std::list<Call>::iterator place_;
    };

    // Must this thread leave Python alone?
    static bool begun() {
        return ending.load(std::memory_order_acquire) && std::this_thread::get_id() != ended_by;
    }
    static void throw_if_begun() {
        if (!begun()) return;
        PyErr_SetNone(PyExc_SystemExit);
        throw nb::python_error();
    }

    // Before Python waits for threads that are no daemons: if Ctrl-C has ended the main program, these end
    // too.
    static void interrupt_if_main_was() {
        nb::object sys = nb::module_::import_("sys");
        if (nb::hasattr(sys, "ps1") || !nb::hasattr(sys, "last_type")) return;
        if (!sys.attr("last_type").is(nb::handle(PyExc_KeyboardInterrupt))) return;
        for (Call& call : calls) call.interrupted = true;
    }
    // At exit.  A callback that takes longer than a second is not waited for.
    static void end_all() {
        constexpr auto patience = std::chrono::seconds(1);
        ended_by = std::this_thread::get_id();
        ending.store(true, std::memory_order_release);
        for (Call& call : calls) {
            if (call.thread == ended_by) continue;
            nb::set_leak_warnings(false);  // what that thread holds is never released
            if (call.control) call.control->abandon();
        }
        const auto begin = std::chrono::steady_clock::now();
        const auto is_awaited = [&](const Call& call) {
            return call.thread != ended_by &&
                   (!call.in_python || std::chrono::steady_clock::now() - begin < patience);
        };
        while (std::any_of(calls.begin(), calls.end(), is_awaited)) {
            ReleaseGil released;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    // In a child of os.fork, which has no other thread.
    static void forget_others() {
        calls.remove_if([](const Call& call) { return call.thread != std::this_thread::get_id(); });
    }

    static void register_hooks(nb::module_& core) {
        core.def("_end_all", &end_all);
        nb::module_::import_("atexit").attr("register")(core.attr("_end_all"));
        nb::object threading = nb::module_::import_("threading"), os = nb::module_::import_("os");
        // Private, but what concurrent.futures is built on; without it Ctrl-C waits for such threads.
        if (nb::hasattr(threading, "_register_atexit"))
            threading.attr("_register_atexit")(nb::cpp_function(&interrupt_if_main_was));
        if (nb::hasattr(os, "register_at_fork"))
            os.attr("register_at_fork")(nb::arg("after_in_child") = nb::cpp_function(&forget_others));
    }
private:
    inline static std::list<Call> calls;
    inline static std::atomic<bool> ending{false};
    inline static std::thread::id ended_by;
};
}  // namespace contree_python
