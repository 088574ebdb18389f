"""One search on a cluster: what it costs here, and what it would gain on many machines.

    python benchmarks/distributed.py
    python benchmarks/distributed.py --cases fault:4 raisin:5 --repeat 3

First the same proofs in one process and on a local cluster, with 1 and 2 threads or workers, in
turn, each in a fresh process.  Then a simulation of more workers than there are here, on recorded
times (_simulation.py).  Writes raw numbers as JSON, tables as Markdown and a plot to
benchmarks/results/distributed.*.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from datetime import UTC, datetime

import numpy as np

sys.path.append(sys.path.pop(0))  # this folder comes last: Dask's package has this script's name
from _experiment import RESULTS
from _harness import environment, prepare, run
from _simulation import longest_chain, record, simulate, work_of

CASES = ["fault:4", "raisin:5"]  # over 30 s and over 15 s with one thread
SIMULATED = ["fault:4", "raisin:5", "segment:5"]
WORKERS = [1, 8, 64, 512]
DELAYS = [0.002, 0.02, 0.2]  # seconds that a message takes: a rack, a cloud, between continents
DELAY = 0.02  # of the table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=CASES, metavar="SET:DEPTH")
    parser.add_argument("--simulate", nargs="*", default=SIMULATED, metavar="SET:DEPTH")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=1800.0)
    parser.add_argument(
        "--handling", type=float, default=0.005, help="assumed seconds of the caller for a task"
    )
    args = parser.parse_args()
    before = RESULTS / "distributed.json"
    report = json.loads(before.read_text()) if before.exists() else {}
    if args.cases:
        report["measured"] = begun(args)
        report["measured"]["cells"] = cells = []
        for case in args.cases:
            cells.append(measure(case, args.repeat, args.time_limit))
            print(measured_row(cells[-1]), flush=True)
            write(report)
    if args.simulate:
        report["simulated"] = begun(args)
        report["simulated"]["handling"] = args.handling
        report["simulated"]["cells"] = cells = []
        for case in args.simulate:
            cells.append(predict(case, report["simulated"]["handling"]))
            print(simulated_row(cells[-1]), flush=True)
            write(report)


def begun(args: argparse.Namespace) -> dict:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    load = os.getloadavg()[0]
    return {"environment": environment(), "load": load, "date": now, "arguments": vars(args)}


def measure(case: str, repeat: int, time_limit: float) -> dict:
    name, depth = case.split(":")
    data = prepare(name)
    runs = {f"{solver} {threads}": [] for threads in (1, 2) for solver in ("contree", "cluster")}
    for _ in range(repeat):
        for kind, done in runs.items():
            solver, threads = kind.split()
            done.append(run(solver, data, int(depth), time_limit, int(threads)))
            print(case, kind, done[-1], flush=True)
    return {"dataset": name, "depth": int(depth), "runs": runs}


def middle(runs: list[dict], field: str) -> float:
    return statistics.median(run[field] for run in runs)


def measured_row(cell: dict) -> str:
    runs = cell["runs"]
    everyone = [one for some in runs.values() for one in some]
    errors = {one["errors"] for one in everyone}
    proved = all(one["proved"] for one in everyone)
    cells = [cell["dataset"], cell["depth"], "/".join(map(str, errors)), "yes" if proved else "no"]
    for threads in (1, 2):
        alone, together = runs[f"contree {threads}"], runs[f"cluster {threads}"]
        for field in ("wall", "cpu"):
            ratio = middle(together, field) / middle(alone, field)
            cells += [
                f"{middle(alone, field):.1f}",
                f"{middle(together, field):.1f}",
                f"{100 * (ratio - 1):+.1f} %",
            ]
    return f"| {' | '.join(map(str, cells))} |"


def predict(case: str, handling: float) -> dict:
    name, depth = case.split(":")
    with np.load(prepare(name)) as file:
        X, y = file["X"], file["y"]
    cell = {"dataset": name, "depth": int(depth), "workers": {}}
    alone = None
    for workers in WORKERS:
        recorded = record(X, y, int(depth), 2 * workers)
        work = work_of(recorded)
        alone = alone or work
        took = {str(delay): simulate(recorded, workers, delay, handling) for delay in DELAYS}
        cell["workers"][workers] = {
            "opening": recorded["opening"],
            "work": work,
            "longest_chain": longest_chain(recorded),
            "thresholds": sum(node["seconds"] > 0 for node in recorded["nodes"]),
            "took": took,
            "speed_up": {delay: alone / seconds for delay, seconds in took.items()},
            "errors": recorded["objective"],
        }
        print(case, workers, cell["workers"][workers], flush=True)
    return cell


def simulated_row(cell: dict) -> str:
    of = {int(count): one for count, one in cell["workers"].items()}
    cells = [cell["dataset"], cell["depth"], f"{of[1]['work']:.1f}", f"{of[1]['opening']:.2f}"]
    cells += [f"{of[WORKERS[-1]]['longest_chain']:.2f}", of[1]["thresholds"]]
    cells += [f"{of[count]['speed_up'][str(DELAY)]:.1f}" for count in WORKERS]
    cells.append(f"{of[WORKERS[-1]]['work'] / of[1]['work']:.2f}")
    return f"| {' | '.join(map(str, cells))} |"


def head(part: dict) -> str:
    where = part["environment"]
    return (
        f"{where['cpu']}, {where['cores']} cores, load {part['load']:.1f} before; "
        f"commit {where['commit'][:7]}; {part['date']}."
    )


def write(report: dict) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "distributed.json").write_text(json.dumps(report, indent=1) + "\n")
    lines = []
    if report.get("measured", {}).get("cells"):
        lines += [
            "## Here",
            "",
            head(report["measured"]),
            "",
            "Seconds of a fit in one process with 1 or 2 threads, and on a local cluster of 1 or 2 "
            "workers with one thread each; CPU time with that of the workers and the scheduler.",
            "",
            "| data set | depth | errors | proved"
            + "".join(
                f" | {what}, {threads} | on a cluster | more"
                for threads in (1, 2)
                for what in ("wall", "cpu")
            )
            + " |",
            "|---|---|---|---" + 12 * "|---" + "|",
            *map(measured_row, report["measured"]["cells"]),
            "",
        ]
    if report.get("simulated", {}).get("cells"):
        simulated = report["simulated"]
        lines += [
            "## Simulated",
            "",
            head(simulated),
            "",
            "Speed-up over one worker of the same recorded work, if a message takes "
            f"{1000 * DELAY:.0f} ms and a task costs the caller (assumed) "
            f"{1000 * simulated['handling']:.1f} ms. Seconds are CPU time. What must be done one "
            "after the other, and how much more work there is in all, are for "
            f"{WORKERS[-1]} workers.",
            "",
            "| data set | depth | work, s | opening, s | one after the other, s | thresholds | "
            + " | ".join(f"{count} workers" for count in WORKERS)
            + " | work |",
            "|---|---|---|---|---|---" + len(WORKERS) * "|---" + "|---|",
            *map(simulated_row, simulated["cells"]),
        ]
        plot(simulated["cells"])
    (RESULTS / "distributed.md").write_text("\n".join(lines) + "\n")


def plot(cells: list[dict]) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "contree"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    axes.plot(WORKERS, WORKERS, color="0.7", linewidth=1, label="as many times as workers")
    styles = dict(zip(map(str, DELAYS), ("-", "--", ":"), strict=True))
    for number, cell in enumerate(cells):
        of = {int(count): one for count, one in cell["workers"].items()}
        for delay, style in styles.items():
            axes.plot(
                sorted(of),
                [of[count]["speed_up"][delay] for count in sorted(of)],
                style,
                marker="o",
                markersize=3,
                color=f"C{number}",
                label=f"{cell['dataset']}, depth {cell['depth']}, {1000 * float(delay):.0f} ms",
            )
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="speed-up (simulated)")
    axes.set_xticks(WORKERS, map(str, WORKERS))
    axes.legend(fontsize=7)
    figure.savefig(RESULTS / "distributed.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
