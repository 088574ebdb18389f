// What the heuristics work with, over all rows of an instance, and a recount of the trees that they make.
#pragma once

#include "check.hpp"
#include "fit_checks.hpp"
#include "heuristics/context.hpp"
#include "ranked.hpp"
#include "tree/build.hpp"
#include "tree/locate.hpp"

namespace check {

struct Heuristics {
    explicit Heuristics(const Instance& instance, contree::Width width = contree::Width::narrow,
        contree::SolveWithin solve_within = {})
        : data(instance), root(instance, width), cache(root.set.rows, 1 << 20),
          context(root.objective, root.set, contree::chosen_kernel(), switches, cache, root.arena, statistics,
              control, std::move(solve_within)) {}

    // Can any split of all rows make a better tree than a leaf?
    bool worth_splitting() const { return root.set.features > 0 && root.set.groups > 1; }

    // The errors of a plan's tree, recounted on the raw values; its depth must not exceed `depth`.
    contree::Score recounted(const contree::Plan& plan, std::int64_t depth) {
        const contree::Plan plain =
            contree::plain_plan(root.objective, root.set, plan, root.partitioner, root.arena, {});
        const contree::Tree tree = contree::build_tree(root.objective, root.table, data.table(), plain);
        std::string faults;
        std::size_t next = 0;
        const contree::Score errors =
            recount(tree, data, 0, all_rows(data), contree::Options{}, depth, next, faults).errors;
        CHECK_EQUAL(faults, "");
        CHECK_EQUAL(contree::verify(root.objective, tree, data.table()), errors);
        return errors;
    }
    void check_tree(const contree::Outcome& tree, std::int64_t depth) {
        CHECK_EQUAL(recounted(tree.plan, depth), tree.upper);
    }

    const Instance& data;
    Root root;
    contree::Switches switches;
    contree::Control control;
    contree::Statistics statistics;
    contree::Cache cache;
    contree::HeuristicContext context;
};

}  // namespace check
