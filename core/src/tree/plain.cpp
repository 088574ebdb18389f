#include "tree/plain.hpp"

#include "tree/locate.hpp"

namespace contree {

template <class Entry>
Plan plain_plan(const Subproblem<Entry>& root, const Plan& plan, const Movers& movers, Arena& arena, const Halt& halt) {
    const auto open = [](const Step* begin, const Step* end) {
        return std::any_of(begin, end, [](const Step& step) { return step.feature == Step::stump; });
    };
    if (!open(plan.data(), plan.data() + plan.size())) return plan;
    Plan filled;
    const auto fill = [&](auto&& self, const Subproblem<Entry>& sub, const Step* step) -> void {
        const Step* const end = end_of(step);
        if (halt() || !open(step, end)) {
            filled.insert(filled.end(), step, end);
            return;
        }
        const Split at = locate(sub, *step, halt);
        if (at.z == 0) {
            filled.push_back({Step::leaf, 0});
            return;
        }
        filled.push_back({static_cast<std::int32_t>(sub.feature[at.f]), sub.rank_left_of(at.f, at.z)});
        if (step->feature == Step::stump) {
            filled.insert(filled.end(), 2, Step{Step::leaf, 0});
            return;
        }
        Arena::Frame frame(arena);
        const Children<Entry> children = split_rows(sub, at.f, at.z, false, movers, arena, halt);
        self(self, children.left, step + 1);
        self(self, children.right, end_of(step + 1));
    };
    fill(fill, root, plan.data());
    return halt() ? Plan{} : filled;
}

template Plan plain_plan(const Subproblem<NarrowEntry>&, const Plan&, const Movers&, Arena&, const Halt&);
template Plan plain_plan(const Subproblem<WideEntry>&, const Plan&, const Movers&, Arena&, const Halt&);

}  // namespace contree
