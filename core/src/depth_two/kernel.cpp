#include "depth_two/kernel.hpp"
#include <cstdlib>
#include <stdexcept>
#include "data/cuts.hpp"
#include "data/simd.hpp"

namespace contree {
const std::vector<const Kernel*>& available_kernels() {
    static const std::vector<const Kernel*> available = [] {
        std::vector<const Kernel*> all = {
#if CONTREE_X86_KERNELS
            &avx512_kernel, &avx2_kernel,
#elif CONTREE_NEON_KERNEL
            &neon_kernel,
#endif
            &scalar_kernel};
        std::erase_if(all, [](const Kernel* kernel) { return !kernel->runs_here(); });
        return all;
    }();
    return available;
}

const Kernel& chosen_kernel() {
    const char* const wanted = std::getenv("CONTREE_KERNEL");
    if (wanted == nullptr || *wanted == '\0') return *available_kernels().front();
    std::string here;
    for (const Kernel* kernel : available_kernels()) {
        if (std::string_view(kernel->name) == wanted) return *kernel;
        here += (here.empty() ? "" : ", ") + std::string(kernel->name);
    }
    throw std::invalid_argument(
        "CONTREE_KERNEL is '" + std::string(wanted) + "', but this machine has only: " + here);
}

Row spread_cuts(const std::uint64_t* bits, Row rows, std::uint8_t* mask) {
    Row taken = 0;
    for (Row k = 0; k < rows; k += 8) {
        const std::uint64_t byte = bits[k / 64] >> k % 64 & (rows - k >= 8 ? 0xff : (1u << (rows - k)) - 1);
        const std::uint64_t own = byte * 0x0101010101010101 & 0x8040201008040201;  // byte i has bit i alone
        const std::uint64_t set = ((own + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101) * 0xff;
        for (unsigned i = 0; i < 8; ++i) mask[k + i] = static_cast<std::uint8_t>(set >> 8 * i);
        taken += count_bits(byte);
    }
    return rows - taken;
}

std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const Kernel* kernel : available_kernels()) names.emplace_back(kernel->name);
    return names;
}

std::string kernel() { return chosen_kernel().name; }
}  // namespace contree
