"""Time limits and Ctrl-C end a search early, with what it has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

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
    clf = ConTreeClassifier(5, time_limit=limit, search=search).fit(X, y)
    assert clf.status_ == "time_limit"
    check_tree(clf, X, y)
    assert 0 <= clf.lower_bound_ <= clf.errors_ <= len(y) - np.bincount(y).max()


def test_the_limit_counts_from_the_call_of_fit():
    """What it takes to look at the rows is part of the time: here that takes all of it."""
    X, y = hard_set()

    class Slow:
        shape, dtype = X.shape, X.dtype

        def __len__(self):
            return len(X)

        def __array__(self, dtype=None, copy=None):
            time.sleep(0.3)
            return np.array(X, dtype=dtype)

    least = ConTreeClassifier(5, time_limit=0).fit(X, y)
    late = ConTreeClassifier(5, time_limit=0.2).fit(Slow(), y)
    assert late.status_ == "time_limit"
    assert late.errors_ == least.errors_
    np.testing.assert_array_equal(late.tree_.threshold, least.tree_.threshold)


def test_more_time_is_not_worse():
    X, y = hard_set(n=1500, p=5)
    errors = [ConTreeClassifier(4, time_limit=limit).fit(X, y).errors_ for limit in (0, 2.0)]
    assert errors[1] <= errors[0]


@pytest.mark.parametrize("name", ["bidding", "fault", "segment"])
def test_a_longer_search_goes_the_same_way(name, train):
    """What a stop adds comes last; all before it a longer search finds too, after as much work."""
    X, y = train(name)

    def steps(limit):
        clf = ConTreeClassifier(4, time_limit=limit).fit(X, y)
        found = [moment.objective for moment in clf.search_report_.history]
        return list(dict.fromkeys(found)), clf.errors_

    long, least = steps(3.0)
    for limit in (0.1, 0.4, 1.0):
        short, errors = steps(limit)
        before_its_stop = short[: len(short) - 2]
        assert before_its_stop == long[: len(before_its_stop)]
        assert least <= errors


@pytest.mark.parametrize("limit", [0, 0.2])
@pytest.mark.parametrize("depth", [2, 4, 6])
def test_never_worse_than_greedy(depth, limit):
    """CART's own tree is the least that a fit keeps; normal values leave it no ties to break."""
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(3000, 8))
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    clf = ConTreeClassifier(depth, time_limit=limit).fit(X, y)
    assert clf.errors_ <= np.count_nonzero(cart.predict(X) != y)
    check_tree(clf, X, y)


def test_any_depth_may_be_asked_for():
    """The recursion follows the depth that is reached, not the one that is allowed."""
    X, y = hard_set(n=20000, p=2)
    clf = ConTreeClassifier(15000, time_limit=0.5).fit(X, y)
    assert clf.lower_bound_ <= clf.errors_
    X, y = np.array([[0.0], [0.0], [1.0], [2.0]]), [0, 1, 0, 1]
    clf = ConTreeClassifier(10**6).fit(X, y)
    assert (clf.status_, clf.errors_) == ("optimal", 1)  # two equal rows cannot be told apart


def test_a_depth_of_thousands_ends_in_no_overflow():
    """The search goes down as many levels as it is asked for, on a stack of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    X[::2] = X[1::2]  # rows that no tree can tell apart
    y = rng.integers(0, 2, len(X))
    clf = ConTreeClassifier(max_depth=10**9).fit(X, y)
    assert clf.errors_ == np.sum(y[::2] != y[1::2])
    assert clf.status_ == "optimal"


def test_a_chain_of_splits_is_as_deep_as_cart_makes_it():
    X = np.eye(200)
    y = np.arange(200) % 2
    cart = DecisionTreeClassifier().fit(X, y)
    assert cart.get_depth() > 64
    clf = ConTreeClassifier(max_depth=1000, time_limit=0).fit(X, y)
    assert clf.errors_ == 0
    warm = ConTreeClassifier(max_depth=1000, time_limit=0).fit(X, y, initial_tree=cart)
    assert warm.errors_ == 0


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
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert rest == "interrupted\n"
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_other_threads_run_during_a_fit():
    """The interpreter is not held: another thread counts, and then ends the fit by a signal."""
    X, y = hard_set()
    searching = threading.Event()

    def count_and_interrupt():
        searching.wait()
        for _ in range(10):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=count_and_interrupt)
    thread.start()
    clf = ConTreeClassifier(5, time_limit=60, on_interrupt="return")
    clf.fit(X, y, callback=lambda progress: searching.set())
    thread.join()
    assert clf.status_ == "interrupted"
