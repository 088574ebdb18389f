"""How time grows: with rows, features, classes, depth and threads, beside pycontree.

    python benchmarks/scaling.py
    python benchmarks/scaling.py --series rows depth --time-limit 60
    python benchmarks/scaling.py --series threads

Rows are generated (`planted`: a tree's labels, some of them wrong) or samples of skin; a larger
value of a series holds the smaller one's rows or columns.  Where a solver has reached the limit,
the larger values are not started.  What was cut off or not started is in no fit.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from _experiment import (
    Cell,
    Experiment,
    cut_off,
    markdown_table,
    median,
    number,
    parse,
    parser,
    provenance,
    publish,
    pyplot,
)
from _harness import PREPARED, data_directory, dense_ranks, run, store

EXPERIMENT = "scaling"
SEED = 0
NOISE = 0.2  # of the generated rows: a label drawn at random
LEVELS = 5  # of the tree that labels generated rows: 32 leaves, for up to 32 classes
FLOOR = 0.004  # CPU seconds, twice what the smallest fit takes: cells below it are in no fit
SOLVERS = {"contree": "#0072B2", "pycontree": "#D55E00"}


@dataclass(frozen=True)
class Series:
    """Cells that differ in one number."""

    what: str  # that number: rows, features, classes, depth, threads
    values: tuple[int, ...]
    base: dict  # the others
    title: str
    solvers: tuple[str, ...] = tuple(SOLVERS)
    quick: tuple[int, ...] = field(default=())  # the values of --quick


POWERS = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
SERIES = {
    "rows": Series(
        "rows",
        POWERS,
        {"features": 5, "classes": 2, "depth": 2},
        "rows, generated (5 features, 2 classes, depth 2)",
        quick=(1000, 4000, 16_000),
    ),
    "rows-3": Series(
        "rows",
        POWERS,
        {"features": 5, "classes": 2, "depth": 3},
        "rows, generated (5 features, 2 classes, depth 3)",
        quick=(500, 1000, 2000),
    ),
    "skin": Series(
        "rows",
        (*POWERS[:8], 200_000, 245_057),
        {"features": 3, "classes": 2, "depth": 3},
        "rows, sampled from skin (3 features, 2 classes, depth 3)",
        quick=(500, 1000, 2000),
    ),
    "features": Series(
        "features",
        (2, 3, 5, 10, 20, 50),
        {"rows": 4000, "classes": 2, "depth": 3},
        "features, generated (4,000 rows, 2 classes, depth 3)",
        quick=(2, 4, 8),
    ),
    "classes": Series(
        "classes",
        (2, 3, 5, 10, 20),
        {"rows": 4000, "features": 5, "depth": 3},
        "classes, generated (4,000 rows, 5 features, depth 3)",
        quick=(2, 4, 8),
    ),
    "depth": Series(
        "depth",
        (1, 2, 3, 4, 5, 6),
        {"rows": 500, "features": 5, "classes": 2},
        "depth, generated (500 rows, 5 features, 2 classes)",
        quick=(1, 2, 3),
    ),
    "threads": Series(
        "threads",
        (1, 2),
        {"rows": 5000, "features": 10, "classes": 2, "depth": 4},
        "threads, generated (5,000 rows, 10 features, 2 classes, depth 4), wall time",
        solvers=("contree",),
        quick=(1, 2),
    ),
}


def main() -> None:
    made = parser(__doc__, time_limit=60.0, repeat=3)
    made.add_argument("--series", nargs="+", choices=SERIES, default=list(SERIES))
    args = parse(made, time_limit=5.0, repeat=1)
    experiment = Experiment(EXPERIMENT, args.output, SEED)
    if not args.report:
        rows = (
            [cell(experiment, name, value, solver, args) for solver in SERIES[name].solvers]
            for name in args.series
            for value in values(name, args.quick)
        )
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown, figures)


def values(name: str, quick: bool) -> tuple[int, ...]:
    return SERIES[name].quick if quick else SERIES[name].values


def cell(experiment: Experiment, name: str, value: int, solver: str, args) -> Cell:
    series = SERIES[name]
    setting = {"threads": 1, **series.base, series.what: value}
    limit = args.time_limit

    def measure() -> dict:
        for smaller in values(name, args.quick):
            if smaller < value and cut_off(
                experiment.report["cells"].get(key(name, smaller, solver))
            ):
                return {"failed": f"not started: {smaller} took too long", "proved": False}
        data = prepared("skin" if name == "skin" else "planted", setting)
        return run(solver, data, setting["depth"], limit, setting["threads"])

    about = {"series": name, "value": value, "solver": solver, **setting}
    return Cell(key(name, value, solver), about, limit, measure)


def key(name: str, value: int, solver: str) -> str:
    return f"{name}:{value}:{solver}"


def prepared(source: str, setting: dict) -> Path:
    rows, features, classes = (setting[what] for what in ("rows", "features", "classes"))
    path = PREPARED / f"scaling-{source}-{rows}-{features}-{classes}-{SEED}.npz"
    if not path.exists():
        X, y = skin() if source == "skin" else planted(rows, features, classes, SEED)
        store(path, dense_ranks(X[:rows]), y[:rows])
    return path


def planted(rows: int, features: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return uniform columns and the labels of a tree over them, some of them wrong.

    Columns and rows are drawn one after the other: fewer are the beginning of more.  The tree is
    complete, on the first five features in turn, and each of its leaves has a class at random.
    """
    X = np.column_stack([_column(seed, number)[:rows] for number in range(features)])
    draw = np.random.default_rng([seed, 1])
    leaf = np.zeros(rows, dtype=np.intp)
    for level in range(LEVELS):
        cuts = draw.uniform(0.3, 0.7, 2**level)
        leaf = 2 * leaf + (X[:, level % min(features, LEVELS)] > cuts[leaf])
    y = (draw.random(2**LEVELS) * classes).astype(np.intp)[leaf]
    wrong = _column(seed, -1)[:rows] < NOISE
    y[wrong] = (_column(seed, -2)[:rows] * classes).astype(np.intp)[wrong]
    return X, y.astype(np.intc)


