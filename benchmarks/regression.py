"""Regression trees: seconds to a proved optimum, and R^2 on unseen rows, beside other solvers.

python benchmarks/regression.py                     eight data sets at depth 2, 3 and 4
python benchmarks/regression.py --datasets fish --depths 3

Each cell fits the same random splits, 80 % of the rows for training, in one process of its own.
STreeD and OSRT are optimal for yes/no questions: 10, 30 or 100 quantiles of each feature.  contree
considers every threshold.
"""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from _experiment import Cell, Experiment, markdown_table, number, parse, parser, provenance, publish
from _harness import PREPARED, call, data_directory, store

EXPERIMENT = "regression"
DATASETS = ["autompg", "concrete", "qsar", "fish", "diabetes", "abalone", "query1", "cal.housing"]
SOLVERS = ["contree", "STreeD, 10", "STreeD, 30", "STreeD, 100", "OSRT, 10", "CART"]
DEPTHS = [2, 3, 4]
SPLITS, TEST_SHARE, SEED = 5, 0.2, 0
LONG = 4  # from this depth on one split only
# OSRT overruns its limit by far on more rows and beyond depth two.
OSRT_DATASETS, OSRT_DEPTHS = ("autompg", "concrete", "qsar", "fish", "diabetes"), (2,)


def main() -> None:
    made = parser(__doc__, time_limit=5.0)
    made.add_argument("--depths", type=int, nargs="+", default=DEPTHS)
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=DATASETS)
    args = parse(made, also=DATASETS, datasets=["fish"], depths=[2], time_limit=2.0)
    experiment = Experiment(EXPERIMENT, args.output, SEED)
    if not args.report:
        rows = [
            [cell(name, depth, solver, args.time_limit) for solver in solvers(name, depth)]
            for depth in args.depths
            for name in args.datasets
        ]
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown)


def solvers(name: str, depth: int) -> list[str]:
    """Return the solvers that are measured on a data set; OSRT only where it is installed."""
    small = name in OSRT_DATASETS and depth in OSRT_DEPTHS and find_spec("osrt")
    return [solver for solver in SOLVERS if small or not solver.startswith("OSRT")]


def cell(name: str, depth: int, solver: str, limit: float) -> Cell:
    splits = SPLITS if depth < LONG else 1

    def measure() -> dict[str, Any]:
        task = {"data": str(prepare(name)), "depth": depth, "solver": solver, "splits": splits}
        return call("regression:fit_splits", {**task, "time_limit": limit}, limit * splits)

    about = {"dataset": name, "depth": depth, "solver": solver}
    return Cell(f"{name}:{depth}:{solver}", about, limit, measure)


def prepare(name: str) -> Path:
    """Write all rows of a data set, training and test, where the runs can read them.

    Columns of text are left out: their names begin with c.
    """
    path = PREPARED / f"regression-{name}.npz"
    if not path.exists():
        tables = []
        for part in ("train", "test"):
            source = data_directory() / "regression" / f"{name}.{part}.csv.gz"
            with gzip.open(source, "rt") as file:
                names = file.readline().strip().split(",")
                kept = [i for i, name in enumerate(names) if not name.startswith("c")]
                tables.append(np.loadtxt(file, delimiter=",", usecols=kept, ndmin=2))
        table = np.concatenate(tables)
        store(path, table[:, 1:], table[:, 0])
    return path


# What follows runs in the measured process.


def fit_splits(task: dict[str, Any]) -> dict[str, Any]:
    """Fit each split; return CPU seconds, R^2 and whether each was proved."""
    from sklearn.model_selection import ShuffleSplit

    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    kind, _, thresholds = task["solver"].partition(", ")
    fit = FITS[kind](task["depth"], task["time_limit"], int(thresholds or 0))
    fit(X[:50], y[:50])  # imports what a first fit imports
    seen: dict[str, list] = {name: [] for name in ("cpu", "train", "test", "proved")}
    begun = time.perf_counter()
    for train, test in ShuffleSplit(task["splits"], test_size=TEST_SHARE, random_state=SEED).split(
        X
    ):
        start = time.process_time()
        predict, proved = fit(X[train], y[train])
        seen["cpu"].append(time.process_time() - start)
        seen["proved"].append(proved)
        for part, rows in (("train", train), ("test", test)):
            seen[part].append(r_squared(y[rows], predict(X[rows])))
    wall = time.perf_counter() - begun
    return {"wall": wall, **seen, "proved": all(seen["proved"]) or task["solver"] == "CART"}


