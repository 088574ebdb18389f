"""How much the tests draw at random: CONTREE_TEST_SCALE times as much as by default.

`make test` runs with a scale of 1, `make test-long` with 10.
"""

from __future__ import annotations

import os

SCALE = float(os.environ.get("CONTREE_TEST_SCALE", "1"))
IS_LONG = SCALE >= 10  # also run single tests that take long


def scaled(count: int) -> int:
    """Return a number of random instances, at least 1."""
    return max(1, round(count * SCALE))
