"""What a user sees of the estimator: parameters, fitted attributes, predictions."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import contree
from contree import ConTreeClassifier, SearchReport, _core
from oracle import check_tree, fewest_errors


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_iris_depth_two(iris):
    X, y = iris
    clf = ConTreeClassifier(max_depth=2).fit(X, y)
    check_tree(clf, X, y)
    assert clf.status_ == "optimal"
    assert clf.errors_ == clf.objective_ == clf.lower_bound_ == fewest_errors(X, y, 2)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.n_classes_ == 3
    assert clf.n_features_in_ == 4
    assert clf.score(X, y) == 1 - clf.errors_ / len(y)
    assert type(clf.errors_) is type(clf.objective_) is type(clf.lower_bound_) is int


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_never_worse_than_cart(depth):
    X, y = load_breast_cancer(return_X_y=True)
    clf = ConTreeClassifier(depth).fit(X, y)
    check_tree(clf, X, y)
    assert clf.tree_.max_depth <= depth
    cart = DecisionTreeClassifier(max_depth=max(depth, 1), random_state=0).fit(X, y)
    cart_errors = np.count_nonzero(cart.predict(X) != y) if depth else np.bincount(y).min()
    assert clf.errors_ <= cart_errors


def test_deeper_is_never_worse(iris):
    X, y = iris
    errors = [ConTreeClassifier(depth).fit(X, y).errors_ for depth in range(6)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == 100
    assert errors[-1] == 0


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0, 2.0]], ["only"]),
        ([[1.0], [2.0], [3.0]], [7, 7, 7]),
        ([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], [0, 1, 1]),
    ],
    ids=["one row", "one class", "constant columns"],
)
@pytest.mark.parametrize("depth", [0, 1, 3, 10**20])
def test_a_leaf(X, y, depth):
    clf = ConTreeClassifier(depth).fit(X, y)
    check_tree(clf, X, y)
    assert clf.tree_.node_count == clf.tree_.n_leaves == 1
    assert clf.tree_.max_depth == 0
    assert clf.status_ == "optimal"
    assert clf.lower_bound_ == clf.errors_
    assert (clf.predict(X) == y[-1]).all()


def test_equal_counts_predict_the_first_class():
    clf = ConTreeClassifier(0).fit([[0.0]] * 4, ["b", "a", "b", "a"])
    assert clf.predict([[5.0]]).tolist() == ["a"]
    assert clf.predict_proba([[5.0]]).tolist() == [[0.5, 0.5]]


def test_predict_proba_is_the_fractions_of_the_leaf(iris):
    X, y = iris
    clf = ConTreeClassifier(2).fit(X, y)
    leaves = clf.apply(X)
    probabilities = clf.predict_proba(X)
    assert probabilities.shape == (150, 3)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        expected = np.bincount(y[rows], minlength=3) / rows.sum()
        np.testing.assert_array_equal(probabilities[rows], np.tile(expected, (rows.sum(), 1)))
    assert (clf.classes_[probabilities.argmax(axis=1)] == clf.predict(X)).all()


@pytest.mark.parametrize("form", ["C", "F", "float32", "list"])
def test_predict_takes_every_form(iris, form):
    X, y = iris
    clf = ConTreeClassifier(3).fit(X.astype(np.float32), y)
    same = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "float32": np.float32,
        "list": np.ndarray.tolist,
    }[form](X.astype(np.float32))
    assert clf.apply(same).tolist() == clf.apply(X.astype(np.float32).astype(float)).tolist()


def test_predicting_needs_a_fit():
    for method in ("predict", "predict_proba", "apply"):
        with pytest.raises(NotFittedError):
            getattr(ConTreeClassifier(), method)([[1.0]])
    with pytest.raises(NotFittedError):
        ConTreeClassifier().export_text()


def test_a_failed_fit_is_no_fit():
    clf = ConTreeClassifier(search_options={"cache": 7})
    with pytest.raises(ValueError):
        clf.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(NotFittedError):
        clf.predict([[0.0]])


def test_tree_arrays_are_those_of_scikit_learn(iris):
    """A stump on one feature is the same for both, so every array must be."""
    X, y = iris[0][:100, 2:3], iris[1][:100]
    ours = ConTreeClassifier(1).fit(X, y).tree_
    theirs = DecisionTreeClassifier(max_depth=1).fit(X, y).tree_
    for name in ("children_left", "children_right", "feature", "n_node_samples", "value"):
        expected = getattr(theirs, name)
        np.testing.assert_array_equal(getattr(ours, name), expected)
        assert getattr(ours, name).shape == expected.shape
    np.testing.assert_allclose(ours.threshold, theirs.threshold)
    for name in ("node_count", "max_depth", "n_leaves"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_tree_arrays_cannot_be_changed(iris):
    tree = ConTreeClassifier(2).fit(*iris).tree_
    copies = [tree, pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)]
    for one in copies:
        for name in ("children_left", "threshold", "class_counts", "value", "threshold_gap"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 0


@pytest.mark.parametrize("rows", [150, 700], ids=["shallow", "deep"])
def test_threshold_gap_holds_the_neighbouring_values(iris, rows):
    X, y = iris
    if rows > 150:  # enough nodes for the way that sorts a column once
        X, y = np.arange(float(rows))[:, np.newaxis] ** 2, np.arange(rows) // 10 % 2
    tree = ConTreeClassifier(3 if rows == 150 else 7, search="paper").fit(X, y).tree_
    assert (np.count_nonzero(tree.feature == 0) > 16) == (rows > 150)
    for node in np.flatnonzero(tree.feature >= 0):
        column, tau = X[:, tree.feature[node]], tree.threshold[node]
        assert tree.threshold_gap[node].tolist() == [
            column[column <= tau].max(),
            column[column > tau].min(),
        ]


def test_pickled_and_cloned(iris):
    X, y = iris
    clf = ConTreeClassifier(2, max_gap=1, search="paper", search_options={"cache": 0}).fit(X, y)
    back = pickle.loads(pickle.dumps(clf))
    assert (back.predict(X) == clf.predict(X)).all()
    assert back.search_report_ == clf.search_report_
    assert back.get_params() == clf.get_params() == clone(clf).get_params()
    assert not hasattr(clone(clf), "tree_")


def test_works_in_scikit_learn(iris):
    X, y = iris
    assert is_classifier(ConTreeClassifier())
    assert cross_val_score(make_pipeline(StandardScaler(), ConTreeClassifier(2)), X, y).min() > 0.8
    search = GridSearchCV(ConTreeClassifier(), {"max_depth": [0, 2]}).fit(X, y)
    assert search.best_params_ == {"max_depth": 2}


def test_search_report(iris):
    X, y = iris
    report = ConTreeClassifier(3).fit(X, y).search_report_
    assert isinstance(report, SearchReport)
    assert report.seconds >= 0
    assert report.counters
    assert all(type(count) is int and count >= 0 for count in report.counters.values())
    assert report.kernel == _core.kernel()
    assert report.kernel in _core.kernels()
    assert (report.search, report.n_jobs) == ("best_first", 1)
    assert report.history
    moments = [step.seconds for step in report.history]
    assert moments == sorted(moments)
    objectives = [step.objective for step in report.history]
    assert objectives == sorted(objectives, reverse=True)
    bounds = [step.lower_bound for step in report.history]
    assert bounds == sorted(bounds)
    for name, count in report.counters.items():
        assert f"{count:,}" in repr(report)
        assert name in repr(report)
    with pytest.raises(TypeError):
        report.counters["x"] = 1


def test_history_ends_with_the_result(iris):
    X, y = iris
    clf = ConTreeClassifier(3).fit(X, y)
    last = clf.search_report_.history[-1]
    assert (last.objective, last.lower_bound) == (clf.objective_, clf.lower_bound_)


def test_verbose_prints_one_line(iris, capsys):
    ConTreeClassifier(2, verbose=1).fit(*iris)
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "optimal" in out
    ConTreeClassifier(2).fit(*iris)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1, -2, np.int64(2)])
def test_threads_give_the_same_optimum(iris, n_jobs):
    clf = ConTreeClassifier(3, n_jobs=n_jobs).fit(*iris)
    assert clf.errors_ == clf.lower_bound_ == ConTreeClassifier(3).fit(*iris).errors_
    assert clf.search_report_.n_jobs >= 1


def test_the_public_names():
    assert set(contree.__all__) <= set(dir(contree))
    assert contree.__version__.count(".") == 2
