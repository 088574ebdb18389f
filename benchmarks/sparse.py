"""What a cost of leaves takes: beside pycontree at the same cost, and beside our own plain search.

    python benchmarks/sparse.py                          ccp_alpha 0.01 at depth 3
    python benchmarks/sparse.py --cost 0.001 --datasets rice wilt
    python benchmarks/sparse.py --paths                  all sizes in one search, and a fit for each

Writes raw runs as JSON and a table as Markdown to benchmarks/results/.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from _harness import RESULTS, dataset_names, environment, prepare, run
from contree import ConTreeClassifier, size_error_path

# The sets on which pycontree ends within minutes.
DATASETS = ["bank", "bidding", "fault", "htru", "occupancy", "page"]
DATASETS += ["raisin", "rice", "room", "segment", "wilt"]
PATHS = ["bank", "fault", "magic", "raisin", "rice", "wilt"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--cost", type=float, default=0.01)
    parser.add_argument("--datasets", nargs="+", default=None, choices=dataset_names())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--paths", action="store_true")
    args = parser.parse_args()
    names = args.datasets or (PATHS if args.paths else DATASETS)
    report = {"environment": environment(), "arguments": vars(args), "cells": []}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            data = prepare(name, Path(folder))
            report["cells"].append((measure_path if args.paths else measure)(name, data, args))
            print(json.dumps(report["cells"][-1]), flush=True)
    output = RESULTS / f"sparse-{'paths-' * args.paths}depth-{args.depth}"
    output.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    said = (path_table if args.paths else table)(report)
    output.with_suffix(".md").write_text(said)
    print(said)


def measure(name: str, data: Path, args) -> dict:
    """Run all three in turn, each in a process of its own."""
    with np.load(data) as file:
        n_rows = len(file["y"])
    cases = {"pycontree": args.cost, "contree": args.cost, "plain": 0.0}
    runs = {case: [] for case in cases}
    for _ in range(args.repeat):
        for case, cost in cases.items():
            if runs[case] and not runs[case][-1]["proved"]:
                continue
            solver = "pycontree" if case == "pycontree" else "contree"
            runs[case].append(run(solver, data, args.depth, args.time_limit, 1, node_cost=cost))
    cell = {"dataset": name, "runs": runs}
    for case, cost in cases.items():
        last = runs[case][-1]
        cell[case] = {
            "user": statistics.median(one["user"] for one in runs[case])
            if "user" in last
            else None,
            "proved": last["proved"],
        }
        if "leaves" in last:
            cell[case]["objective"] = last["errors"] + cost * n_rows * last["leaves"]
    return cell


def table(report: dict) -> str:
    arguments, where = report["arguments"], report["environment"]
    lines = [
        f"{where['cpu']}; commit {where['commit']}; {where['date']}; load "
        f"{where['load_at_start'][0]:.1f}; depth {arguments['depth']}; medians of "
        f"{arguments['repeat']} fits in turn, user CPU seconds, one thread. A leaf costs "
        f"{arguments['cost']:g} of all rows; pycontree's `complexity_cost` is the same number.",
        "",
        "| data set | objective | pycontree, s | contree, s | times | without cost, s | times |",
        "|---|---|---|---|---|---|---|",
    ]
    over_peer, over_plain = [], []
    for cell in report["cells"]:
        peer, ours, plain = cell["pycontree"], cell["contree"], cell["plain"]
        faster = plain["user"] / ours["user"]
        over_plain.append(faster)
        said = f"> {arguments['time_limit']:g}"
        times = ""
        if peer["proved"]:
            said, times = f"{peer['user']:.3f}", f"{peer['user'] / ours['user']:.0f}"
            over_peer.append(peer["user"] / ours["user"])
            if abs(peer["objective"] - ours["objective"]) > 1e-6 * ours["objective"]:
                said += f" (objective {peer['objective']:.2f})"
        lines.append(
            f"| {cell['dataset']} | {ours['objective']:.2f} | {said} | {ours['user']:.3f} | "
            f"{times} | {plain['user']:.3f} | {faster:.2f} |"
        )
    lines += [
        "",
        f"Geometric means: {_mean(over_peer):.1f} times as fast as pycontree ({len(over_peer)} "
        f"data sets), {_mean(over_plain):.2f} times as fast as without a cost ({len(over_plain)}).",
    ]
    return "\n".join(lines) + "\n"


def measure_path(name: str, data: Path, args) -> dict:
    """Run all sizes in one search, and one fit for each, in turn."""
    with np.load(data) as file:
        X, y = file["X"], file["y"]
    together, apart = [], []
    for _ in range(args.repeat):
        start = time.process_time()
        path = size_error_path(X, y, args.depth)
        together.append(time.process_time() - start)
        start = time.process_time()
        fits = [ConTreeClassifier(args.depth, max_leaf_nodes=k).fit(X, y) for k in path.leaves]
        apart.append(time.process_time() - start)
        assert [clf.errors_ for clf in fits] == path.errors.tolist()
    return {
        "dataset": name,
        "errors": path.errors.tolist(),
        "together": statistics.median(together),
        "apart": statistics.median(apart),
        "visits_together": path.counters["row_visits"],
        "visits_apart": sum(clf.search_report_.counters["row_visits"] for clf in fits),
    }


def path_table(report: dict) -> str:
    arguments, where = report["arguments"], report["environment"]
    lines = [
        f"{where['cpu']}; commit {where['commit']}; {where['date']}; load "
        f"{where['load_at_start'][0]:.1f}; depth {arguments['depth']}; medians of "
        f"{arguments['repeat']} runs in turn, CPU seconds, one thread. Row visits do not depend on "
        "the machine.",
        "",
        "| data set | errors by leaves | all sizes, s | fits, s | times | row visits, times |",
        "|---|---|---|---|---|---|",
    ]
    cells = report["cells"]
    for cell in cells:
        lines.append(
            f"| {cell['dataset']} | {' '.join(map(str, cell['errors']))} | "
            f"{cell['together']:.3f} | {cell['apart']:.3f} | "
            f"{cell['apart'] / cell['together']:.2f} | "
            f"{cell['visits_apart'] / cell['visits_together']:.2f} |"
        )
    times = [cell["apart"] / cell["together"] for cell in cells]
    visits = [cell["visits_apart"] / cell["visits_together"] for cell in cells]
    lines += [
        "",
        f"Geometric means: {_mean(times):.2f} times the time, {_mean(visits):.2f} the visits.",
    ]
    return "\n".join(lines) + "\n"


def _mean(ratios: list[float]) -> float:
    return statistics.geometric_mean(ratios) if ratios else float("nan")


if __name__ == "__main__":
    main()
