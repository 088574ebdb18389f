"""Each export of a tree with categorical tests is run on rows, and gives what predict gives.

The rows have categories that the fit has seen, others, and missing ones, with the worst names.
"""

from __future__ import annotations

import ctypes
import datetime
import json
import math
import re
import shutil
import sqlite3
import subprocess
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier, ConTreeRegressor
from contree.export.names import category_word, set_words
from test_categorical_oracle import draw
from test_exports import graph

NASTY = [
    'it\'s "green"', "light, blue", "größe\n日本 ??=", "<=50K", "a\\b`]%s{0}", "", " e", "None",
    "1", "*/ //", "</script>&amp;", "nan", "x" * 100,
]  # fmt: skip
NUMBERS = [True, 2, 2.5, -7, 2**60, 1e300]
DAYS = [datetime.date(2020, 1, day) for day in range(1, 6)]
TIMES = [pd.Timestamp(2020, 1, day, 12, 30, 0, 5) for day in range(1, 6)]
UNKNOWN = {
    'town\'s "name"\n*/': ["blue", "nan ", 1],
    "code": [3, 0.5, "2"],
    "day": [datetime.date(1999, 1, 1), "x"],
    "time": [pd.Timestamp(1999, 1, 1)],
}
COLUMNS = dict(zip(UNKNOWN, (NASTY, NUMBERS, DAYS, TIMES), strict=True))


