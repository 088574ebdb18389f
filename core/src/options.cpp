#include "contree/options.hpp"

namespace contree {

const std::vector<SwitchRow>& switch_rows() {
    static const std::vector<SwitchRow> rows = {
#define CONTREE_ROW(name, value, low, high, meaning) \
    SwitchRow{#name, value, low, high, meaning, &Switches::name},
        CONTREE_SWITCHES(CONTREE_ROW)
#undef CONTREE_ROW
    };
    return rows;
}

}  // namespace contree
