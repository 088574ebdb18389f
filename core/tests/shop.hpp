// What the heuristics work with, over all rows of an instance, and a recount of the trees that they make.
#pragma once

#include "check.hpp"
#include "fit_checks.hpp"
#include "ranked.hpp"
#include "search/bench.hpp"
#include "tree/build.hpp"
#include "tree/plain.hpp"

namespace check {

// A workbench over all rows of an instance.
template <class Entry>
struct Shop {
    explicit Shop(const Instance& instance)
        : data(instance), root(instance), cache(root.sub.rows, 1 << 20), depth_two(contree::chosen_kernel(), switches, control),
          bench(root.sub, depth_two, contree::chosen_kernel(), cache, root.arena, statistics, control) {}

    // The errors of a plan's tree, recounted on the raw values; its depth must not exceed `depth`.
    contree::Score recounted(const contree::Plan& plan, std::int64_t depth) {
        const contree::Tree tree = contree::build_tree(root.table, data.table(), contree::plain_plan(root.sub, plan, root.movers, root.arena, {}));
        std::string faults;
        std::size_t next = 0;
        const contree::Score errors = recount(tree, data, 0, all_rows(data), contree::Options{}, depth, next, faults).errors;
        CHECK_EQUAL(faults, "");
        CHECK_EQUAL(contree::verify(tree, data.table()), errors);
        return errors;
    }
    void check_tree(const contree::Outcome& tree, std::int64_t depth) { CHECK_EQUAL(recounted(tree.plan, depth), tree.upper); }

    const Instance& data;
    Root<Entry> root;
    contree::Switches switches;
    contree::Control control;
    contree::Statistics statistics;
    contree::Cache cache;
    contree::DepthTwo<Entry> depth_two;
    contree::Bench<Entry> bench;
};

}  // namespace check