def objects(values) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def trees(kinds=(ConTreeClassifier, ConTreeRegressor)):
    """Yield estimators and rows: each column beside a number, missing in training or not."""
    for seed, (kind, (name, known), lacks) in enumerate(
        product(kinds, COLUMNS.items(), (False, True))
    ):
        rng = np.random.default_rng(seed)
        codes, size = rng.integers(len(known), size=150), rng.integers(10, size=150) / 4
        column = objects([known[code] for code in codes])
        y = np.isin(codes, rng.permutation(len(known))[: len(known) // 2]) ^ (size > 1)
        if lacks:
            column[:20], y[:15] = None, True
        X = pd.DataFrame({name: column, "size": size})
        est = kind(2, categorical_features=[name]).fit(X, np.where(y, 7, 3))
        assert est.tree_.category_offset.max() >= 0
        values = [*known, *UNKNOWN[name], None]
        rows = list(product(values, [0.0, 1.0, 1.5, 9.0, math.nan]))
        frame = pd.DataFrame({name: objects([row[0] for row in rows])})
        yield est, frame.assign(size=[row[1] for row in rows])


def random_trees(count):
    """Yield classifiers of many features and nodes, and rows for them."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        frame, _, y, _ = draw(rng, max_rows=40)
        clf = ConTreeClassifier(3, time_limit=0.3).fit(frame, y)
        rows = pd.DataFrame(index=range(60))
        for f, known in enumerate(clf.categories_):
            values = [0.0, 1.0, 2.0, 3.0, 7.5] if known is None else [*known, "pink"]
            rows[f"x{f}"] = rng.choice(objects([*values, None]), 60)
            if known is None:
                rows[f"x{f}"] = rows[f"x{f}"].astype(float)
        yield clf, rows


def none_for_nan(frame):
    return [[None if v is None or v != v else v for v in row] for row in frame.to_numpy(object)]


def run_sql(est, frame) -> list:
    base = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in frame.columns]
    base.execute(f"CREATE TABLE t ({', '.join(quoted)})")
    marks = ", ".join("?" * len(quoted))
    rows = [
        [str(v) if isinstance(v, datetime.date) else v for v in row] for row in none_for_nan(frame)
    ]
    base.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    found = [row[0] for row in base.execute(f"SELECT {est.to_sql()} FROM t ORDER BY rowid")]
    base.close()
    return found


def run_python(est, rows) -> list:
    space: dict = {}
    exec(compile(est.to_python(), "tree.py", "exec"), space)
    return [space["predict"](row) for row in rows]


def test_sql_and_python():
    for est, frame in [*trees(), *random_trees(15)]:
        expected = est.predict(frame).tolist()
        assert run_sql(est, frame) == expected
        assert run_python(est, frame.to_numpy(object)) == expected
        assert run_python(est, none_for_nan(frame)) == expected


@pytest.mark.skipif(shutil.which("cc") is None, reason="NOT TESTED: no C compiler")
def test_c(tmp_path):
    """The codes come from the table that is in the source."""
    cases = [*trees(), *random_trees(15)]
    source = "\n".join(est.to_c(name=f"tree{i}") for i, (est, _) in enumerate(cases))
    (tmp_path / "trees.c").write_text(source)
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["cc", *strict, "-o", "trees.so", "trees.c"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "trees.so"))
    for i, (est, frame) in enumerate(cases):
        code_of = getattr(library, f"tree{i}_code", None)
        if code_of is not None:
            code_of.restype = ctypes.c_double
        rows = []
        for row in none_for_nan(frame):
            cells = [math.nan if v is None else v for v in row]
            for f, known in enumerate(est.categories_):
                if known is not None:  # "2" would find the place of 2
                    seen = row[f] in known and f in est.tree_.feature
                    cells[f] = code_of(f, str(row[f]).encode()) if seen else no_code(len(rows))
                    assert not seen or known[int(cells[f])] == row[f]
            rows.append(cells)
        function, kind = getattr(library, f"tree{i}"), ctypes.c_double * len(est.categories_)
        if not hasattr(est, "classes_"):
            function.restype = ctypes.c_double
        found = [function(kind(*row)) for row in rows]
        found = est.classes_[found].tolist() if hasattr(est, "classes_") else found
        assert found == est.predict(frame).tolist()
    assert library.tree0_code(0, b"not there") == library.tree0_code(9, b"1") != 0


def no_code(row: int) -> float:
    """Return a number that is no code."""
    return (math.nan, -1.0, 0.5, 1e9, math.inf)[row % 5]


def test_json():
    for est, frame in trees():
        back = type(est).from_json(est.to_json())
        assert back.categories_ == est.categories_
        assert back.apply(frame).tolist() == est.apply(frame).tolist()
        assert back.export_text() == est.export_text()


def test_what_code_and_json_cannot_write():
    X = pd.DataFrame({"age": pd.cut(np.arange(60) % 30, 3)})
    clf = ConTreeClassifier(1).fit(X, np.arange(60) % 30 > 15)
    for name in ("to_sql", "to_python", "to_json"):
        with pytest.raises(
            ValueError, match=rf"^{name}\(\) cannot write the category Interval.*'age'.*strings"
        ):
            getattr(clf, name)()
    assert "age in {(19.333, 29.0]}" in clf.export_text()
    assert "(19.333, 29.0]" in clf.to_c()


def test_sql_of_other_databases():
    X = pd.DataFrame({"c": objects(["größe\\", "x", True, False] * 5)})
    clf = ConTreeClassifier(2, categorical_features=["c"]).fit(X, [0, 1, 1, 0] * 5)
    assert "IN (FALSE, 'größe\\')" in clf.to_sql()
    assert "`c` IN (FALSE, 'größe\\\\')" in clf.to_sql(quote="`")
    assert "[c] IN (0, N'größe\\')" in clf.to_sql(quote="[")
    zero = pd.DataFrame({"c": ["a\0", "b"] * 5}, dtype="category")
    with pytest.raises(ValueError, match="NUL"):
        ConTreeClassifier(1).fit(zero, [0, 1] * 5).to_sql()


def test_to_sklearn_where_a_threshold_says_it():
    """Sets of small or of large numbers, bools, missing values; the nodes keep their numbers."""
    rng = np.random.default_rng(1)
    flags, codes = rng.random(200) < 0.5, rng.integers(5, size=200).astype(float)
    swapped = 0
    for lacks in (False, True):
        for y in (flags ^ (codes > 2), codes < 2, ~flags, np.isnan(codes)):
            X = np.column_stack([flags, codes, rng.random(200).round(1)])
            if lacks:
                X[:30, :2] = np.nan
                y = np.where(np.arange(200) < 25, True, y)
            clf = ConTreeClassifier(2, categorical_features=[0, 1]).fit(X, y)
            cart = clf.to_sklearn()
            assert type(cart) is DecisionTreeClassifier
            assert cart.predict(X).tolist() == clf.predict(X).tolist()
            assert cart.apply(X).tolist() == clf.apply(X).tolist()
            np.testing.assert_allclose(cart.feature_importances_, clf.feature_importances_)
            rows = X.copy()
            rows[:, :2] = np.nan
            assert cart.apply(rows).tolist() == clf.apply(rows).tolist()
            swapped += (cart.tree_.children_left != clf.tree_.children_left).any()
    assert swapped  # else the other way is not tried
    frame = pd.DataFrame({"a": pd.Categorical(codes.astype(int)), "b": pd.Categorical(flags)})
    clf = ConTreeClassifier(2).fit(frame, flags ^ (codes > 2))
    assert clf.to_sklearn().predict(frame).tolist() == clf.predict(frame).tolist()


def test_to_sklearn_says_what_it_cannot():
    ways_out = r"Use to_python\(\) or to_json\(\), or fit on one-hot encoded columns\.$"
    codes = np.arange(60) % 4
    clf = ConTreeClassifier(1, categorical_features=[0]).fit(codes[:, np.newaxis], codes % 2)
    with pytest.raises(ValueError, match=f"'feature_0' is tested for a set .*{ways_out}"):
        clf.to_sklearn()
    X = pd.DataFrame({"c": np.array(list("abcd"))[codes]}, dtype="category")
    clf = ConTreeClassifier(1).fit(X, codes < 2)
    with pytest.raises(ValueError, match=f"'c' is tested for categories that .*{ways_out}"):
        clf.to_sklearn()


@pytest.fixture(scope="module")
def many():
    """Return a tree that tests for a long set, of names like thresholds."""
    X = pd.DataFrame({"c": [f"<=5-{k % 60}" for k in range(240)]}, dtype="category")
    return ConTreeClassifier(1).fit(X, [k % 60 < 25 for k in range(240)])


def test_long_sets_are_short_in_pictures_and_whole_in_notes(many):
    names = sorted(f"<=5-{k}" for k in range(25))
    whole = "c not in " + set_words(names)
    assert whole in many.export_text()
    assert whole.count(",") == 24
    words = " ".join(text.get_text() for text in many.plot().texts)
    assert "… 20 more" in words
    assert "<=5-0" in words
    for text in (many.to_dot(), many._repr_html_()):
        assert text.count("… 20 more") == 1
    assert f'tooltip="{whole}"' in many.to_dot()
    assert f'title="{whole.replace("<", "&lt;")}\n' in many._repr_html_()


def test_dot_has_the_set_as_a_tooltip():
    clf, _ = next(trees())
    read = graph(clf.to_dot())
    node = int(np.flatnonzero(clf.tree_.category_offset >= 0)[0])
    one = next(item for item in read["objects"] if item["name"] == str(node))
    named = re.search(r"in \{(.*)\}", one["tooltip"], re.DOTALL)[1]
    sides = clf.tree_.categories_left(node), clf.tree_.categories_right(node)
    assert named.replace("\\\\", "\\") in {
        ", ".join(map(category_word, side)).replace("&", "&amp;") for side in sides
    } | {", ".join(map(category_word, side)) for side in sides}


def test_the_pages_data(many, tmp_path):
    text = many.to_html(tmp_path / "tree.html").read_text()
    data = json.loads(text.split('id="ct-data">')[1].split("</script>")[0])
    assert data["categories"] == {"0": list(many.categories_[0])}
    assert len(data["categoriesLeft"][0]) in (25, 35)
    assert data["tests"][0].startswith("c not in {<=5-0, ")
    X = pd.DataFrame({"c": list("aabb")}, dtype="category")
    with_an_error = ConTreeClassifier(1).fit(X, [0, 1, 1, 1])
    page = with_an_error.to_html(tmp_path / "tree.html").read_text()
    assert "any thresholds and any sets of categories" in page
