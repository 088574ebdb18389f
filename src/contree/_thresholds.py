"""The threshold of a fitted tree: the shortest number that splits the training rows as found.

The core gives the middle between two values of a node's rows, which often has many digits.  All
numbers of its gap (``threshold_gap``) split the training rows in the same way.  The tree gets the
one with the fewest digits, four at least, within a quarter of the gap from the middle.  What is
predicted, shown and exported is this one number.

Where float32 can tell the two neighbours apart, the number lies between them in float32 too, as the
core's does.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

import numpy as np

FEWEST_DIGITS, MOST_DIGITS = 4, 17


def short_thresholds(threshold: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return the shortest thresholds; those that are no finite number stay."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = gap.astype(np.float32).astype(np.float64)
    apart = (narrow[:, 0] < narrow[:, 1])[:, np.newaxis]
    low = np.where(apart, np.maximum(gap, narrow), gap)[:, 0]
    high = np.where(apart, np.minimum(gap, narrow), gap)[:, 1]
    short = threshold.copy()
    for node in np.flatnonzero(low < high):  # leaves have -2 for both, and sets of categories NaN
        if np.isfinite(threshold[node]):
            bounds = float(low[node]), float(high[node])
            short[node] = _shortest(float(threshold[node]), *bounds)
    return short


def _shortest(threshold: float, low: float, high: float) -> float:
    """Return the number with the fewest digits near a threshold with low <= threshold < high."""
    room = high / 4 - low / 4 if math.isfinite(high) else math.inf
    exact = Decimal(threshold)
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
            rounded = float(Context(digits, rounding).create_decimal(exact))
            if low <= rounded < high and abs(rounded - threshold) <= room:
                return rounded + 0.0  # not -0.0
    return threshold
