"""One thread against two: the same proofs, in turn, each fit in a process of its own.

    python benchmarks/threads.py
    python benchmarks/threads.py --cases magic:4 raisin:5 --repeat 3

Writes raw runs as JSON and a table as Markdown to benchmarks/results/threads.*.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from _harness import RESULTS, environment, prepare, run

CASES = ["page:4", "rice:4", "fault:4"]  # each takes over five seconds with one thread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=CASES, metavar="SET:DEPTH")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=600.0)
    args = parser.parse_args()
    report = {"environment": environment(), "arguments": vars(args), "cells": []}
    with tempfile.TemporaryDirectory() as folder:
        for case in args.cases:
            name, depth = case.split(":")
            data = prepare(name, Path(folder))
            runs = {1: [], args.threads: []}
            for _ in range(args.repeat):
                for threads, done in runs.items():
                    done.append(run("contree", data, int(depth), args.time_limit, threads))
            report["cells"].append({"dataset": name, "depth": int(depth), "runs": runs})
            print(row(report["cells"][-1]), flush=True)
            write(report)


def middle(runs: list[dict], field: str) -> float:
    return statistics.median(run[field] for run in runs)


def speed_up(cell: dict) -> float:
    one, many = cell["runs"].values()
    return middle(one, "wall") / middle(many, "wall")


def row(cell: dict) -> str:
    one, many = cell["runs"].values()
    proved = all(run["proved"] for run in one + many)
    errors = {run["errors"] for run in one + many}
    cells = [cell["dataset"], cell["depth"], "/".join(map(str, errors)), "yes" if proved else "no"]
    for runs in (one, many):
        cells += [f"{middle(runs, 'wall'):.2f}", f"{middle(runs, 'user'):.2f}"]
    return f"| {' | '.join(map(str, cells))} | {speed_up(cell):.2f} |"


def write(report: dict) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "threads.json").write_text(json.dumps(report, indent=1) + "\n")
    threads = report["arguments"]["threads"]
    mean = statistics.geometric_mean(speed_up(cell) for cell in report["cells"])
    head = report["environment"]
    lines = [
        f"{head['cpu']}, {head['cores']} cores, load {head['load_at_start'][0]:.1f} before; "
        f"commit {head['commit']}; {head['date']}.",
        "",
        f"Seconds of `fit` with 1 and with {threads} threads, in turn, each in a fresh process.",
        "",
        "| data set | depth | errors | proved | wall, 1 | user, 1 "
        f"| wall, {threads} | user, {threads} | speed-up |",
        "|---|---|---|---|---|---|---|---|---|",
        *map(row, report["cells"]),
        "",
        f"Geometric mean of the speed-up: {mean:.2f}.",
    ]
    (RESULTS / "threads.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
