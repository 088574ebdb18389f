"""The tables of the accuracy experiment: what is compared, and how one chooses."""

from __future__ import annotations

import numpy as np
import pytest

import _accuracy


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
    table = _accuracy.gathered(report)
    found = _accuracy.pairs(table, "depth", "cart")
    assert found == {"a": pytest.approx([10.0, 0.0]), "b": pytest.approx([-10.0])}
    line = next(row for row in _accuracy.margin_table(table).splitlines() if "CART" in row)
    assert "-2.50 ± 2.50" in line  # of a ± 5, of b one split alone
    assert "*4.66 ± 0.13*" in line
    assert "1 / 0 / 1" in line


def test_the_best_of_a_row_is_bold_and_missing_splits_are_told(report):
    text = _accuracy.accuracy_table(_accuracy.gathered(report), report)
    a, b = (line for line in text.splitlines() if line.startswith(("| a ", "| b ")))
    assert "| 85.0 ± 5.0; 2 of 5 splits |" in a
    assert "**95.0** ± 5.0" in a
    assert "| 50.0; 1 of 5 splits |" in b
    assert "**50.0** ± 0.0; 2 of 5 splits" in b
    assert "| mean" not in text


def test_further_splits_are_apart_from_the_first(report):
    first = _accuracy.accuracy_table(_accuracy.gathered(report), report)
    methods = {m: {"accuracy": 0.5, "leaves": 8, "depth": 3} for m in ("cart", "depth", "size")}
    late = {"a:5": {"dataset": "a", "split": 5, "solver": "x", "runs": [{"methods": methods}]}}
    more = {"cells": report["cells"] | late}
    assert _accuracy.further(report) == []
    title, _, margins, _ = _accuracy.further(more)
    assert title == "## 1 further splits"
    assert "| contree, depth tuned | CART | +0.00 ± 0.00 |" in margins
    among = _accuracy.within(more, range(_accuracy.SPLITS))
    assert _accuracy.accuracy_table(_accuracy.gathered(among), among) == first


def test_signed_rank():
    assert float(_accuracy.signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) == pytest.approx(0.031)
    assert _accuracy.signed_rank([0.0, 1e-9]) == ""


def test_means_are_of_the_splits_that_all_methods_have():
    def splits(*accuracies):
        return {k: {"accuracy": a, "leaves": 2} for k, a in enumerate(accuracies) if a}

    row = {method: splits(0.5, 0.7) for method in _accuracy.METHODS}
    table = {"a": {**row, "cart": splits(None, 0.6)}, "b": {"cart": splits(0.1)}}
    (means,) = _accuracy.means_of_all(table)
    assert means == pytest.approx([60, *[70] * (len(row) - 1)])


def test_ways_of_choosing():
    candidates = [(0, 1), (1, 2), (2, 3), (2, 4), (3, 4), (3, 8)]
    inner = np.array([[0.1, 0.5, 0.60, 0.55, 0.5, 0.50], [0.1, 0.5, 0.64, 0.69, 0.5, 0.55]])
    unseen = [0.1, 0.2, 0.3, 0.4, 0.6, 0.5]
    taken = list(_accuracy.rules(candidates, inner, unseen).values())
    expected = [(3, 8), (2, 4), (2, 3), (2, 3), (2, 3), (3, 4)]
    assert [candidates[number] for number in taken] == expected


def test_smaller_only_where_surely_better():
    def chosen(gains):
        full = np.full(len(gains), 0.5)
        return _accuracy.surely_better(np.column_stack((full + gains, full)))

    assert chosen(np.array([0.02, 0.03, 0.02])) == 0
    assert chosen(np.array([0.09, -0.05, -0.03])) == 1  # better in the mean, by chance
    assert chosen(np.zeros(3)) == 1
