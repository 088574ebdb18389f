"""The fits and the generated rows of the scaling experiment."""

from __future__ import annotations

import math

import numpy as np
import pytest

import scaling


def test_exponent_of_a_power():
    found = {n: 3e-4 * n**1.7 for n in (100, 1000, 10_000)}
    slope, intercept = scaling.exponent(found)
    assert slope == pytest.approx(1.7)
    assert math.exp(intercept) == pytest.approx(3e-4)


def test_cells_too_short_to_tell_are_in_no_fit():
    found = {1: 0.001, 10: 0.1, 100: 1.0, 1000: 10.0}
    assert scaling.exponent(found)[0] == pytest.approx(1.0)
    assert scaling.exponent({1: 0.001, 10: 0.1, 100: 1.0}) is None
    assert scaling.exponent({}) is None


def test_times_for_each_level():
    assert scaling.per_level({2: 0.02, 3: 0.2, 4: 2.0, 1: 0.002}) == pytest.approx(10)
    assert scaling.per_level({1: 1.0}) is None


def test_what_was_cut_off_or_ended_at_once_is_no_point():
    def kept(value, seconds, proved, errors=7):
        runs = [{"cpu": seconds, "wall": seconds, "proved": proved, "errors": errors}]
        about = {"series": "depth", "value": value, "solver": "contree", "time_limit": 9}
        return {**about, "runs": runs}

    cells = {"a": kept(1, 0.5, True), "b": kept(2, 9.0, False), "c": kept(3, 0.1, True, 0)}
    assert scaling.points({"cells": cells}, "depth", "contree") == {1: 0.5}
    assert scaling.shown_seconds(cells["b"], "cpu") == "> 9"
    assert scaling.shown_seconds(cells["c"], "cpu") == "0.100 (no errors)"


def test_fewer_rows_and_columns_are_the_beginning_of_more():
    X, y = scaling.planted(200, 7, 3, 5)
    fewer, labels = scaling.planted(80, 5, 3, 5)
    np.testing.assert_array_equal(fewer, X[:80, :5])
    np.testing.assert_array_equal(labels, y[:80])
    assert set(y) == {0, 1, 2}
    assert not np.array_equal(scaling.planted(80, 5, 3, 6)[0], fewer)
