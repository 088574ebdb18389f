"""All sizes of regression trees in one search, and depth and size by cross-validation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.model_selection import ShuffleSplit

from contree import ConTreeRegressor, ConTreeRegressorCV, size_error_path
from oracle import squared_error_front
from scale import scaled
from test_regressor_oracle import CASES, draw


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def test_every_size_against_exhaustive_search():
    rng = np.random.default_rng(0)
    for _ in range(scaled(60)):
        X, _, weights, _ = draw(rng, CASES["weights"])
        y = rng.integers(-9, 9, size=len(X))
        depth = int(rng.integers(0, 4))
        path = size_error_path(X, y, depth, task="regression", sample_weight=weights)
        front = squared_error_front(X, y, depth, weights)
        assert path.status == "optimal"
        assert path.proved.all()
        np.testing.assert_allclose(path.errors, [float(error) for error in front], rtol=1e-5)


def test_a_path_is_a_fit_for_each_size(diabetes):
    X, y = diabetes
    path = size_error_path(X, y, 2, task="regression")
    for leaves, error, tree in zip(path.leaves, path.errors, path.trees, strict=True):
        alone = ConTreeRegressor(2, max_leaf_nodes=leaves).fit(X, y)
        assert alone.squared_error_ == error == tree.squared_error_ == tree.lower_bound_
    leaves, errors = path.cart_path()
    shared = np.minimum(leaves, len(path.leaves)) - 1
    assert (path.errors[shared] <= errors * (1 + 1e-12)).all()
    assert path.plot().get_ylabel() == "squared error"
    assert "squared" not in repr(path)
    with pytest.raises(ValueError, match="task"):
        size_error_path(X, y, task="ranking")
    with pytest.raises(ValueError, match="class_weight"):
        size_error_path(X, y, task="regression", class_weight="balanced")


def test_the_best_size_changes_where_the_path_says(diabetes):
    X, y = diabetes
    path = size_error_path(X, y, 2, task="regression")
    found = ConTreeRegressor(2).cost_complexity_pruning_path(X, y)
    np.testing.assert_array_equal(found.ccp_alphas, path.ccp_alphas)
    np.testing.assert_allclose(found.impurities[-1], np.var(y))
    assert path.exact_alphas[0] == Fraction(0)
    for alpha, leaves in zip(path.ccp_alphas, path.ccp_leaves, strict=True):
        reg = ConTreeRegressor(2, ccp_alpha=alpha * 1.001 + 1e-9).fit(X, y)
        assert reg.get_n_leaves() == leaves


def test_cross_validation_is_that_of_its_parts(diabetes):
    X, y = diabetes
    folds = ShuffleSplit(3, test_size=0.25, random_state=1)
    search = ConTreeRegressorCV(2, cv=folds).fit(X, y)
    for number, params in enumerate(search.cv_results_["params"]):
        scores = [
            ConTreeRegressor(**params).fit(X[train], y[train]).score(X[test], y[test])
            for train, test in folds.split(X)
        ]
        np.testing.assert_allclose(search.cv_results_["mean_test_score"][number], np.mean(scores))
    best = ConTreeRegressor(**search.best_params_).fit(X, y)
    assert (search.predict(X) == best.predict(X)).all()
    assert search.score(X, y) == best.score(X, y)
    assert search.plot_scores().get_ylabel() == "R²"
    small = ConTreeRegressorCV(2, cv=folds, one_standard_error=True).fit(X, y)
    assert small.best_params_["max_leaf_nodes"] <= search.best_params_["max_leaf_nodes"]