@lru_cache(64)
def _column(seed: int, number: int) -> np.ndarray:
    return np.random.default_rng([seed, 2, number + 2]).random(max(POWERS))


@lru_cache(1)
def skin() -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of skin, shuffled."""
    with gzip.open(data_directory() / "full" / "skin.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    table = np.random.default_rng(SEED).permutation(table)
    return table[:, 1:], table[:, 0].astype(np.intc)


# What is written from the cells.


def series_of(report: dict, name: str, solver: str) -> dict[int, dict]:
    cells = report["cells"].values()
    found = {c["value"]: c for c in cells if (c["series"], c["solver"]) == (name, solver)}
    return dict(sorted(found.items()))


def clock(name: str) -> str:
    return "wall" if SERIES[name].what == "threads" else "cpu"


def points(report: dict, name: str, solver: str) -> dict[int, float]:
    """Return value -> seconds of the cells that a fit takes: proved, and not a perfect tree.

    The search ends as soon as it has a tree without errors, which says nothing of how it grows.
    """
    kept = series_of(report, name, solver)
    return {
        x: median(c, clock(name))
        for x, c in kept.items()
        if not cut_off(c) and c["runs"][-1]["errors"]
    }


def exponent(found: dict[int, float]) -> tuple[float, float] | None:
    """Return slope and intercept of log seconds over log value, by least squares.

    None with fewer than three cells above the floor, or if there is nothing to tell apart.
    """
    usable = {x: seconds for x, seconds in found.items() if seconds >= FLOOR}
    if len(usable) < 3:
        return None
    slope, intercept = np.polyfit(np.log(list(usable)), np.log(list(usable.values())), 1)
    return float(slope), float(intercept)


def per_level(found: dict[int, float]) -> float | None:
    """Return how many times longer each level of depth takes, by least squares."""
    usable = {x: seconds for x, seconds in found.items() if seconds >= FLOOR}
    if len(usable) < 3:
        return None
    return float(np.exp(np.polyfit(list(usable), np.log(list(usable.values())), 1)[0]))


def markdown(report: dict) -> str:
    shown = [name for name in SERIES if any(series_of(report, name, s) for s in SOLVERS)]
    parts = [
        "# Scaling",
        "CPU seconds of `fit`, and wall time for threads; one thread unless stated. *Not "
        "started*: a smaller size had reached the limit. An exponent is the slope of log seconds "
        f"over log size, by least squares. It uses the proved cells that took at least {FLOOR:g} "
        "s, without trees that have no errors, where the search ends at once.",
        provenance(report),
        "Again: `python benchmarks/scaling.py` (`--series` for a part of it).",
        exponent_table(report, shown),
        "![Seconds against size, and the fits](scaling.svg)",
        *(f"By {SERIES[name].title}:\n\n{series_table(report, name)}" for name in shown),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def exponent_table(report: dict, shown: list[str]) -> str:
    rows = []
    for name in shown:
        if SERIES[name].what == "threads":
            continue
        row = [SERIES[name].title]
        for solver in SOLVERS:
            found = points(report, name, solver)
            fit = exponent(found)
            said = f"{fit[0]:.2f}" if fit else "too few"
            times = per_level(found) if SERIES[name].what == "depth" else None
            said += f"; × {number(times)} a level" if times else ""
            used = [x for x, seconds in found.items() if seconds >= FLOOR]
            row.append(f"{said} ({min(used):,} to {max(used):,})" if fit else said)
        rows.append(row)
    return markdown_table(["exponent by", *SOLVERS], rows)


def series_table(report: dict, name: str) -> str:
    series = SERIES[name]
    kept = {solver: series_of(report, name, solver) for solver in series.solvers}
    rows = []
    for value in sorted({value for cells in kept.values() for value in cells}):
        cells = [kept[solver].get(value) for solver in series.solvers]
        rows.append([f"{value:,}", *(shown_seconds(cell, clock(name)) for cell in cells)])
        if len(cells) == 2:
            both = all(cell and not cut_off(cell) for cell in cells)
            times = [max(median(cell, clock(name)), 1e-4) for cell in cells] if both else []
            rows[-1].append(number(times[1] / times[0]) if both else "")
    head = [series.what, *series.solvers, *(["times as long"] if len(series.solvers) == 2 else [])]
    return markdown_table(head, rows)


def shown_seconds(cell: dict | None, which: str) -> str:
    if not cell:
        return ""
    last = cell["runs"][-1]
    if "failed" in last:
        return "*not started*" if last["failed"].startswith("not started") else "*failed*"
    if cut_off(cell):
        return f"> {cell['time_limit']:g}"
    return f"{median(cell, which):.3f}{' (no errors)' * (not last['errors'])}"


def figures(report: dict) -> dict:
    plt = pyplot()
    shown = [name for name in SERIES if any(points(report, name, s) for s in SOLVERS)]
    across = 3
    down = -(-len(shown) // across)
    figure, panels = plt.subplots(
        down, across, figsize=(3.3 * across, 2.7 * down), layout="constrained", squeeze=False
    )
    for axes in panels.ravel()[len(shown) :]:
        axes.set_axis_off()
    for axes, name in zip(panels.ravel(), shown, strict=False):
        draw(axes, report, name)
    return {"scaling": figure}


def draw(axes, report: dict, name: str) -> None:
    series = SERIES[name]
    for solver in series.solvers:
        found = points(report, name, solver)
        fit = exponent(found) if series.what != "threads" else None
        label = f"{solver}, exponent {fit[0]:.2f}" if fit else solver
        colour = SOLVERS[solver]
        axes.plot(list(found), list(found.values()), "o", markersize=4, color=colour, label=label)
        if fit:
            ends = np.array([x for x, seconds in found.items() if seconds >= FLOOR])[[0, -1]]
            axes.plot(ends, np.exp(fit[1]) * ends ** fit[0], color=colour, linewidth=1)
        over = {x: c for x, c in series_of(report, name, solver).items() if cut_off(c)}
        over = {x: c["time_limit"] for x, c in over.items() if "failed" not in c["runs"][-1]}
        if over:
            said = {"label": f"{solver}, over the limit"}
            axes.plot(list(over), list(over.values()), "^", color=colour, fillstyle="none", **said)
    axes.set_xscale("log")
    axes.set_yscale("log")
    if series.what in ("depth", "threads", "classes", "features"):
        ticks = sorted({x for s in series.solvers for x in series_of(report, name, s)})
        axes.set_xticks(ticks, ticks)
        axes.minorticks_off()
    title, _, rest = series.title.partition(" (")
    axes.set_title(f"{title}\n({rest}", fontsize=7)
    axes.set_ylabel("wall seconds" if clock(name) == "wall" else "CPU seconds", fontsize=7)
    axes.tick_params(labelsize=7)
    axes.legend(frameon=False, fontsize=6)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
