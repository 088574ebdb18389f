"""Weights become exact integers and come back in the user's unit; bad ones are named."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_sample_weight

from contree import ConTreeClassifier, ConTreeRegressor, size_error_path
from contree._weights import LIMIT, weigh
from scale import scaled

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 1, 0, 1, 1])
CODES = Y.astype(np.int32)
TOP = 2**53


def exact(weights) -> list[Fraction]:
    """Return what each row weighs, in the user's unit."""
    multiples = [1] * weights.total if weights.multiples is None else weights.multiples.tolist()
    assert sum(multiples) == weights.total < LIMIT
    assert min(multiples) >= 1
    return [multiple * Fraction(weights.unit) for multiple in multiples]


@pytest.mark.parametrize(
    ("given", "multiples", "unit"),
    [
        ([1, 1, 1, 1, 1, 1], None, 1),
        ([6, 6, 6, 6, 6, 6], None, 6),
        ([2, 4, 6, 2, 2, 2], [1, 2, 3, 1, 1, 1], 2),
        ([0.5, 1.5, 0.5, 0.5, 0.5, 1.0], [1, 3, 1, 1, 1, 2], Fraction(1, 2)),
        ([1e300] * 6, None, Fraction(1e300)),
        ([5e-324] * 5 + [1e-323], [1, 1, 1, 1, 1, 2], Fraction(5e-324)),
        ([0.1] * 6, None, Fraction(0.1)),
        ([1.0, 2.0**58] + [1.0] * 4, [1, 2**58, 1, 1, 1, 1], Fraction(1)),
        ([TOP + 1, TOP, TOP, TOP, TOP, TOP], [TOP + 1] + [TOP] * 5, 1),
        ([2**62] * 6, None, Fraction(2**62)),
        ([0.1, 409.6] + [0.1] * 4, [1, 4096, 1, 1, 1, 1], Fraction(0.1)),
    ],
)
def test_weights_are_multiples_of_their_divisor(given, multiples, unit):
    found = weigh(np.array(given), None, CODES)
    assert (None if found.multiples is None else found.multiples.tolist()) == multiples
    assert (found.unit, type(found.unit)) == (unit, type(unit))
    assert found.tolerance == 0.0


positive = st.floats(min_value=0, exclude_min=True, allow_infinity=False, max_value=1e300)


@settings(max_examples=scaled(200))
@given(
    st.lists(st.one_of(positive, st.sampled_from([0.1, 0.5, 1.0, 3.0])), min_size=6, max_size=6),
    st.sampled_from([None, "balanced", [3, 1], [Fraction(0.1), Fraction(7)], [1, Fraction(1e200)]]),
)
def test_the_tolerance_bounds_every_difference(weights, class_weight):
    whole = [Fraction(weight) for weight in weights]
    if class_weight == "balanced":
        sums = [sum(w for w, c in zip(whole, CODES, strict=True) if c == k) for k in (0, 1)]
        factors = [sum(sums) / (2 * one) for one in sums]
    else:
        factors = class_weight or [1, 1]
    true = [weight * factors[c] for weight, c in zip(whole, CODES, strict=True)]
    if sum(true) > 1e308:  # refused from float64's largest number on
        return
    found = weigh(np.array(weights), class_weight, CODES)
    off = sum(abs(a - b) for a, b in zip(exact(found), true, strict=True))
    assert off <= Fraction(found.tolerance)
    assert found.tolerance <= float(sum(true)) * 2.0**-46
    if found.tolerance == 0:
        assert off == 0


def test_balanced_class_weights_are_those_of_scikit_learn():
    y = np.array([0, 0, 0, 0, 1, 1, 2], dtype=np.int32)
    found = weigh(None, "balanced", y)
    assert found.tolerance == 0.0
    assert sum(exact(found)) == len(y)
    np.testing.assert_allclose(
        [float(w) for w in exact(found)], compute_sample_weight("balanced", y)
    )


