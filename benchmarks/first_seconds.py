"""Training errors after a few seconds, and what they are worth on rows not seen, beside CART.

    python benchmarks/first_seconds.py                        about eight minutes
    python benchmarks/first_seconds.py --datasets segment --depth 6 --skip-folds

Writes raw runs as JSON and tables as Markdown to benchmarks/results/.  Each fit has a process and
one thread of its own; give it a quiet machine.  "Aim" is what the design's prototype reached.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from _harness import RESULTS, data_directory, environment, prepare, run

LIMITS = (1.0, 3.0)  # seconds
FOLD_DEPTH = 6
# Training errors that the prototype had after 1 s and 3 s, by depth and data set.
AIMS = {
    4: {
        "bean": (996, 990),
        "magic": (2267, 2267),
        "eeg": (2973, 2934),
        "avila": (3731, 3731),
        "fault": (402, 386),
        "segment": (85, 78),
        "htru": (253, 243),
        "page": (93, 91),
        "rice": (173, 167),
    },
    5: {
        "bean": (832, 832),
        "magic": (2046, 2043),
        "eeg": (2494, 2481),
        "avila": (3181, 3181),
        "fault": (296, 295),
        "segment": (35, 21),
    },
    6: {
        "bean": (671, 671),
        "magic": (1831, 1829),
        "eeg": (1961, 1956),
        "avila": (2390, 2382),
        "fault": (210, 199),
        "segment": (9, 1),
    },
}
# Five-fold test accuracy of the prototype at depth six.
ACCURACY_AIMS = {
    "bean": 0.911,
    "magic": 0.854,
    "eeg": 0.800,
    "avila": 0.748,
    "fault": 0.741,
    "segment": 0.961,
}


def main() -> None:
    args = arguments()
    report = {"environment": environment(), "arguments": vars(args), "cells": [], "folds": []}
    with tempfile.TemporaryDirectory() as folder:
        for depth in args.depth:
            for name in args.datasets:
                cell = measure(name, prepare(name, Path(folder)), depth)
                report["cells"].append(cell)
                print(training_row(cell), flush=True)
                write(report, args.output)
    for name in [] if args.skip_folds else args.datasets:
        if name in ACCURACY_AIMS:
            report["folds"].append(cross_validate(name))
            print(fold_row(report["folds"][-1]), flush=True)
            write(report, args.output)
    print(f"\n{RESULTS / args.output}.md\n\n{tables(report)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[4, 5, 6])
    parser.add_argument("--datasets", nargs="+", metavar="NAME", default=list(AIMS[4]))
    parser.add_argument("--skip-folds", action="store_true", help="training errors only")
    parser.add_argument("--output", default="first-seconds", help="file name, without ending")
    return parser.parse_args()


def measure(name: str, data: Path, depth: int) -> dict:
    """Fit CART, and contree once for each limit."""
    return {
        "dataset": name,
        "depth": depth,
        "aims": AIMS.get(depth, {}).get(name),
        "cart": run("cart", data, depth, LIMITS[-1], 1),
        "contree": [run("contree", data, depth, limit, 1) for limit in LIMITS],
    }


def full_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of all rows of a data set; the label is the first column."""
    with gzip.open(data_directory() / "full" / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    X = np.array([row[1:] for row in rows], dtype=np.float64)
    return X, np.unique([row[0] for row in rows], return_inverse=True)[1]


def cross_validate(name: str) -> dict:
    from contree import ConTreeClassifier

    X, y = full_table(name)
    seen: dict = {"dataset": name, "aim": ACCURACY_AIMS[name], "contree": [], "cart": []}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        models = {
            "contree": ConTreeClassifier(FOLD_DEPTH, time_limit=LIMITS[-1], n_jobs=1),
            "cart": DecisionTreeClassifier(max_depth=FOLD_DEPTH, random_state=0),
        }
        for solver, model in models.items():
            seen[solver].append(float(model.fit(X[train], y[train]).score(X[test], y[test])))
    return seen


def training_row(cell: dict) -> str:
    errors = [str(seen.get("errors", "failed")) for seen in (cell["cart"], *cell["contree"])]
    aims = [str(aim) for aim in cell["aims"] or ("", "")]
    proved = "yes" if cell["contree"][-1]["proved"] else ""
    cells = [cell["dataset"], str(cell["depth"]), *errors, *aims, proved]
    return "| " + " | ".join(cells) + " |"


def fold_row(seen: dict) -> str:
    means = [f"{np.mean(seen[solver]):.3f}" for solver in ("cart", "contree")]
    return "| " + " | ".join([seen["dataset"], *means, f"{seen['aim']:.3f}"]) + " |"


def tables(report: dict) -> str:
    """Return both tables as Markdown."""
    where = report["environment"]
    changes = " with uncommitted changes" if where["uncommitted_changes"] else ""
    limits = [f"{limit:g} s" for limit in LIMITS]
    lines = [
        f"{where['cpu']}, {where['cores']} cores, load {where['load_at_start'][0]:.1f} before; "
        f"commit {where['commit']}{changes}; {where['date']}; one thread.",
        "",
        "Training errors.",
        "",
        "| data set | depth | CART | "
        + " | ".join([*limits, *(f"aim, {limit}" for limit in limits)])
        + " | proved |",
        "|---" * 8 + "|",
        *map(training_row, report["cells"]),
    ]
    if report["folds"]:
        lines += [
            "",
            f"Test accuracy at depth {FOLD_DEPTH} after {limits[-1]} a fold: the mean of five "
            "stratified folds, shuffled with seed 0.",
            "",
            "| data set | CART | contree | aim |",
            "|---" * 4 + "|",
            *map(fold_row, report["folds"]),
        ]
    return "\n".join(lines) + "\n"


def write(report: dict, output: str) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{output}.json").write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / f"{output}.md").write_text(tables(report))


if __name__ == "__main__":
    main()
