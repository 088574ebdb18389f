"""Categorical features in the estimators: how they are declared, encoded, predicted and kept."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import _NotAnArray

from contree import ConTreeClassifier, ConTreeClassifierCV, size_error_path
from contree.export.names import set_words
from test_json import schema_errors

N = 400
RNG = np.random.default_rng(0)
COLOURS = RNG.choice(["red", "green", "blue", "white"], N).astype(object)
SIZES = RNG.random(N)
Y = np.isin(COLOURS, ["red", "white"]) ^ (SIZES > 0.5)


def frame(colours=COLOURS, dtype="category"):
    return pd.DataFrame({"colour": pd.Series(colours, dtype=dtype), "size": SIZES})


def fit(X, y=Y, depth=2, **parameters):
    return ConTreeClassifier(depth, **parameters).fit(X, y)


def left_of(clf):
    """Return the smaller set of categories of the first test of categories."""
    node = np.flatnonzero(clf.tree_.category_offset >= 0)[0]
    return min(clf.tree_.categories_left(node), clf.tree_.categories_right(node), key=len)


@pytest.mark.parametrize(
    ("given", "X"),
    [
        ("from_dtype", frame()),
        (["colour"], frame()),
        (["colour"], frame(dtype=object)),
        (["colour"], frame(dtype="str")),
        (("colour",), frame(dtype="string")),
        (pd.Index(["colour"]), frame()),
        (np.array(["colour"]), frame()),
        ([0], frame()),
        ([0], frame().to_numpy()),
        ([0], frame().to_numpy().tolist()),
        (np.array([0]), frame().to_numpy()),
        (np.array([0], dtype=np.uint8), frame().to_numpy()),
        ([True, False], frame()),
        (np.array([True, False]), frame().to_numpy()),
        (pd.Series([True, False]), frame()),
    ],
)
def test_every_way_to_declare(given, X):
    clf = fit(X, categorical_features=given)
    assert (clf.errors_, clf.status_) == (0, "optimal")
    assert clf.categories_ == (("blue", "green", "red", "white"), None)
    assert clf.is_categorical_.tolist() == [True, False]
    assert clf.predict(X).tolist() == Y.tolist()
    assert set(left_of(clf)) in ({"red", "white"}, {"blue", "green"})
    same = fit(frame())
    assert clf.tree_.threshold.tobytes() == same.tree_.threshold.tobytes()
    assert clf.predict_proba(X).tolist() == same.predict_proba(frame()).tolist()
    assert clf.apply(X).tolist() == same.apply(frame()).tolist()
    assert (clf.decision_path(X) != same.decision_path(frame())).nnz == 0


@pytest.mark.parametrize("given", [None, [], [False, False], "from_dtype"])
def test_no_column_is_categorical(given):
    X = np.column_stack([SIZES, SIZES**2])
    clf = fit(X, categorical_features=given)
    assert clf.categories_ is clf.is_categorical_ is clf.tree_.categories is None
    assert (clf.tree_.category_offset == -1).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([2], "2 is not an index from 0 to 1"),
        ([-1], "-1 is not an index from 0 to 1"),
        ([True], "the mask has 1 entries, X has 2 columns"),
        (["hue"], r"X has no column 'hue'; its columns are \['colour', 'size'\]"),
        ([0, "colour"], "it mixes indices and names"),
        ([True, 1], "it mixes bools and indices"),
        ([0.0], "it has 0.0"),
        ([None], "it has None"),
        ([[0]], r"it has \[0\]"),
        ([b"colour"], "it has b'colour'"),
    ],
)
def test_what_declares_nothing_is_named(given, message):
    with pytest.raises(ValueError, match=f"^categorical_features must be None.*: {message}"):
        fit(frame(), categorical_features=given)


@pytest.mark.parametrize("given", ["colour", 0, 1.5, True])
def test_what_is_no_list_is_refused(given):
    with pytest.raises((ValueError, TypeError), match="categorical_features"):
        fit(frame(), categorical_features=given)


def test_names_need_columns_with_names():
    with pytest.raises(ValueError, match="'colour' is a name, and the columns of X have no names"):
        fit(frame().to_numpy(), categorical_features=["colour"])


@pytest.mark.tools
@pytest.mark.parametrize("kind", ["Categorical", "Enum", "String"])
def test_polars(kind):
    polars = pytest.importorskip("polars")
    dtype = (
        polars.Enum(["white", "red", "blue", "green"]) if kind == "Enum" else getattr(polars, kind)
    )
    colours = COLOURS.copy()
    colours[:5] = None
    X = polars.DataFrame({"colour": polars.Series(colours.tolist(), dtype=dtype), "size": SIZES})
    given = ["colour"] if kind == "String" else "from_dtype"
    clf, same = fit(X, categorical_features=given), fit(frame(colours))
    assert clf.categories_ == (("blue", "green", "red", "white"), None)
    assert clf.feature_names_in_.tolist() == ["colour", "size"]
    assert clf.predict(X).tolist() == same.predict(frame(colours)).tolist()
    assert clf.export_text() == same.export_text()


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        ([3, 1, 2], (1, 2, 3)),
        ([3.0, 1.0, 2.0], (1, 2, 3)),
        ([0.5, 1.5, -1.0], (-1, 0.5, 1.5)),
        ([2**53 + 1, 2**53, 2**60], (2**53, 2**53 + 1, 2**60)),
        ([True, False, True], (False, True)),
        (["b", "a", ""], ("", "a", "b")),
        (["b", 2, 1.5], (1.5, 2, "b")),
        ([("b", 1), ("a", 2), ("a", 1)], (("a", 1), ("a", 2), ("b", 1))),
        ([b"x", "x", 1], (1, "x", b"x")),
    ],
)
@pytest.mark.parametrize("container", ["object", "frame", "category"])
def test_values_of_every_kind(values, categories, container):
    column = np.empty(60, dtype=object)
    column[:] = (values * 20)[:60]
    y = [one == categories[-1] for one in column]
    X = pd.DataFrame({"x": column})
    if container == "category":
        X = X.astype("category")
    elif container == "object":
        X = column[:, np.newaxis]
    clf = ConTreeClassifier(1, categorical_features=[0]).fit(X, y)
    assert clf.categories_ == (categories,)
    assert [type(one) for one in clf.categories_[0]] == [type(one) for one in categories]
    assert clf.predict(X).tolist() == y
    shuffled = X.iloc[::-1] if hasattr(X, "iloc") else X[::-1]
    again = ConTreeClassifier(1, categorical_features=[0]).fit(shuffled, y[::-1])
    assert again.categories_ == clf.categories_


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.float32, np.float64, bool])
def test_arrays_of_numbers(dtype):
    codes = (np.arange(60) % 3).astype(dtype)
    y = codes == 1
    clf = ConTreeClassifier(1, categorical_features=[0]).fit(codes[:, np.newaxis], y)
    assert clf.errors_ == 0
    assert clf.predict(codes[:, np.newaxis]).tolist() == y.tolist()
    rows = sparse.csr_matrix(codes[:, np.newaxis].astype(float))
    assert clf.predict(rows).tolist() == y.tolist()
    assert ConTreeClassifier(1, categorical_features=[0]).fit(rows, y).errors_ == 0


def test_integers_beside_categories_are_warned_of():
    codes, wide = np.arange(60) % 3, 2**60 + np.arange(60) % 2
    with pytest.warns(UserWarning, match=r"Column 1 has integers beyond 2\*\*53"):
        ConTreeClassifier(1, categorical_features=[0]).fit(np.column_stack([codes, wide]), codes)
    unsigned = np.column_stack([codes, codes]).astype(np.uint8) + np.uint8(250)
    clf = ConTreeClassifier(2, categorical_features=[0]).fit(unsigned, codes)
    assert clf.predict(unsigned).tolist() == codes.tolist()


def test_dictionaries_of_arrow():
    arrow = pytest.importorskip("pyarrow")
    X = frame(dtype=pd.ArrowDtype(arrow.dictionary(arrow.int32(), arrow.string())))
    clf = fit(X)
    assert clf.categories_ == (("blue", "green", "red", "white"), None)
    assert clf.predict(X).tolist() == Y.tolist()


def test_what_gives_an_array():
    X = _NotAnArray(frame().to_numpy())
    clf = fit(X, categorical_features=[0])
    assert clf.errors_ == 0
    assert clf.predict(X).tolist() == Y.tolist()


def test_dates_may_be_categories():
    days = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-01", None, "2020-01-03"] * 10))
    X, y = pd.DataFrame({"day": days}), [1, 0, 0, 1] * 10
    clf = ConTreeClassifier(1, categorical_features=["day"]).fit(X, y)
    assert clf.categories_[0] == tuple(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]))
    assert clf.predict(X).tolist() == y
    assert ConTreeClassifier.from_json(clf.to_json()).predict(X).tolist() == y


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, float("nan")])
def test_a_missing_value_is_a_category_of_its_own(missing):
    colours = COLOURS.copy()
    colours[:60] = missing
    y = [colour is missing for colour in colours]
    for X in (frame(colours, object), frame(colours, object).to_numpy()):
        clf = fit(X, y, depth=1, categorical_features=[0])
        assert clf.errors_ == 0
        assert clf.categories_[0] == ("blue", "green", "red", "white")
        assert clf.predict(X).tolist() == y
    unknown = X.copy()
    unknown[:, 0] = "purple"
    assert clf.predict(unknown).all()
    assert "is missing" in clf.export_text()


def test_without_missing_values_unknown_ones_go_with_the_most_rows():
    for few in ("red", "blue"):
        y = few == COLOURS
        clf = fit(frame(), y, depth=1)
        rows = frame(["purple", None] * (N // 2))
        assert not clf.predict(rows).any()
        assert fit(frame(), ~y, depth=1).predict(rows).all()


def test_a_category_that_no_row_of_the_node_has_goes_with_the_most_rows():
    X = pd.DataFrame({"a": pd.Categorical(list("xyxyxz") * 10), "b": [0, 1, 0, 1, 0, 2] * 10})
    y = [0, 1, 0, 1, 0, 2] * 10
    clf = ConTreeClassifier(2, categorical_features=["a"]).fit(X[["a"]], y)
    assert clf.errors_ == 0
    tree = clf.tree_
    node = next(n for n in range(1, 5) if tree.feature[n] >= 0)
    larger = "left" if tree.missing_go_to_left[node] else "right"
    absent = {"x", "y", "z"} - set(X["a"][np.isin(clf.apply(X[["a"]]), [node + 1, node + 2])])
    assert absent <= set(getattr(tree, f"categories_{larger}")(node))


def test_predict_checks_names_and_columns_first():
    clf = fit(frame())
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame()[["size", "colour"]])
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame()[["colour"]])
    clf = fit(frame().to_numpy(), categorical_features=[0])
    with pytest.raises(ValueError, match="X has 1 features"):
        clf.predict(frame().to_numpy()[:, :1])
    with pytest.raises(ValueError, match=r"column 1.*'big'"):
        clf.predict([["red", "big"]])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["red"], r"the categorical column 'colour' has \['red'\], which is not hashable"),
        (float("inf"), "infinity in the categorical column 'colour'"),
    ],
)
def test_values_that_are_no_categories(value, message):
    colours = COLOURS.copy()
    colours[3] = value
    with pytest.raises((TypeError, ValueError), match=f"^Input X.*{message}"):
        fit(frame(colours, object), categorical_features=["colour"])


def test_text_says_which_categories_go_where():
    text = fit(frame(), COLOURS == "red", depth=1).export_text()
    assert "|--- colour in {red}\n" in text  # the smaller of the two sets
    assert "|--- colour not in {red}\n" in text
    assert (
        set_words(["a, b", "c d", "", " e", "f", 1, True]) == "{'a, b', c d, '', ' e', f, 1, True}"
    )
    assert set_words(list("abcdef"), most=7) == "{a, b, c, … 3 more}"


def test_scikit_learns_own_ways():
    clf = ConTreeClassifier(2, categorical_features=["colour"])
    assert clone(clf).get_params()["categorical_features"] == ["colour"]
    clf.fit(frame(dtype=object), Y)
    back = pickle.loads(pickle.dumps(clf))
    assert back.categories_ == clf.categories_
    assert back.predict(frame()).tolist() == Y.tolist()
    assert cross_val_score(make_pipeline(clone(clf)), frame(), Y, cv=3).min() > 0.95
    assert not clone(clf).set_params(categorical_features=None).categorical_features


def test_a_failed_fit_changes_nothing():
    clf = fit(frame())
    before = dict(vars(clf))
    with pytest.raises(ValueError):
        clf.fit(frame().assign(size="big"), Y)
    assert vars(clf) == before


@pytest.mark.parametrize("given", [["colour"], (0,), np.array([True, False]), "from_dtype"])
def test_json(given):
    colours = COLOURS.copy()
    colours[:20] = None
    clf = fit(frame(colours), categorical_features=given)
    text = clf.to_json()
    assert schema_errors(text) == []
    back = ConTreeClassifier.from_json(text)
    assert back.categories_ == clf.categories_
    assert back.to_json() == text
    assert back.export_text() == clf.export_text()
    rows = frame(["purple", None, "red", "blue"] * (N // 4))
    assert back.apply(rows).tolist() == clf.apply(rows).tolist()


def change(name, value, part="tree"):
    def apply(data):
        node = next(n for n, left in enumerate(data["tree"]["categories_left"]) if left is not None)
        place = data if part is None else data[part][name]
        place[name if part is None else node] = value

    return apply


def without_sets(data):
    del data["tree"]["categories_left"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            change("categories", [None], None),
            "categories must have an entry for each of 2 features",
        ),
        (change("categories", [["a", "a"], None], None), "distinct"),
        (change("categories", [[None], None], None), "distinct"),
        (change("categories", [{}, None], None), "distinct"),
        (change("categories", "x", None), "categories must be a list"),
        (change("categories", None, None), "tree.threshold must hold finite numbers"),
        (change("categories", [["a"], None], None), "codes below 1"),
        (change("categories_left", None), "must have a threshold or categories_left"),
        (change("categories_left", [4]), "codes below 4"),
        (change("categories_left", [1, 1]), "distinct codes"),
        (change("categories_left", [True]), "distinct codes"),
        (change("categories_left", 1), "distinct codes"),
        (change("categories_left", []), "sends nothing left"),
        (change("categories_left", [0, 1, 2, 3]), "sends nothing right"),
        (change("threshold", 0.5), "threshold_gap does not hold tree.threshold"),
        (change("threshold_gap", [0.0, 1.0]), "must have a threshold or categories_left"),
        (without_sets, "tree.categories_left is missing"),
    ],
)
def test_damaged_json_is_named(damage, message):
    data = json.loads(fit(frame()).to_json())
    damage(data)
    with pytest.raises(ValueError, match=message):
        ConTreeClassifier.from_json(json.dumps(data))


def test_older_json_is_read():
    clf = fit(SIZES[:, np.newaxis])
    data = json.loads(clf.to_json())
    del data["categories"], data["parameters"]["categorical_features"]
    back = ConTreeClassifier.from_json(json.dumps({**data, "version": 2}))
    assert back.categories_ is None
    assert back.export_text() == clf.export_text()


HARD = RNG.random(N) < 0.4  # labels that follow nothing


@pytest.mark.parametrize("kind", ["estimator", "tree", "json", "warm"])
def test_a_first_tree_is_read_by_its_categories(kind):
    """Also where the codes of its categories are others, and some are not known to it."""
    keep = COLOURS != "blue"
    clf = ConTreeClassifier(3, warm_start=True).fit(frame()[keep], HARD[keep])
    first = {"estimator": clf, "tree": clf.tree_, "json": clf.to_json(), "warm": None}[kind]
    base = clf if kind == "warm" else ConTreeClassifier(3)
    expected = (clf.predict(frame()) != HARD).sum()
    base.set_params(time_limit=0).fit(frame(), HARD, initial_tree=first)
    assert base.errors_ <= expected
    assert base.categories_[0] == ("blue", "green", "red", "white")


def test_a_first_tree_for_other_kinds_of_columns_is_refused():
    codes = frame()["colour"].cat.codes.to_numpy().astype(float)
    numbers = np.column_stack([codes, SIZES])
    of_sets = fit(numbers, categorical_features=[0])
    of_thresholds = fit(numbers)
    with pytest.raises(
        ValueError, match=r"column 0 holds categories, and the tree tests it for num"
    ):
        ConTreeClassifier(2, categorical_features=[0]).fit(numbers, Y, initial_tree=of_thresholds)
    with pytest.raises(
        ValueError, match=r"column 0 holds numbers, and the tree tests it for categ"
    ):
        ConTreeClassifier(2).fit(numbers, Y, initial_tree=of_sets)
    cart = of_thresholds.to_sklearn()
    with pytest.raises(ValueError, match=r"column 0 holds categories"):
        ConTreeClassifier(2, categorical_features=[0]).fit(numbers, Y, initial_tree=cart)
    of_sets.set_params(categorical_features=None, warm_start=True)
    with pytest.warns(UserWarning, match="column 0 holds numbers"):
        of_sets.fit(numbers, Y)
    assert of_sets.errors_ == of_thresholds.errors_


def test_a_checkpoint_goes_on(tmp_path):
    rows = np.random.default_rng(1)
    X = pd.DataFrame({"a": rows.choice(list("abcdefghijkl"), 500), "b": rows.random(500)})
    X["a"] = X["a"].astype("category")
    y = rows.random(500) < 0.5
    path = tmp_path / "search"
    whole = ConTreeClassifier(3).fit(X, y)
    part = ConTreeClassifier(3, time_limit=0.05).fit(X, y, checkpoint=path)
    assert part.lower_bound_ <= whole.errors_ <= part.errors_
    done = ConTreeClassifier(3).fit(X, y, checkpoint=path)
    assert (done.errors_, done.status_) == (whole.errors_, "optimal")
    again = ConTreeClassifier(3).fit(X, y, checkpoint=path)
    assert again.export_text() == done.export_text()
    codes = np.column_stack([X["a"].cat.codes, X["b"]])
    with pytest.raises(ValueError, match="categorical_features differs"):
        ConTreeClassifier(3).fit(codes, y, checkpoint=path)


def test_paths_and_cross_validation():
    path = size_error_path(frame(), Y, 2)
    assert path.errors[-1] == 0
    assert path.trees[-1].predict(frame()).tolist() == Y.tolist()
    leaves, errors = path.cart_path()
    assert len(leaves) == len(errors)
    search = ConTreeClassifierCV(2, categorical_features=["colour"]).fit(frame(dtype=object), Y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_.categories_ == (("blue", "green", "red", "white"), None)
    assert search.predict(frame(dtype=object)).tolist() == Y.tolist()
    assert search.best_estimator_.categorical_features == ["colour"]
