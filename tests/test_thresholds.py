"""A threshold splits as the ranks did, in float64 always and in float32 where that is possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from contree import ConTreeClassifier
from scale import scaled

finite = st.floats(allow_nan=False, allow_infinity=False)
LARGEST = np.finfo(np.float64).max
TINY = 5e-324


def threshold_between(a: float, b: float) -> float:
    """Return the threshold that separates two training values."""
    clf = ConTreeClassifier(1).fit([[a], [b], [a], [b]], [0, 1, 0, 1])
    assert clf.errors_ == 0
    assert clf.predict([[a], [b]]).tolist() == [0, 1]
    return float(clf.tree_.threshold[0])


@settings(max_examples=scaled(150))
@given(finite, finite)
@example(1.0, np.nextafter(1.0, 2.0))
@example(np.nextafter(1.0, 0.0), 1.0)
@example(-TINY, 0.0)
@example(0.0, TINY)
@example(-TINY, TINY)
@example(TINY, 2 * TINY)
@example(1e308, 1.5e308)
@example(-LARGEST, LARGEST)
@example(np.nextafter(LARGEST, 0.0), LARGEST)
@example(-1e308, 1e308)
@example(1.0, 1.0 + 1e-9)
@example(2.0**53 - 1, 2.0**53)
@example(1700000000000.0, 1700000000001.0)  # milliseconds
@example(16777216.0, 16777217.0)  # 2**24: one float32 for both
@example(3.4028235e38, 3.5e38)  # beyond float32's range
@example(1e-46, 2e-46)  # below its smallest number
def test_a_threshold_lies_between_its_neighbours(a, b):
    a, b = sorted((a, b))
    assume(a < b)
    tau = threshold_between(a, b)
    assert a <= tau < b
    with np.errstate(over="ignore", under="ignore"):
        a32, b32 = np.float32(a), np.float32(b)
    if a32 < b32:
        assert float(a32) <= tau < float(b32)


def test_negative_zero_is_zero():
    clf = ConTreeClassifier(1).fit([[0.0], [-0.0]], [0, 1])
    assert clf.tree_.node_count == 1
    assert clf.errors_ == 1


@pytest.mark.parametrize("step", [1e-9, np.spacing(1.0)])
def test_close_values_are_all_told_apart(step):
    X = (1.0 + step * np.arange(8))[:, np.newaxis]
    y = np.array([0, 1, 1, 0, 0, 0, 1, 1])
    clf = ConTreeClassifier(2).fit(X, y)
    assert clf.errors_ == 0
    assert clf.predict(X).tolist() == y.tolist()


def test_tolerance_joins_close_values():
    X = np.array([[0.0], [1e-9], [1.0], [1.0 + 1e-9]])
    y = [0, 1, 1, 1]
    assert ConTreeClassifier(1).fit(X, y).errors_ == 0
    joined = ConTreeClassifier(1, feature_tolerance=1e-7).fit(X, y)
    assert joined.errors_ == 1
    assert np.count_nonzero(joined.predict(X) != y) == 1


def test_ids_up_to_two_to_the_53():
    ids = np.array([2**53 - 3, 2**53 - 2, 2**53 - 1, 2**53], dtype=np.int64)
    clf = ConTreeClassifier(2).fit(ids[:, np.newaxis], [0, 1, 0, 1])
    assert clf.errors_ == 0


@settings(max_examples=scaled(40))
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=9))
def test_float32_rows_go_the_same_way_as_float64_ones(column):
    X = np.array(column, dtype=np.float32)[:, np.newaxis]
    y = np.arange(len(X)) % 2
    clf = ConTreeClassifier(3).fit(X, y)
    wide = ConTreeClassifier(3).fit(X.astype(np.float64), y)
    assert clf.tree_.threshold.tolist() == wide.tree_.threshold.tolist()
    assert clf.apply(X).tolist() == clf.apply(X.astype(np.float64)).tolist()
