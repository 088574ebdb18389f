"""Categories: seconds and accuracy with sets of them, beside one-hot columns and target means.

python benchmarks/categorical.py                     all tables at depth 2 and 3
python benchmarks/categorical.py --tables servo "xor, 12" --depths 2

A test of contree sends any set of categories to one side.  The others make numbers of them first:
a column of 0 and 1 for each category, or the mean target of each category.  `gradient boosting` is
one tree of scikit-learn's HistGradientBoosting, which chooses sets greedily.

Generated tables have one column of categories and two of numbers; see `generate`.  In the others
from Delve and UCI, columns of text are categories.  All ways fit the same random rows, in turns, in
one process for each table and depth.
"""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from _experiment import Cell, Experiment, markdown_table, number, parse, parser, provenance, publish
from _harness import call, data_directory

EXPERIMENT = "categorical"
GENERATED = ["xor, 12", "additive, 12", "additive, 16", "noise, 16", "xor, 64"]
REAL = ["servo", "autompg", "meta", "abalone"]  # all of them for regression
TASKS = {"classification": GENERATED, "regression": [*GENERATED, *REAL]}
DEPTHS = [2, 3]
SPLITS, SEED = 3, 0
ROWS, TEST_SHARE = 2000, 0.2


def main() -> None:
    made = parser(__doc__, time_limit=5.0)
    made.add_argument("--depths", type=int, nargs="+", default=DEPTHS)
    made.add_argument("--tables", nargs="+", choices=[*GENERATED, *REAL], metavar="NAME")
    args = parse(made, tables=["xor, 12", "servo"], depths=[2], time_limit=2.0)
    experiment = Experiment(EXPERIMENT, args.output, SEED)
    if not args.report:
        rows = [
            [cell(task, name, depth, args.time_limit)]
            for task, names in TASKS.items()
            for depth in args.depths
            for name in names
            if args.tables is None or name in args.tables
        ]
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown)


def cell(task: str, name: str, depth: int, limit: float) -> Cell:
    about = {"task": task, "table": name, "depth": depth}

    def measure() -> dict[str, Any]:
        searches = SPLITS * sum(make is contree for make, _ in WAYS.values())
        return call("categorical:fit_ways", {**about, "time_limit": limit}, limit * searches)

    return Cell(f"{task}:{name}:{depth}", about, limit, measure)


# What follows runs in the measured process.


def fit_ways(task: dict[str, Any]) -> dict[str, Any]:
    """Fit each split in each way; return CPU seconds, scores, and whether all were proved."""
    from threadpoolctl import threadpool_limits

    classify = task["task"] == "classification"
    ways: dict[str, dict[str, list]] = {
        way: {name: [] for name in ("cpu", "train", "test", "proved")} for way in WAYS
    }
    begun = time.perf_counter()
    with threadpool_limits(1):
        for split in range(SPLITS):
            (X, y), test, categorical = draw(task["table"], classify, split)
            for way, (make, encode) in WAYS.items():
                columns = categorical if encode is as_codes else None
                if split == 0:  # imports what a first fit imports
                    fit(make(classify, task, columns), encode, X[:50], y[:50], categorical)
                model = make(classify, task, columns)
                start = time.process_time()
                predict = fit(model, encode, X, y, categorical)
                seen = ways[way]
                seen["cpu"].append(time.process_time() - start)
                seen["proved"].append(make is not contree or model.status_ == "optimal")
                for part, (rows, target) in (("train", (X, y)), ("test", test)):
                    seen[part].append(score(classify, target, predict(rows)))
    return {
        "wall": time.perf_counter() - begun,
        "ways": ways,
        "proved": all(ways["sets"]["proved"]),
    }


