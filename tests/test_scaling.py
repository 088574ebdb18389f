"""The fits and the rows of the scaling experiment, and the margins of the accuracy one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import out_of_sample
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
        runs = [{"user": seconds, "wall": seconds, "proved": proved, "errors": errors}]
        about = {"series": "depth", "value": value, "solver": "contree", "time_limit": 9}
        return {**about, "runs": runs}

    cells = {"a": kept(1, 0.5, True), "b": kept(2, 9.0, False), "c": kept(3, 0.1, True, 0)}
    assert scaling.points({"cells": cells}, "depth", "contree") == {1: 0.5}
    assert scaling.shown_seconds(cells["b"], "user") == "> 9"
    assert scaling.shown_seconds(cells["c"], "user") == "0.100 (no errors)"


def test_fewer_rows_and_columns_are_the_beginning_of_more():
    X, y = scaling.planted(200, 7, 3, 5)
    fewer, labels = scaling.planted(80, 5, 3, 5)
    np.testing.assert_array_equal(fewer, X[:80, :5])
    np.testing.assert_array_equal(labels, y[:80])
    assert set(y) == {0, 1, 2}
    assert not np.array_equal(scaling.planted(80, 5, 3, 6)[0], fewer)


@pytest.fixture
def report():
    def kept(name, split, accuracies):
        methods = {m: {"accuracy": a, "leaves": 8, "depth": 3} for m, a in accuracies.items()}
        run = {"methods": methods, "rows": 9, "features": 2, "classes": 2}
        return {"dataset": name, "split": split, "solver": "x", "runs": [run]}

    cells = {
        "a:0": kept("a", 0, {"cart": 0.8, "depth": 0.9, "size": 0.9}),
        "a:1": kept("a", 1, {"cart": 0.9, "depth": 0.9, "size": 1.0}),
        "b:0": kept("b", 0, {"cart": 0.5, "depth": 0.4, "size": 0.5}),
        "b:1": kept("b", 1, {"depth": 0.4, "size": 0.5}),
    }
    return {"cells": cells}


def test_margins_pair_the_splits_that_both_have(report):
    table = out_of_sample.gathered(report)
    found = out_of_sample.pairs(table, "depth", "cart")
    assert found == {"a": pytest.approx([10.0, 0.0]), "b": pytest.approx([-10.0])}
    line = next(row for row in out_of_sample.margin_table(table).splitlines() if "CART" in row)
    assert "-2.50" in line
    assert "*4.7*" in line
    assert "1 / 0 / 1" in line


def test_the_best_of_a_row_is_bold_and_missing_splits_are_told(report):
    text = out_of_sample.accuracy_table(out_of_sample.gathered(report), report)
    a, b = (line for line in text.splitlines() if line.startswith(("| a ", "| b ")))
    assert "| 85.0 ± 5.0; 2 of 5 splits |" in a
    assert "**95.0** ± 5.0" in a
    assert "| 50.0; 1 of 5 splits |" in b
    assert "**50.0** ± 0.0; 2 of 5 splits" in b
    assert "| mean" not in text


def test_signed_rank():
    assert float(out_of_sample.signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) == pytest.approx(0.031)
    assert out_of_sample.signed_rank([0.0, 1e-9]) == ""


def test_means_are_of_the_splits_that_all_methods_have():
    def splits(*accuracies):
        return {k: {"accuracy": a, "leaves": 2} for k, a in enumerate(accuracies) if a}

    row = {method: splits(0.5, 0.7) for method in out_of_sample.METHODS}
    table = {"a": {**row, "cart": splits(None, 0.6)}, "b": {"cart": splits(0.1)}}
    (means,) = out_of_sample.means_of_all(table)
    assert means == pytest.approx([60, *[70] * (len(row) - 1)])
