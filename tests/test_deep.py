"""A deep proof that is stopped continues, and shows what it has meanwhile."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

import deep
from _experiment import Experiment
from _harness import dense_ranks, store
from contree import ConTreeClassifier


@pytest.fixture
def rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    X, y = dense_ranks(rng.random((600, 7))), rng.integers(0, 2, 600)  # about a second
    path = store(tmp_path / "rows.npz", X, y)
    monkeypatch.setattr(deep, "prepare", lambda name: path)
    monkeypatch.setattr(deep, "known_optima", dict)
    return X, y


def arguments(tmp_path, limit: float):
    return argparse.Namespace(
        depth=[4], datasets=["toy"], time_limit=limit, states=tmp_path / "states"
    )


def test_a_stopped_proof_is_collected_and_continues(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(deep, "LONG", 0)
    experiment = Experiment("deep", tmp_path)
    experiment.conduct(deep.rows(arguments(tmp_path, 0.0)))
    stopped = experiment.report["cells"]["toy:4"]["runs"][-1]
    assert not stopped["proved"]

    collected = Experiment("deep", tmp_path / "other")
    deep.collect(collected, arguments(tmp_path, 9.0))
    seen = collected.report["cells"]["toy:4"]["runs"][-1]
    assert not seen["proved"]
    assert (seen["errors"], seen["lower_bound"]) == (stopped["errors"], stopped["lower_bound"])
    assert "toy" in deep.markdown(collected.report)
    assert deep.figures(collected.report)
    assert deep.bars(collected.report, 4)

    collected.conduct(deep.rows(arguments(tmp_path, 3600.0)))
    proof = collected.report["cells"]["toy:4"]["runs"][-1]
    assert proof["proved"]
    assert proof["cpu"] > stopped["cpu"]
    assert proof["errors"] == ConTreeClassifier(4).fit(*rows).errors_
    assert "Proved: 1 of 1" in deep.markdown(collected.report)
    two = proof["counters"]["depth_two_solves"] / proof["counters"]["subproblems"]
    assert f"at least {100 * two:.1f} % of the subproblems" in deep.markdown(collected.report)
