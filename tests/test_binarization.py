"""What the accuracy experiment cuts columns at: quantiles and guesses."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from threadpoolctl import threadpool_limits

import thresholds
from contree import ConTreeClassifier


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def rows():
    return make_classification(200, 4, n_informative=3, n_redundant=1, random_state=4)


@pytest.fixture(scope="module")
def cuts(rows):
    return thresholds.guesses(thresholds.boosted(*rows, 0), first_class_only=True)


def test_coarse_columns_tell_as_much_as_binary_ones():
    X = np.array([[0.0, 5.0], [1.0, 6.0], [1.5, 7.0], [2.0, 7.5], [9.0, -1.0]])
    cuts = [np.array([1.0, 2.0]), np.array([6.5])]
    steps = thresholds.coarse(X, cuts)
    assert steps.T.tolist() == [[0, 0, 1, 1, 2], [0, 0, 1, 1, 0]]
    expected = np.column_stack([X[:, 0] <= 1.0, X[:, 0] <= 2.0, X[:, 1] <= 6.5])
    np.testing.assert_array_equal(thresholds.binary(steps, cuts), expected)


def test_a_feature_without_thresholds_is_one_value():
    X = np.array([[0.0, 5.0], [1.0, 6.0]])
    cuts = [np.array([]), np.array([5.5])]
    steps = thresholds.coarse(X, cuts)
    assert steps.T.tolist() == [[0, 0], [0, 1]]
    assert thresholds.binary(steps, cuts).T.tolist() == [[1, 0]]


def test_optimal_trees_are_as_good_on_coarse_columns_as_on_binary_ones(rows, cuts):
    X, y = rows
    steps = thresholds.coarse(X, cuts)
    errors = [
        ConTreeClassifier(3).fit(columns, y).errors_
        for columns in (steps, thresholds.binary(steps, cuts))
    ]
    assert errors[0] == errors[1]


def test_guesses_are_the_thresholds_of_the_trees():
    X, y = load_iris(return_X_y=True)
    ensemble = thresholds.boosted(X, y, 0)
    assert ensemble.estimators_.shape == (40, 3)
    first = thresholds.guesses(ensemble, first_class_only=True)
    every = thresholds.guesses(ensemble, first_class_only=False)
    for column, (some, more) in enumerate(zip(first, every, strict=True)):
        assert set(some) <= set(more)
        assert (np.diff(more) > 0).all()
        for cut in more:
            assert X[:, column].min() < cut < X[:, column].max()
    assert sum(map(len, first)) < sum(map(len, every))


def test_columns_that_matter_stay_and_the_ensemble_is_no_worse(rows, cuts):
    X, y = rows
    kept, finished = thresholds.without_needless(cuts, X, y, 20, 0, time.monotonic() + 60)
    assert finished
    assert 1 <= sum(map(len, kept)) < sum(map(len, cuts))
    for some, more in zip(kept, cuts, strict=True):
        assert set(some) <= set(more)

    def score(cuts):
        columns = thresholds.binary(thresholds.coarse(X, cuts), cuts)
        return thresholds._on_columns(columns, y, 20, 0).score(columns, y)

    assert score(kept) >= score(cuts)


def test_without_time_nothing_is_removed(rows, cuts):
    X, y = rows
    kept, finished = thresholds.without_needless(cuts, X, y, 20, 0, time.monotonic() - 1)
    assert not finished
    assert [list(cut) for cut in kept] == [list(cut) for cut in cuts]


def test_quantiles():
    pytest.importorskip("pystreed")
    X = np.column_stack([np.arange(110.0), np.repeat([0.0, 1.0, 4.0, 4.0, 4.0], 22)])
    first, second = thresholds.quantiles(X, 10)
    assert len(first) == 10
    shares = [np.mean(X[:, 0] <= cut) for cut in first]
    np.testing.assert_allclose(shares, np.arange(1, 11) / 11, atol=0.01)
    assert second.tolist() == [0.5, 2.5]