def r_squared(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of the variance that is explained."""
    return float(1 - np.square(y - predicted).sum() / np.square(y - y.mean()).sum())


def contree(depth: int, limit: float, _: int) -> Callable:
    from contree import ConTreeRegressor

    def fit(X: np.ndarray, y: np.ndarray) -> tuple[Callable, bool]:
        reg = ConTreeRegressor(depth, time_limit=limit).fit(X, y)
        return reg.predict, reg.status_ == "optimal"

    return fit


def cart(depth: int, *_: object) -> Callable:
    from sklearn.tree import DecisionTreeRegressor

    def fit(X: np.ndarray, y: np.ndarray) -> tuple[Callable, bool]:
        return DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).predict, False

    return fit


def streed(depth: int, limit: float, thresholds: int) -> Callable:
    from pystreed import STreeDRegressor

    def fit(X: np.ndarray, y: np.ndarray) -> tuple[Callable, bool]:
        model = STreeDRegressor(
            "regression",
            max_depth=depth,
            time_limit=limit,
            n_thresholds=thresholds,
            continuous_binarize_strategy="quantile",
        )
        model.fit(X, y)
        return model.predict, bool(model.fit_result.is_optimal())

    return fit


def osrt(depth: int, limit: float, thresholds: int) -> Callable:
    """Return OSRT with a cost of leaves of nearly nothing; what it prints is hidden."""
    import contextlib
    import io

    import pandas as pd
    from osrt import OSRT

    def fit(X: np.ndarray, y: np.ndarray) -> tuple[Callable, bool]:
        shares = np.linspace(0, 1, thresholds + 2)[1:-1]
        cuts = [np.unique(np.quantile(column, shares)) for column in X.T]

        def questions(rows: np.ndarray) -> pd.DataFrame:
            columns = [rows[:, f] <= cut for f, own in enumerate(cuts) for cut in own]
            table = np.column_stack(columns).astype(int)
            return pd.DataFrame(table, columns=[f"q{i}" for i in range(table.shape[1])])

        model = OSRT(
            {
                "regularization": 1e-9,
                "allow_small_reg": True,
                "depth_budget": depth + 1,
                "time_limit": max(1, round(limit)),
                "metric": "L2",
                "verbose": False,
                "weights": [],
            }
        )
        with contextlib.redirect_stdout(io.StringIO()):
            model.fit(questions(X), pd.DataFrame({"y": y}))

        def predict(rows: np.ndarray) -> np.ndarray:
            return np.asarray(model.predict(questions(rows))).ravel()

        return predict, not model.timeout

    return fit


FITS = {"contree": contree, "STreeD": streed, "OSRT": osrt, "CART": cart}


# What is written from the cells.


def markdown(report: dict[str, Any]) -> str:
    cells = report["cells"]
    limits = {kept["time_limit"] for kept in cells.values()}
    depths = sorted({kept["depth"] for kept in cells.values()})
    parts = [
        "# Regression trees",
        "CPU seconds of `fit`, one thread, mean of five random splits (one at depth 4), 80 % of "
        "the rows for training. `STreeD` (pystreed) and `OSRT` are optimal for yes/no questions by "
        "10, 30 or 100 quantiles of each feature; `contree` considers every threshold. `>` marks a "
        f"solver that its limit of {'/'.join(f'{limit:.0f}' for limit in sorted(limits))} s a fit "
        "of wall time cut off, `-` one that failed. OSRT has a cost of leaves of 1e-9, and it is "
        "measured where it ends near its limit.",
        provenance(report),
        "Again: `python benchmarks/regression.py` (OSRT: `pip install osrt`).",
    ]
    for depth in depths:
        kept = {k: c for k, c in cells.items() if c["depth"] == depth}
        parts += [f"## Depth {depth}: seconds", table(kept, seconds)]
        parts += [f"## Depth {depth}: training and test R²", table(kept, fits)]
    parts += ["## What thresholds are worth", summary(cells)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def table(cells: dict[str, Any], show: Callable) -> str:
    rows: dict[str, dict[str, str]] = {}
    for kept in cells.values():
        rows.setdefault(kept["dataset"], {})[kept["solver"]] = show(kept["runs"][-1])
    lines = [[name, *(row.get(solver, "") for solver in SOLVERS)] for name, row in rows.items()]
    return markdown_table(["data set", *SOLVERS], lines)


def seconds(run: dict[str, Any]) -> str:
    if "failed" in run:
        return "-"
    mean = statistics.fmean(run["cpu"])
    shown = number(mean) if mean >= 0.1 else f"{mean:.3f}"
    return "> " * (not run["proved"]) + shown


def fits(run: dict[str, Any]) -> str:
    if "failed" in run:
        return "-"
    return f"{statistics.fmean(run['train']):.3f} / {statistics.fmean(run['test']):.3f}"


def summary(cells: dict[str, Any]) -> str:
    """Return how much R^2 each solver loses against contree, where both have a proof."""
    lines = []
    for solver in SOLVERS[1:]:
        lost: dict[str, list[float]] = {"train": [], "test": []}
        for kept in cells.values():
            other = cells.get(f"{kept['dataset']}:{kept['depth']}:{solver}", {"runs": [{}]})
            ours, theirs = kept["runs"][-1], other["runs"][-1]
            proved = ours.get("proved") and theirs.get("proved") and "train" in theirs
            if kept["solver"] == "contree" and proved:
                for part, values in lost.items():
                    values.append(statistics.fmean(ours[part]) - statistics.fmean(theirs[part]))
        if lost["train"]:
            means = [f"{statistics.fmean(values):+.4f}" for values in lost.values()]
            lines.append([solver, len(lost["train"]), *means])
    head = ["solver", "data sets and depths", "contree's training R² above", "test R² above"]
    return "Means over those that both proved; CART proves nothing.\n\n" + markdown_table(
        head, lines
    )


if __name__ == "__main__":
    main()
