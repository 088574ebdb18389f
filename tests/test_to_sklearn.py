"""Our tree as scikit-learn's: the same predictions, or a warning where float32 lacks them."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier
from scale import scaled


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_wine])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_same_predictions(load, depth):
    data = load(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    clf = ConTreeClassifier(depth).fit(X, y)
    cart = clf.to_sklearn()
    assert type(cart) is DecisionTreeClassifier
    assert (cart.predict(X) == clf.predict(X)).all()
    np.testing.assert_array_equal(cart.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(cart.apply(X), clf.apply(X))
    np.testing.assert_allclose(cart.feature_importances_, clf.feature_importances_, atol=1e-12)
    assert cart.get_depth() == clf.get_depth()
    assert cart.get_n_leaves() == clf.get_n_leaves()
    assert cart.feature_names_in_.tolist() == list(X.columns)
    assert (cart.tree_.threshold == cart.tree_.threshold.astype(np.float32)).all()


def test_it_holds_what_a_fit_of_scikit_learn_holds():
    X, y = load_iris(return_X_y=True, as_frame=True)
    ours = ConTreeClassifier(2).fit(X, y).to_sklearn()
    theirs = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert {k: type(v) for k, v in vars(ours).items()} == {
        k: type(v) for k, v in vars(theirs).items()
    }
    assert ours.tree_.value.dtype == theirs.tree_.value.dtype
    assert ours.tree_.n_outputs == theirs.tree_.n_outputs
    back = pickle.loads(pickle.dumps(ours))
    assert (back.predict(X) == ours.predict(X)).all()
    assert clone(ours).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    "shared",
    [
        {"max_depth": None, "random_state": 3},
        {"max_depth": 2, "max_leaf_nodes": 3, "ccp_alpha": 0.01, "random_state": None},
        {"min_samples_leaf": 0.1, "min_weight_fraction_leaf": 0.05, "class_weight": "balanced"},
    ],
)
def test_it_has_the_parameters_that_both_have(shared):
    X, y = load_iris(return_X_y=True)
    clf = ConTreeClassifier(**shared).fit(X, y)
    theirs = clf.to_sklearn().get_params()
    for name, value in clf.get_params().items():
        if name in theirs:
            assert theirs[name] == value
    assert clone(clf.to_sklearn()).fit(X, y).score(X, y) > 0.9


def test_a_leaf_has_the_least_limits_that_cart_allows():
    X, y = load_iris(return_X_y=True)
    cart = ConTreeClassifier(0, max_leaf_nodes=1).fit(X, y).to_sklearn()
    assert (cart.max_depth, cart.max_leaf_nodes) == (1, 2)
    assert clone(cart).fit(X, y).get_n_leaves() == 2


@settings(max_examples=scaled(80))
@given(
    st.lists(
        st.floats(-1e37, 1e37, allow_subnormal=False), min_size=2, max_size=10, unique=True
    ).map(sorted)
)
def test_any_values_are_kept_apart_or_named(column):
    X = np.array(column)[:, np.newaxis]
    y = np.arange(len(X)) % 2
    clf = ConTreeClassifier(4).fit(X, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cart = clf.to_sklearn()
    if not caught:
        assert (cart.predict(X) == clf.predict(X)).all()
        narrow = X.astype(np.float32).astype(np.float64)
        inner = clf.tree_.feature >= 0
        below, above = clf.tree_.threshold_gap[inner].T.astype(np.float32)
        assert (below < above).all()
        assert (cart.predict(narrow) == clf.predict(X)).all()
    else:
        assert len(caught) == 1
        assert "feature_0" in str(caught[0].message)
        distinct = np.unique(X.astype(np.float32))
        assert len(distinct) < len(X)


@pytest.mark.parametrize(
    "column",
    [
        [2.0**24, 2.0**24 + 1],
        [1.7e12, 1.7e12 + 1],
        [1.0, np.nextafter(1.0, 2.0)],
        [1e39, 1e40],
        [1e-60, 2e-60],
    ],
    ids=["ids", "milliseconds", "neighbours", "too large", "too small"],
)
def test_what_float32_merges_is_named(column):
    X = np.column_stack(([5.0, 5.0], column))
    clf = ConTreeClassifier(1).fit(X, ["a", "b"])
    assert clf.errors_ == 0
    with pytest.warns(UserWarning, match="Feature 'feature_1': .* float32") as caught:
        clf.to_sklearn()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert repr(float(column[0])) in str(caught[0].message)


def test_a_float32_value_on_the_edge_goes_the_same_way():
    """The threshold 2.45 is between two float32 numbers; both must go as in float64."""
    clf = ConTreeClassifier(1).fit([[2.4], [2.5]], [0, 1])
    near = np.float32(clf.tree_.threshold[0])
    rows = np.array(
        [[np.nextafter(near, np.float32(v))] for v in (-9, 9)] + [[near]], dtype=np.float32
    )
    assert (clf.to_sklearn().predict(rows) == clf.predict(rows)).all()


@pytest.mark.parametrize("share", [0.9, 0.95])
def test_a_threshold_that_is_no_midpoint_stays_inside_its_gap(share):
    """Rounding carries the left neighbour over the threshold; the float32 one must follow it."""
    step = float(np.spacing(np.float32(1.0)))
    below, above = 1.0 + 0.9 * step, 5.0
    data = json.loads(ConTreeClassifier(1).fit([[below], [above]], [0, 1]).to_json())
    data["tree"]["threshold"][0] = 1.0 + share * step
    cart = ConTreeClassifier.from_json(json.dumps(data)).to_sklearn()
    assert cart.predict([[below], [above]]).tolist() == [0, 1]


def test_it_needs_a_fit():
    with pytest.raises(NotFittedError):
        ConTreeClassifier().to_sklearn()
