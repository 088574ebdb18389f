"""One search on a cluster: what it costs here, and what it would gain on many machines.

    python benchmarks/distributed.py
    python benchmarks/distributed.py --cases fault:4 --record --again 'fault:4:cluster:*'
    python benchmarks/distributed.py --cases --record raisin:5

First the same proofs in one process and on a local cluster, with 1 and 2 threads or workers, in
turn, each in a fresh process.  Then a simulation of more workers than there are here, on recorded
times (_simulation.py).  This process itself never imports Dask's package, whose name this file has.
"""

from __future__ import annotations

import math

from _experiment import (
    Cell,
    Experiment,
    cut_off,
    markdown_table,
    median,
    parse,
    parser,
    provenance,
    publish,
    pyplot,
)
from _harness import call, prepare, run

EXPERIMENT = "distributed"
CASES = ["fault:4", "avila:4", "segment:5"]  # over 30 s
RECORDED = ["fault:4", "rice:4", "segment:5", "raisin:5"]
COUNTS = [1, 2]  # of threads, or of workers with a thread each
WORKERS = [1, 8, 64, 512]
DELAYS = ["0.002", "0.02", "0.2"]  # seconds that a message takes: a rack, a cloud, two continents
DELAY = "0.02"  # of the table
HANDLING = 0.005  # assumed seconds of the caller for a task


def main() -> None:
    made = parser(__doc__, time_limit=1800.0, repeat=3)
    made.add_argument("--cases", nargs="*", default=CASES, metavar="SET:DEPTH")
    made.add_argument("--counts", nargs="*", type=int, default=COUNTS, help="of threads or workers")
    made.add_argument("--record", nargs="*", default=RECORDED, metavar="SET:DEPTH")
    args = parse(made, cases=["raisin:4"], record=["raisin:4"], time_limit=60.0)
    experiment = Experiment(EXPERIMENT, args.output, short=math.inf)
    if not args.report:
        rows = [measured_cells(case, args.counts, args.time_limit) for case in args.cases]
        rows += [[recorded_cell(case, args.time_limit)] for case in args.record]
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown, figures)


def measured_cells(case: str, counts: list[int], time_limit: float) -> list[Cell]:
    name, depth = case.split(":")

    def cell(solver: str, count: int) -> Cell:
        def measure() -> dict:
            return run(solver, prepare(name), int(depth), time_limit, count, counters=True)

        about = {"dataset": name, "depth": int(depth), "solver": solver, "count": count}
        return Cell(f"{case}:{solver}:{count}", about, time_limit, measure)

    return [cell(solver, count) for count in counts for solver in ("contree", "cluster")]


def recorded_cell(case: str, time_limit: float) -> Cell:
    name, depth = case.split(":")
    about = {"dataset": name, "depth": int(depth), "solver": "simulated"}

    def measure() -> dict:
        task = {"data": str(prepare(name)), "depth": int(depth), "workers": WORKERS}
        task |= {"delays": DELAYS, "handling": HANDLING}
        return call("_simulation:predict", task, time_limit)

    return Cell(f"{case}:simulated", about, time_limit, measure)


# What is written from the cells.


