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


@pytest.mark.parametrize(
    ("values", "shortest"),
    [
        ([114.3, 114.6], 114.4),
        ([114.4, 114.5], 114.45),
        ([0.1, 0.2], 0.15),
        ([1.0, 2.0], 1.5),
        ([48960.0, 48970.25], 48970.0 - 5),
        ([1700000000000.0, 1700000000001.0], 1700000000000.5),
    ],
)
def test_the_fewest_digits_near_the_middle(values, shortest):
    assert threshold_between(*values) == shortest


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e5, 1e300])
@pytest.mark.parametrize("digits", [2, 5, 16])
def test_one_number_everywhere(scale, digits):
    """What is shown and exported is what predicts, and splits the training rows as found."""
    rng = np.random.default_rng(digits)
    X = np.round(rng.normal(size=(200, 3)), digits) * scale
    y = (X[:, 0] > X[:, 1]).astype(int)
    clf = ConTreeClassifier(3).fit(X, y)
    assert np.count_nonzero(clf.predict(X) != y) == clf.errors_
    tree = clf.tree_
    inner = tree.feature >= 0
    below, above = tree.threshold_gap[inner].T
    assert ((below <= tree.threshold[inner]) & (tree.threshold[inner] < above)).all()
    text, sql = clf.export_text(), clf.to_sql()
    for threshold in tree.threshold[inner].tolist():
        assert f"<= {threshold!r}".removesuffix(".0") + "\n" in text
        assert repr(threshold) in sql
    at_thresholds = np.tile(tree.threshold[inner][:, np.newaxis], (1, 3))
    namespace = {}
    exec(clf.to_python(), namespace)
    assert [namespace["predict"](row) for row in at_thresholds.tolist()] == clf.predict(
        at_thresholds
    ).tolist()


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