def test_a_million_rows_are_quick_and_exact():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=10**6).astype(np.int32)
    found = weigh(np.maximum(rng.random(10**6, dtype=np.float32), 2.0**-24), None, codes)
    assert found.tolerance == 0.0
    found = weigh(rng.random(10**6), "balanced", codes)
    assert 0 < found.tolerance < 1e-6


@pytest.mark.parametrize(
    ("weights", "kind"),
    [
        ([3] * 6, int),
        (np.array([1, 2, 3, 1, 2, 3], dtype=np.uint8), int),
        ([True, True, False, True, True, True], int),
        (pd.Series([1, 2, 3, 1, 2, 3]), int),
        (pd.Series([1, 2, 3, 1, 2, 3], dtype="Int64"), int),
        (2, int),
        (2.0, float),
        ([1.0] * 6, float),
        (np.array([0.5] * 6, dtype=np.float16), float),
    ],
)
def test_what_is_reported_has_the_type_of_the_weights(weights, kind):
    clf = ConTreeClassifier(0).fit(X, Y, weights)
    true = np.full(6, weights) if np.ndim(weights) == 0 else np.asarray(weights)
    assert clf.errors_ == true[clf.predict(X) != Y].sum()
    for value in (
        clf.errors_,
        clf.objective_,
        clf.lower_bound_,
        *clf.search_report_.history[-1][1:],
    ):
        assert type(value) is kind


def test_equal_weights_search_as_none():
    """They must not cost anything; the paper's search, which takes no weights, tells."""
    clf = ConTreeClassifier(2, search="paper").fit(X, Y, np.full(6, 0.3))
    plain = ConTreeClassifier(2, search="paper").fit(X, Y)
    assert clf.tree_.threshold.tolist() == plain.tree_.threshold.tolist()
    assert clf.tree_.weighted_n_node_samples[0] == float(6 * Fraction(0.3))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1, 1, 1, -1], "Negative values in sample_weight"),
        ([1, 1, 1, 1, 1, np.nan], "sample_weight contains NaN"),
        ([1, 1, 1, 1, 1, np.inf], "sample_weight contains infinity"),
        (np.zeros(6), "weights of all rows are zero"),
        (0, "weights of all rows are zero"),
        ([1, 1], "one number for each of the 6 rows"),
        (np.ones((6, 2)), "one number for each of the 6 rows"),
        (["a"] * 6, "^sample_weight must be finite numbers"),
        (np.full(6, 1j), "^sample_weight must be finite numbers"),
        ({}, "^sample_weight must be finite numbers"),
        ([1.7e308] * 6, "sum to more than float64"),
    ],
)
def test_weights_refused(weights, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ConTreeClassifier().fit(X, Y, weights)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: 1, 1: -1}, "-1 for the class 1"),
        ({0: np.nan, 1: 1}, "nan for the class 0"),
        ({0: np.inf}, "inf for the class 0"),
        ({0: "1"}, "'1' for the class 0"),
        ({0: 0, 1: 0.0}, "weights of all rows are zero"),
        ({0: 1, 2: 1}, r"class_weight has no weight for the classes \[1\]"),
        ("equal", "class_weight"),
        ([1, 1], "class_weight"),
    ],
)
def test_class_weights_refused(class_weight, message):
    with pytest.raises(ValueError, match=message):
        ConTreeClassifier(class_weight=class_weight).fit(X, Y)


def test_class_weights_by_label():
    y = np.array(["no", "yes"])[Y]
    clf = ConTreeClassifier(0, class_weight={"yes": 5}).fit(X, y)
    assert clf.predict(X[:1]) == "yes"
    assert clf.errors_ == 3
    clf.set_params(class_weight={"yes": 5, "no": 1, "perhaps": 9}).fit(X, y)
    assert clf.errors_ == 3
    clf = ConTreeClassifier(1, class_weight={"yes": 0}).fit(X, y)
    assert clf.tree_.n_node_samples.tolist() == [3]
    assert clf.classes_.tolist() == ["no", "yes"]


