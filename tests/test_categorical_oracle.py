"""Trees with categorical features against exhaustive search over all sets of categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from contree import ConTreeClassifier, ConTreeRegressor, size_error_path
from oracle import fewest_errors, size_front, squared_error_front
from scale import scaled
from test_general_oracle import draw_weights, kept
from test_oracle import instance
from test_regressor_oracle import CASES, draw_rest, fit_and_check

NAMES = np.array(["red", "green", "blue", "white", "black", "grey"], dtype=object)


def draw(rng, max_rows=11):
    """Return a frame, its codes, labels and the categorical columns: one to all of them."""
    X, y = instance(rng, max_rows=max_rows, max_classes=4)
    categorical = np.flatnonzero(rng.random(X.shape[1]) < 0.6)
    if not len(categorical):
        categorical = np.array([rng.integers(X.shape[1])])
    for f in categorical:
        X[:, f] = rng.integers(rng.integers(1, 7), size=len(X))
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.2] = np.nan
    frame = pd.DataFrame({f"x{f}": X[:, f] for f in range(X.shape[1])})
    for f in categorical:
        texts = NAMES[np.nan_to_num(X[:, f]).astype(int)]
        frame[f"x{f}"] = pd.Categorical(np.where(np.isnan(X[:, f]), None, texts))
    return frame, X, y, set(categorical.tolist())


def check_recount(clf, X, y, weights=None):
    """Assert that predictions lose what the certificate says, and that both are exact."""
    mass = np.ones(len(y), dtype=object) if weights is None else np.array(weights, dtype=object)
    assert sum(mass[clf.predict(X) != y].tolist()) == clf.errors_
    assert clf.status_ == "optimal"
    assert clf.lower_bound_ == clf.objective_


@pytest.mark.parametrize("seed", range(3))
def test_against_exhaustive_search(seed):
    rng = np.random.default_rng([seed, 1])
    for _ in range(scaled(100)):
        frame, X, y, categorical = draw(rng)
        depth = int(rng.integers(1, 4))
        least = int(rng.choice([1, 1, 2, 3]))
        clf = ConTreeClassifier(depth, min_samples_leaf=least, n_jobs=int(rng.choice([1, 1, 2])))
        clf.fit(frame, y)
        assert clf.errors_ == fewest_errors(X, y, depth, None, least, categorical)
        check_recount(clf, frame, y)
        assert clf.tree_.n_node_samples[clf.tree_.feature < 0].min() >= min(least, len(y))


def test_with_weights_and_given_as_codes():
    rng = np.random.default_rng(2)
    for _ in range(scaled(60)):
        frame, X, y, categorical = draw(rng)
        weights = draw_weights(rng, len(y))
        clf = ConTreeClassifier(2, categorical_features=sorted(categorical)).fit(X, y, weights)
        rows, labels, exact = kept(X, y, weights)
        optimum = fewest_errors(rows, labels, 2, exact, 1, categorical)
        assert clf.weight_tolerance_ == 0
        assert clf.errors_ == (optimum if isinstance(clf.errors_, int) else float(optimum))
        assert clf.lower_bound_ == clf.objective_
        named = ConTreeClassifier(2).fit(frame, y, weights)
        assert (named.errors_, named.status_) == (clf.errors_, "optimal")


def test_every_size():
    rng = np.random.default_rng(3)
    for _ in range(scaled(60)):
        frame, X, y, categorical = draw(rng)
        path = size_error_path(frame, y, 2)
        assert path.errors.tolist() == size_front(X, y, 2, categorical=categorical)
        assert path.status == "optimal"
        for tree in path.trees:
            check_recount(tree, frame, y)


def test_leaves_with_a_cost():
    rng = np.random.default_rng(4)
    for _ in range(scaled(40)):
        frame, X, y, categorical = draw(rng)
        clf = ConTreeClassifier(3, ccp_alpha=0.125, max_leaf_nodes=5).fit(frame, y)
        front = size_front(X, y, 3, categorical=categorical)[:5]
        costs = [errors + len(y) * size / 8 for size, errors in enumerate(front, start=1)]
        assert clf.objective_ == clf.lower_bound_ == min(costs)


@pytest.mark.parametrize("name", CASES)
def test_squared_error_against_exhaustive_search(name):
    rng = np.random.default_rng([5, *name.encode()])
    for _ in range(scaled(40)):
        frame, X, _, categorical = draw(rng, max_rows=9)
        y, weights, parameters = draw_rest(rng, CASES[name], len(X))
        depth, jobs = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2]))
        columns = sorted(categorical)
        reg, *_ = fit_and_check(X, y, weights, depth, parameters, columns, n_jobs=jobs)
        assert reg.status_ == "optimal"
        assert reg.lower_bound_ == reg.objective_
        named = ConTreeRegressor(depth, **parameters).fit(frame, y, weights)
        assert named.objective_ == reg.objective_
        assert named.predict(frame).tolist() == reg.predict(X).tolist()


def test_squared_error_of_every_size():
    rng = np.random.default_rng(6)
    for _ in range(scaled(50)):
        frame, X, y, categorical = draw(rng, max_rows=9)
        y = rng.integers(-3, 4, size=len(y))  # whose squared errors are not rounded
        path = size_error_path(frame, y, 2, task="regression")
        front = squared_error_front(X, y, 2, categorical=categorical)
        assert path.status == "optimal"
        np.testing.assert_allclose(path.errors, [float(error) for error in front], atol=1e-12)
