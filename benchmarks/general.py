"""What weights, leaf sizes and missing values cost: the same rows, plain and with each, in turn.

python benchmarks/general.py                      ten data sets at depth 3
python benchmarks/general.py --datasets rice --depth 4

Each fit in a process of its own.  Besides, for each data set, what the general search takes for the
same problem, or one that hardly differs: in one process, in turn, the least of several fits.
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
        "weights 1 to 1e6": ({}, 10.0 ** rng.uniform(0, 6, size=n_rows)),
        "balanced": ({"class_weight": "balanced"}, None),
        "leaf of 5 rows": ({"min_samples_leaf": 5}, None),
        "leaf of 20 rows": ({"min_samples_leaf": 20}, None),
        "leaf of 1 %": ({"min_samples_leaf": 0.01}, None),
        "weights, leaf of 5": ({"min_samples_leaf": 5}, rng.integers(1, 11, size=n_rows)),
        "real, leaf of 20": ({"min_samples_leaf": 20}, rng.random(n_rows) + 0.01),
        "real, leaf of 1 % weight": ({"min_weight_fraction_leaf": 0.01}, rng.random(n_rows) + 0.01),
        "leaf of 50 rows": ({"min_samples_leaf": 50}, None),
        "leaf of 5 %": ({"min_samples_leaf": 0.05}, None),
        "5 % missing": ({}, None),
        "5 % missing, leaf of 20": ({"min_samples_leaf": 20}, None),
    }


SAME = "the same problem"
ROUNDS = 5


def same_cases(X: np.ndarray) -> dict:
    """Return name -> (rows, parameters, weights) of what is all but the plain problem."""
    rng = np.random.default_rng(SEED)
    heavier = np.ones(len(X))
    heavier[rng.integers(len(X))] = 2
    real = 1 + 1e-9 * rng.random(len(X))
    lacks = X.copy()
    lacks[0, 0] = np.nan
    leaf = {"min_samples_leaf": 2}
    return {
        "plain": (X, {}, None),
        "one row of weight 2": (X, {}, heavier),
        "real weights of about 1": (X, {}, real),
        "leaf of 2 rows": (X, leaf, None),
        "one value missing": (lacks, {}, None),
        "weight 2, leaf of 2": (X, leaf, heavier),
        "missing, leaf of 2": (lacks, leaf, None),
        "real, leaf of 2": (X, leaf, real),
        "real, missing, leaf of 2": (lacks, leaf, real),
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
            [cell(name, case, args.depth, args.time_limit) for case in [*cases(1), SAME]]
            for name in args.datasets
        ]
        experiment.conduct(rows, args.repeat, args.again)
    publish(experiment, markdown)


def cell(name: str, case: str, depth: int, limit: float) -> Cell:
    def measure() -> dict:
        task = {"data": str(prepare(name)), "case": case, "depth": depth, "time_limit": limit}
        if case == SAME:
            return call("general:fit_same", task, limit * ROUNDS)
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


def fit_same(task: dict) -> dict:
    """Return the least CPU time and the batches of each case."""
    from contree import ConTreeClassifier

    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    begun = time.perf_counter()
    cpu: dict[str, float] = {}
    batches: dict[str, int] = {}
    proved = True
    for _ in range(ROUNDS):
        for name, (rows, parameters, weights) in same_cases(X).items():
            clf = ConTreeClassifier(task["depth"], time_limit=task["time_limit"], **parameters)
            began = time.process_time()
            clf.fit(rows, y, weights)
            cpu[name] = min(cpu.get(name, np.inf), time.process_time() - began)
            batches[name] = clf.search_report_.counters["depth_two_batches"]
            proved = proved and clf.status_ == "optimal"
    return {"wall": time.perf_counter() - begun, "cpu": cpu, "batches": batches, "proved": proved}


# What is written from the cells.


def markdown(report: dict) -> str:
    table: dict[tuple, dict] = {}
    for kept in report["cells"].values():
        table.setdefault((kept["dataset"], kept["depth"]), {})[kept["case"]] = kept
    same = {at: row.pop(SAME) for at, row in table.items() if SAME in row}
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
        "## Weights, leaf sizes and missing values",
        "CPU time of `fit` with one thread: seconds of the plain fit, and how many times as long "
        "the others took. The brackets hold two factors of this ratio. The first is how many "
        "times as many batches of 32 splits were evaluated at depth two. It says how much harder "
        "the problem is for the bounds. The second is what a batch cost, with all else, compared "
        "with the plain fit.",
        provenance(report),
        "Again: `python benchmarks/general.py`.",
        markdown_table(["data set", "depth", "plain, s", *others], lines),
    ]
    if same:
        parts += same_table(same)
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def same_table(same: dict[tuple, dict]) -> list[str]:
    """Return what the general search takes for the plain problem, as Markdown."""
    names = [name for name in same_cases(np.zeros((1, 1))) if name != "plain"]
    lines, times = [], {name: [] for name in names}
    for (dataset, depth), kept in same.items():
        run = kept["runs"][-1]
        if "failed" in run:
            continue
        cpu, batches = run["cpu"], run["batches"]
        line = [dataset, depth, f"{cpu['plain']:.3f}"]
        for name in names:
            ratio, more = cpu[name] / cpu["plain"], batches[name] / batches["plain"]
            times[name].append(ratio)
            line.append(f"{ratio:.1f} ({more:.1f} × {ratio / more:.1f})")
        lines.append(line)
    means = [f"{statistics.geometric_mean(times[name]):.1f}" for name in names]
    lines.append(["geometric mean", "", "", *means])
    return [
        "What the general search itself costs: the same problem, or one that hardly differs, "
        f"searched by general sweeps. Least CPU time of {ROUNDS} fits in turn, in one process; "
        "ratios and factors as above.",
        markdown_table(["data set", "depth", "plain, s", *names], lines),
    ]


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
