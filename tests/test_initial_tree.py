"""A tree that the user has is where the search begins: never worse, whatever it comes from."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from contree import ConTreeClassifier
from contree._class_tree import ClassTree
from contree._initial_tree import _compared_as_float64
from oracle import check_tree
from scale import scaled
from test_limits import hard_set

SEARCHES = ["best_first", "paper"]


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def begun_with(clf) -> list[int]:
    """Return the objectives that a search began with; the paper's begins with a leaf."""
    return [step.objective for step in clf.search_report_.history[: 1 + (clf.search == "paper")]]


def routed_errors(leaf_of, y) -> int:
    """Errors when every leaf predicts the majority of its rows."""
    codes = np.unique(y, return_inverse=True)[1]
    return sum(
        np.count_nonzero(leaf_of == leaf) - np.bincount(codes[leaf_of == leaf]).max()
        for leaf in np.unique(leaf_of)
    )


FORMS = {
    "classifier": lambda clf: clf,
    "tree_": lambda clf: clf.tree_,
    "text": lambda clf: clf.to_json(),
    "dict": lambda clf: json.loads(clf.to_json()),
    "scikit-learn": lambda clf: clf.to_sklearn(),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_where_the_search_begins(cancer, form, search):
    X, y = cancer
    best = ConTreeClassifier(3).fit(X, y)
    start = FORMS[form](best)
    clf = ConTreeClassifier(3, search=search, time_limit=0).fit(X, y, initial_tree=start)
    assert clf.errors_ == best.errors_
    assert clf.export_text() == best.export_text()
    check_tree(clf, X, y)
    assert best.errors_ in begun_with(clf)
    if search == "best_first":
        proved = ConTreeClassifier(3).fit(X, y, initial_tree=start)
        assert (proved.status_, proved.errors_) == ("optimal", best.errors_)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier])
@pytest.mark.parametrize("depth", [1, 3, 6, None])
def test_never_worse_than_a_tree_of_scikit_learn(search, kind, depth):
    X, y = hard_set(n=1000, p=6)
    theirs = kind(max_depth=depth, random_state=0, min_samples_leaf=5).fit(X, y)
    clf = ConTreeClassifier(theirs.get_depth(), search=search, time_limit=0)
    clf.fit(X, y, initial_tree=theirs)
    assert clf.errors_ <= np.count_nonzero(theirs.predict(X) != y)
    check_tree(clf, X, y)


def test_without_a_limit_of_depth_no_tree_is_cut():
    X, y = np.eye(200), np.arange(200) % 2
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert theirs.get_depth() > 64
    clf = ConTreeClassifier(max_depth=None, warm_start=True).fit(X, y, initial_tree=theirs)
    again = clone(clf).fit(X, y, initial_tree=clf)
    for one in (clf, again, clf.fit(X, y)):
        assert begun_with(one) == [0]
        assert (one.status_, one.get_depth()) == ("optimal", theirs.get_depth())


def test_a_tree_that_was_grown_best_first():
    """Its nodes are not in preorder."""
    X, y = hard_set(n=1000, p=6)
    theirs = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0).fit(X, y)
    assert (theirs.tree_.children_left[1:] != np.arange(2, theirs.tree_.node_count + 1)).any()
    clf = ConTreeClassifier(theirs.get_depth(), time_limit=0).fit(X, y, initial_tree=theirs)
    assert clf.errors_ <= np.count_nonzero(theirs.predict(X) != y)


@pytest.mark.parametrize("search", SEARCHES)
def test_other_rows_labels_and_depth(search):
    """The tests are used on what is there: empty branches go, deep ones end in leaves."""
    X, y = hard_set(n=1000, p=6)
    other = DecisionTreeClassifier(max_depth=9, random_state=0).fit(X, y)
    rows = slice(0, 60)
    names = np.array(["x", "y", "z"])[y]
    clf = ConTreeClassifier(60, search=search, time_limit=0)
    clf.fit(X[rows], names[rows], initial_tree=other)
    assert clf.errors_ <= routed_errors(other.apply(X[rows]), names[rows])
    cut = ConTreeClassifier(2, search=search, time_limit=0).fit(X, y, initial_tree=other)
    assert cut.get_depth() <= 2
    assert cut.errors_ <= np.count_nonzero(
        DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y).predict(X) != y
    )


def test_values_that_float32_cannot_tell_apart():
    """scikit-learn rounds a row to float32 before it compares; for its trees so do we."""
    rng = np.random.default_rng(0)
    base = np.float32(rng.normal(size=300))
    X = base.astype(np.float64)[:, np.newaxis] + rng.normal(scale=4e-8, size=(300, 1))
    y = rng.integers(0, 2, size=300)
    theirs = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    clf = ConTreeClassifier(6, time_limit=0).fit(X, y, initial_tree=theirs)
    assert clf.errors_ <= np.count_nonzero(theirs.predict(X) != y)


floats = st.floats(-(2.0**100), 2.0**100, width=32)


