"""The tree as text: short, true, with what certifies each leaf."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from contree import ConTreeClassifier, export_text
from scale import scaled

LINE = re.compile(r"^(?P<bars>(?:\|   )*)\|--- (?P<rest>.*)$")
LEAF = re.compile(r"class: (.*)  \((\d+) rows?, (\d+) errors?, counts \[(.*)\]\)")


def predict_from_text(text: str, X, names) -> list[str]:
    """Follow the text by hand, row by row."""
    lines = [LINE.match(line) for line in text.splitlines()]
    assert all(lines), text
    lines = [(len(line["bars"]) // 4, line["rest"]) for line in lines]

    def follow(row):
        depth = 0
        for level, rest in lines:
            if level != depth:
                continue
            leaf = LEAF.fullmatch(rest)
            if leaf:
                return leaf[1]
            name, relation, threshold = rest.rsplit(maxsplit=2)
            value = row[names.index(name)]
            if (value <= float(threshold)) == (relation == "<="):
                depth += 1
        raise AssertionError("the text leads nowhere")

    return [follow(row) for row in X]


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_the_text_predicts_as_the_tree_does(load):
    data = load()
    names = [f"a b {f}" for f in range(data.data.shape[1])]
    clf = ConTreeClassifier(3).fit(data.data, data.target)
    text = clf.export_text(feature_names=names)
    predicted = predict_from_text(text, data.data, names)
    assert predicted == [str(label) for label in clf.predict(data.data)]
    leaves = LEAF.findall(text)
    assert sum(int(rows) for _, rows, _, _ in leaves) == len(data.data)
    assert sum(int(errors) for _, _, errors, _ in leaves) == clf.errors_


@settings(max_examples=scaled(40))
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=8, unique=True)
)
def test_digits_are_enough_for_any_values(column):
    X = np.sort(np.array(column))[:, np.newaxis]
    y = np.arange(len(X)) % 2
    clf = ConTreeClassifier(3).fit(X, y)
    predicted = predict_from_text(clf.export_text(), X, ["feature_0"])
    assert predicted == [str(label) for label in clf.predict(X)]


def test_layout():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "id": [0, 0, 0, 0]})
    clf = ConTreeClassifier(1).fit(frame, ["no", "no", "yes", "yes"])
    assert clf.export_text() == (
        "|--- size <= 2.5\n"
        "|   |--- class: no  (2 rows, 0 errors, counts [2, 0])\n"
        "|--- size >  2.5\n"
        "|   |--- class: yes  (2 rows, 0 errors, counts [0, 2])\n"
    )
    assert export_text(clf, feature_names=["a", "b"], class_names=["-", "+"], decimals=3) == (
        "|--- a <= 2.500\n"
        "|   |--- class: -  (2 rows, 0 errors, counts [2, 0])\n"
        "|--- a >  2.500\n"
        "|   |--- class: +  (2 rows, 0 errors, counts [0, 2])\n"
    )


def test_a_leaf_alone():
    clf = ConTreeClassifier(0).fit([[1.0], [2.0], [3.0]], [1, 1, 0])
    assert clf.export_text() == "|--- class: 1  (3 rows, 1 error, counts [1, 2])\n"


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        (1.0, 2.0, "1.5"),
        (1000.0, 2000.0, "1500"),
        (0.1, 0.2, "0.15"),
        (123456.0, 123458.0, "123457"),
        (1234567.0, 1234569.0, "1234568"),
        (1.23456, 1.23458, "1.23457"),
        (2e-9, 4e-9, "3e-09"),
        (1e300, 2e300, "1.5e+300"),
        (-3.0, -1.0, "-2"),
    ],
)
def test_digits(a, b, shown):
    clf = ConTreeClassifier(1).fit([[a], [b]], [0, 1])
    assert clf.export_text().splitlines()[0] == f"|--- feature_0 <= {shown}"


def test_digits_beside_a_value_of_other_rows():
    """Half way from 15.16 to 15.28 is, rounded, just below 15.22, which does not get there."""
    X = [[15.16, 0.0], [15.28, 0.0], [15.0, 1.0], [15.19, 1.0], [15.22, 1.0], [15.5, 1.0]]
    clf = ConTreeClassifier(2, max_leaf_nodes=3).fit(X, [0, 1, 2, 2, 2, 2])
    assert 15.19 <= clf.tree_.threshold[1] < 15.22
    assert clf.export_text().splitlines()[1] == "|   |--- feature_0 <= 15.219"


@pytest.mark.parametrize("decimals", [-1, 1.5, "2", True])
def test_decimals_refused(decimals):
    clf = ConTreeClassifier(1).fit([[1.0], [3.0]], [0, 1])
    for export in (clf.export_text, clf.to_dot, clf.plot):
        with pytest.raises(ValueError, match=r"decimals must be None or a number of digits"):
            export(decimals=decimals)


def test_wrong_number_of_names():
    clf = ConTreeClassifier(1).fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    with pytest.raises(ValueError, match="feature_names must have one name for each of the 2"):
        clf.export_text(feature_names=["a"])
    with pytest.raises(ValueError, match="class_names must have one name for each of the 2"):
        clf.export_text(class_names=["a", "b", "c"])
