// Fits use one kernel while this lives, as CONTREE_KERNEL asks for it.
#pragma once

#include <cstdlib>
#include <string>

namespace check {

class ForcedKernel {
public:
    // An empty name leaves the choice to the core.
    explicit ForcedKernel(const std::string& name) { set(name); }
    ~ForcedKernel() { set(""); }
    ForcedKernel(const ForcedKernel&) = delete;
    ForcedKernel& operator=(const ForcedKernel&) = delete;
private:
    static void set(const std::string& name) {
#if defined(_WIN32)
        _putenv_s("CONTREE_KERNEL", name.c_str());
#else
        setenv("CONTREE_KERNEL", name.c_str(), 1);
#endif
    }
};

}  // namespace check