@given(floats, st.integers(-3, 3), st.integers(-3, 3), st.booleans())
@settings(max_examples=scaled(200))
def test_the_threshold_that_rounds_as_scikit_learn_does(value, steps, more, half_way):
    """For float64 values at and around every point where the answer can change."""
    nearby = np.float32(value)
    for _ in range(abs(steps)):
        nearby = np.nextafter(nearby, np.float32(np.copysign(np.inf, steps)))
    after = np.nextafter(nearby, np.float32(np.inf))
    x = (float(nearby) + float(after)) / 2 if half_way else float(nearby)
    for _ in range(abs(more)):
        x = np.nextafter(x, np.copysign(np.inf, more))
    for threshold in (
        float(np.float32(value)),
        np.nextafter(np.float64(np.float32(value)), np.inf),
    ):
        ours = _compared_as_float64(np.array([threshold]))[0]
        assert (np.float32(x) <= threshold) == (x <= ours)


@pytest.mark.parametrize("search", SEARCHES)
def test_warm_start_goes_on_from_the_last_tree(search):
    X, y = hard_set(n=1500, p=6)
    clf = ConTreeClassifier(4, search=search, warm_start=True, time_limit=1.0).fit(X, y)
    found = clf.errors_
    clf.set_params(time_limit=0).fit(X, y)
    assert clf.errors_ <= found
    assert found in begun_with(clf)
    assert found not in begun_with(clone(clf).fit(X, y))
    assert found not in begun_with(clf.set_params(warm_start=False).fit(X, y))


def test_warm_start_with_other_labels_and_rows():
    X, y = load_iris(return_X_y=True)
    clf = ConTreeClassifier(2, warm_start=True).fit(X, y)
    clf.fit(X[20:120], np.array(["a", "b", "c"])[y[20:120]])
    assert clf.status_ == "optimal"
    assert clf.classes_.tolist() == ["a", "b", "c"]
    check_tree(clf, X[20:120], np.array(["a", "b", "c"])[y[20:120]])


def test_warm_start_with_other_columns_says_so():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = ConTreeClassifier(2, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="the tree has 4 features, X has 2 columns") as caught:
        clf.fit(X.iloc[:, 2:], y)
    assert caught[0].filename == __file__
    assert (clf.status_, clf.n_features_in_) == ("optimal", 2)
    with pytest.warns(UserWarning, match=r"feature 0 is 'petal length \(cm\)', .*'petal width"):
        clf.fit(X.iloc[:, [3, 2]], y)


def test_an_initial_tree_comes_before_the_last_one():
    X, y = hard_set(n=1500, p=6)
    clf = ConTreeClassifier(4, warm_start=True, time_limit=0).fit(X, y)
    better = ConTreeClassifier(4, time_limit=1.0).fit(X, y)
    assert clf.fit(X, y, initial_tree=better).errors_ == better.errors_


X, Y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
FITTED = ConTreeClassifier(1).fit(X, Y)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (3, TypeError, r"initial_tree must be a fitted ConTreeClassifier .*; got int: 3"),
        (ConTreeClassifier, TypeError, "initial_tree must be"),
        (DummyClassifier().fit(X, Y), TypeError, "got DummyClassifier"),
        (ConTreeClassifier(), NotFittedError, "initial_tree is a ConTreeClassifier that is not"),
        (DecisionTreeClassifier(), NotFittedError, "DecisionTreeClassifier that is not fitted"),
        ("{", ValueError, "initial_tree must be .*the text is not JSON"),
        ({}, ValueError, "initial_tree must be .*schema is None"),
        ({"a": {1}}, ValueError, "initial_tree must be .*not JSON serializable"),
        (
            ConTreeClassifier(1).fit(X[:, :1], Y),
            ValueError,
            "initial_tree does not fit X: the tree has 1 features, X has 2 columns",
        ),
        (
            ClassTree([1, -1, -1], [2, -1, -1], [7, -2, -2], [0, -2, -2], [[2], [1], [1]], []),
            ValueError,
            "initial_tree tests feature 7 at node 0; X has 2 features",
        ),
        (
            ClassTree([0, -1, -1], [2, -1, -1], [0, -2, -2], [0, -2, -2], [[2], [1], [1]], []),
            ValueError,
            "initial_tree has impossible children at node 0",
        ),
        (
            ClassTree([1, -1, -1], [2, -1], [0, -2, -2], [0, -2, -2], [[2], [1], [1]], []),
            ValueError,
            "initial_tree has arrays of different lengths",
        ),
    ],
)
def test_initial_trees_refused(bad, error, message):
    clf = ConTreeClassifier(2)
    with pytest.raises(error, match=f"(?s){message}"):
        clf.fit(X, Y, initial_tree=bad)
    assert vars(clf) == clf.get_params()


class Shallow(ConTreeClassifier):
    def __init__(self, max_depth=1):
        super().__init__(max_depth)


def test_a_subclass_begins_with_any_tree_of_ours():
    whole = ConTreeClassifier(2).fit(X, Y)
    for tree in (whole, whole.tree_, whole.to_json(), Shallow(2).fit(X, Y)):
        assert Shallow().fit(X, Y, initial_tree=tree).errors_ == 0


def test_column_names_must_agree():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    clf = ConTreeClassifier(1).fit(frame, y)
    swapped = frame.iloc[:, [1, 0, 2, 3]]
    with pytest.raises(ValueError, match=r"feature 0 is 'sepal length \(cm\)', .*'sepal width"):
        clone(clf).fit(swapped, y, initial_tree=clf)
    assert clone(clf).fit(frame.to_numpy(), y, initial_tree=clf).errors_ == clf.errors_