def draw(name: str, classify: bool, split: int) -> tuple[tuple, tuple, list[int]]:
    """Return training rows, test rows, each with targets, and which columns hold codes."""
    if name in GENERATED:
        kind, _, count = name.partition(", ")
        rng = np.random.default_rng([SEED, split])
        X, y = generate(rng, kind, int(count), classify)
        return (X[:ROWS], y[:ROWS]), (X[ROWS:], y[ROWS:]), [0]
    from sklearn.model_selection import ShuffleSplit

    X, y, categorical = read(name)
    splits = ShuffleSplit(SPLITS, test_size=TEST_SHARE, random_state=SEED).split(X)
    train, test = list(splits)[split]
    return (X[train], y[train]), (X[test], y[test]), categorical


def generate(
    rng: np.random.Generator, kind: str, count: int, classify: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a code and two numbers, with a target of 0 and 1 or of numbers.

    additive: each category adds something of its own.  xor: in half of the categories, the effect
    of the first number has the other sign.  noise: the target is independent of all.
    """
    code = rng.integers(count, size=2 * ROWS)
    first, second = rng.normal(size=(2, 2 * ROWS))
    own, sign = rng.normal(size=count), rng.permutation(np.arange(count) % 2 * 2 - 1)
    effect = {
        "additive": 1.2 * own[code] + first + 0.5 * second,
        "xor": 1.5 * sign[code] * np.sign(first) + 0.5 * second,
        "noise": np.zeros(2 * ROWS),
    }[kind]
    target = effect + rng.normal(size=2 * ROWS)
    y = (target > 0).astype(np.float64) if classify else target.round(3)
    return np.column_stack([code, first, second]), y


def read(name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return all rows of a data set.

    Texts are k0, k1, ..., in columns whose names begin with c.
    """
    lines = []
    for part in ("train", "test"):
        with gzip.open(data_directory() / "regression" / f"{name}.{part}.csv.gz", "rt") as file:
            names = file.readline().strip().split(",")[1:]
            lines += [line.strip().split(",") for line in file]
    table = np.array([[word.removeprefix("k") for word in line] for line in lines], dtype=float)
    return table[:, 1:], table[:, 0], [f for f, name in enumerate(names) if name.startswith("c")]


def fit(
    model: Any, encode: Callable, X: np.ndarray, y: np.ndarray, categorical: list[int]
) -> Callable:
    """Fit a model to encoded rows; return what predicts from rows."""
    encoder = encode(X, y, categorical)
    model.fit(encoder(X), y)
    return lambda rows: model.predict(encoder(rows))


def score(classify: bool, y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of right classes, or R^2."""
    if classify:
        return float(np.mean(y == predicted))
    return float(1 - np.square(y - predicted).sum() / np.square(y - y.mean()).sum())


def as_codes(*_: object) -> Callable:
    return lambda rows: rows


def as_one_hot(X: np.ndarray, y: np.ndarray, categorical: list[int]) -> Callable:
    """Return what puts a column for each category behind the numbers."""
    known = {f: np.unique(X[:, f]) for f in categorical}

    def encoder(rows: np.ndarray) -> np.ndarray:
        columns = [rows[:, f, np.newaxis] == known[f] for f in categorical]
        return np.hstack([np.delete(rows, categorical, axis=1), *columns])

    return encoder


def as_target_mean(X: np.ndarray, y: np.ndarray, categorical: list[int]) -> Callable:
    """Return what makes the mean target of a category's training rows of it."""
    means = {f: {v: y[X[:, f] == v].mean() for v in np.unique(X[:, f])} for f in categorical}

    def encoder(rows: np.ndarray) -> np.ndarray:
        encoded = rows.copy()
        for f in categorical:
            encoded[:, f] = [means[f].get(value, y.mean()) for value in rows[:, f]]
        return encoded

    return encoder


def contree(classify: bool, task: dict[str, Any], categorical: list[int] | None) -> Any:
    from contree import ConTreeClassifier, ConTreeRegressor

    return (ConTreeClassifier if classify else ConTreeRegressor)(
        task["depth"], time_limit=task["time_limit"], categorical_features=categorical
    )


def cart(classify: bool, task: dict[str, Any], _: object) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if classify else DecisionTreeRegressor
    return kind(max_depth=task["depth"], random_state=SEED)


def boosting(classify: bool, task: dict[str, Any], categorical: list[int]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
    return kind(
        max_iter=1,
        learning_rate=1.0,
        max_depth=task["depth"],
        min_samples_leaf=1,
        categorical_features=categorical,
        early_stopping=False,
    )


WAYS = {
    "sets": (contree, as_codes),
    "one-hot": (contree, as_one_hot),
    "target mean": (contree, as_target_mean),
    "CART, one-hot": (cart, as_one_hot),
    "CART, target mean": (cart, as_target_mean),
    "gradient boosting": (boosting, as_codes),
}


# What is written from the cells.


def markdown(report: dict[str, Any]) -> str:
    cells = report["cells"]
    limits = sorted({kept["time_limit"] for kept in cells.values()})
    parts = [
        "# Categories",
        f"CPU seconds of `fit`, one thread, and scores: means of {SPLITS} random draws of "
        "rows. `sets` is contree with `categorical_features`. `one-hot` and `target mean` are "
        "contree on numbers made of the categories: 0 and 1 for each, or the mean target of its "
        "training rows. CART gets the same. `gradient boosting` is one tree of scikit-learn's "
        "HistGradientBoosting, which chooses sets greedily. `>` marks a search that its limit of "
        f"{'/'.join(f'{limit:.0f}' for limit in limits)} s of wall time cut off; its tree is the "
        "best so far.",
        f"`xor`, `additive` and `noise` are generated, each with {ROWS:,} rows to learn from and "
        "as many to test on: a column of so many categories and two of numbers. The other tables "
        f"are from Delve and UCI; {1 - TEST_SHARE:.0%} of their rows are for training.",
        provenance(report),
        "Again: `python benchmarks/categorical.py`.",
    ]
    shown = {"classification": "training and test accuracy", "regression": "training and test R²"}
    for task, scored in shown.items():
        for depth in sorted({kept["depth"] for kept in cells.values()}):
            kept = [c for c in cells.values() if (c["task"], c["depth"]) == (task, depth)]
            if kept:
                title = f"{task.capitalize()}, depth {depth}"
                parts += [f"## {title}: seconds", table(kept, seconds)]
                parts += [f"## {title}: {scored}", table(kept, scores)]
    parts += ["## What sets are worth", *summary(cells)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def table(cells: list[dict[str, Any]], show: Callable) -> str:
    lines = []
    for kept in cells:
        ways = kept["runs"][-1].get("ways", {})
        lines.append([kept["table"], *(show(ways[way]) if way in ways else "-" for way in WAYS)])
    return markdown_table(["table", *WAYS], lines)


def seconds(seen: dict[str, list]) -> str:
    mean = statistics.fmean(seen["cpu"])
    return "> " * (not all(seen["proved"])) + (number(mean) if mean >= 0.1 else f"{mean:.3f}")


def scores(seen: dict[str, list]) -> str:
    return f"{statistics.fmean(seen['train']):.3f} / {statistics.fmean(seen['test']):.3f}"


def summary(cells: dict[str, Any]) -> list[str]:
    """Return how much more sets explain than each other way; noise tells nothing of that."""
    lines = []
    for task in TASKS:
        told = [
            kept["runs"][-1]["ways"]
            for kept in cells.values()
            if kept["task"] == task
            and not kept["table"].startswith("noise")
            and "ways" in kept["runs"][-1]
        ]
        for way in list(WAYS)[1:] if told else ():
            medians = [
                statistics.median(
                    statistics.fmean(ways["sets"][part]) - statistics.fmean(ways[way][part])
                    for ways in told
                )
                for part in ("train", "test")
            ]
            lines.append([task, way, len(told), *(f"{median:+.3f}" for median in medians)])
    head = ["task", "beside", "tables and depths", "sets: training score above", "test score above"]
    return [
        "Medians of the differences over tables and depths, without `noise`.",
        markdown_table(head, lines, "llrrr"),
    ]


if __name__ == "__main__":
    main()
