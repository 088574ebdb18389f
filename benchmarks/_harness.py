"""How a solver is measured: one fit in a process of its own, on ranks.

A fresh process for every run keeps caches, allocators and peak memory of one run out of the next.
As a script this file is that process: it calls the function that it is told, by default `fit_once`,
which reads a data set that the parent has prepared, takes the baseline, fits once, and returns what
it saw; that is printed as JSON.

Columns are replaced by their dense ranks, the same for every solver, because pycontree narrows
features to float32 and merges values closer than 1e-7: on ranks all solve the same problem.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PREPARED = ROOT / "build" / "bench-data"
GRACE = 120.0  # seconds beyond its limit after which a solver that does not stop is ended
PACKAGES = ("contree", "pycontree", "pytrees-rs", "pystreed", "highspy", "python-sat")
PACKAGES += ("scikit-learn", "numpy", "scipy")
SOURCES = ("core", "bindings", "src", "CMakeLists.txt")  # what the measured package is made of


def data_directory() -> Path:
    """Return the folder of the paper's data sets: $CONTREE_DATA, else ../shared/data."""
    return Path(os.environ.get("CONTREE_DATA", ROOT.parent / "shared" / "data"))


def dataset_names() -> list[str]:
    return sorted(path.name.removesuffix(".csv.gz") for path in data_directory().glob("train/*.gz"))


def known_optima() -> dict[tuple[str, int], int]:
    path = data_directory() / "optimal-scores.csv"
    with path.open() as file:
        rows = csv.DictReader(file)
        return {(row["dataset"], int(row["max_depth"])): int(row["errors"]) for row in rows}


def prepare(name: str) -> Path:
    """Write the dense ranks and labels of a training set where the runs can read them."""
    source = data_directory() / "train" / f"{name}.csv.gz"
    path = PREPARED / f"{name}.npz"
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        with gzip.open(source, "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
        store(path, dense_ranks(table[:, 1:]), table[:, 0].astype(np.intc))
    return path


def dense_ranks(X: np.ndarray) -> np.ndarray:
    ranks = [np.unique(column, return_inverse=True)[1] for column in X.T]
    return np.column_stack(ranks).astype(np.float64)


def store(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    """Write rows for `run`, in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.npz")
    np.savez(unfinished, X=X, y=y)
    unfinished.replace(path)
    return path


def run(solver: str, data: Path, depth: int, time_limit: float, threads: int = 1, **more) -> dict:
    """Fit once in a fresh process and return what it saw; errors and ends are part of that.

    `solver` is a name in `_solvers.SOLVERS`; `more` are options that only some of them know.
    """
    task = {"solver": solver, "data": str(data), "depth": depth, "threads": threads}
    return call("_harness:fit_once", {**task, "time_limit": time_limit, **more}, time_limit)


def call(function: str, task: dict, time_limit: float) -> dict:
    """Call "module:function" of this folder on a task, in a fresh process; returns its dict.

    What it does not do within the limit and a grace is ended.  A failure is a result too:
    {"failed": why, "proved": False}.
    """
    try:
        done = subprocess.run(
            [sys.executable, __file__, function, json.dumps(task)],
            capture_output=True,
            text=True,
            timeout=time_limit + GRACE,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"did not stop {GRACE:.0f} s after its limit", "proved": False}
    if done.returncode:
        return {"failed": done.stderr.strip()[-500:] or f"exit {done.returncode}", "proved": False}
    return json.loads(done.stdout.splitlines()[-1])


def environment() -> dict:
    """Describe the machine, the versions and the commit, for a result file.

    The commit is the last one that changed the package: others measure the same.
    """

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    changed = git("status", "--porcelain", "--untracked-files=no", "--", *SOURCES)
    return {
        "machine": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "versions": {"python": platform.python_version(), **_versions()},
        "commit": git("log", "-1", "--format=%H", "--", *SOURCES),
        "uncommitted_changes": bool(changed),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor()


# What follows runs in the measured process.


def fit_once(task: dict) -> dict:
    from sklearn.dummy import DummyClassifier

    from _solvers import SOLVERS

    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    fit = SOLVERS[task["solver"]](task)
    # scikit-learn imports parts of itself in the first fit of any estimator: charged to nobody.
    DummyClassifier().fit(X[:2], y[:2])
    baseline = _memory("VmRSS")
    _reset_peak()
    start, cpu = time.perf_counter(), time.process_time()
    model = fit(X, y)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = _memory("VmHWM")
    return {
        "wall": wall,
        "cpu": cpu,
        "peak_mb": (peak - baseline) / 1024,
        "baseline_mb": baseline / 1024,
        "errors": int(np.count_nonzero(model.predict(X) != y)),
        **model.said,
    }


def _memory(field: str) -> int:
    """Return a memory figure of this process in kB: VmRSS now, VmHWM the highest so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise OSError(f"/proc/self/status has no {field}")


def _reset_peak() -> None:
    """Make VmHWM start again from the memory in use, so that loading the data does not count."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    sys.path.append(
        sys.path.pop(0)
    )  # this folder comes last: a script has the name of Dask's package
    module, function = sys.argv[1].split(":")
    print(json.dumps(getattr(importlib.import_module(module), function)(json.loads(sys.argv[2]))))
