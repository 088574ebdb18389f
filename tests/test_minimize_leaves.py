"""minimize_leaves=True: the fewest errors, then the fewest leaves, proved for the whole tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from contree import (
    ConTreeClassifier,
    ConTreeClassifierCV,
    ConTreeRegressor,
    ConTreeRegressorCV,
    Progress,
    size_error_path,
)
from contree._check_weights import check_sample_weight
from contree._class_target import ClassTarget
from contree._leaves_second import LeavesSecond
from contree._weights import Weights
from contree.export.certificate import certificate
from oracle import check_tree, size_front
from scale import scaled
from test_general_oracle import CASES, draw, kept
from test_oracle import instance

IRIS = load_iris(return_X_y=True)


def smallest(*args, **parameters):
    return ConTreeClassifier(*args, minimize_leaves=True, **parameters)


def is_proved(clf) -> bool:
    return (
        clf.status_ == "optimal"
        and clf.lower_bound_ == clf.objective_ == clf.errors_
        and clf.leaves_lower_bound_ == clf.get_n_leaves()
    )


@pytest.mark.parametrize("search", ["best_first", "paper"])
@pytest.mark.parametrize("seed", range(2))
def test_against_exhaustive_search(search, seed):
    rng = np.random.default_rng([31, seed])
    for _ in range(scaled(120)):
        X, y = instance(rng, max_rows=14, max_classes=4)
        depth, jobs = int(rng.integers(0, 5)), int(rng.choice([1, 1, 2]))
        front = size_front(X, y, depth)
        clf = smallest(depth, search=search, n_jobs=jobs).fit(X, y)
        check_tree(clf, X, y)
        assert (clf.errors_, clf.get_n_leaves()) == (front[-1], len(front))
        assert is_proved(clf)


@pytest.mark.parametrize("name", CASES)
def test_with_weights_leaf_sizes_and_missing_values(name):
    rng = np.random.default_rng([32, *name.encode()])
    for _ in range(scaled(40)):
        X, y, weights, least = draw(rng, CASES[name])
        depth = int(rng.integers(0, 4))
        limit = int(rng.integers(1, 9)) if rng.random() < 0.5 else None
        clf = smallest(depth, min_samples_leaf=least, max_leaf_nodes=limit).fit(X, y, weights)
        assert clf.weight_tolerance_ == 0.0
        X, y, weights = kept(X, y, weights)
        check_tree(clf, X, y, weights, least)
        front = size_front(X, y, depth, weights, least)[:limit]
        assert clf.errors_ == clf.errors_.__class__(front[-1])
        assert clf.get_n_leaves() == len(front)
        assert is_proved(clf)


def test_without_a_limit_of_depth():
    rng = np.random.default_rng(33)
    for _ in range(scaled(20)):
        X, y = instance(rng, max_rows=9)
        clf = smallest(None).fit(X, y)
        front = size_front(X, y, len(y))
        assert (clf.errors_, clf.get_n_leaves()) == (front[-1], len(front))
        assert is_proved(clf)


def test_fewer_leaves_than_a_fit_without_it():
    plain, clf = ConTreeClassifier(4).fit(*IRIS), smallest(4).fit(*IRIS)
    assert plain.leaves_lower_bound_ == 1
    assert plain.errors_ == clf.errors_ == 0
    assert clf.get_n_leaves() <= plain.get_n_leaves()
    path = size_error_path(*IRIS, max_depth=4)
    assert clf.get_n_leaves() == len(path.leaves) == path.tree(100).get_n_leaves()
    assert f"and none as good has fewer than {clf.get_n_leaves()} leaves" in certificate(clf)
    assert "leaves" not in certificate(plain)


@pytest.mark.parametrize("calls", [1, 2, 3, 5, 8])
def test_a_search_that_is_stopped_claims_nothing_false(calls):
    """The last two levels have no needless leaf even then."""
    rng = np.random.default_rng([34, calls])
    for _ in range(scaled(10)):
        X, y = instance(rng, max_rows=14, max_classes=3)
        left = calls

        def stop(progress):
            nonlocal left
            left -= 1
            assert isinstance(progress, Progress)
            assert progress.lower_bound <= progress.objective <= len(y)  # noqa: B023
            return left <= 0

        clf = smallest(4).fit(X, y, callback=stop)
        front = size_front(X, y, 4)
        check_tree(clf, X, y)
        assert clf.lower_bound_ <= front[-1] <= clf.errors_
        with_as_few = [k for k, errors in enumerate(front, 1) if errors <= clf.errors_]
        assert clf.leaves_lower_bound_ <= min(with_as_few) <= clf.get_n_leaves()
        assert is_proved(clf) == (clf.status_ == "optimal")


def test_errors_may_be_proved_before_leaves():
    """By the integers of the core: 8 leaves at the most, 3 errors with 5 leaves, and bounds."""
    cost = LeavesSecond.of(8, Weights(None, 1, 100))
    counted = 8 * 3 + 5
    assert cost.bounds(counted, counted) == (3, 3)
    assert cost.bounds(counted, 8 * 3 + 1) == (3, 3)
    assert cost.bounds(counted, 8 * 3) == (3, 2)
    assert cost.bounds(counted, 0) == (3, 0)
    assert [cost.least_leaves(counted, bound) for bound in (0, 24, 25, 28, 29)] == [1, 1, 1, 4, 5]
    assert [cost.proved(counted, bound) for bound in (28, 29)] == [False, True]
    assert cost.gap(2) == 16


def test_the_certificate_says_that_leaves_are_not_proved():
    clf = smallest(4).fit(*IRIS)
    clf.leaves_lower_bound_, clf.status_ = 3, "time_limit"
    said = certificate(clf)
    assert said.startswith("This tree fits these rows without errors; ")
    assert f"this one has {clf.get_n_leaves()} leaves, of which at least 3 are needed" in said
    assert "(time_limit)" in said


def test_a_gap_is_of_the_errors():
    X, y = load_breast_cancer(return_X_y=True)
    best = smallest(3).fit(X, y)
    for max_gap in (1, 3, 0.01):
        clf = smallest(3, max_gap=max_gap).fit(X, y)
        allowed = max_gap if isinstance(max_gap, int) else max_gap * len(y)
        assert clf.errors_ - best.errors_ <= allowed
        assert clf.gap_ <= allowed
        assert clf.status_ in ("optimal", "gap_reached")


def test_json_keeps_what_is_proved():
    clf = smallest(3).fit(*IRIS)
    again = ConTreeClassifier.from_json(clf.to_json())
    assert again.get_params() == clf.get_params()
    assert again.leaves_lower_bound_ == clf.leaves_lower_bound_ == clf.get_n_leaves()
    assert certificate(again) == certificate(clf)
    bound = f'"leaves_lower_bound": {clf.get_n_leaves()}'
    assert bound in clf.to_json()
    for wrong in ("0", f"{clf.get_n_leaves() + 1}", "1.5", '"1"'):
        with pytest.raises(ValueError, match="leaves_lower_bound"):
            ConTreeClassifier.from_json(
                clf.to_json().replace(bound, f'"leaves_lower_bound": {wrong}')
            )


def test_a_checkpoint_goes_on_to_the_fewest_leaves(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    best = smallest(3).fit(X, y)
    file = tmp_path / "search.json"
    for _ in range(3):
        clf = smallest(3).fit(X, y, checkpoint=file, callback=lambda progress: True)
        assert clf.leaves_lower_bound_ <= best.get_n_leaves()
    clf = smallest(3).fit(X, y, checkpoint=file)
    assert is_proved(clf)
    assert (clf.errors_, clf.get_n_leaves()) == (best.errors_, best.get_n_leaves())
    with pytest.raises(ValueError, match="minimize_leaves"):
        ConTreeClassifier(3).fit(X, y, checkpoint=file)


def test_from_a_given_tree():
    X, y = IRIS
    plain = ConTreeClassifier(4).fit(X, y)
    clf = smallest(4).fit(X, y, initial_tree=plain)
    assert is_proved(clf)
    assert clf.get_n_leaves() == smallest(4).fit(X, y).get_n_leaves()


def test_with_a_cost_of_leaves_it_is_refused():
    with pytest.raises(ValueError, match=r"'minimize_leaves'.*ccp_alpha"):
        smallest(3, ccp_alpha=0.01).fit(*IRIS)


@pytest.mark.parametrize("estimator", [ConTreeRegressor, ConTreeRegressorCV])
def test_regressors_refuse_it_and_say_why(estimator):
    with pytest.raises(ValueError, match=r"'minimize_leaves'.*[Ss]quared errors are rounded"):
        estimator(2, minimize_leaves=True).fit(IRIS[0], IRIS[0][:, 0])


def test_a_cross_validation_passes_it_on():
    cv = ConTreeClassifierCV(3, minimize_leaves=True).fit(*IRIS)
    assert cv.best_estimator_.minimize_leaves is True
    assert is_proved(cv.best_estimator_)
    assert cv.best_params_ == ConTreeClassifierCV(3).fit(*IRIS).best_params_


def test_carts_path_of_sizes_takes_no_notice():
    path = smallest(3).cost_complexity_pruning_path(*IRIS)
    plain = ConTreeClassifier(3).cost_complexity_pruning_path(*IRIS)
    assert path.impurities.tolist() == plain.impurities.tolist()


def test_wide_weights_leave_room_for_the_leaves():
    rng = np.random.default_rng(3)
    X, y, weights = rng.normal(size=(40, 3)), rng.integers(0, 3, 40), rng.uniform(size=40)
    clf = smallest(4).fit(X, y, weights)
    assert is_proved(clf)
    assert 0 <= clf.weight_tolerance_ < 1e-12
    counted = ClassTarget.of(y).counted(clf, check_sample_weight(weights, len(y)))
    cost = counted.cost
    assert cost.error_cost * counted.weights.total + 2 * cost.leaf_cost < 1 << 60
