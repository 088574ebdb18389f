"""Depth and size by cross-validation: the trees on the paths, the choice, the folds."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from joblib import cpu_count
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import KFold, StratifiedShuffleSplit

from contree import ConTreeClassifier, ConTreeClassifierCV
from contree._cross_validation import candidates, choose, processes
from contree.export.certificate import certificate


def noisy(rows: int, seed: int):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(rows, 4)).astype(float)
    return X, (X[:, 0] + X[:, 1] > 11) ^ (rng.random(rows) < 0.2)


def training_errors(clf, X, y) -> float:
    return -clf.errors_


def test_candidates_are_what_trees_can_have():
    assert candidates(0, None, 50) == [(0, 1)]
    assert candidates(2, None, 50) == [(0, 1), (1, 2), (2, 3), (2, 4)]
    assert candidates(3, 5, 50) == [(0, 1), (1, 2), (2, 3), (2, 4), (3, 4), (3, 5)]
    assert candidates(40, None, 3) == [(0, 1), (1, 2), (2, 3)]
    assert candidates(3, 1, 50) == [(0, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_a_path_has_the_optimal_tree_of_every_size(seed):
    """Every candidate has the training errors of a fit of its own."""
    X, y = noisy(60, seed)
    folds = list(KFold(3).split(X))
    clf = ConTreeClassifierCV(3, cv=folds, scoring=training_errors).fit(X, y)
    results = clf.cv_results_
    for number, parameters in enumerate(results["params"]):
        for fold, (train, _) in enumerate(folds):
            alone = ConTreeClassifier(**parameters).fit(X[train], y[train])
            assert results[f"split{fold}_test_score"][number] == -alone.errors_


def test_the_smallest_of_the_best_is_chosen():
    tried = [(0, 1), (1, 2), (2, 3), (2, 4), (3, 4)]
    scores = np.array([[0.5, 0.8, 0.9, 1.0, 1.0], [0.5, 0.8, 0.9, 0.8, 0.8]])
    assert choose(tried, scores, one_standard_error=False) == 2
    # Best mean 0.9 without spread; with it, 0.8 is within one standard error.
    assert choose(tried, scores, one_standard_error=True) == 2
    scores = np.array([[0.5, 0.8, 0.8, 1.0, 1.0], [0.5, 0.8, 0.8, 0.84, 0.8]])
    # Best mean 0.92, standard error 0.08: from 0.84 on, where only the largest are.
    assert choose(tried, scores, one_standard_error=True) == 3
    scores[0, :] += [0.0, 0.09, 0.0, 0.0, 0.0]
    assert choose(tried, scores, one_standard_error=True) == 1
    assert choose(tried, scores, one_standard_error=False) == 3


def test_the_default_is_the_papers_protocol():
    X, y = load_iris(return_X_y=True)
    clf = ConTreeClassifierCV(2).fit(X, y)
    assert clf.n_splits_ == 5
    splits = list(StratifiedShuffleSplit(5, test_size=0.2, random_state=0).split(X, y))
    same = ConTreeClassifierCV(2, cv=splits).fit(X, y)
    assert all(len(test) == 30 for _, test in splits)
    np.testing.assert_array_equal(
        clf.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"]
    )
    assert clf.best_params_ == {"max_depth": 2, "max_leaf_nodes": 3}
    assert clf.best_score_ == clf.cv_results_["mean_test_score"][clf.best_index_]
    assert clf.cv_results_["rank_test_score"][clf.best_index_] == 1


def test_the_choice_is_fitted_to_all_rows():
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    clf = ConTreeClassifierCV(2, one_standard_error=True).fit(X, y)
    alone = ConTreeClassifier(**clf.best_params_).fit(X, y)
    assert clf.best_estimator_.errors_ == alone.errors_
    assert (clf.predict(X) == alone.predict(X)).all()
    np.testing.assert_array_equal(clf.predict_proba(X), alone.predict_proba(X))
    assert list(clf.feature_names_in_) == list(X.columns)
    assert clf.best_estimator_.export_text() == alone.export_text()
    assert "Proved" in certificate(clf.best_estimator_)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(X.to_numpy())


def test_processes_change_nothing():
    X, y = noisy(80, 5)
    one = ConTreeClassifierCV(2, cv=3).fit(X, y)
    two = ConTreeClassifierCV(2, cv=3, n_jobs=2).fit(X, y)
    for name in ("mean_test_score", "std_test_score", "param_max_leaf_nodes"):
        np.testing.assert_array_equal(one.cv_results_[name], two.cv_results_[name])
    assert one.best_params_ == two.best_params_


def test_no_more_processes_than_pay():
    assert [processes(n_jobs, 4) for n_jobs in (None, 1, 3, -1, -2)] == [None, 1, 3, -1, -2]
    assert processes(65_536, 4) == 4
    assert processes(65_536, 10**6) == 4 * cpu_count()
    X, y = noisy(60, 6)
    one = ConTreeClassifierCV(1, cv=2).fit(X, y)
    many = ConTreeClassifierCV(1, cv=2, n_jobs=65_536).fit(X, y)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], many.cv_results_["mean_test_score"]
    )


def test_scoring_and_parameters_are_passed_on():
    X, y = noisy(90, 1)
    scorer = make_scorer(recall_score)
    clf = ConTreeClassifierCV(2, scoring=scorer, class_weight="balanced", min_samples_leaf=9)
    clf.fit(X, y)
    assert clf.best_estimator_.min_samples_leaf == 9
    assert clf.best_estimator_.class_weight == "balanced"
    leaves = clf.best_estimator_.tree_.feature < 0
    assert clf.best_estimator_.tree_.n_node_samples[leaves].min() >= 9
    by_name = clone(clf).set_params(scoring="recall").fit(X, y)
    np.testing.assert_array_equal(
        by_name.cv_results_["mean_test_score"], clf.cv_results_["mean_test_score"]
    )


def test_weights_count_in_the_scores():
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
    y = np.array(["a", "a", "b", "b"] * 5)
    y[[3, 7]] = "a"
    weights = np.where(np.arange(20) == 3, 6.0, 1.0)
    folds = [(np.arange(8, 20), np.arange(8))]
    plain = ConTreeClassifierCV(1, cv=folds).fit(X, y)
    heavy = ConTreeClassifierCV(1, cv=folds).fit(X, y, weights)
    assert plain.cv_results_["split0_test_score"][1] == 6 / 8
    assert heavy.cv_results_["split0_test_score"][1] == 6 / 13


def test_a_class_with_one_row_is_no_error():
    X, y = noisy(30, 2)
    y = y.astype(int)
    y[7] = 2
    clf = ConTreeClassifierCV(1).fit(X, y)
    assert list(clf.classes_) == [0, 1, 2]


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    X, y = noisy(40, 0)
    clf = ConTreeClassifierCV(1).fit(X, y)
    before = clf.best_estimator_
    with pytest.raises(ValueError, match="scoring"):
        clf.set_params(scoring="nonsense").fit(X, y)
    assert clf.best_estimator_ is before
    with pytest.raises(ValueError, match="max_depth"):
        ConTreeClassifierCV(True).fit(X, y)
    with pytest.raises(ValueError, match=r"'max_depth' .* int in the range \[0.* Got None"):
        ConTreeClassifierCV(None).fit(X, y)
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        ConTreeClassifierCV(max_leaf_nodes=0).fit(X, y)


def test_an_int_is_the_seed_of_every_search():
    X, y = noisy(40, 0)
    assert ConTreeClassifierCV(1, random_state=3).fit(X, y).best_estimator_.random_state == 3
    state = np.random.RandomState(3)  # of the splits alone: searches run in any order
    assert ConTreeClassifierCV(1, random_state=state).fit(X, y).best_estimator_.random_state is None
    with pytest.raises(ValueError, match="random_state"):
        ConTreeClassifierCV(1, random_state=True).fit(X, y)


def test_missing_values_and_frames():
    X, y = noisy(60, 9)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.iloc[::7, 1] = np.nan
    clf = ConTreeClassifierCV(2, cv=3).fit(frame, y)
    assert clf.score(frame, y) > 0.6
    assert list(clf.best_estimator_.feature_names_in_) == list("abcd")


PROGRAM = """
import numpy as np
from contree import ConTreeClassifierCV
X = np.arange(40.0)[:, None]
ConTreeClassifierCV(1, verbose=1).fit(X, X[:, 0] > 20)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")
def test_a_bar_shows_on_a_terminal_only():
    pytest.importorskip("rich")
    quiet = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stderr=follower, env=environment
    ) as process:
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 4096):
                shown += piece
        except OSError:  # which is how a terminal ends
            pass
    os.close(leader)
    assert process.returncode == 0
    assert b"paths of trees" in shown
