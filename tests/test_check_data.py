"""Rows and labels: what is taken exactly, what is refused, and in which words."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from contree import ConTreeClassifier, ConTreeClassifierCV, size_error_path

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])
TOP = 2**53


def fit(X=X, y=Y, **parameters):
    return ConTreeClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (list("aabbcc"), ["a", "b", "c"]),
        (tuple("aabbcc"), ["a", "b", "c"]),
        ([-1, 1] * 3, [-1, 1]),
        ([10, 2, 700] * 2, [2, 10, 700]),
        ([True, False] * 3, [False, True]),
        ([1.0, 3.0] * 3, [1.0, 3.0]),
        (np.array([2**64 - 1, 1] * 3, dtype=np.uint64), [1, 2**64 - 1]),
        (np.array([2**64 - 1, 2**64 - 2] * 3, dtype=np.uint64), [2**64 - 2, 2**64 - 1]),
        (np.array([TOP, TOP + 1] * 3), [TOP, TOP + 1]),
        (np.array([3, 1] * 3, dtype=object), [1, 3]),
        (np.array(["x", "y"] * 3, dtype=object), ["x", "y"]),
        (pd.Series(["x", "y"] * 3), ["x", "y"]),
        (pd.Series(["x", "y"] * 3, dtype="string"), ["x", "y"]),
        (pd.Series(["x", "y"] * 3, dtype="category"), ["x", "y"]),
        (pd.Series([TOP, TOP + 1] * 3, dtype="Int64"), [TOP, TOP + 1]),
        (pd.Series([True, False] * 3, dtype="boolean"), [False, True]),
    ],
)
def test_labels_of_every_kind(y, classes):
    clf = fit(y=y)
    assert clf.classes_.tolist() == classes
    assert [type(label) for label in clf.classes_.tolist()] == [type(label) for label in classes]
    assert clf.predict(X).tolist() == list(y)
    assert clf.score(X, list(y)) == 1.0


def test_integers_that_only_uint64_holds_are_labels():
    for y in ([2**63, 0] * 3, np.array([2**63, 0] * 3, dtype=object)):
        clf = fit(y=y)
        assert clf.classes_.dtype == np.uint64
        assert clf.predict(X).tolist() == list(y)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series([1, 0] * 3),
        pd.Series(["x", "y"] * 3),
        pd.Series([TOP, TOP + 1] * 3, dtype="Int64"),
    ],
)
def test_labels_in_a_data_frame(labels):
    with pytest.warns(DataConversionWarning, match="column-vector"):
        clf = fit(y=labels.to_frame("y"))
    assert clf.classes_.tolist() == sorted(set(labels))
    assert clf.predict(X).tolist() == list(labels)
    with pytest.raises(ValueError, match="1d array"):
        fit(y=pd.DataFrame({"y": labels, "z": labels}))


@pytest.mark.tools
def test_null_in_polars():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="None"):
        fit(y=polars.Series(["x", None] * 3))
    with pytest.warns(UserWarning, match=r"^Column 'id' has integers beyond 2\*\*53"):
        fit(polars.DataFrame({"size": X[:, 0], "id": [None, *IDS[1:].tolist()]}))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, "a"] * 3, "all strings or all numbers"),
        (np.array([1, "a"] * 3, dtype=object), "all strings or all numbers"),
        ([None, 1] * 3, "None"),
        ([np.nan, 1] * 3, "Input y contains NaN"),
        (pd.Series(["x", None] * 3, dtype="string"), "Input y contains NaN"),
        (pd.Series([1, None] * 3, dtype="Int64"), "Input y contains NaN"),
        ([0.5, 1, 2, 3, 4, 5], "floats with whole values. Unknown label type: continuous"),
        (np.c_[Y, Y], r"1d array.*shape \(6, 2\).*MultiOutputClassifier"),
        (np.c_[Y, Y].tolist(), r"1d array.*shape \(6, 2\).*MultiOutputClassifier"),
        (pd.DataFrame({"a": Y, "b": Y}), r"1d array.*shape \(6, 2\).*MultiOutputClassifier"),
        (1, r"1d array.*shape \(\) instead\.$"),
        ([[0], [1, 2]] * 3, "one label for each row"),
        (np.array([[0], [1, 2]] * 3, dtype=object), "one label for each row"),
        (Y + 1j, "Complex data not supported"),
        ((Y + 1j).tolist(), "Complex data not supported"),
        ([2**70, 0] * 3, rf"label {2**70}, which no integer of 64 bits .* Use strings"),
        ([-(2**63) - 1, 0] * 3, rf"label -{2**63 + 1}, which no integer of 64 bits"),
        ([-1, 2**63] * 3, rf"label {2**63}, which no integer of 64 bits .* with the other labels"),
        (np.array([2**70, 0] * 3, dtype=object), rf"label {2**70}, which no integer of 64 bits"),
        ([{}] * 6, "strings, integers, bools"),
        (Y[:4], "same number of rows.* inconsistent numbers of samples"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_refused(y, message):
    """And every message names the argument."""
    with pytest.raises((TypeError, ValueError), match=message) as error:
        fit(y=y)
    assert re.search(r"\by\b", str(error.value))


@pytest.mark.parametrize(
    "same",
    [
        np.asfortranarray(X),
        X.astype(np.int8),
        X.astype(np.uint64),
        X.astype(np.float32),
        X.astype(object),
        X.tolist(),
        np.repeat(X, 2, axis=0)[::2],
        pd.DataFrame(X),
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(int)}),
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}).convert_dtypes(),
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}).astype(object),
    ],
    ids=lambda same: type(same).__name__,
)
def test_features_of_every_kind(same):
    clf, plain = fit(same), fit()
    assert clf.tree_.threshold.tolist() == plain.tree_.threshold.tolist()
    assert clf.predict(same).tolist() == Y.tolist()


@pytest.mark.parametrize("dtype", [bool, "boolean"])
def test_bool_features(dtype):
    frame = pd.DataFrame({"a": pd.Series([True, False] * 3, dtype=dtype)})
    clf = fit(frame, [1, 0] * 3)
    assert clf.errors_ == 0
    assert clf.feature_names_in_.tolist() == ["a"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.where(X == 3, np.inf, X), "Input X contains infinity"),
        (np.where(X == 3, -np.inf, np.where(X == 4, np.nan, X)), "Input X contains infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((6, 0)), "0 feature"),
        (X[:, 0], r"2 dimensions; got 1. Reshape your data"),
        (X[:, :, np.newaxis], "dim 3"),
        (X[:4], "inconsistent numbers of samples"),
        (X + 1j, "Complex data not supported"),
        ([["a"]] * 6, "could not convert string to float"),
        ([[10**400]] * 6, "beyond the range of float64"),
        ([[1], [2, 3]] * 3, "rows of the same length"),
        (3.0, "a data frame; got float"),
        (None, "a data frame; got NoneType"),
        ("table", "a table of numbers"),
        ({"a": [1.0] * 6}, "a table of numbers.*'dict'"),
        ((row for row in X), "a table of numbers.*'generator'"),
        (np.matrix(X), "np.matrix is not supported"),
    ],
)
def test_features_refused(bad, message):
    """And every message names the argument."""
    with pytest.raises((TypeError, ValueError), match=message) as error:
        fit(bad)
    assert re.search(r"\bX\b", str(error.value))


@pytest.mark.parametrize(
    "bad",
    [
        pd.DataFrame({"size": np.arange(6.0), "town": ["a", "b"] * 3}),
        pd.DataFrame({"size": np.arange(6.0), "town": ["a", "b"] * 3}, dtype=object),
    ],
)
def test_a_column_of_text_is_named(bad):
    remedies = "Name 'town' in categorical_features, or encode it as numbers"
    with pytest.raises(
        ValueError, match=rf"^Input X must be numbers.*column 'town'.*'a'\. {remedies}"
    ):
        fit(bad)
    numbers = bad.assign(town=0.0)
    with pytest.raises(
        ValueError, match=r"^Input X must be numbers.*column 'town'.*'a'\. The rows of fit had num"
    ):
        fit(numbers).predict(bad)
    with pytest.raises(ValueError, match=r"column 'town'.*Name 'town', 'river' in categorical_fe"):
        fit(bad.assign(river="x"))
    with pytest.raises(ValueError, match=r"^Input X must be numbers.*column 1.*'a'"):
        fit(bad.to_numpy().tolist())


@pytest.mark.parametrize("word", ["X", "y"])
def test_a_column_of_text_is_named_whatever_it_says(word):
    with pytest.raises(ValueError, match=rf"^Input X must be numbers.*column 1.*'{word}'"):
        fit([[1.0, word]] * 6)


DAYS = pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-02", None, "2020-01-05", "2020-01-06"])


@pytest.mark.parametrize("days", [DAYS, DAYS.tz_localize("UTC"), DAYS - DAYS[0]])
def test_a_date_is_no_number(days):
    for some in (days, days.fillna(days[0])):
        with pytest.raises(ValueError, match="column 'day' has dates or times"):
            fit(pd.DataFrame({"size": np.arange(6.0), "day": some}))
        with pytest.raises(ValueError, match="column 0 has dates or times"):
            fit(np.asarray(DAYS)[:, np.newaxis])


def test_a_column_without_numbers_is_named():
    bad = pd.DataFrame({"size": np.arange(6.0), "other": pd.Series([1, pd.NA, 3, 4, 5, 6])})
    with pytest.raises(TypeError, match=r"^Input X must be numbers.*column 'other'"):
        fit(bad)


def test_huge_values_of_both_signs_raise_no_warning():
    huge = np.array([[1e308], [-1e308]] * 50)
    clf = fit(huge, [0, 1] * 50)
    assert clf.predict(huge).tolist() == [0, 1] * 50


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("suffix", ["_matrix", "_array"])
def test_sparse_is_as_dense(kind, suffix):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(120, 5)) * (rng.random((120, 5)) < 0.3)
    dense[::7, 2] = np.nan
    labels = rng.integers(3, size=120)
    rows = getattr(sparse, kind + suffix)(dense)
    clf, plain = ConTreeClassifier(2).fit(rows, labels), ConTreeClassifier(2).fit(dense, labels)
    assert clf.export_text() == plain.export_text()
    for method in ("predict", "predict_proba", "apply"):
        expected = getattr(plain, method)(dense)
        np.testing.assert_array_equal(getattr(clf, method)(rows), expected)
        np.testing.assert_array_equal(getattr(plain, method)(rows), expected)
    assert (clf.decision_path(rows) != plain.decision_path(dense)).nnz == 0


def test_sparse_everywhere():
    rng = np.random.default_rng(0)
    rows, labels = sparse.random(60, 4, 0.5, "csr", rng=rng), rng.integers(2, size=60)
    dense = rows.toarray()
    path = size_error_path(rows, labels, 2)
    assert path.errors.tolist() == size_error_path(dense, labels, 2).errors.tolist()
    search = ConTreeClassifierCV(2, cv=2).fit(rows, labels)
    assert (
        search.predict(rows) == ConTreeClassifierCV(2, cv=2).fit(dense, labels).predict(dense)
    ).all()
    tree = ConTreeClassifier(2).fit(rows, labels, initial_tree=search.best_estimator_)
    assert tree.errors_ == ConTreeClassifier(2).fit(dense, labels).errors_


def test_sparse_refused():
    bad = sparse.csr_matrix(np.eye(6))
    bad.data[3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fit(bad)
    with pytest.raises(ValueError, match="5 features"):
        fit(sparse.csr_matrix(np.eye(6))).predict(sparse.csr_matrix(np.eye(5)))


def test_sparse_that_does_not_fit_in_memory():
    """More zeros than an address has bits for."""
    rows = sparse.csc_matrix(([1.0], ([0], [0])), shape=(2**22, 2**23))
    with pytest.raises(MemoryError):
        fit(rows, np.arange(2**22) % 2)
    clf = fit()
    clf.n_features_in_ = 2**23
    with pytest.raises(MemoryError):
        clf.predict(rows)


def test_sparse_integers_that_float64_merges():
    rows = sparse.csr_matrix(np.array([[0, 2**53], [1, 2**53 + 1], [0, 5], [3, 0]]))
    with pytest.warns(UserWarning, match=r"^Column 1 has integers beyond 2\*\*53.* 1 of its 3 "):
        ConTreeClassifier(1).fit(rows, [0, 1, 0, 1])


@pytest.mark.parametrize("bad", [np.full((1, 2), np.inf), np.zeros((1, 3)), np.zeros(2)])
def test_rows_to_predict_are_checked(bad):
    with pytest.raises(ValueError):
        fit().predict(bad)


def test_feature_names_are_checked_in_predict():
    clf = fit(pd.DataFrame(X, columns=["a", "b"]))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(pd.DataFrame(X, columns=["b", "a"]))


IDS = TOP + np.arange(6)  # float64 rounds the odd ones
OFFSET = -(2**63) + np.arange(6)


@pytest.mark.parametrize(
    ("bad", "column"),
    [
        (np.c_[np.arange(6), IDS], "1"),
        (np.c_[np.arange(6), IDS].astype(np.uint64), "1"),
        (np.asfortranarray(np.c_[OFFSET, np.arange(6)]), "0"),
        (pd.DataFrame({"size": X[:, 0], "id": IDS}), "'id'"),
        (pd.DataFrame({"size": X[:, 0], "id": pd.Series(IDS, dtype="Int64")}), "'id'"),
        (pd.DataFrame({"size": X[:, 0], "id": pd.Series(IDS, dtype="UInt64")}), "'id'"),
        (pd.DataFrame({"size": X[:, 0], "id": [2**70 + i for i in range(6)]}), "'id'"),
        (pd.DataFrame({0: X[:, 0], 1: IDS}), "1"),
        ([[0.5, TOP + i] for i in range(6)], "1"),
        ([[5, TOP + i] for i in range(6)], "1"),
        (np.array([[5, 2**70 + i] for i in range(6)], dtype=object), "1"),
    ],
)
def test_integers_that_float64_merges_are_reported(bad, column):
    with pytest.warns(
        UserWarning, match=rf"^Column {column} has integers beyond 2\*\*53"
    ) as caught:
        fit(bad)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "good",
    [
        np.c_[np.arange(6), TOP - np.arange(6)],
        np.c_[np.arange(6), TOP + 2 * np.arange(6)],
        pd.DataFrame({"a": X[:, 0], "id": TOP + 2 * np.arange(6)}),
        [[2**70, 1]] * 6,
        [[1e300, 1]] * 6,
        X * 1e300,
    ],
)
def test_integers_that_float64_holds_are_not(good):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(good)


def test_the_input_is_left_alone():
    for given in (X.copy(), np.asfortranarray(X)):
        before = given.copy()
        fit(given)
        np.testing.assert_array_equal(given, before)
