#include "depth_two/kernel.hpp"

#include <cstdlib>
#include <stdexcept>

namespace contree {

const std::vector<const Kernel*>& available_kernels() {
    static const std::vector<const Kernel*> available = [] {
        std::vector<const Kernel*> found;
        for (const Kernel* kernel : {
#if defined(__x86_64__)
                 &avx512_kernel, &avx2_kernel,
#endif
                 &scalar_kernel})
            if (kernel->runs_here()) found.push_back(kernel);
        return found;
    }();
    return available;
}

const Kernel& chosen_kernel() {
    const char* const wanted = std::getenv("CONTREE_KERNEL");
    if (wanted == nullptr || *wanted == '\0') return *available_kernels().front();
    std::string here;
    for (const Kernel* kernel : available_kernels()) {
        if (std::string_view(kernel->name) == wanted) return *kernel;
        here += here.empty() ? kernel->name : std::string(", ") + kernel->name;
    }
    throw std::invalid_argument("CONTREE_KERNEL is '" + std::string(wanted) +
                                "', but this machine has only: " + here);
}

Ties kind_of_ties(Row rows, Row skipped) {
    if (skipped == 0) return Ties::none;
    return skipped <= rows / 32 || skipped >= rows - rows / 8 ? Ties::regular : Ties::irregular;
}

std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const Kernel* kernel : available_kernels()) names.emplace_back(kernel->name);
    return names;
}

std::string kernel() { return chosen_kernel().name; }

}  // namespace contree
