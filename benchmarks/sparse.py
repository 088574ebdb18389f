"""What a cost of leaves takes: beside pycontree at the same cost, and beside our own plain search.

python benchmarks/sparse.py                          ccp_alpha 0.01 at depth 3
python benchmarks/sparse.py --cost 0.001 --datasets rice wilt
python benchmarks/sparse.py --skip-paths             not: all sizes in one search

Each fit in a process of its own.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from _experiment import (
    Cell,
    Experiment,
    cut_off,
    markdown_table,
    median,
    number,
    parse,
    parser,
    provenance,
    publish,
    spread,
)
from _harness import call, dataset_names, prepare, run

EXPERIMENT = "sparse"
PATHS = ["bank", "fault", "magic", "raisin", "rice", "wilt"]


def main() -> None:
    made = parser(__doc__, time_limit=20.0, repeat=3)
    made.add_argument("--depth", type=int, default=3)
    made.add_argument("--cost", type=float, default=0.01)
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=dataset_names())
    made.add_argument("--skip-paths", action="store_true")
    args = parse(made, datasets=["bank", "raisin", "wilt"], repeat=1, time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        rows = [cost_cells(name, args) for name in args.datasets]
        paths = [name for name in args.datasets if name in PATHS and not args.skip_paths]
        rows += [[path_cell(name, args)] for name in paths]
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown)


def cost_cells(name: str, args) -> list[Cell]:
    def cell(column: str, cost: float) -> Cell:
        def measure() -> dict:
            data = prepare(name)
            solver = "pycontree" if column == "pycontree" else "contree"
            seen = run(solver, data, args.depth, args.time_limit, node_cost=cost)
            if "leaves" in seen:
                with np.load(data) as file:
                    seen["objective"] = seen["errors"] + cost * len(file["y"]) * seen["leaves"]
            return seen

        about = {"dataset": name, "depth": args.depth, "cost": args.cost, "column": column}
        return Cell(f"{name}:{args.depth}:{args.cost:g}:{column}", about, args.time_limit, measure)

    return [cell("pycontree", args.cost), cell("contree", args.cost), cell("plain", 0.0)]


def path_cell(name: str, args) -> Cell:
    def measure() -> dict:
        task = {"data": str(prepare(name)), "depth": args.depth}
        return call("sparse:measure_path", task, args.time_limit)

    about = {"dataset": name, "depth": args.depth, "column": "path"}
    return Cell(f"{name}:{args.depth}:path", about, args.time_limit, measure)


def measure_path(task: dict) -> dict:
    """Run all sizes in one search, and one fit for each."""
    from contree import ConTreeClassifier, size_error_path

    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    start, wall = time.process_time(), time.perf_counter()
    path = size_error_path(X, y, task["depth"])
    together = time.process_time() - start
    start = time.process_time()
    fits = [ConTreeClassifier(task["depth"], max_leaf_nodes=k).fit(X, y) for k in path.leaves]
    apart = time.process_time() - start
    assert [clf.errors_ for clf in fits] == path.errors.tolist()
    return {
        "wall": time.perf_counter() - wall,
        "errors": path.errors.tolist(),
        "together": together,
        "apart": apart,
        "visits_together": path.counters["row_visits"],
        "visits_apart": sum(clf.search_report_.counters["row_visits"] for clf in fits),
    }


# What is written from the cells.


def markdown(report: dict) -> str:
    cells = report["cells"].values()
    parts = [
        "# Small trees: a cost of leaves, and all sizes at once",
        provenance(report),
        "Again: `python benchmarks/sparse.py`.",
        cost_table([kept for kept in cells if kept["column"] != "path"]),
        path_table([kept for kept in cells if kept["column"] == "path"]),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def cost_table(cells: list[dict]) -> str:
    table: dict[tuple, dict] = {}
    for kept in cells:
        row = table.setdefault((kept["dataset"], kept["depth"], kept["cost"]), {})
        row[kept["column"]] = kept
    lines, over_peer, over_plain = [], [], []
    for (name, depth, cost), row in table.items():
        peer, ours, plain = (row[column] for column in ("pycontree", "contree", "plain"))
        objective = ours["runs"][-1]["objective"]
        mine, without = median(ours, "cpu"), median(plain, "cpu")
        over_plain.append(without / mine)
        theirs, times = f"> {peer['time_limit']:g}", ""
        if not cut_off(peer):
            over_peer.append(median(peer, "cpu") / mine)
            theirs, times = f"{median(peer, 'cpu'):.3f}", number(over_peer[-1])
            if abs(peer["runs"][-1]["objective"] - objective) > 1e-6 * objective:
                theirs += f" (objective {peer['runs'][-1]['objective']:.2f})"
        line = [name, depth, f"{cost:g}", f"{objective:.2f}", theirs, f"{mine:.3f}", times]
        lines.append([*line, f"{without:.3f}", f"{without / mine:.2f}"])
    head = ["data set", "depth", "cost", "objective", "pycontree, s", "contree, s", "times"]
    parts = [
        "Medians of fits in turn, CPU seconds, one thread. A leaf costs that share of all "
        "rows; pycontree's `complexity_cost` is the same number.",
        markdown_table([*head, "without cost, s", "times"], lines),
    ]
    if over_peer:
        parts.append(f"- Geometric mean of the ratios, pycontree to contree: {spread(over_peer)}.")
    parts.append(f"- Without a cost to with one: {spread(over_plain)}.")
    return "\n\n".join(part.rstrip("\n") for part in parts)


def path_table(cells: list[dict]) -> str:
    if not cells:
        return ""
    lines, times, visits = [], [], []
    for kept in cells:
        last = kept["runs"][-1]
        together, apart = median(kept, "together"), median(kept, "apart")
        times.append(apart / together)
        visits.append(last["visits_apart"] / last["visits_together"])
        line = [kept["dataset"], kept["depth"], " ".join(map(str, last["errors"]))]
        lines.append([*line, f"{together:.3f}", f"{apart:.3f}", number(times[-1])])
        lines[-1].append(number(visits[-1]))
    head = ["data set", "depth", "errors by leaves", "all sizes, s", "fits, s", "times"]
    mean = statistics.geometric_mean
    return "\n\n".join(
        [
            "All sizes in one search (`size_error_path`) against a fit for each, CPU seconds, one "
            "thread. Row visits do not depend on the machine.",
            markdown_table([*head, "row visits, times"], lines, "llrrrrr").rstrip("\n"),
            f"- Geometric means: {mean(times):.2f} times the time, {mean(visits):.2f} the visits.",
        ]
    )


if __name__ == "__main__":
    main()
