"""Workers on paper do all of a recorded search, and no number of them takes less than its chain."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the simulation is NOT tested: no Dask")

from _simulation import longest_chain, record, simulate, work_of
from contree import ConTreeClassifier


@pytest.fixture(scope="module")
def recorded():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(250, 4)), rng.integers(0, 3, 250)
    kept = record(X, y, 4, 6)
    assert kept["objective"] == ConTreeClassifier(4).fit(X, y).errors_
    return kept


def test_one_worker_takes_what_all_work_takes(recorded):
    took = simulate(recorded, 1, 0.0, 0.0)
    assert took == pytest.approx(work_of(recorded))


@pytest.mark.parametrize("workers", [2, 8, 64])
def test_more_workers_take_no_less_than_the_longest_chain(recorded, workers):
    took = simulate(recorded, workers, 0.0, 0.0)
    assert longest_chain(recorded) <= took * (1 + 1e-9)  # sums in another order
    assert took <= work_of(recorded)
    assert took <= simulate(recorded, workers, 0.2, 0.005)
