"""Cells are measured once and kept; what the harness runs, it runs in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from _experiment import Cell, Experiment, number, spread
from _harness import call, dense_ranks, run, store
from contree import ConTreeClassifier


class Counted:
    """Cells that count their runs, and say what they are told."""

    def __init__(self, **said):
        self.order, self.said = [], said

    def cell(self, key: str, limit: float = 1.0) -> Cell:
        def measure():
            self.order.append(key)
            return {"wall": 0.1, **self.said}

        return Cell(key, {"name": key}, limit, measure)


def experiment(folder: Path) -> Experiment:
    return Experiment("trial", folder, seed=3)


def test_a_finished_cell_is_not_run_again(tmp_path):
    counted = Counted()
    experiment(tmp_path).conduct([[counted.cell("a")]])
    experiment(tmp_path).conduct([[counted.cell("a"), counted.cell("b")]])
    assert counted.order == ["a", "b"]


def test_again_forgets_the_cells_that_it_names(tmp_path):
    counted = Counted()
    row = [counted.cell("bean:3:x"), counted.cell("rice:3:x")]
    experiment(tmp_path).conduct([row])
    experiment(tmp_path).conduct([row], again=["bean:*"])
    assert counted.order == ["bean:3:x", "rice:3:x", "bean:3:x"]
    kept = json.loads((tmp_path / "trial.json").read_text())["cells"]
    assert [len(cell["runs"]) for cell in kept.values()] == [1, 1]


def test_cells_of_a_row_take_turns(tmp_path):
    counted = Counted()
    experiment(tmp_path).conduct([[counted.cell("a"), counted.cell("b")]], repeat=2)
    assert counted.order == ["a", "b", "a", "b"]


def test_a_long_cell_is_not_repeated(tmp_path):
    counted = Counted(wall=100.0)
    experiment(tmp_path).conduct([[counted.cell("a")]], repeat=3)
    assert counted.order == ["a"]


def test_a_higher_limit_runs_what_the_lower_one_cut_off(tmp_path):
    counted = Counted(proved=False)
    for limit in (1.0, 1.0, 0.5, 2.0):
        experiment(tmp_path).conduct([[counted.cell("a", limit)]], repeat=3)
    assert counted.order == ["a", "a"]
    kept = json.loads((tmp_path / "trial.json").read_text())["cells"]["a"]
    assert kept["time_limit"] == 2.0
    assert len(kept["runs"]) == 1


def test_renew_replaces_what_another_commit_measured(tmp_path, monkeypatch):
    counted = Counted()
    cells = [counted.cell("a"), counted.cell("b")]
    where = {"commit": "one", "versions": {}}
    monkeypatch.setattr("_experiment.environment", lambda: where)
    experiment(tmp_path).conduct([cells], repeat=2)
    where = {"commit": "two", "versions": {}}
    experiment(tmp_path).conduct([cells[:1]], repeat=2, renew=True)
    experiment(tmp_path).conduct([cells], repeat=2)  # without renew both are finished
    experiment(tmp_path).conduct([cells], repeat=2, renew=True)
    assert counted.order == ["a", "b", "a", "b", "a", "a", "b", "b"]
    kept = json.loads((tmp_path / "trial.json").read_text())["cells"]
    assert [[run["environment"] for run in cell["runs"]] for cell in kept.values()] == [[1, 1]] * 2


def test_what_was_measured_before_an_end_is_kept(tmp_path):
    counted = Counted()

    def ended():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment(tmp_path).conduct([[counted.cell("a"), Cell("b", {}, 1.0, ended)]])
    experiment(tmp_path).conduct([[counted.cell("a"), counted.cell("b")]])
    assert counted.order == ["a", "b"]


def test_the_file_says_how_it_was_made(tmp_path):
    experiment(tmp_path).conduct([[Counted().cell("a")]])
    experiment(tmp_path).conduct([[Counted().cell("b")]])
    report = json.loads((tmp_path / "trial.json").read_text())
    assert report["seed"] == 3
    assert len(report["environments"]) == 1
    assert report["environments"][0]["versions"]["contree"]
    assert [cell["name"] for cell in report["cells"].values()] == ["a", "b"]
    assert all(cell["runs"][0]["environment"] == 0 for cell in report["cells"].values())


def test_spread_of_ratios():
    assert spread([4.0]) == "4.00 (one of the data sets)"
    said = spread([1.0, 100.0])
    assert said == "10.0 (geometric standard deviation 26.0, 1.00 to 100, 2 data sets)"
    assert [number(x) for x in (0.123, 12.34, 1234.5)] == ["0.12", "12.3", "1234"]


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(5)
    return store(tmp_path / "rows.npz", dense_ranks(rng.random((60, 3))), rng.integers(0, 2, 60))


@pytest.mark.parametrize("solver", ["contree", "cart", "pycontree", "pytrees", "streed"])
def test_a_solver_is_measured_in_a_process_of_its_own(rows, solver):
    needed = {"pycontree": "pycontree", "pytrees": "pytrees", "streed": "pystreed"}
    if solver in needed:
        pytest.importorskip(needed[solver])
    seen = run(solver, rows, 2, time_limit=3600.0)
    assert seen.keys() >= {"wall", "cpu", "peak_mb", "baseline_mb", "errors", "proved"}
    assert seen["wall"] > 0
    assert seen["baseline_mb"] > 0
    with np.load(rows) as file:
        best = ConTreeClassifier(2, search="paper").fit(file["X"], file["y"]).errors_
    assert seen["errors"] >= best
    assert seen["errors"] == best or not seen["proved"]


def test_a_failure_is_a_result(rows):
    seen = run("nobody", rows, 2, time_limit=3600.0)
    assert not seen["proved"]
    assert "nobody" in seen["failed"]


def test_a_function_that_does_not_end_is_ended(monkeypatch):
    monkeypatch.setattr("_harness.GRACE", 0.0)
    assert "did not stop" in call("time:sleep", 60, time_limit=0.5)["failed"]


def test_a_lower_limit_does_not_touch_what_a_higher_one_has_proved(tmp_path):
    counted = Counted()
    experiment(tmp_path).conduct([[counted.cell("a", 10.0)]])
    experiment(tmp_path).conduct([[counted.cell("a", 1.0)]], repeat=3)
    assert counted.order == ["a"]
