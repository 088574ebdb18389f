"""The means of the anytime experiment."""

from __future__ import annotations

import pytest

import anytime


def case(**errors):
    """Return a case in which each solver has one tree, after half a second."""
    runs = [
        (solver, 10.0, {"cpu": 0.5, "wall": 0.5, "errors": found})
        for solver, found in errors.items()
    ]
    return {"dataset": "toy", "depth": 4, "known_optimum": 10, "long_run": None, "runs": runs}


def test_mean_gap():
    cases = [case(contree=10, cart=20), case(contree=20, cart=40)]
    assert anytime.mean_gap(cases, "contree", 1.0) == pytest.approx(0.25)
    assert anytime.mean_gap(cases, "cart", 1.0) == pytest.approx((0.5 + 0.75) / 2)
    assert anytime.mean_gap(cases, "contree", 0.1) == 1.0  # no tree yet


def test_a_solver_that_has_not_run_everywhere_has_no_mean():
    cases = [case(contree=10, pytrees=20), case(contree=10)]
    assert anytime.mean_gap(cases, "pytrees", 1.0) is None
    assert anytime.mean_gap([], "contree", 1.0) is None


def test_the_best_known_tree_may_be_of_the_long_run():
    toy = case(contree=12, cart=20) | {"known_optimum": None, "long_run": 11}
    assert anytime.best_known(toy) == 11
    assert anytime.best_known(toy | {"long_run": None}) == 12
    assert anytime.is_best(toy, "contree", 1.0)
    assert not anytime.is_best(toy, "cart", 1.0)
