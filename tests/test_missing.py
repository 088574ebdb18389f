"""Missing values and weights in every export: run on rows with NaN, it gives what predict gives."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier
from contree.export.certificate import certificate
from test_exports import graph, run_sql
from test_html import Outline

NAMES = ["a", "b", "c", "d"]


def some_missing(X, share=0.25, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def missing_or_not():
    """Return rows that only the absence of values tells apart, at two tests."""
    X = np.array([[1.0, 5.0], [2.0, 5.0], [np.nan, 5.0], [np.nan, np.nan], [3.0, np.nan]] * 2)
    return X, np.array(["x", "x", "y", "z", "x"] * 2)


@pytest.fixture(scope="module")
def cases():
    """Return fitted trees and rows to try them on: the training rows, and others that lack more."""
    iris = load_iris()
    labels = iris.target_names[iris.target]
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.25], size=150)
    X = some_missing(iris.data)
    found = [
        (ConTreeClassifier(3).fit(X, labels), X),
        (ConTreeClassifier(3, class_weight="balanced").fit(X, labels, weights), X),
        (ConTreeClassifier(3, min_samples_leaf=20).fit(X[:, ::-1], labels, weights), X[:, ::-1]),
        # Nothing was missing in training, and it is now: to the larger side.
        (ConTreeClassifier(3).fit(iris.data, labels), X),
    ]
    X, y = missing_or_not()
    clf = ConTreeClassifier(2).fit(X, y)
    assert clf.errors_ == 0
    assert np.isinf(clf.tree_.threshold).any()
    found.append((clf, X))
    return [(clf, np.vstack((X, some_missing(X, 0.6, seed=2)))) for clf, X in found]


def met(cases):
    """Return those that met missing values in training."""
    found = [(clf, X) for clf, X in cases if clf.tree_.knows_missing]
    assert len(found) == len(cases) - 1
    return found


def test_python(cases):
    for clf, X in cases:
        space: dict = {}
        exec(clf.to_python(), space)
        assert [space["predict"](row) for row in X.tolist()] == clf.predict(X).tolist()
    for clf, X in met(cases):
        exec(clf.to_python(), space)
        rows = [[None if value != value else value for value in row] for row in X.tolist()]
        assert [space["predict"](row) for row in rows] == clf.predict(X).tolist()


def test_c(cases, tmp_path):
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("NOT TESTED: the C export needs gcc to be tried")
    for number, (clf, X) in enumerate(cases):
        source = tmp_path / f"tree{number}.c"
        source.write_text(clf.to_c(name="classify"))
        library = source.with_suffix(".so")
        strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-std=c99"]
        subprocess.run([compiler, *strict, "-shared", "-fPIC", source, "-o", library], check=True)
        classify = ctypes.CDLL(str(library)).classify
        pointer = ctypes.POINTER(ctypes.c_double)
        found = [classify(row.ctypes.data_as(pointer)) for row in np.ascontiguousarray(X)]
        assert clf.classes_[found].tolist() == clf.predict(X).tolist()


def test_sql(cases):
    for clf, X in met(cases):
        names = NAMES[: X.shape[1]]
        rows = np.where(np.isnan(X), None, X.astype(object))
        assert run_sql(clf.to_sql(names), rows, names) == clf.predict(X).tolist()


def follow(row, names, tests, children):
    """Return the label at the end of a row's way, by tests as the exports word them."""
    node = 0
    while node in tests:
        name, relation = tests[node].split(" ", 1)
        value = row[names.index(name)]
        yes, no = children[node]
        if relation == "is not missing":
            node = no[0] if np.isnan(value) else yes[0]
        elif np.isnan(value):
            assert ("or missing" in relation) != ("or missing" in no[1]), "where does it go?"
            node = yes[0] if "or missing" in relation else no[0]
        else:
            node = yes[0] if value <= float(relation.split()[1]) else no[0]
    return node


