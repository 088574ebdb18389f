"""A search in parts: cut, dealt out and cut off at random, it proves the same optimum."""

from __future__ import annotations

import numpy as np
import pytest

from contree import ConTreeClassifier
from contree._fit import fit_with

pytest.importorskip("distributed")

from contree.distributed._pool import BOUND, CLOSED, LEFT_END, RIGHT_END, Frontier, Pool
from scale import scaled


class InParts:
    """A search that deals its parts to itself, in bundles of any size, a few thresholds each."""

    def __init__(self, rng, threads=1):
        self.rng, self.threads, self.runs = rng, threads, 0

    def __call__(self, request) -> dict:
        rng, options = self.rng, request.search_input.options
        searchers = [request.search_input.searcher(n_jobs=self.threads) for _ in range(2)]
        answer = searchers[0].run(open_only=True, resumable=True)
        best, gap = answer, options["max_gap"]
        last = min(options["max_depth"], options["max_leaves"] - 1)
        proved = answer["lower_bound"]
        frontier = Frontier(*answer["frontier"])
        if answer["status"] == "stopped":
            assert frontier.depth == last
            finer = Frontier(*searchers[0].split(tuple(frontier), int(rng.integers(0, 30))))
            assert finer.bound == frontier.bound
            assert finer.length == frontier.length
            pool = Pool(finer)
            while len(pool):
                part = pool.deal(int(rng.integers(1, 3)), int(rng.integers(3, 9)))
                # A cutoff that is too high only prunes less.
                cutoff = best["objective"] + int(rng.choice([0, 0, 2]))
                answer = searchers[int(rng.integers(0, 2))].run(
                    frontier=tuple(part),
                    part=True,
                    splits=int(rng.integers(1, 6)),
                    cutoff=cutoff,
                    resumable=True,
                )
                self.runs += 1
                rest = Frontier(*answer["frontier"])
                assert rest.bound >= min(part.bound, cutoff)
                if answer["objective"] < best["objective"]:
                    best = answer
                if rng.random() < 0.2:  # lost: done again
                    rest = part
                pool.put(rest)
                pool.close(best["objective"] - gap)
            proved = min(best["objective"], pool.frontier.bound)
        closed = best["objective"] - gap <= proved
        assert closed
        status = "optimal" if best["objective"] == proved else "gap_reached"
        more = {"lower_bound": proved, "status": status, "kernel": "", "n_jobs": 1}
        return {**best, **more}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_any_parts_in_any_order(seed, threads):
    rng = np.random.default_rng(seed)
    runs, count = 0, scaled(5)
    for _ in range(count):
        n_rows, n_features = int(rng.integers(8, 70)), int(rng.integers(1, 5))
        X = rng.integers(0, int(rng.choice([4, 30])), size=(n_rows, n_features)).astype(float)
        X[rng.random(X.shape) < rng.choice([0, 0, 0.1])] = np.nan
        y = rng.integers(0, int(rng.integers(2, 5)), n_rows)
        weights = [None, rng.integers(1, 5, n_rows), rng.random(n_rows)][int(rng.integers(0, 3))]
        parameters = {
            "max_depth": int(rng.integers(3, 6)),
            "ccp_alpha": float(rng.choice([0.0, 0.0, 0.01])),
            "min_samples_leaf": int(rng.choice([1, 1, 3])),
            "max_leaf_nodes": [None, None, 6][int(rng.integers(0, 3))],
            "max_gap": int(rng.choice([0, 0, 2])),
        }
        whole = ConTreeClassifier(**parameters | {"max_gap": 0}).fit(X, y, weights)
        clf = ConTreeClassifier(**parameters)
        parts = InParts(rng, threads)
        fit_with(parts, clf, X, y, weights)
        runs += parts.runs
        assert clf.lower_bound_ <= whole.objective_ <= clf.objective_, parameters
        if parameters["max_gap"] == 0:
            assert clf.objective_ == clf.lower_bound_ == whole.objective_, parameters
    assert runs > count


def table(bounds, lengths=None) -> np.ndarray:
    rows = np.zeros((len(bounds), BOUND + 1), dtype=np.int64)
    rows[:, BOUND] = bounds
    rows[:, RIGHT_END] = lengths if lengths is not None else 1
    rows[:, 0] = np.arange(len(bounds))
    return rows


def test_the_pool_gives_each_interval_once():
    rng = np.random.default_rng(0)
    pool = Pool(Frontier(4, CLOSED, table(rng.integers(0, 50, 200))))
    dealt = []
    while len(pool):
        before = len(pool)
        part = pool.deal(2, 8)
        assert part.depth == 4
        assert len(part.intervals) == min(before, max(2, -(-before // 8)))
        assert part.bound <= pool.frontier.bound
        dealt += part.intervals[:, 0].tolist()
    assert sorted(dealt) == list(range(200))


def test_the_pool_gives_back_what_a_worker_had():
    pool = Pool(Frontier(4, CLOSED, table([1, 9])))
    pool.put(Frontier(4, CLOSED, table([1, 2, 9]) + 100 * (np.arange(10) == 0)), owner="a")
    assert set(pool.deal(1, 3, "a").intervals[:, 0]) == {100}
    assert set(pool.deal(1, 3, "b").intervals[:, 0]) == {0}
    assert len(pool.deal(2, 2, "b").intervals) == 3


def test_the_pool_orders_and_closes():
    pool = Pool(Frontier(3, 70, table([9, 3, 9], [1, 1, 5])))
    assert pool.frontier.intervals[:, 0].tolist() == [1, 2, 0]
    assert pool.frontier.length == 7
    assert (pool.frontier.intervals[:, LEFT_END] == 0).all()
    pool.put(Frontier(3, 60, table([8])))
    pool.close(9)
    assert pool.frontier.intervals[:, BOUND].tolist() == [3, 8]
    assert pool.floor == 9
    assert pool.frontier.bound == 3


def test_a_frontier_of_other_rows_is_refused():
    rng = np.random.default_rng(0)
    X, y = np.asfortranarray(rng.normal(size=(30, 3))), rng.integers(0, 2, 30).astype(np.int32)
    clf = ConTreeClassifier(3)

    def search(request):
        searcher = request.search_input.searcher()
        frontier = Frontier(*searcher.run(open_only=True, resumable=True)["frontier"])
        for column, value in ((0, 3), (0, -1), (LEFT_END, -1), (RIGHT_END, 31), (RIGHT_END, 0)):
            wrong = frontier.intervals.copy()
            wrong[0, column] = value
            for run in (searcher.split, lambda given, _: searcher.run(frontier=given)):
                with pytest.raises(ValueError, match="not of this search"):
                    run((frontier.depth, frontier.floor, wrong), 9)
        return searcher.run() | {"kernel": "", "n_jobs": 1}

    fit_with(search, clf, X, y)
    assert clf.status_ == "optimal"
