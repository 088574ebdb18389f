"""What weights, leaf sizes and missing values cost, beside the plain fit of the same rows.

python benchmarks/general.py                      ten data sets at depth 3
python benchmarks/general.py --datasets rice --depth 4

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
    parse,
    parser,
    provenance,
    publish,
)
from _harness import call, prepare

EXPERIMENT = "general"
DATASETS = [
    *("wilt", "bank", "raisin", "segment", "room"),
    *("page", "occupancy", "rice", "fault", "magic"),
]
SEED = 7


def cases(n_rows: int) -> dict:
    """Return name -> (parameters, weights); a row of `MISSING` lacks values besides."""
    rng = np.random.default_rng(SEED)
    return {
        "plain": ({}, None),
        "weights 1 to 10": ({}, rng.integers(1, 11, size=n_rows)),
        "real weights": ({}, rng.random(n_rows) + 0.01),
        "balanced": ({"class_weight": "balanced"}, None),
        "leaf of 5 rows": ({"min_samples_leaf": 5}, None),
        "leaf of 20 rows": ({"min_samples_leaf": 20}, None),
        "leaf of 1 %": ({"min_samples_leaf": 0.01}, None),
        "5 % missing": ({}, None),
        "5 % missing, leaf of 20": ({"min_samples_leaf": 20}, None),
    }


MISSING = 0.05  # of all values, where the case's name says so


def lacking(X: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(SEED)
    return np.where(rng.random(X.shape) < MISSING, np.nan, X)


def main() -> None:
    made = parser(__doc__, time_limit=60.0, repeat=3)
    made.add_argument("--depth", type=int, default=3)
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=DATASETS)
    args = parse(made, datasets=["bank", "raisin"], repeat=1)
    experiment = Experiment(EXPERIMENT, args.output, SEED)
    if not args.report:
        rows = [
            [cell(name, case, args.depth, args.time_limit) for case in cases(1)]
            for name in args.datasets
        ]
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown)


def cell(name: str, case: str, depth: int, limit: float) -> Cell:
    def measure() -> dict:
        task = {"data": str(prepare(name)), "case": case, "depth": depth, "time_limit": limit}
        return call("general:fit", task, limit)

    about = {"dataset": name, "depth": depth, "case": case}
    return Cell(f"{name}:{depth}:{case}", about, limit, measure)


def fit(task: dict) -> dict:
    from contree import ConTreeClassifier

    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    parameters, weights = cases(len(y))[task["case"]]
    if "missing" in task["case"]:
        X = lacking(X)
    clf = ConTreeClassifier(task["depth"], time_limit=task["time_limit"], **parameters)
    ConTreeClassifier(0).fit(X[:2], y[:2])  # imports what a first fit imports
    wall, cpu = time.perf_counter(), time.process_time()
    clf.fit(X, y, weights)
    seen = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    batches = clf.search_report_.counters["depth_two_batches"]
    return {**seen, "status": clf.status_, "proved": clf.status_ == "optimal", "batches": batches}


# What is written from the cells.


def markdown(report: dict) -> str:
    table: dict[tuple, dict] = {}
    for kept in report["cells"].values():
        table.setdefault((kept["dataset"], kept["depth"]), {})[kept["case"]] = kept
    others = [case for case in cases(1) if case != "plain"]
    lines = []
    for (name, depth), row in table.items():
        plain = row["plain"]
        line = [name, depth, f"{median(plain, 'cpu'):.3f}"]
        line += [ratios(row.get(case), plain) for case in others]
        lines.append(line)
    for depth in sorted({depth for _, depth in table}):
        rows = [row for (_, at), row in table.items() if at == depth]
        lines.append(["geometric mean", depth, "", *(mean_ratio(rows, case) for case in others)])
    parts = [
        "# Weights, leaf sizes and missing values",
        "CPU time of `fit` with one thread: seconds of the plain fit, and how many times as long "
        "the others took. The brackets hold two factors of this ratio. The first is how many "
        "times as many batches of 32 splits were evaluated at depth two. It says how much harder "
        "the problem is for the bounds. The second is what a batch cost, with all else, compared "
        "with the plain fit.",
        provenance(report),
        "Again: `python benchmarks/general.py`.",
        markdown_table(["data set", "depth", "plain, s", *others], lines),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def mean_ratio(rows: list[dict], case: str) -> str:
    found = [(row[case], row["plain"]) for row in rows if case in row]
    at_least = "> " if any(cut_off(kept) for kept, _ in found) else ""
    return at_least + f"{statistics.geometric_mean(longer(*pair) for pair in found):.1f}"


def longer(kept: dict, plain: dict) -> float:
    return median(kept, "cpu") / median(plain, "cpu")


def ratios(kept: dict | None, plain: dict) -> str:
    if not kept:
        return ""
    time_ratio = longer(kept, plain)
    text = ("> " if cut_off(kept) else "") + f"{time_ratio:.1f}"
    if not all("batches" in run for run in [*kept["runs"], *plain["runs"]]):
        return text  # runs of an older core
    more = median(kept, "batches") / median(plain, "batches")
    return f"{text} ({more:.1f} × {time_ratio / more:.1f})" if more > 0 else text


if __name__ == "__main__":
    main()