def test_rows_of_weight_zero_are_left_out():
    weights = np.array([1, 0, 1, 0, 0, 1])
    clf = ConTreeClassifier(2).fit(X, Y, weights)
    assert clf.tree_.class_counts[0].tolist() == [1, 2]
    same = ConTreeClassifier(2).fit(X[weights > 0], Y[weights > 0])
    assert clf.tree_.threshold.tolist() == same.tree_.threshold.tolist()
    only = ConTreeClassifier(2).fit(X, Y, Y)
    assert only.classes_.tolist() == [0, 1]
    assert only.predict_proba(X).tolist() == [[0.0, 1.0]] * 6


@pytest.mark.parametrize(
    ("parameters", "weights"),
    [
        ({"min_samples_leaf": 2}, None),
        ({}, [1, 2, 1, 1, 1, 1]),
        ({"class_weight": {0: 2}, "min_samples_leaf": 2}, None),
        ({"min_weight_fraction_leaf": 0.3}, [1, 2, 1, 1, 1, 5]),
    ],
)
def test_both_searches_find_the_same(parameters, weights):
    fits = [
        ConTreeClassifier(2, search=search, **parameters).fit(X, Y, weights)
        for search in ("best_first", "paper")
    ]
    assert fits[0].objective_ == fits[0].lower_bound_ == fits[1].objective_ == fits[1].lower_bound_


@pytest.mark.parametrize("weights", [None, [1, 2, 1, 1, 1, 5], [0.5, 0, 1, 1, 1, 0.25]])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.4, 0.5])
def test_leaves_weigh_what_is_asked_for(share, weights):
    clf = ConTreeClassifier(3, min_weight_fraction_leaf=share).fit(X, Y, weights)
    leaves = clf.tree_.feature < 0
    weight = clf.tree_.weighted_n_node_samples
    assert weight[leaves].min() >= share * weight[0]
    assert clf.status_ == "optimal"


@pytest.mark.parametrize("seed", range(5))
def test_weights_that_are_rounded_refuse_no_leaf_that_is_heavy_enough(seed):
    weights = np.random.default_rng(seed).uniform(0.5, 2, size=6)
    y = [0, 0, 0, 1, 1, 1]  # each class has half of the weight
    clf = ConTreeClassifier(1, min_weight_fraction_leaf=0.5, class_weight="balanced")
    clf.fit(X, y, weights)
    assert clf.weight_tolerance_ > 0
    assert clf.errors_ == 0
    leaves = clf.tree_.weighted_n_node_samples[1:]
    assert leaves.min() >= 0.5 * leaves.sum() - 2 * clf.weight_tolerance_


@pytest.mark.parametrize("share", [-0.1, 0.51, True, "a"])
def test_a_share_of_the_weight_that_makes_no_sense(share):
    with pytest.raises(ValueError, match="min_weight_fraction_leaf"):
        ConTreeClassifier(min_weight_fraction_leaf=share).fit(X, Y)


@pytest.mark.parametrize(
    ("least", "rows"), [(1, 1), (3, 3), (100, 6), (0.01, 1), (0.34, 3), (0.5, 3), (0.99, 6)]
)
def test_leaves_have_the_rows_that_are_asked_for(least, rows):
    clf = ConTreeClassifier(3, min_samples_leaf=least).fit(X, Y)
    leaves = clf.tree_.feature < 0
    assert clf.tree_.n_node_samples[leaves].min() >= rows
    assert (clf.get_n_leaves() == 1) == (rows > 3)


@pytest.mark.parametrize("value", [0, -1, 0.0, 1.0, 1.5, np.nan, True, "2", None])
def test_leaf_sizes_refused(value):
    with pytest.raises(ValueError, match="min_samples_leaf"):
        ConTreeClassifier(min_samples_leaf=value).fit(X, Y)


