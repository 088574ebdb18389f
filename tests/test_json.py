"""JSON and back: the same classifier; anything damaged is a ValueError that says where."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

from contree import ConTreeClassifier
from scale import scaled


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True)


@pytest.fixture(scope="module")
def text(iris):
    return ConTreeClassifier(2).fit(iris.data, iris.target).to_json()


def same(a, b, X):
    assert type(a) is type(b)
    assert a.get_params() == b.get_params()
    assert a.classes_.dtype == b.classes_.dtype
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.predict(X).tolist() == b.predict(X).tolist()
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert a.search_report_ == b.search_report_
    for name in (
        "status_",
        "errors_",
        "objective_",
        "lower_bound_",
        "n_features_in_",
        "n_classes_",
    ):
        assert getattr(a, name) == getattr(b, name)
        assert type(getattr(a, name)) is type(getattr(b, name))
    for name in ("threshold", "threshold_gap", "feature", "class_counts", "children_right"):
        np.testing.assert_array_equal(getattr(a.tree_, name), getattr(b.tree_, name))
    assert vars(a).keys() == vars(b).keys()
    for method in ("export_text", "to_json", "to_dot", "to_sql", "to_python", "to_c"):
        assert getattr(a, method)() == getattr(b, method)()
    assert (a.to_sklearn().predict(X) == b.to_sklearn().predict(X)).all()


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -1, 2**40]),
        np.array([0, 1, 255], dtype=np.uint8),
        np.array([True, False, True]),
        np.array(["a", "ü\n\"'<", "日本"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array(["a", "b", "c"], dtype="U20"),
        np.array([-1.0, 0.0, 2.0]),
        pd.Series(["a", "b", "c"], dtype="category"),
    ],
    ids=lambda labels: str(labels.dtype),
)
@pytest.mark.parametrize("indent", [None, 2])
def test_round_trip(iris, labels, indent):
    y = np.asarray(labels)[iris.target]
    clf = ConTreeClassifier(3, search_options={"cache": np.int64(1)}).fit(iris.data, y)
    same(clf, ConTreeClassifier.from_json(clf.to_json(indent=indent)), iris.data)


def test_parameters_come_back():
    clf = ConTreeClassifier(
        np.int64(2),
        max_gap=0.1,
        time_limit=math.inf,
        search="paper",
        n_jobs=np.int64(2),
        class_weight={0: True, 1: np.float32(0.5)},
        warm_start=np.True_,
        on_interrupt="return",
        memory_limit="2GB",
        random_state=np.int64(5),
    ).fit([[0.0], [1.0]], [0, 1])
    back = ConTreeClassifier.from_json(clf.to_json())
    assert back.get_params() == {**clf.get_params(), "time_limit": None}
    assert clone(back).fit([[0.0], [1.0]], [0, 1]).errors_ == 0
    assert not hasattr(back, "feature_names_in_")


def test_a_depth_without_limit_comes_back(iris):
    clf = ConTreeClassifier(max_depth=None, random_state=2**32 - 1).fit(iris.data, iris.target)
    text = clf.to_json()
    assert json.loads(text)["parameters"]["max_depth"] is None
    assert not schema_errors(text)
    back = ConTreeClassifier.from_json(text)
    same(clf, back, iris.data)
    assert (back.max_depth, back.random_state) == (None, 2**32 - 1)


def test_a_random_state_that_is_no_number_is_named(iris):
    clf = ConTreeClassifier(1, random_state=np.random.RandomState(0)).fit(iris.data, iris.target)
    with pytest.raises(ValueError, match="JSON cannot hold random_state=RandomState"):
        clf.to_json()
    assert clf.set_params(random_state=None).to_json()


@settings(max_examples=scaled(25))
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=8, unique=True)
)
def test_every_digit_comes_back(column):
    X = np.sort(column)[:, np.newaxis]
    clf = ConTreeClassifier(3).fit(X, np.arange(len(X)) % 2)
    back = ConTreeClassifier.from_json(clf.to_json())
    assert back.tree_.threshold.tobytes() == clf.tree_.threshold.tobytes()
    assert back.tree_.threshold_gap.tobytes() == clf.tree_.threshold_gap.tobytes()


def change(path, value):
    """Return a function that sets one value of the data; a value that is callable maps the old."""

    def apply(data):
        *parents, last = path
        for name in parents:
            data = data[name]
        if value is ...:
            del data[last]
        else:
            data[last] = value(data[last]) if callable(value) else value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["schema"], "other", "schema is 'other'"),
        (["schema"], ..., "schema is None"),
        (["version"], 4, "version is 4, and this contree reads versions 1 to 3"),
        (["version"], 0, "version is 0"),
        (["version"], 2.0, "version is 2.0"),
        (["version"], True, "version is True"),
        (["version"], "1", "version is '1'"),
        (["parameters"], ..., "parameters is missing"),
        (["parameters"], [], "parameters must be an object"),
        (["parameters", "max_depth"], -1, "max_depth"),
        (["parameters", "random_state"], -1, "random_state"),
        (["parameters", "random_state"], "any", "random_state"),
        (["parameters", "max_depth"], True, "max_depth must be a number, not True"),
        (["parameters", "new"], 1, "parameters.new is not a parameter"),
        (["classes", "labels"], [0, 1], "class_counts must have rows of 2"),
        (["classes", "labels"], [1, 0, 2], "sorted and distinct"),
        (["classes", "labels"], ["a", "b", "c"], "labels of type"),
        (["classes", "labels"], [], "labels of type"),
        (["classes", "labels"], [0, 1, 2**70], "cannot hold"),
        (["classes", "dtype"], "what", "NumPy does not know"),
        (["classes", "dtype"], "i4,i4", "labels cannot have"),
        (["classes", "dtype"], "M8[ns]", "labels cannot have"),
        (["classes", "dtype"], "U99999999", "labels cannot have"),
        (["n_features"], 2, "feature_names must be 2 strings"),
        (["n_features"], 0, "n_features is 0"),
        (["n_features"], 4.0, "n_features must be an integer"),
        (["feature_names"], ["a"], "feature_names must be 4 strings"),
        (["feature_names"], "abcd", "feature_names must be a list"),
        (["certificate", "errors"], 5, "errors is 5, but the leaves have 6"),
        (["certificate", "lower_bound"], 7, "lower_bound is above"),
        (["certificate", "status"], 1, "certificate.status must be a string"),
        (["certificate", "status"], "fine", "certificate.status is 'fine', not one of optimal, "),
        (["search_report", "history"], [[1, 2]], "history has"),
        (["search_report", "counters", "subproblems"], -1, "counters.subproblems is -1"),
        (["search_report", "seconds"], "1", "seconds must be a number"),
        (["search_report", "kernel"], ..., "search_report.kernel is missing"),
        (["tree"], ..., "tree is missing"),
        (["tree", "feature"], ..., "tree.feature is missing"),
        (["tree", "feature"], [], "0 nodes"),
        (["tree", "feature", 0], 4, "tree.feature is 4 at node 0"),
        (["tree", "feature", 0], -1, "tree.feature is -1 at node 0"),
        (["tree", "feature", 0], 1.0, "tree.feature must hold integers"),
        (["tree", "feature", 0], True, "tree.feature must hold integers"),
        (["tree", "feature", 0], -2, "leaf with children"),
        (["tree", "feature", 0], 2**80, "tree.feature must hold integers"),
        (["tree", "threshold"], lambda old: old[:-1], "tree.threshold has 4 nodes"),
        (["tree", "threshold", 0], None, "tree.threshold must hold finite numbers"),
        (["tree", "threshold", 0], 10**400, "tree.threshold must hold finite numbers"),
        (["tree", "threshold", 0], 99.0, "threshold_gap does not hold"),
        (["tree", "threshold_gap", 0], [1.0], "rows of 2 numbers"),
        (["tree", "children_left", 0], 0, "impossible children"),
        (["tree", "children_right", 0], 10**9, "impossible children"),
        (["tree", "children_right", 0], 3, "node"),
        (["tree", "class_counts", 0, 0], 49, "not the sum"),
        (["tree", "class_counts", 2], [0, 0, 0], "without rows"),
    ],
)
def test_damage_is_named(text, path, value, message):
    data = json.loads(text)
    change(path, value)(data)
    with pytest.raises(ValueError, match=message):
        ConTreeClassifier.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schema": NaN}', "NaN is not a number"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ("1" * 5000, "digits"),
    ],
)
def test_what_is_no_json_of_ours(broken, message):
    with pytest.raises(ValueError, match=message):
        ConTreeClassifier.from_json(broken)


def test_only_text_is_read(text):
    with pytest.raises(TypeError, match="takes a str"):
        ConTreeClassifier.from_json(text.encode())


def test_a_number_beyond_float64_is_refused(text):
    with pytest.raises(ValueError, match="finite numbers"):
        ConTreeClassifier.from_json(text.replace("-2.0", "1e999"))


def test_cut_anywhere_it_is_a_value_error(text):
    for end in range(0, len(text), 37):
        with pytest.raises(ValueError):
            ConTreeClassifier.from_json(text[:end])


@settings(max_examples=scaled(120))
@given(data=st.data())
def test_no_damage_passes_unseen_or_crashes(text, data):
    """Any one value replaced: read as a classifier that predicts, or refused by a ValueError."""
    document = json.loads(text)
    spots = []

    def walk(value, path):
        if path:
            spots.append(path)
        if isinstance(value, (dict, list)):
            for key in value if isinstance(value, dict) else range(len(value)):
                walk(value[key], [*path, key])

    walk(document, [])
    path = data.draw(st.sampled_from(spots))
    junk = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just([]), st.just({})
    )
    change(path, data.draw(junk))(document)
    try:
        clf = ConTreeClassifier.from_json(json.dumps(document))
    except ValueError:
        return
    rows = pd.DataFrame(np.zeros((1, clf.n_features_in_)))
    rows.columns = getattr(clf, "feature_names_in_", rows.columns)
    assert clf.predict(rows)[0] in clf.classes_
    assert clf.export_text()


def schema_errors(text: str) -> list[str]:
    schema = Path(__file__).resolve().parents[1] / "docs" / "classifier.schema.json"
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text()))
    return [error.message for error in validator.iter_errors(json.loads(text))]


def test_what_is_written_fits_the_published_schema(text):
    assert schema_errors(text) == []
    X = np.array([[0.0, 1.0], [np.nan, 2.0], [2.0, np.nan], [3.0, 4.0]] * 5)
    weights = np.linspace(0.5, 3.0, 20)
    for labels in ([1, 2, 1, 1], ["a", "b", "b", "a"], [True, False, False, True]):
        clf = ConTreeClassifier(2, class_weight={labels[0]: 2.5}, ccp_alpha=0.01, max_leaf_nodes=3)
        clf.fit(X, labels * 5, weights)
        assert schema_errors(clf.to_json()) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [("version", 4), ("schema", "x"), ("tree.feature", [0.5]), ("certificate.status", "fine")],
)
def test_the_schema_tells_what_does_not_fit(text, path, value):
    data = json.loads(text)
    *parents, name = path.split(".")
    place = data
    for parent in parents:
        place = place[parent]
    place[name] = value
    assert schema_errors(json.dumps(data))


class Shallow(ConTreeClassifier):
    """A subclass with other parameters, as scikit-learn allows."""

    def __init__(self, max_depth=1, *, note="none"):
        super().__init__(max_depth)
        self.note = note


def test_a_subclass(iris):
    clf = Shallow(2, note="yes").fit(iris.data, iris.target)
    back = Shallow.from_json(clf.to_json())
    assert back.get_params() == {"max_depth": 2, "note": "yes"}
    same(clf, back, iris.data)
