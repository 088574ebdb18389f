"""The MIP, SAT and Quant-BnB baselines that the benchmarks compare with are optimal too."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import quant_bnb
from _complete_tree import ancestors, cart, from_rows
from _harness import dense_ranks
from contree import ConTreeClassifier
from scale import scaled

pytestmark = pytest.mark.tools

NEEDS = {"oct_mip": "highspy", "sat_tree": "pysat", "quant_bnb": "numpy"}


@pytest.fixture(params=NEEDS)
def fit(request):
    needed = NEEDS[request.param]
    pytest.importorskip(needed, reason=f"{request.param} is NOT tested: no {needed}")
    return importlib.import_module(request.param).fit


def instance(seed: int):
    """Return ranks and labels: few values, so that there are ties; columns may be constant."""
    rng = np.random.default_rng(seed)
    n, p, values, classes = (int(rng.integers(1, high)) for high in (25, 4, 9, 4))
    X = dense_ranks(rng.integers(0, values, (n, p)).astype(float))
    return X, np.unique(rng.integers(0, classes, n), return_inverse=True)[1]


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", range(scaled(5)))
def test_it_has_the_optimum(fit, seed, depth):
    X, y = instance(seed)
    tree, bound = fit(X, y, depth, 1e6)
    assert tree.errors(X, y) == bound == ConTreeClassifier(depth).fit(X, y).errors_


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(scaled(30)))
def test_quantile_cells_lead_to_the_optimum(seed, depth):
    X, y = instance(seed + 1000)
    tree, bound = quant_bnb.fit(X, y, depth, 1e6)
    assert tree.errors(X, y) == bound == ConTreeClassifier(depth).fit(X, y).errors_


def test_a_limit_leaves_a_tree_and_a_bound(fit):
    rng = np.random.default_rng(1)
    X, y = dense_ranks(rng.random((150, 5))), rng.integers(0, 2, 150)
    best = ConTreeClassifier(2).fit(X, y).errors_
    tree, bound = fit(X, y, 2, 0.3)
    assert bound <= best <= tree.errors(X, y) <= cart(X, y, 2).errors(X, y)


@pytest.mark.parametrize("seed", range(5))
def test_a_complete_tree_is_the_one_it_was_made_from(seed):
    from sklearn.tree import DecisionTreeClassifier

    X, y = instance(seed)
    for depth in (1, 2, 3):
        tree = cart(X, y, depth)
        fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        assert np.array_equal(tree.predict(X), fitted.predict(X))
        again = from_rows(X, y, depth, tree.feature, tree.leaves(X))
        assert np.array_equal(again.leaves(X), tree.leaves(X))


def test_ways_to_the_leaves():
    assert ancestors(0, 2) == [(0, True), (1, True)]
    assert ancestors(2, 2) == [(0, False), (2, True)]
