// A solver with one worker over the rows of an instance, for tests of a part of the search.
#pragma once
#include "ranked.hpp"
#include "search/solver.hpp"

namespace check {

struct OneSolver {
    OneSolver(const Instance& data, const contree::Options& chosen)
        : options(chosen), root(data, contree::Width::wide, contree::chosen_kernel(), costs_of(chosen)),
          cache(root.set.rows, 1 << 20), crew(one_worker(), flags),
          solver(root.objective, root.set, options, contree::chosen_kernel(), cache, crew, flags) {}

    std::vector<std::unique_ptr<contree::Worker>> one_worker() {
        std::vector<std::unique_ptr<contree::Worker>> workers;
        workers.push_back(std::make_unique<contree::Worker>(
            root.objective, contree::chosen_kernel(), options.switches, control));
        worker = workers.front().get();
        return workers;
    }

    const contree::Options options;
    contree::Control control;
    contree::StopFlags flags{control};
    Root root;
    contree::Cache cache;
    contree::Worker* worker = nullptr;
    contree::Crew crew;
    contree::Solver solver;
};

}  // namespace check
