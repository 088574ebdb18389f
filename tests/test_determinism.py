"""The same input gives the same tree to the last bit, alone or beside another fit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from contree import ConTreeClassifier


def fingerprint(clf):
    tree = clf.tree_
    arrays = (tree.children_left, tree.children_right, tree.feature, tree.threshold)
    return (
        *(array.tobytes() for array in (*arrays, tree.class_counts)),
        clf.status_,
        clf.lower_bound_,
        tuple(clf.search_report_.counters.items()),
    )


@pytest.mark.parametrize("search", ["best_first", "paper"])
def test_twice_the_same(search):
    X, y = load_wine(return_X_y=True)
    first, second = (ConTreeClassifier(3, search=search).fit(X, y) for _ in range(2))
    assert fingerprint(first) == fingerprint(second)


def test_the_form_of_the_input_does_not_matter():
    X, y = load_wine(return_X_y=True)
    first = ConTreeClassifier(3).fit(X, y)
    for same in (np.asfortranarray(X), X.tolist(), np.repeat(X, 2, axis=1)[:, ::2]):
        assert fingerprint(ConTreeClassifier(3).fit(same, y)) == fingerprint(first)


def test_two_fits_at_once_are_independent():
    sets = [load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)] * 3
    alone = [fingerprint(ConTreeClassifier(3).fit(X, y)) for X, y in sets[:2]] * 3
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda s: fingerprint(ConTreeClassifier(3).fit(*s)), sets))
    assert together == alone
