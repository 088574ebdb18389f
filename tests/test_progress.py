"""A search tells how it goes, and stops when it is told to."""

from __future__ import annotations

import dataclasses
import inspect
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from contree import ConTreeClassifier, Progress
from oracle import check_tree
from test_limits import hard_set

SEARCHES = ["best_first", "paper"]


class SlowRows:
    """Rows that take their time to be read."""

    SECONDS = 0.3

    def __init__(self, rows):
        self.rows, self.shape = rows, rows.shape

    def __array__(self, dtype=None, copy=None):
        time.sleep(self.SECONDS)
        return np.array(self.rows, dtype)

    def __len__(self):
        return len(self.rows)


@pytest.mark.parametrize("kept", [False, True])
def test_all_seconds_count_from_the_call_of_fit(kept, tmp_path):
    X, y = load_iris(return_X_y=True)
    shown = []
    checkpoint = {"checkpoint": tmp_path / "search.ckpt"} if kept else {}
    clf = ConTreeClassifier(2).fit(SlowRows(X), y, callback=shown.append, **checkpoint)
    report = clf.search_report_
    assert report.seconds >= SlowRows.SECONDS
    assert [step for step in report.history if step.seconds < SlowRows.SECONDS] == []
    assert report.history[-1].seconds <= report.seconds
    assert shown
    assert shown[-1].seconds >= SlowRows.SECONDS


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_callback_is_shown(search, n_jobs):
    X, y = hard_set()
    shown, threads = [], set()

    def callback(progress):
        shown.append(progress)
        threads.add(threading.get_ident())

    clf = ConTreeClassifier(4, time_limit=1.0, search=search, n_jobs=n_jobs)
    clf.fit(X, y, callback=callback)
    assert threads == {threading.get_ident()}
    assert len(shown) >= 3  # a few times per second, with or without an improvement
    for before, now in pairwise(shown):
        assert before.seconds <= now.seconds
        assert before.objective >= now.objective
        assert before.lower_bound <= now.lower_bound
    for progress in shown:
        assert progress.gap == progress.objective - progress.lower_bound >= 0
        assert 0 <= progress.root_closed <= 1
    # The last look is the result.
    assert shown[-1].objective == clf.objective_
    assert shown[-1].lower_bound == clf.lower_bound_
    assert clf.status_ == "time_limit"


def test_progress_is_a_frozen_value():
    progress = Progress(0.5, 7, 3, 0.25)
    assert progress.gap == 4
    assert progress == Progress(seconds=0.5, objective=7, lower_bound=3, root_closed=0.25)
    with pytest.raises(dataclasses.FrozenInstanceError):
        progress.objective = 1


def test_a_short_fit_calls_back_too():
    shown = []
    clf = ConTreeClassifier(2).fit(*load_iris(return_X_y=True), callback=shown.append)
    assert clf.status_ == "optimal"
    last = shown[-1]
    assert (last.objective, last.lower_bound, last.gap, last.root_closed) == (6, 6, 0, 1.0)


def test_the_share_of_the_root_grows():
    X, y = hard_set(p=8)
    shown = []
    clf = ConTreeClassifier(3).fit(X, y, callback=shown.append)
    shares = [progress.root_closed for progress in shown]
    assert shares == sorted(shares)
    assert clf.status_ == "optimal"
    assert shares[-1] == 1.0
    assert any(0 < share < 1 for share in shares)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("answer", [True, np.True_, 1])
def test_true_stops_the_search(search, n_jobs, answer):
    X, y = hard_set()
    calls = []

    def callback(progress):
        calls.append(progress)
        return answer if len(calls) == 2 else None

    clf = ConTreeClassifier(5, search=search, n_jobs=n_jobs).fit(X, y, callback=callback)
    assert clf.status_ == "stopped"
    assert len(calls) == 2  # and nothing more was asked
    assert clf.objective_ <= calls[-1].objective
    assert clf.lower_bound_ >= calls[-1].lower_bound
    assert clf.gap_ == clf.objective_ - clf.lower_bound_ > 0
    check_tree(clf, X, y)


def test_true_after_the_proof_changes_nothing():
    clf = ConTreeClassifier(2).fit(*load_iris(return_X_y=True), callback=lambda progress: True)
    assert clf.errors_ >= 6
    assert clf.status_ in ("optimal", "stopped")


class Failure(Exception):
    pass


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [Failure, KeyboardInterrupt, SystemExit])
def test_what_a_callback_raises_comes_out(error, n_jobs):
    X, y = hard_set()
    clf = ConTreeClassifier(5, n_jobs=n_jobs)

    def callback(progress):
        raise error("from the callback")

    with pytest.raises(error, match="from the callback"):
        clf.fit(X, y, callback=callback)
    assert vars(clf) == clf.get_params()
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_a_failed_fit_leaves_the_fitted_estimator():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = ConTreeClassifier(2).fit(X, y)
    before = dict(vars(clf))

    def callback(progress):
        raise Failure

    with pytest.raises(Failure):
        clf.fit(X.to_numpy()[:, :2], 1 - (y == 0), callback=callback)
    assert vars(clf) == before
    with pytest.raises(ValueError):
        clf.fit(X.iloc[:, :1], y[:-1])
    assert vars(clf) == before
    assert clf.score(X, y) == 144 / 150


def test_an_answer_without_truth_is_an_error():
    with pytest.raises(ValueError, match="ambiguous"):
        ConTreeClassifier(2).fit(*load_iris(return_X_y=True), callback=lambda p: np.zeros(2))


@pytest.mark.parametrize("callback", [3, "print", [print]])
def test_callbacks_refused(callback):
    with pytest.raises(TypeError, match=r"callback must be None or a function .* got"):
        ConTreeClassifier().fit([[0.0]], [0], callback=callback)


@pytest.mark.parametrize("parameters", [{}, {"max_gap": 20}, {"time_limit": 0}])
def test_the_gap_at_any_end(parameters):
    clf = ConTreeClassifier(2, **parameters).fit(*load_iris(return_X_y=True))
    assert clf.gap_ == clf.objective_ - clf.lower_bound_
    assert (clf.gap_ == 0) == (clf.status_ == "optimal")
    assert ConTreeClassifier.from_json(clf.to_json()).gap_ == clf.gap_
    with pytest.raises(NotFittedError):
        _ = clone(clf).gap_


def test_what_fit_takes_besides_can_be_routed():
    """Arguments of fit by name only: scikit-learn's metadata routing knows them."""
    with config_context(enable_metadata_routing=True):
        clf = ConTreeClassifier().set_fit_request(callback=True, initial_tree=False)
        requests = clf.get_metadata_routing().fit.requests
        assert {name: requests[name] for name in ("callback", "initial_tree")} == {
            "callback": True,
            "initial_tree": False,
        }
    kinds = inspect.signature(ConTreeClassifier.fit).parameters
    assert kinds["callback"].kind is kinds["initial_tree"].kind is inspect.Parameter.KEYWORD_ONLY
