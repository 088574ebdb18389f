"""Time limits and Ctrl-C end a search early, with what it has."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from contree import ConTreeClassifier
from oracle import check_tree


def hard_set(n=4000, p=12, seed=0):
    """Return noise, in which nothing can be pruned for long."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.integers(0, 3, size=n)


@pytest.mark.parametrize("search", ["best_first", "paper"])
@pytest.mark.parametrize("limit", [0, 0.05, 0.5])
def test_time_limit_keeps_the_best_tree(search, limit):
    X, y = hard_set()
    start = time.perf_counter()
    clf = ConTreeClassifier(5, time_limit=limit, search=search).fit(X, y)
    assert time.perf_counter() - start < limit + 10  # it does end; how soon is measured elsewhere
    assert clf.status_ == "time_limit"
    check_tree(clf, X, y)
    assert 0 <= clf.lower_bound_ <= clf.errors_ <= len(y) - np.bincount(y).max()


def test_more_time_is_not_worse():
    X, y = hard_set(n=1500, p=5)
    errors = [ConTreeClassifier(4, time_limit=limit).fit(X, y).errors_ for limit in (0, 2.0)]
    assert errors[1] <= errors[0]


def test_an_infinite_limit_is_none():
    X, y = hard_set(n=60, p=2)
    with_limit = ConTreeClassifier(2, time_limit=np.inf).fit(X, y)
    without = ConTreeClassifier(2).fit(X, y)
    assert with_limit.status_ == without.status_ == "optimal"
    assert with_limit.errors_ == without.errors_


PROGRAM = """
import time
import numpy as np
from contree import ConTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 12)), rng.integers(0, 3, size=4000)
print("fitting", flush=True)
try:
    ConTreeClassifier(6, search={search!r}).fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize("search", ["best_first", "paper"])
def test_ctrl_c_raises_keyboard_interrupt(search):
    program = textwrap.dedent(PROGRAM.format(search=search))
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "fitting\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert rest == "interrupted\n"
    assert process.returncode == 0


def test_other_threads_run_during_a_fit():
    """The interpreter is not held: a clock in another thread keeps ticking."""
    import threading

    X, y = hard_set()
    ticks, stop = [], threading.Event()

    def clock():
        while not stop.wait(0.01):
            ticks.append(1)

    ticker = threading.Thread(target=clock)
    ticker.start()
    ConTreeClassifier(5, time_limit=1.0).fit(X, y)
    stop.set()
    ticker.join()
    assert len(ticks) > 10
