"""Every search and every combination of switches against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from contree import ConTreeClassifier, _core
from oracle import check_tree, fewest_errors
from scale import scaled

SEARCHES = ["best_first", "paper"]
NASTY = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-9, 2e-9, 1.0, np.nextafter(1.0, 2), 1e308, -1e308])


def instance(rng, *, max_rows=14, max_classes=5):
    """Return a small set: ties, duplicates, constant columns, near-equal and huge values."""
    n, p = rng.integers(1, max_rows + 1), rng.integers(1, 4)
    k = rng.integers(1, max_classes + 1)
    columns = []
    for _ in range(p):
        kind = rng.integers(6)
        if kind == 0:
            column = rng.normal(size=n)
        elif kind == 1:
            column = rng.integers(0, 3, size=n).astype(float)
        elif kind == 2:
            column = np.full(n, rng.normal())
        elif kind == 3:
            column = 1.0 + np.spacing(1.0) * rng.integers(0, 6, size=n)
        elif kind == 4:
            column = rng.choice(NASTY, size=n)
        else:
            column = rng.permutation(n) * 1e-9
        columns.append(column)
    X = np.column_stack(columns)
    y = rng.integers(0, k, size=n) * 3 - 4
    if rng.random() < 0.3:  # the same row twice, with labels that need not agree
        X[rng.integers(n)] = X[rng.integers(n)]
    if rng.random() < 0.5:  # a concept to find, with noise
        y = np.where(X[:, 0] > np.sort(X[:, 0])[n // 2], y.min(), y.max())
        y[rng.random(n) < 0.2] = rng.integers(0, k) * 3 - 4
    return X, y


def fit_and_check(X, y, depth, optimum, **parameters):
    clf = ConTreeClassifier(depth, **parameters).fit(X, y)
    check_tree(clf, X, y)
    assert clf.status_ == "optimal"
    assert (clf.objective_, clf.lower_bound_) == (optimum, optimum)
    return clf


@pytest.mark.parametrize("seed", range(5))
def test_random_sets(seed):
    rng = np.random.default_rng(seed)
    for _ in range(scaled(150)):
        X, y = instance(rng, max_rows=int(rng.choice([6, 14, 24])))
        depth = int(rng.integers(0, 4))
        optimum = fewest_errors(X, y, depth)
        for search in SEARCHES:
            fit_and_check(X, y, depth, optimum, search=search)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("row", _core.switches(), ids=lambda row: row["name"])
def test_each_switch_alone(row, search):
    rng = np.random.default_rng(11)
    low, high = row["low"], row["high"]
    some = {low, low + 1, min(low + 1000, high), high}
    values = set(range(low, high + 1)) if high - low < 10 else some
    for _ in range(scaled(8)):
        X, y = instance(rng)
        depth = int(rng.integers(2, 4))
        optimum = fewest_errors(X, y, depth)
        for value in values - {row["default"]}:
            fit_and_check(X, y, depth, optimum, search=search, search_options={row["name"]: value})


@pytest.mark.parametrize("seed", range(4))
def test_switches_together(seed):
    rng = np.random.default_rng(100 + seed)
    table = _core.switches()
    for _ in range(scaled(25)):
        X, y = instance(rng)
        depth = int(rng.integers(1, 4))
        options = {
            row["name"]: int(rng.integers(row["low"], min(row["high"], row["low"] + 3) + 1))
            for row in table
            if rng.random() < 0.5
        }
        optimum = fewest_errors(X, y, depth)
        fit_and_check(X, y, depth, optimum, search=SEARCHES[seed % 2], search_options=options)


@pytest.mark.parametrize("search", SEARCHES)
def test_gap_is_kept(search):
    rng = np.random.default_rng(5)
    used = 0
    for _ in range(scaled(80)):
        X, y = instance(rng)
        depth, gap = int(rng.integers(0, 4)), int(rng.integers(1, 5))
        optimum = fewest_errors(X, y, depth)
        clf = ConTreeClassifier(depth, max_gap=gap, search=search).fit(X, y)
        check_tree(clf, X, y)
        assert clf.lower_bound_ <= optimum <= clf.objective_
        assert clf.objective_ - optimum <= gap
        assert clf.objective_ - clf.lower_bound_ <= gap
        assert clf.status_ in ("optimal", "gap_reached")
        if clf.status_ == "optimal":
            assert clf.lower_bound_ == clf.objective_ == optimum
        used += clf.status_ == "gap_reached"
    assert used, "no instance made use of its gap: the test shows nothing"


@pytest.mark.parametrize("search", SEARCHES)
def test_tolerance_joins_chains_of_close_values(search):
    rng = np.random.default_rng(6)
    for _ in range(scaled(40)):
        n, p = int(rng.integers(2, 13)), int(rng.integers(1, 4))
        X = rng.integers(0, 25, size=(n, p)) / 8  # exact differences
        y = rng.integers(0, 3, size=n)
        depth, tolerance = int(rng.integers(1, 4)), 0.25
        joined = np.empty_like(X)
        for f in range(p):
            distinct = np.unique(X[:, f])
            group = np.concatenate(([0], np.cumsum(np.diff(distinct) >= tolerance)))
            joined[:, f] = group[np.searchsorted(distinct, X[:, f])]
        optimum = fewest_errors(joined, y, depth)
        fit_and_check(X, y, depth, optimum, search=search, feature_tolerance=tolerance)


feature_values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(float),
    st.sampled_from(NASTY.tolist()),
)


@settings(max_examples=scaled(100))
@given(data=st.data())
def test_whatever_hypothesis_finds(data):
    n, p = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 3))
    X = data.draw(hnp.arrays(np.float64, (n, p), elements=feature_values))
    y = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)))
    depth = data.draw(st.integers(0, 4))
    optimum = fewest_errors(X, y, depth)
    for search in SEARCHES:
        clf = fit_and_check(X, y, depth, optimum, search=search)
    again = ConTreeClassifier(depth, search=search).fit(np.asfortranarray(X), y)
    assert again.tree_.threshold.tolist() == clf.tree_.threshold.tolist()


def middle_size(rng, classes, most_rows):
    n, p = int(rng.integers(60, most_rows)), int(rng.integers(2, 5))
    X = rng.integers(0, rng.integers(5, 80), size=(n, p)).astype(float)
    y = (X[:, 0] + X[:, -1] > X.mean() * 2).astype(int) + (X[:, 0] > 20) * (classes > 2)
    noisy = rng.random(n) < 0.25
    y[noisy] = rng.integers(0, classes, size=noisy.sum())
    return X, np.unique(y, return_inverse=True)[1]


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("depth", "most_rows"), [(2, 400), (3, 400), (4, 130)])
def test_middle_size_against_pycontree(classes, depth, most_rows):
    """Sets beyond exhaustive search; integer features, which the peer's float32 holds exactly."""
    pycontree = pytest.importorskip("pycontree")
    rng = np.random.default_rng([classes, depth])
    for _ in range(scaled(2)):
        X, y = middle_size(rng, classes, most_rows)
        peer = pycontree.ConTree(max_depth=depth, time_limit=600).fit(X, y.astype(np.intc))
        optimum = int(np.count_nonzero(peer.predict(X) != y))
        for search in SEARCHES if depth < 4 else ("best_first",):
            fit_and_check(X, y, depth, optimum, search=search)
        fit_and_check(X, y, depth, optimum, n_jobs=2, search_options={"inheritance_cells": 0})
