"""Memory: a limit for the cache, and MemoryError, never a crash, where there is none left."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from contree import ConTreeClassifier
from contree._check_parameters import resolve_memory_limit
from oracle import check_tree


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (None, 0),
        (1, 1),
        (np.int64(4096), 4096),
        (10**30, 2**62),
        ("123", 123),
        ("500B", 500),
        ("500MB", 500_000_000),
        ("2GB", 2_000_000_000),
        ("2 gb", 2_000_000_000),
        (" 1.5kB ", 1500),
        ("1.5GiB", 3 << 29),
        ("64MiB", 64 << 20),
        ("1TiB", 1 << 40),
        ("0.29kB", 290),
    ],
)
def test_sizes(given, size):
    assert resolve_memory_limit(given) == size


@pytest.mark.parametrize(
    "bad",
    [0, -1, True, 1.5, "", "GB", "2XB", "2G", "-2GB", "1e9", "0", "0.1", "1,5GB", b"2GB", "٢GB"],
)
def test_sizes_refused(bad):
    with pytest.raises(ValueError, match="'memory_limit' parameter of ConTreeClassifier must be"):
        ConTreeClassifier(memory_limit=bad).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("search", ["best_first", "paper"])
def test_the_limit_bounds_the_cache_and_not_the_optimum(search):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, size=60)
    fits = {
        limit: ConTreeClassifier(4, search=search, memory_limit=limit).fit(X, y)
        for limit in (None, 1, "2kB", "1GB")
    }
    for clf in fits.values():
        assert (clf.status_, clf.errors_) == ("optimal", fits[None].errors_)
        check_tree(clf, X, y)
    kept = {limit: clf.search_report_.counters["cache_entries"] for limit, clf in fits.items()}
    assert kept[1] == 0 < kept["2kB"] < kept["1GB"] == kept[None]
    assert kept["2kB"] * 100 < 2_000  # an entry takes more than that


PROGRAM = """
import resource
import numpy as np
from contree import ConTreeClassifier

rng = np.random.default_rng(0)
X, y = np.asfortranarray(rng.normal(size=(200_000, 20))), rng.integers(0, 3, size=200_000)
X, y = X[:], y.astype(np.int32)
ConTreeClassifier(2, time_limit=0).fit(X[:100], y[:100])
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (used + {spare}, hard))
clf = ConTreeClassifier(4, n_jobs={n_jobs}, search={search!r}, time_limit=5.0)
try:
    clf.fit(X, y)
except MemoryError as error:
    print("MemoryError", hasattr(clf, "tree_"), "MB besides X" in str(error))
else:
    held = clf.errors_ == (clf.predict(X) != y).sum() >= clf.lower_bound_
    print(clf.status_, held)
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
small = ConTreeClassifier(2).fit(X[:100], y[:100])
print(small.status_)
"""


def said_by(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process")
@pytest.mark.parametrize(
    ("spare", "n_jobs", "search", "said"),
    [
        (20 << 20, 1, "best_first", "MemoryError False True"),  # too little to rank the rows
        (20 << 20, 2, "paper", "MemoryError False True"),
        (150 << 20, 1, "paper", "memory_limit True"),
        (150 << 20, 2, "best_first", "memory_limit True"),
    ],
)
def test_memory_that_runs_out_leaves_the_best_tree_or_says_what_it_needs(
    spare, n_jobs, search, said
):
    assert (
        said_by(PROGRAM.format(spare=spare, n_jobs=n_jobs, search=search)) == f"{said}\noptimal\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process")
def test_a_thread_that_cannot_start_costs_a_warning():
    said = said_by("""
        import resource, warnings
        import numpy as np
        import contree._core, contree._fit, threading
        from contree import ConTreeClassifier

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, size=100)
        ConTreeClassifier(2).fit(X, y)
        stack = 8 << 20
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + 5 * stack, hard))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf = ConTreeClassifier(2, n_jobs=8).fit(X, y)
        print(clf.status_, clf.search_report_.n_jobs < 8, [w.category.__name__ for w in caught])
    """)
    assert said == "optimal True ['RuntimeWarning']\n"


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space of a process")
def test_without_any_thread_a_fit_still_ends_in_time():
    """Stacks of 64 MB are too large for the memory that is left, and are not kept for later."""
    program = textwrap.dedent("""
        import resource, warnings
        import numpy as np
        from contree import ConTreeClassifier, size_error_path

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 6)), rng.integers(0, 3, size=300)
        ConTreeClassifier(2).fit(X, y)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + (48 << 20), hard))
        calls = []
        print(ConTreeClassifier(2).fit(X, y, callback=calls.append).status_, len(calls) > 0)
        print(size_error_path(X, y, 2).status)
        print(ConTreeClassifier(6, time_limit=0.5).fit(X, y).status_)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf = ConTreeClassifier(2, n_jobs=2).fit(X, y)
        print(clf.status_, clf.search_report_.n_jobs, [w.category.__name__ for w in caught])
    """)
    done = subprocess.run(
        ["sh", "-c", 'ulimit -s 65536 && exec "$0" -c "$1"', sys.executable, program],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == [
        "optimal True",
        "optimal",
        "time_limit",
        "optimal 1 ['RuntimeWarning']",
        "",
    ]
