"""What weights and leaf sizes cost: the same rows, plain and with each of them, in turn.

    python benchmarks/general.py                      ten data sets at depth 3
    python benchmarks/general.py --datasets rice --depth 4

Writes raw runs as JSON and a table of ratios as Markdown to benchmarks/results/.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from _harness import RESULTS, dataset_names, environment, prepare
from contree import ConTreeClassifier

DATASETS = [
    *("wilt", "bank", "raisin", "segment", "room"),
    *("page", "occupancy", "rice", "fault", "magic"),
]
SEED = 7


def cases(n_rows: int) -> dict:
    """Return name -> (parameters, weights)."""
    rng = np.random.default_rng(SEED)
    return {
        "plain": ({}, None),
        "weights 1 to 10": ({}, rng.integers(1, 11, size=n_rows)),
        "real weights": ({}, rng.random(n_rows) + 0.01),
        "weights 1 to 1e6": ({}, 10.0 ** rng.uniform(0, 6, size=n_rows)),
        "balanced": ({"class_weight": "balanced"}, None),
        "leaf of 5 rows": ({"min_samples_leaf": 5}, None),
        "leaf of 20 rows": ({"min_samples_leaf": 20}, None),
        "leaf of 1 %": ({"min_samples_leaf": 0.01}, None),
        "weights, leaf of 5": ({"min_samples_leaf": 5}, rng.integers(1, 11, size=n_rows)),
        "real, leaf of 20": ({"min_samples_leaf": 20}, rng.random(n_rows) + 0.01),
        "real, leaf of 1 % weight": ({"min_weight_fraction_leaf": 0.01}, rng.random(n_rows) + 0.01),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=dataset_names())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0)
    args = parser.parse_args()
    report = {"environment": environment(), "arguments": vars(args), "seed": SEED, "cells": []}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.datasets:
            with np.load(prepare(name, Path(folder))) as file:
                X, y = file["X"], file["y"]
            report["cells"] += measure(name, X, y, args)
            print(report["cells"][-1]["dataset"], flush=True)
    output = RESULTS / f"general-depth-{args.depth}"
    output.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    output.with_suffix(".md").write_text(table(report))
    print(table(report))


def measure(name: str, X, y, args) -> list[dict]:
    given = cases(len(y))
    runs = {case: [] for case in given}
    status = {}
    for _ in range(args.repeat):
        for case, (parameters, weights) in given.items():
            clf = ConTreeClassifier(args.depth, time_limit=args.time_limit, **parameters)
            start = time.process_time()
            clf.fit(X, y, weights)
            runs[case].append(time.process_time() - start)
            status[case] = clf.status_
    return [
        {"dataset": name, "case": case, "cpu": statistics.median(seen), "status": status[case]}
        for case, seen in runs.items()
    ]


def table(report: dict) -> str:
    where = report["environment"]
    by_cell = {(cell["dataset"], cell["case"]): cell for cell in report["cells"]}
    names = list(dict.fromkeys(cell["dataset"] for cell in report["cells"]))
    others = [case for case in cases(1) if case != "plain"]
    lines = [
        f"{where['cpu']}; commit {where['commit']}; {where['date']}; depth "
        f"{report['arguments']['depth']}; medians of {report['arguments']['repeat']} fits in turn, "
        "CPU time. Ratios to the plain fit; > where the limit of "
        f"{report['arguments']['time_limit']:g} s came first.",
        "",
        "| data set | plain, s | " + " | ".join(others) + " |",
        "|---" * (2 + len(others)) + "|",
    ]
    for name in names:
        plain = by_cell[name, "plain"]["cpu"]
        ratios = [
            f"{'> ' * (by_cell[name, case]['status'] != 'optimal')}"
            f"{by_cell[name, case]['cpu'] / plain:.1f}"
            for case in others
        ]
        lines.append(f"| {name} | {plain:.3f} | " + " | ".join(ratios) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
