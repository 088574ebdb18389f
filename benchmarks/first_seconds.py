"""Training errors after a few seconds, and what they are worth on rows not seen, beside CART.

    python benchmarks/first_seconds.py                        about fourteen minutes
    python benchmarks/first_seconds.py --datasets segment --depth 6 --skip-folds

Each fit has a process and one thread of its own; give it a quiet machine.  "Aim" is what the
design's prototype reached.
"""

from __future__ import annotations

import csv
import gzip
import statistics
import time

import numpy as np

from _experiment import Cell, Experiment, markdown_table, parse, parser, provenance, publish
from _harness import call, data_directory, prepare, run

EXPERIMENT = "first-seconds"
SEED, SHUFFLES = 0, 5  # the folds of the aims' seed, and of those that follow it
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
    made = parser(__doc__, time_limit=LIMITS[-1])
    made.add_argument("--depth", type=int, nargs="+", default=[4, 5, 6])
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=list(AIMS[4]))
    made.add_argument("--skip-folds", action="store_true", help="training errors only")
    args = parse(made, depth=[4, 6], datasets=["segment", "fault"], skip_folds=True)
    experiment = Experiment(EXPERIMENT, args.output, SEED)
    if not args.report:
        rows = [training_cells(name, depth) for depth in args.depth for name in args.datasets]
        folds = [name for name in args.datasets if name in ACCURACY_AIMS and not args.skip_folds]
        seeds = range(SEED, SEED + SHUFFLES)
        rows += [[fold_cell(name, seed)] for seed in seeds for name in folds]
        experiment.conduct(rows, 1, args.again)
    publish(experiment, markdown)


def training_cells(name: str, depth: int) -> list[Cell]:
    """Return the cell of CART, and one of contree for each limit."""

    def cell(solver: str, limit: float) -> Cell:
        about = {"dataset": name, "depth": depth, "solver": solver, "limit": limit}
        at = f"@{limit:g}" if solver == "contree" else ""
        key = f"{name}:{depth}:{solver}{at}"
        return Cell(key, about, limit, lambda: run(solver, prepare(name), depth, limit))

    return [cell("cart", LIMITS[-1]), *(cell("contree", limit) for limit in LIMITS)]


def fold_cell(name: str, seed: int) -> Cell:
    limit = 5 * 2 * LIMITS[-1]
    task = {"dataset": name, "seed": seed}
    about = {**task, "depth": FOLD_DEPTH, "solver": "folds", "limit": LIMITS[-1]}
    key = f"{name}:folds:{seed}"
    return Cell(key, about, limit, lambda: call("first_seconds:cross_validate", task, limit))


def full_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels of all rows of a data set; the label is the first column."""
    with gzip.open(data_directory() / "full" / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    X = np.array([row[1:] for row in rows], dtype=np.float64)
    return X, np.unique([row[0] for row in rows], return_inverse=True)[1]


def cross_validate(task: dict) -> dict:
    """Return the test accuracy of both on each fold."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.tree import DecisionTreeClassifier

    from contree import ConTreeClassifier

    start = time.perf_counter()
    X, y = full_table(task["dataset"])
    seen: dict = {"contree": [], "cart": []}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=task["seed"]).split(X, y):
        models = {
            "contree": ConTreeClassifier(FOLD_DEPTH, time_limit=LIMITS[-1], n_jobs=1),
            "cart": DecisionTreeClassifier(max_depth=FOLD_DEPTH, random_state=0),
        }
        for solver, model in models.items():
            seen[solver].append(float(model.fit(X[train], y[train]).score(X[test], y[test])))
    return {"wall": time.perf_counter() - start, **seen}


# What is written from the cells.


def markdown(report: dict) -> str:
    cells = report["cells"].values()
    runs = {
        (kept["dataset"], kept["depth"], kept["solver"], kept["limit"]): kept["runs"][-1]
        for kept in cells
    }
    training = dict.fromkeys((k["depth"], k["dataset"]) for k in cells if k["solver"] != "folds")
    limits = [f"{limit:g} s" for limit in LIMITS]
    head = ["data set", "depth", "CART", *limits, *(f"aim, {limit}" for limit in limits), "proved"]
    parts = [
        "## The first seconds",
        provenance(report),
        "Again: `python benchmarks/first_seconds.py`.",
        "Training errors, one thread.",
        markdown_table(head, [training_row(runs, *case) for case in training]),
    ]
    folds: dict[str, list[dict]] = {}
    for kept in cells:
        if kept["solver"] == "folds":
            folds.setdefault(kept["dataset"], []).append(kept)
    if folds:
        parts += [
            f"Test accuracy at depth {FOLD_DEPTH} after {limits[-1]} a fold: the mean of five "
            f"stratified folds, shuffled with seed {SEED}, the aim's; and the mean over shuffles "
            f"with seeds {SEED} to {SEED + SHUFFLES - 1}, with its standard error.",
            markdown_table(
                ["data set", "CART", "contree", "CART, all shuffles", "contree, all", "aim"],
                [fold_row(name, shuffles) for name, shuffles in folds.items()],
            ),
        ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def training_row(runs: dict, depth: int, name: str) -> list:
    seen = [runs.get((name, depth, "contree", limit), {}) for limit in LIMITS]
    errors = [run.get("errors", "") for run in (runs[name, depth, "cart", LIMITS[-1]], *seen)]
    aims = AIMS.get(depth, {}).get(name, ("", ""))
    return [name, depth, *errors, *aims, "yes" if seen[-1].get("proved") else ""]


def fold_row(name: str, shuffles: list[dict]) -> list[str]:
    def means(solver: str) -> dict[int, float]:
        return {k["seed"]: statistics.fmean(k["runs"][-1][solver]) for k in shuffles}

    def entry(values: list[float]) -> str:
        error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.3f}" if values[1:] else ""
        return f"{statistics.fmean(values):.3f}{error}"

    both = [means(solver) for solver in ("cart", "contree")]
    of_seed = [entry([of[SEED]]) if SEED in of else "not run" for of in both]
    return [name, *of_seed, *(entry([*of.values()]) for of in both), f"{ACCURACY_AIMS[name]:.3f}"]


if __name__ == "__main__":
    main()
