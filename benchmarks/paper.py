"""Figures that the paper prints, to quote beside ours or where a solver is not run.

paper.csv: run times in seconds or, in brackets, the gap that a MIP solver had left at the time-out;
memory in MB; training accuracy in percent.  Measured by the paper's authors on their machine, a
limit of four hours.  `skin` there is another sample of the same size.
paper-accuracy.csv: test accuracy at depth three in percent, and its standard error.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

FOUR_HOURS = 4 * 3600.0
METHODS = ("OCT", "RS-OCT", "SAT-Shati", "Quant-BnB", "ConTree (No D2)", "ConTree")


@cache
def _rows() -> dict[tuple, dict[str, str]]:
    with Path(__file__).with_name("paper.csv").open() as file:
        return {
            (row["dataset"], row["method"], int(row["depth"]), int(row["gap_percent"])): row
            for row in csv.DictReader(file)
        }


def quoted(dataset: str, method: str, depth: int, gap_percent: int = 0, what: str = "seconds"):
    """Return a figure as printed, or "" if the paper has none.

    `what` is seconds, memory_mb or accuracy.
    """
    return _rows().get((dataset, method, depth, gap_percent), {}).get(what, "")


def in_table(*which, **more) -> str:
    """Return a quoted figure as tables show it: in italics."""
    figure = quoted(*which, **more)
    return f"*{figure}*" if figure else ""


def at_least(figure: str) -> float:
    """Return a number of seconds that a printed run time is not below, to decide what to run."""
    if not figure or figure.startswith("<"):
        return 0.0
    return FOUR_HOURS if figure.startswith((">", "(")) else float(figure)


def accuracy_margin(rival: str) -> tuple[float, float]:
    """Return how many points the paper's accuracy is above a rival's, and the standard error.

    Both of the mean over data sets, from the printed figures; the error is what independent splits
    would have, because the paper does not print that of the difference.
    """
    with Path(__file__).with_name("paper-accuracy.csv").open() as file:
        rows = list(csv.DictReader(file))
    ours = [row for row in rows if row["method"] == "contree"]
    theirs = [row for row in rows if row["method"] == rival]
    points = sum(float(row["accuracy"]) for row in ours) - sum(float(r["accuracy"]) for r in theirs)
    error = math.hypot(*(float(row["standard_error"]) for row in ours + theirs))
    return points / len(ours), error / len(ours)