def markdown(report: dict) -> str:
    parts = [
        "# One search on a cluster",
        provenance(report),
        "Again: `python benchmarks/distributed.py`. What it means: `docs/scaling.md`.",
        measured_table(measured(report)),
        simulated_table(simulated(report)),
        "![Simulated speed-up against the number of workers](distributed.svg)"
        if simulated(report)
        else "",
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def measured(report: dict) -> dict[tuple[str, int], dict]:
    """Return the measured cells by case, then by solver and count, without those cut off."""
    table: dict[tuple[str, int], dict] = {}
    for kept in report["cells"].values():
        if kept["solver"] != "simulated" and not cut_off(kept):
            row = table.setdefault((kept["dataset"], kept["depth"]), {})
            row[kept["solver"], kept["count"]] = kept
    return table


def simulated(report: dict) -> dict[tuple[str, int], dict]:
    """Return what was simulated by case, then by the number of workers."""
    return {
        (kept["dataset"], kept["depth"]): {
            int(workers): one for workers, one in kept["runs"][-1]["by_workers"].items()
        }
        for kept in report["cells"].values()
        if kept["solver"] == "simulated" and not cut_off(kept)
    }


def measured_table(cases: dict) -> str:
    lines = []
    for (name, depth), row in cases.items():
        for count in COUNTS:
            alone, together = row.get(("contree", count)), row.get(("cluster", count))
            if not alone or not together:
                continue
            errors = {run["errors"] for kept in (alone, together) for run in kept["runs"]}
            line = [name, depth, count, "/".join(map(str, sorted(errors)))]
            for field in ("wall", "cpu"):
                one, other = median(alone, field), median(together, field)
                line += [
                    f"{one:.1f}",
                    f"{other:.1f}",
                    more(one, other) + turns(alone, together, field),
                ]
            visits = [kept["runs"][-1]["counters"]["row_visits"] for kept in (alone, together)]
            line.append(more(*visits))
            line.append(together["runs"][-1]["counters"]["tasks"])
            lines.append(line)
    if not lines:
        return ""
    head = ["data set", "depth", "threads or workers", "errors"]
    for what in ("wall", "CPU"):
        head += [f"{what}, one process, s", "cluster, s", "more"]
    return "\n\n".join(
        [
            "Proofs in one process with so many threads, and on a local cluster of so many workers "
            "with a thread each. CPU time is that of all processes, with the caller and Dask's "
            "scheduler, for which two workers on two cores leave no core. Medians where there were "
            "several runs, in turn, and in brackets the least and the greatest of the turns. Row "
            "visits are the search's work.",
            markdown_table([*head, "row visits, more", "tasks"], lines),
        ]
    )


def more(one: float, other: float) -> str:
    return f"{100 * (other / one - 1):+.1f} %"


def turns(alone: dict, together: dict, field: str) -> str:
    """Say how far the turns lie apart, if there were several."""
    both = zip(alone["runs"], together["runs"], strict=False)
    ratios = sorted(other[field] / one[field] for one, other in both)
    return f" ({more(1, ratios[0])} to {more(1, ratios[-1])})" if len(ratios) > 1 else ""


def simulated_table(cases: dict) -> str:
    if not cases:
        return ""
    lines = []
    for (name, depth), of in cases.items():
        for count, one in of.items():
            line = [name, depth, count, one["intervals"], one["thresholds"], f"{one['work']:.1f}"]
            line += [f"{one['work'] / of[1]['work']:.2f}", f"{one['opening']:.2f}"]
            line += [f"{one['longest_chain']:.2f}", f"{one['took'][DELAY]:.2f}"]
            lines.append([*line, f"{of[1]['work'] / one['took'][DELAY]:.1f}"])
    head = ["data set", "depth", "workers", "intervals", "thresholds solved", "work, s", "times"]
    head += ["opening, s", "one after the other, s", "takes, s", "speed-up"]
    return "\n\n".join(
        [
            "Simulated on recorded CPU seconds of every threshold of the root: how long workers of "
            "one thread would take and how much faster that is than one, if a message takes "
            f"{1000 * float(DELAY):.0f} ms and a task (assumed) {1000 * HANDLING:.0f} ms of the "
            "caller. More workers begin with more intervals, and solve more thresholds between "
            "them. No number of workers takes less than what must be done one after the other.",
            markdown_table(head, lines),
        ]
    )


def figures(report: dict) -> dict:
    cases = simulated(report)
    return {EXPERIMENT: plot(cases)} if cases else {}


def plot(cases: dict):
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    axes.plot(WORKERS, WORKERS, color="0.7", linewidth=1, label="as many times as workers")
    styles = dict(zip(DELAYS, ("-", "--", ":"), strict=True))
    for number, ((name, depth), of) in enumerate(cases.items()):
        for delay, style in styles.items():
            axes.plot(
                list(of),
                [of[1]["work"] / one["took"][delay] for one in of.values()],
                style,
                marker="o",
                markersize=3,
                color=f"C{number}",
                label=f"{name}, depth {depth}, {1000 * float(delay):.0f} ms",
            )
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="speed-up (simulated)")
    axes.set_xticks(WORKERS, map(str, WORKERS))
    axes.legend(fontsize=7)
    return figure


if __name__ == "__main__":
    main()
