"""Where the data of the paper lies, and what every test shares."""

from __future__ import annotations

import csv
import gzip
import os
import signal
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# The experiments are tested too; last, because one of them has the name of Dask's package.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))

# The same examples in every run: a failure that CI sees, everyone sees.
# How long an example takes, on a busy machine, says nothing.
settings.register_profile(
    "contree",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("contree")


# A shell's background job ignores Ctrl-C, and tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def data_directory() -> Path:
    """Return the folder of the paper's data sets: $CONTREE_DATA, else ../shared/data."""
    here = Path(__file__).resolve().parents[1]
    return Path(os.environ.get("CONTREE_DATA", here.parent / "shared" / "data"))


@cache
def read_train(name: str) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(data_directory() / "train" / f"{name}.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    return table[:, 1:], table[:, 0].astype(np.int64)


def optimal_scores() -> list[tuple[str, int, int]]:
    """Return (data set, depth, errors) for every known optimum; empty without the data."""
    path = data_directory() / "optimal-scores.csv"
    if not path.exists():
        return []
    with path.open() as file:
        rows = csv.DictReader(file)
        return [(row["dataset"], int(row["max_depth"]), int(row["errors"])) for row in rows]


@pytest.fixture
def train():
    """Read a training set of the paper by its name."""
    if not (data_directory() / "train").is_dir():
        pytest.skip(
            f"NOT TESTED: the paper's data sets are not in {data_directory()}; "
            "set CONTREE_DATA to the folder that holds train/ and optimal-scores.csv"
        )
    return read_train