def test_dot(cases):
    for clf, X in met(cases):
        names = NAMES[: X.shape[1]]
        read = graph(clf.to_dot(feature_names=names))
        labels = {int(node["name"]): node["label"].split("\\n") for node in read["objects"]}
        numbers = {node["_gvid"]: int(node["name"]) for node in read["objects"]}
        ways: dict = {}
        for edge in read["edges"]:
            ways.setdefault(numbers[edge["tail"]], {})[edge["label"]] = numbers[edge["head"]]
        tests = {node: labels[node][0] for node in ways}
        children = {
            node: [(child, word) for word, child in sorted(way.items(), reverse=True)]
            for node, way in ways.items()
        }
        trained = X[: len(X) // 2]
        found = [follow(row, names, tests, children) for row in trained]
        said = [labels[node][0].removeprefix("class: ") for node in found]
        assert said == clf.predict(trained).tolist()


def test_text_says_it_where_it_matters(cases):
    for clf, _ in cases:
        text, tree = clf.export_text(), clf.tree_
        inner = tree.feature >= 0
        endless = np.isinf(tree.threshold)
        told = (tree.n_node_missing > 0) & ~endless
        assert text.count("or missing") == told.sum()
        left = told & (tree.missing_go_to_left == 1)
        assert len(re.findall(r"<= \S+ or missing", text)) == left.sum()
        assert text.count("is missing") == text.count("is not missing") == endless.sum()
        assert len(re.findall(r" <= ", text)) == (inner & ~endless).sum()


def test_text_of_a_tree_with_weights():
    clf = ConTreeClassifier(1).fit([[1.0], [2.0], [3.0]], ["a", "b", "b"], [0.5, 1.0, 0.25])
    assert clf.export_text() == (
        "|--- feature_0 <= 1.5\n"
        "|   |--- class: a  (1 row of weight 0.5, errors of weight 0, weights [0.5, 0])\n"
        "|--- feature_0 >  1.5\n"
        "|   |--- class: b  (2 rows of weight 1.25, errors of weight 0, weights [0, 1.25])\n"
    )
    assert certificate(clf) == "This tree fits these rows without errors (optimal)."
    clf = ConTreeClassifier(0, min_samples_leaf=2).fit([[1.0], [2.0]], ["a", "b"], [3, 2])
    assert "(2 rows of weight 5, errors of weight 2, weights [3, 2])" in clf.export_text()
    assert "at least 2 rows in each leaf, has errors that weigh less than 2 on" in certificate(clf)
    with pytest.warns(RuntimeWarning, match="too far apart"):
        rounded = ConTreeClassifier(0).fit([[1.0], [2.0]], ["a", "b"], [1.0, 1e-30])
    assert "by which the weights are rounded" in certificate(rounded)


def test_trees_that_met_nothing_print_as_ever(cases):
    clf = cases[3][0]
    texts = [clf.export_text(), clf.to_dot(), clf.to_sql(), clf.to_c(), clf._repr_html_()]
    for text in texts:
        assert "missing" not in text
        assert "weight" not in text.replace("font-weight", "").replace("class_weight", "")


def test_json(cases):
    for clf, X in cases:
        back = ConTreeClassifier.from_json(clf.to_json())
        np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
        for name in ("threshold", "threshold_gap", "missing_go_to_left", "n_node_missing"):
            np.testing.assert_array_equal(getattr(back.tree_, name), getattr(clf.tree_, name))
        assert back.tree_.weight_unit == clf.tree_.weight_unit
        assert back.to_json() == clf.to_json()
        assert vars(back).keys() == vars(clf).keys()


def test_json_of_version_1_is_read(cases):
    clf, X = cases[3]
    data = json.loads(clf.to_json())
    data["version"] = 1
    del data["certificate"]["weight_tolerance"]
    for name in ("missing_go_to_left", "class_weights", "n_node_missing", "weight_unit"):
        del data["tree"][name]
    back = ConTreeClassifier.from_json(json.dumps(data))
    assert back.predict(X).tolist() == clf.predict(X).tolist()
    assert back.to_json() == clf.to_json()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("missing_go_to_left", [2, 0, 0, 0, 0], "0 and 1 only"),
        ("n_node_missing", [99, 0, 0, 0, 0], "n_node_missing must be"),
        ("n_node_missing", [0, 0, 0, 0, 0], "infinite where no missing value goes right"),
        ("missing_go_to_left", [1, 1, 0, 0, 0], "infinite where no missing value goes right"),
        ("class_weights", None, "tree.class_weights must be a list"),
        ("weight_unit", 0, "weight_unit must be"),
        ("weight_unit", [1, 0], "weight_unit must be"),
        ("weight_unit", [10**400, 1], "weight_unit is too large"),
        ("weight_unit", 2**62, "weight_unit is too large"),
        ("weight_unit", 2, "errors is"),
    ],
)
def test_damage_in_json_is_named(name, value, message):
    X, y = missing_or_not()
    y[0] = "z"
    clf = ConTreeClassifier(2).fit(X, y)
    assert clf.tree_.node_count == 5
    data = json.loads(clf.to_json())
    data["tree"][name] = value
    with pytest.raises(ValueError, match=message):
        ConTreeClassifier.from_json(json.dumps(data))


