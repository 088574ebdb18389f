"""A regression tree as text, code, pictures and JSON."""

from __future__ import annotations

import ctypes
import json
import pickle
import shutil
import sqlite3
import subprocess
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor, export_text, plot_tree

from contree import ConTreeClassifier, ConTreeRegressor
from contree.export.certificate import certificate
from contree.export.palette import number_colours

mpl.use("Agg")
SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "regressor.schema.json"


@pytest.fixture(scope="module")
def data():
    """Return rows, some values missing, targets and weights."""
    X, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y / 10, rng.integers(1, 4, size=len(y)) / 2


@pytest.fixture(scope="module")
def reg(data):
    X, y, weights = data
    return ConTreeRegressor(2, ccp_alpha=0.5).fit(X, y, weights)


def test_text(reg):
    lines = reg.export_text().splitlines()
    leaves = [line for line in lines if "value: " in line]
    assert len(leaves) == reg.get_n_leaves()
    for line, leaf in zip(leaves, np.flatnonzero(reg.tree_.feature < 0), strict=True):
        assert f"value: {reg.tree_.value[leaf, 0, 0]:.6g}  " in line
        assert f"{reg.tree_.n_node_samples[leaf]} rows of weight " in line
        assert f"spread {np.sqrt(reg.tree_.impurity[leaf]):.4g}, squared error" in line
    with pytest.raises(ValueError, match="class_names must be None"):
        reg.export_text(class_names=["a"])


def test_certificates(data, reg):
    X, y, weights = data
    said = certificate(reg)
    assert "objective below" in said
    assert f"{0.5 * weights.sum():.6g} (0.5 times the weight of all rows) for each leaf" in said
    best = ConTreeRegressor(2).fit(X, y)
    assert f"has a squared error below {best.squared_error_:.6g} on these" in certificate(best)
    stopped = ConTreeRegressor(3, max_gap=0.3).fit(X, y)
    assert "has a squared error of at least" in certificate(stopped)
    assert f"this one has {stopped.squared_error_:.6g} (gap_reached)" in certificate(stopped)
    rounded = ConTreeRegressor(1).fit(X, np.sqrt(y))
    assert "by which the targets are rounded" in certificate(rounded)


def test_python_and_sql_predict_the_same(data, reg):
    X = data[0]
    scope: dict = {}
    exec(reg.to_python(), scope)
    assert [scope["predict"](row) for row in X] == reg.predict(X).tolist()
    database = sqlite3.connect(":memory:")
    names = [f"feature_{f}" for f in range(X.shape[1])]
    database.execute(f"CREATE TABLE t ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    rows = [[None if np.isnan(v) else v for v in row] for row in X.tolist()]
    database.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    found = [row[0] for row in database.execute(f"SELECT {reg.to_sql()} FROM t")]
    assert found == reg.predict(X).tolist()


@pytest.mark.skipif(shutil.which("cc") is None, reason="NOT TESTED: no C compiler")
def test_c_predicts_the_same(data, reg, tmp_path):
    (tmp_path / "tree.c").write_text(reg.to_c())
    command = ["cc", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", "-o", "tree.so", "tree.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "tree.so")).contree_predict
    function.restype = ctypes.c_double
    found = [function(row.ctypes.data_as(ctypes.c_void_p)) for row in np.ascontiguousarray(data[0])]
    assert found == reg.predict(data[0]).tolist()


def test_to_sklearn_is_a_genuine_regressor(data, reg):
    X, y, weights = data
    cart = reg.to_sklearn()
    assert type(cart) is DecisionTreeRegressor
    np.testing.assert_array_equal(cart.predict(X), reg.predict(X))
    np.testing.assert_allclose(cart.feature_importances_, reg.feature_importances_)
    np.testing.assert_array_equal(cart.apply(X), reg.apply(X))
    assert cart.score(X, y, weights) == pytest.approx(reg.score(X, y, weights))
    assert "value:" in export_text(cart)
    assert len(plot_tree(cart)) >= cart.tree_.node_count
    assert (pickle.loads(pickle.dumps(cart)).predict(X) == cart.predict(X)).all()


def test_the_picture_has_means_and_a_histogram(reg):
    ax = reg.plot()
    words = [text.get_text() for text in ax.texts]
    for leaf in np.flatnonzero(reg.tree_.feature < 0):
        assert f"{reg.tree_.value[leaf, 0, 0]:.6g}" in words
    bars = int((reg.tree_.histogram > 0).sum())
    assert len(ax.patches) == reg.tree_.node_count + bars + 3  # boxes, histograms, legend
    assert any("target from" in word for word in words)
    assert reg.plot_history().get_ylabel() == "squared error and cost of leaves"
    mpl.pyplot.close("all")
    colours = number_colours(reg.tree_)
    assert colours[reg.tree_.value.argmax()] != colours[reg.tree_.value.argmin()]


def test_the_page_and_the_notebook(reg, tmp_path):
    text = reg.to_html(tmp_path / "tree.html").read_text()
    data = json.loads(text.split('id="ct-data">')[1].split("</script>")[0])
    assert data["predictions"][0] == f"{reg.tree_.value[0, 0, 0]:.6g}"
    assert sum(share for _, _, share, _ in data["shares"][0]["shown"]) == (pytest.approx(1))
    assert text.count("ct-histogram") >= reg.tree_.node_count
    assert "squared error" in reg._repr_html_()
    assert reg.to_dot().count("spread") == reg.tree_.node_count


def test_json_brings_everything_back(data, reg):
    jsonschema = pytest.importorskip("jsonschema")
    text = reg.to_json()
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(text))
    back = ConTreeRegressor.from_json(text)
    assert back.to_json() == text
    assert back.get_params() == reg.get_params()
    assert back.tree_.squared_error == reg.tree_.squared_error
    for name in ("squared_error_", "objective_", "lower_bound_", "target_tolerance_", "gap_"):
        assert getattr(back, name) == getattr(reg, name)
    assert (back.predict(data[0]) == reg.predict(data[0])).all()
    assert back.tree_.weight_unit == Fraction(1, 2)
    with pytest.raises(ValueError, match=r"schema is 'contree.regressor'"):
        ConTreeClassifier.from_json(text)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["certificate", "squared_error"], 1.0, "squared_error is 1.0, but the leaves have"),
        (["certificate", "lower_bound"], 1e9, "lower_bound is above"),
        (["tree", "node_sums", 1], 0, "node_sums of a node are not the sum"),
        (["tree", "node_squares", 0], [0, 1], "node_squares"),
        (["tree", "histogram", 0, 0], 10**6, "histogram"),
        (["tree", "node_weights", 0], 1, "node_weights"),
        (["tree", "n_node_samples", 0], -1, "n_node_samples"),
        (["tree", "target_unit"], [0, 1], "target_unit"),
        (["tree", "target_centre"], [1, 0], "target_centre"),
        (["tree", "target_unit"], [10**400, 1], "target_unit or target_centre is too large"),
        (["targets", "least"], "low", "targets.least must be"),
        (["targets", "least"], 1e9, "least is above"),
        (["version"], 3, "version is 3"),
        (["parameters", "criterion"], "gini", "criterion"),
    ],
)
def test_damage_is_told(reg, path, value, message):
    data = json.loads(reg.to_json())
    *parents, last = path
    place = data
    for parent in parents:
        place = place[parent]
    place[last] = value
    with pytest.raises(ValueError, match=message):
        ConTreeRegressor.from_json(json.dumps(data))
