"""How a solver is measured: one fit in a process of its own, on ranks.

A fresh process for every run keeps caches, allocators and peak memory of one run out of the next.
As a script this file is that process: it reads a data set that the parent has prepared, takes the
baseline, fits once without a warm-up, and prints what it saw as JSON.

Columns are replaced by their dense ranks, the same for every solver, because pycontree narrows
features to float32 and merges values closer than 1e-7: on ranks all solve the same problem.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
GRACE = 120.0  # seconds beyond its limit after which a solver that does not stop is ended


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


def prepare(name: str, folder: Path) -> Path:
    """Write the dense ranks and labels of a training set where the runs can read them."""
    path = folder / f"{name}.npz"
    if not path.exists():
        with gzip.open(data_directory() / "train" / f"{name}.csv.gz", "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
        ranks = [np.unique(column, return_inverse=True)[1] for column in table[:, 1:].T]
        np.savez(path, X=np.column_stack(ranks).astype(np.float64), y=table[:, 0].astype(np.intc))
    return path


def run(
    solver: str,
    data: Path,
    depth: int,
    time_limit: float,
    threads: int,
    kernel: str | None = None,
    history: bool = False,
    node_cost: float = 0.0,
) -> dict:
    """Fit once in a fresh process and return what it saw; errors and ends are part of that.

    With `history`, a solver that keeps one adds the road to its result.  `node_cost` is what a leaf
    costs, as a share of all rows; pycontree counts branching nodes, of which there is one fewer.
    """
    task = {"solver": solver, "data": str(data), "depth": depth, "threads": threads}
    task |= {"time_limit": time_limit, "history": history, "node_cost": node_cost}
    environment = dict(os.environ, **({"CONTREE_KERNEL": kernel} if kernel else {}))
    try:
        done = subprocess.run(
            [sys.executable, __file__, json.dumps(task)],
            capture_output=True,
            text=True,
            env=environment,
            timeout=time_limit + GRACE,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"did not stop {GRACE:.0f} s after its limit", "proved": False}
    if done.returncode:
        return {"failed": done.stderr.strip()[-500:] or f"exit {done.returncode}", "proved": False}
    return json.loads(done.stdout.splitlines()[-1])


def environment() -> dict:
    """Describe the machine and the versions, for the head of a result file."""

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "core", "bindings", "src")
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "load_at_start": os.getloadavg(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scikit-learn", "contree", "pycontree")},
        },
        "commit": git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(changed),
        "seed": None,  # nothing is drawn: fixed training sets, deterministic solvers
    }


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
    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    solvers = {"contree": _contree, "pycontree": _pycontree, "cart": _cart, "cluster": _cluster}
    fit = solvers[task["solver"]](task)
    # scikit-learn imports parts of itself in the first fit of any estimator: charged to nobody.
    DummyClassifier().fit(X[:2], y[:2])
    baseline = _memory("VmRSS")
    _reset_peak()
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    start = time.perf_counter()
    model = fit(X, y)
    wall = time.perf_counter() - start
    user = resource.getrusage(resource.RUSAGE_SELF).ru_utime - user
    peak = _memory("VmHWM")
    return {
        "wall": wall,
        "user": user,
        "peak_mb": (peak - baseline) / 1024,
        "errors": int(np.count_nonzero(model.predict(X) != y)),
        **model.said,
        **({"history": model.history} if task["history"] and hasattr(model, "history") else {}),
    }


def _contree(task: dict):
    from contree import ConTreeClassifier, _core

    def fit(X, y):
        clf = ConTreeClassifier(
            task["depth"],
            ccp_alpha=task["node_cost"],
            time_limit=task["time_limit"],
            n_jobs=task["threads"],
        ).fit(X, y)
        clf.said = {
            "proved": clf.status_ == "optimal",
            "leaves": clf.get_n_leaves(),
            "lower_bound": clf.lower_bound_,
            "search_seconds": clf.search_report_.seconds,
            "kernel": _core.kernel(),
        }
        clf.history = clf.search_report_.history
        return clf

    return fit


def _cluster(task: dict):
    """One worker of one thread for each of the threads; their time counts with the caller's."""
    sys.path.append(sys.path.pop(0))  # a script in this folder has the name of Dask's package
    from distributed import Client, LocalCluster

    from contree import ConTreeClassifier, distributed

    cluster = LocalCluster(
        n_workers=task["threads"], threads_per_worker=1, processes=True, dashboard_address=None
    )
    client = Client(cluster)
    client.wait_for_workers(task["threads"])

    def fit(X, y):
        workers, own = client.run(time.process_time), time.process_time()
        clf = ConTreeClassifier(task["depth"], time_limit=task["time_limit"])
        distributed.fit(clf, X, y, client=client)
        own = time.process_time() - own
        after = client.run(time.process_time)
        counters = clf.search_report_.counters
        clf.said = {
            "user": own + sum(after.values()) - sum(workers.values()),
            "user_of_caller": own,
            "tasks": counters["tasks"],
            "proved": clf.status_ == "optimal",
            "lower_bound": clf.lower_bound_,
            "search_seconds": clf.search_report_.seconds,
            "kernel": clf.search_report_.kernel,
        }
        client.close()
        cluster.close()
        return clf

    return fit


def _pycontree(task: dict):
    from pycontree import ConTree

    def fit(X, y):
        model = ConTree(
            max_depth=task["depth"],
            complexity_cost=task["node_cost"],
            time_limit=task["time_limit"],
            verbose=False,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        # Its only word on a search that its limit cut off; the limit counts wall time.
        cut_off = any("exceeds time limit" in str(warning.message) for warning in caught)
        model.said = {"proved": not cut_off, "leaves": model.get_num_leaf_nodes()}
        return model

    return fit


def _cart(task: dict):
    def fit(X, y):
        model = DecisionTreeClassifier(max_depth=task["depth"], random_state=0).fit(X, y)
        model.said = {"proved": False}
        return model

    return fit


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
    print(json.dumps(fit_once(json.loads(sys.argv[1]))))