def test_impurity_and_importances_are_weighted_as_in_cart():
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    data, y = load_iris(return_X_y=True)
    data, y = data[:100, 2:3], y[:100]
    weights = np.random.default_rng(0).uniform(0.5, 2, size=100)
    clf = ConTreeClassifier(1).fit(data, y, weights)
    cart = DecisionTreeClassifier(max_depth=1).fit(data, y, weights)
    np.testing.assert_allclose(clf.tree_.impurity, cart.tree_.impurity, atol=1e-15)
    np.testing.assert_allclose(clf.tree_.value, cart.tree_.value)
    np.testing.assert_allclose(
        clf.tree_.weighted_n_node_samples, cart.tree_.weighted_n_node_samples
    )
    np.testing.assert_allclose(clf.feature_importances_, cart.feature_importances_)


def test_what_a_callback_is_shown_is_in_the_users_unit():
    rng = np.random.default_rng(3)
    data, y = rng.normal(size=(300, 4)), rng.integers(0, 2, size=300)
    weights = rng.choice([0.25, 0.5], size=300)
    seen = []
    clf = ConTreeClassifier(3).fit(data, y, weights, callback=seen.append)
    assert seen
    for progress in seen:
        assert type(progress.objective) is float
        assert clf.lower_bound_ <= progress.objective <= weights.sum() / 2
        assert progress.lower_bound <= clf.objective_
    assert clf.gap_ == 0.0


def test_a_given_tree_keeps_its_way_for_missing_values():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(4)
    data, y = rng.normal(size=(200, 3)).round(1), rng.integers(0, 3, size=200)
    data[rng.random(data.shape) < 0.3] = np.nan
    weights = rng.integers(1, 9, size=200)
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(data, y, weights)
    best = ConTreeClassifier(3).fit(data, y, weights)
    for first in (cart, best, best.to_sklearn()):
        at_once = ConTreeClassifier(4, time_limit=0.0).fit(data, y, weights, initial_tree=first)
        assert at_once.errors_ <= weights[first.predict(data) != y].sum()
    proved = best.errors_
    best.set_params(warm_start=True, time_limit=0.0).fit(data, y, weights)
    assert best.errors_ == proved


def test_weights_that_differ_in_their_last_digits():
    """Both classes weigh 0.8, one a hair more: it is predicted, by probabilities and tools too."""
    rows, y, weights = np.zeros((7, 1)), [0, 0, 0, 1, 1, 1, 1], [0.3, 0.2, 0.3, 0.1, 0.2, 0.2, 0.3]
    clf = ConTreeClassifier(0).fit(rows, y, weights)
    assert clf.predict(rows).tolist() == [1] * 7
    assert clf.predict_proba(rows).argmax(axis=1).tolist() == [1] * 7
    assert clf.predict_proba(rows) == pytest.approx(0.5)
    assert clf.to_sklearn().predict(rows).tolist() == [1] * 7


@pytest.mark.parametrize("estimator", [ConTreeClassifier(1), ConTreeRegressor(1)])
def test_weights_too_far_apart_to_add_are_reported(estimator):
    rows, y = np.arange(6.0)[:, np.newaxis], [0, 1, 0, 0, 1, 1]
    with pytest.warns(RuntimeWarning, match="too far apart to be added exactly"):
        estimator.fit(rows, y, sample_weight=[1e300, 1e-300, 1e300, 1e-300, 1.0, 1.0])
    assert estimator.weight_tolerance_ > estimator.objective_ > 0
    task = "regression" if isinstance(estimator, ConTreeRegressor) else "classification"
    with pytest.warns(RuntimeWarning, match="too far apart to be added exactly"):
        size_error_path(rows, y, 1, task=task, sample_weight=[1e300, 1e-300, 1e300, 1e-300, 1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(rows, y, sample_weight=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
