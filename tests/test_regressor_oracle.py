"""Regression trees against exhaustive search in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from contree import ConTreeRegressor
from oracle import check_number_tree, squared_error_front
from scale import scaled
from test_general_oracle import draw_missing
from test_oracle import instance

PLAIN = dict.fromkeys(("weights", "leaf_size", "leaf_weight", "leaves", "cost", "missing"), False)
CASES = {"plain": PLAIN, "all": dict.fromkeys(PLAIN, True)}
CASES |= {name: PLAIN | {name: True} for name in PLAIN}


def draw_targets(rng, n):
    """Return targets of every kind that is counted exactly, and some that are not."""
    kind = rng.integers(9)
    if kind == 0:
        return rng.integers(-3, 4, size=n)
    if kind == 1:
        return rng.integers(0, 2, size=n) * 10
    if kind == 2:
        return np.round(rng.normal(size=n), 2)
    if kind == 3:
        return 1e6 + np.round(rng.normal(size=n) * 1e-6, 9)
    if kind == 4:
        return np.full(n, rng.choice([0.1, -7.0, 1e300]))
    if kind == 5:
        return rng.integers(-5, 6, size=n) * rng.choice([2.0**-300, 2.0**200, 1e15, 0.1])
    if kind == 6:
        return np.where(rng.random(n) < 0.2, 1e9, rng.integers(0, 3, size=n))
    if kind == 7:
        return rng.normal(size=n).astype(np.float32)
    return rng.normal(size=n)


def draw_weights(rng, n):
    kind = rng.integers(5)
    if kind == 0:
        weights = rng.integers(0, 5, size=n)
    elif kind == 1:
        weights = rng.choice([1, 10**6], size=n)
    elif kind == 2:
        weights = rng.choice([0.0, 0.25, 1.5, 3 / 1024], size=n)
    elif kind == 3:
        weights = rng.uniform(size=n)
    else:
        weights = np.full(n, rng.choice([0.1, 7.0, 2.0**-80]))
    if not weights.any():
        weights[rng.integers(n)] = 1
    return weights


def draw(rng, case, max_rows=9):
    X, _ = instance(rng, max_rows=max_rows)
    y, weights, parameters = draw_rest(rng, case, len(X))
    return draw_missing(rng, X) if case["missing"] else X, y, weights, parameters


def draw_rest(rng, case, n):
    """Return targets, weights and parameters for so many rows."""
    y = draw_targets(rng, n)
    parameters = {}
    if case["leaf_size"]:
        parameters["min_samples_leaf"] = int(rng.integers(2, 3 + n // 3))
    if case["leaf_weight"]:
        parameters["min_weight_fraction_leaf"] = float(rng.choice([0.1, 0.3, 0.5]))
    if case["leaves"]:
        parameters["max_leaf_nodes"] = int(rng.integers(1, 7))
    if case["cost"]:
        unit = 1.0 if (y == y[0]).all() else float(np.var(y))
        parameters["ccp_alpha"] = float(f"{unit * rng.choice([1e-9, 0.01, 0.1, 2.0]):.3g}")
    weights = draw_weights(rng, n) if case["weights"] else None
    if case["leaf_weight"] and weights is not None and weights.dtype.kind == "f":
        weights = np.ceil(weights * 4)  # a leaf of rounded weights may be a little lighter
    return y, weights, parameters


def least_objective(X, y, weights, depth, parameters, categorical=()):
    """Return the least objective of a permitted tree, and the cost of a leaf, as fractions."""
    front = squared_error_front(
        X,
        y,
        depth,
        weights,
        parameters.get("min_samples_leaf", 1),
        Fraction(str(parameters.get("min_weight_fraction_leaf", 0))),
        categorical,
    )
    mass = len(y) if weights is None else sum(map(Fraction, weights.tolist()))
    cost = Fraction(str(parameters.get("ccp_alpha", 0))) * mass
    front = front[: parameters.get("max_leaf_nodes", len(front))]
    return min(error + cost * leaves for leaves, error in enumerate(front, 1)), cost


def fit_and_check(X, y, weights, depth, parameters, categorical=(), **others):
    reg = ConTreeRegressor(depth, **parameters, categorical_features=categorical, **others)
    reg.fit(X, y, weights)
    kept = slice(None) if weights is None else weights > 0
    own = None if weights is None else weights[kept].tolist()
    error = check_number_tree(reg, X[kept], y[kept], own, parameters.get("min_samples_leaf", 1))
    optimum, cost = least_objective(X, y, weights, depth, parameters, categorical)
    objective = error + cost * reg.tree_.n_leaves
    tolerance = Fraction(reg.target_tolerance_) + Fraction(reg.weight_tolerance_)
    # Without a tolerance the rounding of scores is less than objective_ can show.
    assert objective <= optimum + max(tolerance, optimum / 10**12)
    if tolerance == 0:
        assert reg.objective_ == float(objective)
    else:
        assert abs(Fraction(reg.objective_) - objective) <= tolerance
    return reg, objective, optimum


@pytest.mark.parametrize("name", CASES)
def test_against_exhaustive_search(name):
    rng = np.random.default_rng([1, *name.encode()])
    exact = 0
    for _ in range(scaled(280)):
        X, y, weights, parameters = draw(rng, CASES[name])
        depth = int(rng.integers(0, 4))
        jobs = int(rng.choice([1, 1, 1, 2]))
        reg, *_ = fit_and_check(X, y, weights, depth, parameters, n_jobs=jobs)
        assert reg.status_ == "optimal"
        assert reg.lower_bound_ == reg.objective_
        assert reg.gap_ == 0
        exact += reg.target_tolerance_ == reg.weight_tolerance_ == 0
    assert exact > 0.5 * scaled(280)


def test_a_gap_is_kept():
    rng = np.random.default_rng(2)
    used = 0
    for _ in range(scaled(50)):
        X, _, weights, parameters = draw(rng, CASES["weights"], max_rows=14)
        y = rng.normal(size=len(X)).round(2)
        gap = rng.choice([0.05, 0.2, 0.5])
        reg, objective, optimum = fit_and_check_with_gap(X, y, weights, 3, parameters, float(gap))
        assert reg.status_ in ("optimal", "gap_reached")
        tolerance = Fraction(reg.target_tolerance_) + Fraction(reg.weight_tolerance_)
        assert Fraction(reg.lower_bound_) <= optimum + max(tolerance, optimum / 10**12)
        used += reg.status_ == "gap_reached" and objective > optimum
    assert used, "no instance made use of its gap: the test shows nothing"


def fit_and_check_with_gap(X, y, weights, depth, parameters, gap):
    reg = ConTreeRegressor(depth, max_gap=gap, **parameters).fit(X, y, weights)
    optimum, _ = least_objective(X, y, weights, depth, parameters)
    alone, _ = least_objective(X, y, weights, 0, parameters)
    kept = slice(None) if weights is None else weights > 0
    own = None if weights is None else weights[kept].tolist()
    objective = check_number_tree(reg, X[kept], y[kept], own)
    tolerance = Fraction(reg.target_tolerance_) + Fraction(reg.weight_tolerance_)
    assert objective <= optimum + Fraction(str(gap)) * alone + max(tolerance, optimum / 10**12)
    return reg, objective, optimum


@pytest.mark.parametrize("limit", ["time_limit", "callback"])
def test_a_search_that_is_stopped_keeps_a_true_bound(limit):
    rng = np.random.default_rng(3)
    for _ in range(scaled(60)):
        X, y, weights, parameters = draw(rng, CASES["all"])
        reg = ConTreeRegressor(3, **parameters, time_limit=0 if limit == "time_limit" else None)
        reg.fit(X, y, weights, callback=(lambda _: True) if limit == "callback" else None)
        optimum, _ = least_objective(X, y, weights, 3, parameters)
        tolerance = Fraction(reg.target_tolerance_) + Fraction(reg.weight_tolerance_)
        assert Fraction(reg.lower_bound_) <= optimum + max(tolerance, optimum / 10**12)
        assert reg.lower_bound_ <= reg.objective_
