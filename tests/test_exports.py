"""Each export is run on rows and gives what predict gives."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from contree import ConTreeClassifier
from scale import scaled

NASTY_FEATURES = [
    'size "x"\\',
    "a\nb */ /* <b>&amp;</b>",
    "größe `[µ]` ??/",
    "x'; DROP TABLE t; --",
]
NASTY_CLASSES = ['it\'s "one"\\', "<script>&\n*/", "日本 ??= %s {0}"]


@pytest.fixture(scope="module")
def iris():
    return load_iris()


@pytest.fixture(scope="module")
def nasty(iris):
    """Return a fitted classifier with the worst names, and its rows."""
    labels = np.array(NASTY_CLASSES)[iris.target]
    return ConTreeClassifier(3).fit(iris.data, labels), iris.data


@pytest.fixture(scope="module")
def close():
    """Return a classifier whose thresholds need all their digits, and its rows.

    Every threshold has float64 neighbours around it, of every size.
    """
    values = [0.1, 1 / 3, 1e-7, 123456.789, -2.5e-3, 7.0]
    column = np.sort([v for x in values for v in (x, np.nextafter(x, np.inf))])
    X = np.column_stack((column, -column))
    clf = ConTreeClassifier(4).fit(X, np.arange(len(X)) % 2)
    assert clf.errors_ == 0
    return clf, X


@pytest.fixture(scope="module")
def deep():
    """Return a tree of 40 levels, which no nested ifs hold, and its rows."""
    n = 41
    nodes = 2 * n - 1
    inner = np.arange(0, nodes - 1, 2)
    left, right = np.full(nodes, -1), np.full(nodes, -1)
    left[inner], right[inner] = inner + 1, inner + 2
    feature, threshold = np.full(nodes, -2), np.full(nodes, -2.0)
    feature[inner], threshold[inner] = 0, np.arange(n - 1) + 0.5
    counts = np.zeros((nodes, 2), dtype=int)
    for node in range(nodes):
        first = node // 2
        alone = node % 2 == 1
        for value in [first] if alone else range(first, n):
            counts[node, value % 2] += 1
    X = np.arange(float(n))[:, np.newaxis]
    data = json.loads(ConTreeClassifier(1).fit(X, np.arange(n) % 2).to_json())
    gap = [[float(node // 2), node // 2 + 1.0] for node in range(nodes)]
    data["version"] = 1  # in which neither weights nor missing values are written
    data["tree"] = {
        "children_left": left.tolist(),
        "children_right": right.tolist(),
        "feature": feature.tolist(),
        "threshold": threshold.tolist(),
        "class_counts": counts.tolist(),
        "threshold_gap": gap,
    }
    data["certificate"].update(errors=0, objective=0, lower_bound=0)
    clf = ConTreeClassifier.from_json(json.dumps(data))
    assert clf.get_depth() == 40
    assert clf.predict(X).tolist() == [i % 2 for i in range(n)]
    return clf, X


def cases(nasty, close, deep):
    yield (*nasty, NASTY_FEATURES)
    yield (*close, ["a", "b"])
    yield (*deep, ["a"])
    X, y = load_breast_cancer(return_X_y=True)
    yield ConTreeClassifier(2).fit(X, y == 1), X, [f"f{i}" for i in range(30)]
    yield ConTreeClassifier(0).fit([[1.0], [2.0]], [-7, -7]), np.array([[1.0], [2.0]]), ["only"]


def run_sql(sql: str, X, names) -> list:
    with sqlite3.connect(":memory:") as base:
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        base.execute(f"CREATE TABLE t ({', '.join(f'{name} REAL' for name in quoted)})")
        marks = ", ".join("?" * len(names))
        base.executemany(f"INSERT INTO t VALUES ({marks})", X.tolist())
        found = [row[0] for row in base.execute(f"SELECT {sql} FROM t ORDER BY rowid")]
    base.close()
    return found


def test_sql(nasty, close, deep):
    for clf, X, names in cases(nasty, close, deep):
        found = run_sql(clf.to_sql(feature_names=names), X, names)
        assert found == clf.predict(X).tolist()


@pytest.mark.parametrize("trained_on", ["whole rows", "one column with missing values"])
def test_missing_values_where_training_had_none(iris, trained_on):
    """NULL, None and NaN go to the larger side, as predict sends them."""
    X, names = iris.data.copy(), ["a", "b", "c", "d"]
    if trained_on != "whole rows":
        X[::5, 3] = np.nan
    clf = ConTreeClassifier(3).fit(X, iris.target)
    assert clf.tree_.knows_missing == (trained_on != "whole rows")
    rows = np.where(np.random.default_rng(1).random(iris.data.shape) < 0.4, np.nan, iris.data)
    expected = clf.predict(rows).tolist()
    inner = clf.tree_.feature >= 0
    assert set(clf.tree_.missing_go_to_left[inner]) == {0, 1}  # so that both ways are tried
    nulls = np.where(np.isnan(rows), None, rows)
    assert run_sql(clf.to_sql(names), nulls, names) == expected
    space: dict = {}
    exec(clf.to_python(), space)
    for missing in (nulls, rows):
        assert [space["predict"](row) for row in missing.tolist()] == expected


def test_sql_quotes():
    clf = ConTreeClassifier(1).fit([[1.0], [2.0]], ["a\\", "b"])
    assert '"a`]""b" <= 1.5' in clf.to_sql(['a`]"b'])
    assert '`a``]"b` <= 1.5' in clf.to_sql(['a`]"b'], quote="`")
    assert '[a`]]"b] <= 1.5' in clf.to_sql(['a`]"b'], quote="[")
    assert "'a\\'" in clf.to_sql()
    assert "'a\\\\'" in clf.to_sql(quote="`")
    assert "THEN 10" in clf.to_sql(class_names=[10, 20])
    with pytest.raises(ValueError, match="quote must be one of"):
        clf.to_sql(quote="'")
    with pytest.raises(ValueError, match="NUL"):
        clf.to_sql(feature_names=["a\0b"])


def test_python(nasty, close, deep):
    for clf, X, names in cases(nasty, close, deep):
        source = clf.to_python(feature_names=names, name="classify")
        assert "import" not in source.replace("important", "")
        space: dict = {}
        exec(compile(source, "classify.py", "exec"), space)
        found = [space["classify"](row) for row in X.tolist()]
        assert found == clf.predict(X).tolist()
        assert [type(v) for v in found] == [type(v) for v in clf.predict(X).tolist()]


@pytest.mark.parametrize("standard", ["c99", "c++17"])
def test_c(nasty, close, deep, tmp_path, standard):
    compiler = shutil.which("g++" if "+" in standard else "gcc")
    if compiler is None:
        pytest.skip("NOT TESTED: the C export needs gcc and g++ to be tried")
    for number, (clf, X, names) in enumerate(cases(nasty, close, deep)):
        source = tmp_path / f"tree{number}.c"
        source.write_text(clf.to_c(feature_names=names, name="classify"))
        library = source.with_suffix(".so")
        strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", f"-std={standard}"]
        if "+" in standard:  # what a C++ program would write around it
            text = source.read_text().replace("const char *const", "extern const char *const", 1)
            text = text.replace(
                "extern const", "extern const char *const classify_classes[];\nconst", 1
            )
            source.write_text(f'extern "C" {{\n{text}}}\n')
            strict += ["-x", "c++"]
        subprocess.run([compiler, *strict, "-shared", "-fPIC", source, "-o", library], check=True)
        compiled = ctypes.CDLL(str(library))
        classes = (ctypes.c_char_p * clf.n_classes_).in_dll(compiled, "classify_classes")
        assert [name.decode() for name in classes] == [str(label) for label in clf.classes_]
        rows = np.ascontiguousarray(X)
        pointer = ctypes.POINTER(ctypes.c_double)
        found = [compiled.classify(row.ctypes.data_as(pointer)) for row in rows]
        assert clf.classes_[found].tolist() == clf.predict(X).tolist()


def test_labels_that_code_cannot_write():
    rows, days = [[1.0], [2.0]], np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    clf = ConTreeClassifier(1).fit(rows, days)
    with pytest.raises(ValueError, match=r"strings and finite numbers; the class .*2020"):
        clf.to_python()
    function: dict = {}
    exec(clf.to_python(class_names=["one", "two"]), function)
    assert [function["predict"](row) for row in rows] == ["one", "two"]
    for write in (clf.to_python, clf.to_sql):
        with pytest.raises(ValueError, match="inf"):
            write(class_names=[0.0, np.inf])


@pytest.mark.parametrize("name", ["", "1x", "a b", "x;y", "größe", "return", 3, None])
def test_names_of_functions_are_checked(iris, name):
    clf = ConTreeClassifier(1).fit(iris.data, iris.target)
    with pytest.raises(ValueError, match="name must be a name"):
        clf.to_python(name=name)
    with pytest.raises(ValueError, match="name must be a name"):
        clf.to_c(name=name)


@settings(max_examples=scaled(40))
@given(st.text(), st.text(min_size=1))
def test_no_name_breaks_the_code(feature, label):
    clf = ConTreeClassifier(1).fit([[1.0], [2.0]], [label, label + "x"])
    space: dict = {}
    exec(clf.to_python(feature_names=[feature]), space)
    assert [space["predict"]([v]) for v in (1.0, 2.0)] == clf.predict([[1.0], [2.0]]).tolist()
    source = clf.to_c(feature_names=[feature])
    assert source.isascii()
    assert source.count("*/") == source.count("/*") == 4
    if "\0" not in feature + label:
        sql = clf.to_sql(feature_names=[feature])
        assert sql.count("'") % 2 == 0


def graph(dot: str) -> dict:
    """Return what Graphviz reads, or skip."""
    if shutil.which("dot") is None:
        pytest.skip("NOT TESTED: Graphviz is not installed, so nothing reads the DOT export")
    done = subprocess.run(
        ["dot", "-Tdot_json"], input=dot, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return json.loads(done.stdout)


def test_dot(iris):
    clf = ConTreeClassifier(3).fit(iris.data, iris.target_names[iris.target])
    read = graph(clf.to_dot(feature_names=["a", "b", "c", "d"]))
    labels = {int(node["name"]): node["label"].split("\\n") for node in read["objects"]}
    numbers = {node["_gvid"]: int(node["name"]) for node in read["objects"]}
    next_node = {
        (numbers[edge["tail"]], edge["label"]): numbers[edge["head"]] for edge in read["edges"]
    }

    def follow(row):
        node = 0
        while not labels[node][0].startswith("class: "):
            name, threshold = labels[node][0].split(" <= ")
            goes_left = row["abcd".index(name)] <= float(threshold)
            node = next_node[node, "yes" if goes_left else "no"]
        return labels[node][0].removeprefix("class: ")

    assert [follow(row) for row in iris.data] == clf.predict(iris.data).tolist()


def test_dot_shows_nasty_names_as_they_are(nasty):
    clf, _ = nasty
    read = graph(clf.to_dot(NASTY_FEATURES))
    assert len(read["objects"]) == clf.tree_.node_count
    svg = subprocess.run(
        ["dot", "-Tsvg"],
        input=clf.to_dot(NASTY_FEATURES),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    import html

    shown = html.unescape(" ".join(re.findall(r"<text[^>]*>(.*?)</text>", svg))).replace(
        "\xa0", " "
    )
    for f in {int(f) for f in clf.tree_.feature if f >= 0}:
        for line in NASTY_FEATURES[f].splitlines():
            assert line in shown
    for label in NASTY_CLASSES:
        for line in label.splitlines():
            assert line in shown


def test_every_export_needs_a_fit():
    clf = ConTreeClassifier()
    for method in ("to_dot", "to_json", "to_sql", "to_python", "to_c"):
        with pytest.raises(NotFittedError):
            getattr(clf, method)()
