"""The same input gives the same tree to the last bit, alone or beside another fit."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from contree import ConTreeClassifier, ConTreeRegressor
from contree._class_target import ClassTarget
from contree._fit_request import FitRequest


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


@pytest.mark.parametrize("estimator", [ConTreeClassifier, ConTreeRegressor])
@pytest.mark.parametrize("depth", [2, 4])
def test_the_same_pickle_but_for_the_times(estimator, depth):
    X, y = (part[:60] for part in load_breast_cancer(return_X_y=True))
    files = []
    for _ in range(2):
        fitted = estimator(depth).fit(X, y)
        assert fitted.search_report_.seconds > 0
        fitted.search_report_ = fitted.search_report_.without_times()
        files.append(pickle.dumps(fitted))
    assert files[0] == files[1]


HARD = np.random.default_rng(0).normal(size=(400, 6)), np.random.default_rng(1).integers(0, 2, 400)


def stopped(random_state, splits=40):
    """Return what a search has found that is stopped after so much work, not after some time."""
    X, y = HARD[0][:200], HARD[1][:200]
    clf = ConTreeClassifier(5, random_state=random_state)
    columns, codes = np.asfortranarray(X), y.astype(np.int32)
    request = FitRequest.of(
        clf, columns, ClassTarget(codes, np.array([0, 1])), None, start_time=0.0
    )
    answer = request.search_input.searcher().run(open_only=True, splits=splits)
    # Each better tree is noted with the bound that held then; bounds between them as often as the
    # clock allows.
    steps: dict[int, int] = {}
    for _, objective, bound in answer["history"]:
        steps.setdefault(objective, bound)
    nodes = (answer["tree"][name].tobytes() for name in ("feature", "threshold"))
    return tuple(steps.items()), answer["lower_bound"], *nodes


def test_the_seed_decides_the_course_of_the_search():
    assert stopped(None) == stopped(None)
    third = stopped(3)
    assert third == stopped(3) == stopped(np.random.RandomState(3))
    assert len({third, *(stopped(seed) for seed in range(3))}) > 1


def test_the_seed_does_not_decide_what_is_proved():
    X, y = HARD[0][:120, :4], HARD[1][:120]
    fits = [ConTreeClassifier(4, random_state=seed).fit(X, y) for seed in (None, 0, 1, 2, 2)]
    assert len({(clf.status_, clf.errors_, clf.lower_bound_) for clf in fits}) == 1
    assert fits[0].status_ == "optimal"
    assert len({fingerprint(clf) for clf in fits}) > 1
    assert fingerprint(fits[-1]) == fingerprint(fits[-2])


def test_a_random_state_gives_each_fit_another_seed():
    X, y = HARD[0][:120, :4], HARD[1][:120]
    clf = ConTreeClassifier(4, random_state=np.random.RandomState(0))
    prints = [fingerprint(clf.fit(X, y)) for _ in range(6)]
    assert len(set(prints)) > 1
    clf.set_params(random_state=np.random.RandomState(0))
    assert [fingerprint(clf.fit(X, y)) for _ in range(6)] == prints


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