def test_class_weights_of_json_keep_their_labels():
    X, y = missing_or_not()
    for labels, given in ((y, {"x": 2, "z": 0.5}), (np.arange(10) % 2, {0: 3, 1: 1.5})):
        clf = ConTreeClassifier(1, class_weight=given).fit(X, labels)
        back = ConTreeClassifier.from_json(clf.to_json())
        assert back.class_weight == given
        data = json.loads(clf.to_json())
        data["parameters"]["class_weight"][0] = ["x"]
        with pytest.raises(ValueError, match="class_weight has"):
            ConTreeClassifier.from_json(json.dumps(data))


def test_to_sklearn(cases):
    for clf, X in cases:
        cart = clf.to_sklearn()
        assert cart.predict(X).tolist() == clf.predict(X).tolist()
        np.testing.assert_array_equal(cart.predict_proba(X), clf.predict_proba(X))
        np.testing.assert_array_equal(cart.apply(X), clf.apply(X))
        np.testing.assert_allclose(cart.feature_importances_, clf.feature_importances_)
        np.testing.assert_array_equal(
            cart.tree_.weighted_n_node_samples, clf.tree_.weighted_n_node_samples
        )


def test_missing_or_not_is_the_same_test_in_scikit_learn():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [3.0]])
    y = [0, 0, 1, 1, 0]
    cart = DecisionTreeClassifier(max_depth=1).fit(X, y)
    ours = ConTreeClassifier(1).fit(X, y)
    for tree in (cart.tree_, ours.tree_, ours.to_sklearn().tree_):
        assert tree.threshold[0] == np.inf
        assert tree.missing_go_to_left[0] == 0
        assert tree.n_node_samples.tolist() == [5, 3, 2]
    assert ours.tree_.threshold_gap[0].tolist() == [3.0, np.inf]


def test_many_tests_of_one_feature_have_their_gaps():
    """Above sixteen tests of one feature its values are sorted once."""
    X = np.append(np.arange(200.0), [np.nan] * 9)[:, np.newaxis]
    y = np.append(np.arange(200) // 5 % 2, [2] * 9)
    clf = ConTreeClassifier(7, time_limit=0.5).fit(X, y)
    tree = clf.tree_
    assert (tree.feature == 0).sum() > 16
    for node in np.flatnonzero(tree.feature == 0):
        values = X[:200, 0]
        below, above = tree.threshold_gap[node]
        assert below == values[values <= tree.threshold[node]].max()
        assert above == min(values[values > tree.threshold[node]], default=np.inf)


def test_the_notebook_and_the_page(cases, tmp_path):
    for clf, _ in cases:
        for text in (clf._repr_html_(), clf.to_html(tmp_path / "tree.html").read_text()):
            outline = Outline(text)
            assert outline.tags.count("li") == clf.tree_.node_count
            shown = "".join(outline.texts)
            assert (" of weight " in shown.split('"use strict"')[0]) == clf.tree_.weighted
    text = cases[-1][0]._repr_html_()
    assert "is not missing" in text


def test_plot(cases):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for clf, _ in cases:
        ax = clf.plot()
        ax.figure.canvas.draw()
        texts = " ".join(text.get_text() for text in ax.texts)
        tree = clf.tree_
        endless = np.isinf(tree.threshold)
        told = ((tree.n_node_missing > 0) & ~endless).sum()
        assert texts.count("or missing") == told
        assert texts.count("is not missing") == endless.sum()
        assert ("weight " in texts) == tree.weighted
        plt.close(ax.figure)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, None, 3.0, None], "b": [1, 2, 3, 4]}),
        pd.DataFrame({"a": pd.Series([1, None, 3, None], dtype="Int64"), "b": [1, 2, 3, 4]}),
        pd.DataFrame({"a": [1, None, 3, None], "b": [1, 2, 3, 4]}, dtype=object),
        [[1, 1], [None, 2], [3, 3], [np.nan, 4]],
    ],
    ids=["float", "Int64", "object", "list"],
)
def test_missing_values_of_every_kind(frame):
    clf = ConTreeClassifier(1).fit(frame, [0, 1, 0, 1])
    assert clf.errors_ == 0
    assert clf.tree_.n_node_missing.tolist() == [2, 0, 0]
    assert clf.predict(frame).tolist() == [0, 1, 0, 1]


def test_nullable_integers_that_float64_merges_are_still_reported():
    ids = pd.Series([2**53, 2**53 + 1, None, 5], dtype="Int64")
    with pytest.warns(UserWarning, match="Column 'id' has integers beyond"):
        ConTreeClassifier(1).fit(pd.DataFrame({"id": ids}), [0, 1, 0, 1])


def test_a_column_without_any_value():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]])
    clf = ConTreeClassifier(2).fit(X, [0, 1, 1])
    assert clf.tree_.feature.tolist() == [1, -2, -2]
    assert ConTreeClassifier(2).fit(X[:, :1], [0, 1, 1]).tree_.node_count == 1
