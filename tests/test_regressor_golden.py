"""The known least squared errors of real data sets."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from conftest import data_directory
from contree import ConTreeRegressor
from scale import IS_LONG

NAMES = ["concrete", "qsar", "diabetes", "fish", "query1"]
NAMES += ["abalone", "cal.housing", "grid"] if IS_LONG else []


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the numeric columns and the targets of a file; names of text begin with c."""
    with gzip.open(path, "rt") as file:
        names = file.readline().strip().split(",")
        kept = [i for i, name in enumerate(names) if not name.startswith("c")]
        table = np.loadtxt(file, delimiter=",", usecols=kept, ndmin=2)
    return table[:, 1:], table[:, 0]


@pytest.mark.parametrize("name", NAMES)
def test_known_optimum_at_depth_three(name):
    folder = data_directory() / "regression"
    if not folder.is_dir():
        pytest.skip(f"NOT TESTED: the regression data sets are not in {folder}; set CONTREE_DATA")
    with (folder / "optimal-scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    known = {(row["dataset"], row["max_depth"]): row["squared_error"] for row in rows}
    X, y = read(folder / f"{name}.train.csv.gz")
    reg = ConTreeRegressor(3).fit(X, y)
    assert reg.status_ == "optimal"
    assert reg.squared_error_ == pytest.approx(float(known[name, "3"]), rel=1e-8)
    assert reg.target_tolerance_ < 1e-9 * reg.squared_error_
