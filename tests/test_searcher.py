"""The core's searcher, as other searches are built on it: parts of a search, cutoffs, snapshots."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from contree import ConTreeClassifier, _core
from contree._fit_request import core_options
from contree._objective import LeafCost
from contree._weights import weigh

NONE = 2**63 - 1


def problem(seed=0, rows=150, features=4):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.normal(size=(rows, features)))
    y = np.where(rng.random(rows) < 0.3, rng.integers(0, 2, rows), X[:, 0] > 0).astype(np.int32)
    return X, y


def searcher(X, y, **parameters):
    weights = weigh(None, None, y)
    cost = LeafCost.of(0.0, 1, weights)
    options = core_options(ConTreeClassifier(**parameters), len(y), weights, cost)
    return _core.Searcher(X, y, int(y.max()) + 1, **options)


@pytest.mark.parametrize("depth", [3, 4])
def test_parts_are_the_whole(depth):
    X, y = problem(depth, 130)
    optimum = searcher(X, y, max_depth=depth).run()["objective"]
    first = searcher(X, y, max_depth=depth)
    opened = first.run(open_only=True, resumable=True)
    assert opened["status"] == "stopped"
    level, floor, intervals = opened["frontier"]
    assert level == depth
    assert intervals.dtype == np.int64
    assert intervals.shape[1] == 10
    best, tree, bounds = opened["objective"], opened["tree"], [floor]
    worker = searcher(X, y, max_depth=depth, search_options={"heuristics": 0})
    for interval in intervals:
        part = worker.run(
            frontier=(level, NONE, interval[None]), cutoff=best, lower_bound=opened["lower_bound"]
        )
        assert part["status"] in ("optimal", "cutoff")
        bounds.append(part["lower_bound"])
        if part["objective"] < best:
            best, tree = part["objective"], part["tree"]
    assert best == optimum
    assert min(best, *bounds) == optimum
    done = worker.run(first=tree, frontier=(level, min(bounds), intervals[:0]), resumable=True)
    assert (done["status"], done["objective"]) == ("optimal", optimum)


def test_cutoff_from_elsewhere():
    X, y = problem(1, 2000, 8)
    running = searcher(X, y, max_depth=5)
    found = {}

    def look(seconds, objective, lower_bound, closed):
        now = running.snapshot()  # None until the search proper begins
        if now is not None:
            found.setdefault("snapshot", now)
        return False

    thread = threading.Thread(target=lambda: found.update(result=running.run(poll=look)))
    thread.start()
    while "snapshot" not in found:
        time.sleep(0.01)
    with pytest.raises(RuntimeError, match="running already"):
        running.run()
    running.lower_cutoff(1)
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert found["result"]["status"] == "cutoff"
    assert found["result"]["lower_bound"] >= 1
    assert found["snapshot"]["objective"] >= found["result"]["objective"]
    running.lower_cutoff(0)  # of no search
    running.stop()
    assert running.snapshot() is None


@pytest.mark.parametrize(
    "frontier",
    [
        (3,),
        (3, NONE, None),
        (3, NONE, np.zeros((1, 9), dtype=np.int64)),
        (3, NONE, np.zeros((1, 10))),
        (3, NONE, np.zeros((1, 10), dtype=np.int64)),
        (9, NONE, np.zeros((0, 10), dtype=np.int64)),
        (-1, NONE, np.zeros((0, 10), dtype=np.int64)),
        (3, -1, np.zeros((0, 10), dtype=np.int64)),
    ],
)
def test_no_frontier(frontier):
    X, y = problem()
    with pytest.raises(ValueError, match="frontier"):
        searcher(X, y, max_depth=3).run(frontier=frontier)


def test_a_frontier_needs_best_first():
    X, y = problem()
    with pytest.raises(ValueError, match="best_first"):
        searcher(X, y, max_depth=3, search="paper").run(resumable=True)
