"""Ctrl-C, by real signals in a process of its own: raised, or answered with the best tree."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from contree import ConTreeClassifier

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")

PROGRAM = """
import json, sys, time
import numpy as np
from contree import ConTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 12)), rng.integers(0, 3, size=4000)
clf = ConTreeClassifier(1)
if {fitted}:
    clf.fit(X[:50, :3], y[:50])
before = dict(vars(clf))
clf.set_params(**{parameters})
told = []
def callback(progress):
    if not told:
        told.append(print("fitting", flush=True))  # there is a tree
        time.sleep({sleep})
if {early}:
    callback = print("fitting", flush=True)
said = dict(raised=False)
try:
    clf.fit(X, y, callback=callback)
except KeyboardInterrupt:
    said["raised"] = True
changed = {{k for k in vars(clf) if vars(clf)[k] is not before.get(k)}}
said["changed"] = sorted(changed - set(clf.get_params()))
if not said["raised"]:
    said.update(status=clf.status_, objective=clf.objective_, bound=clf.lower_bound_, gap=clf.gap_)
    said["wrong"] = int((clf.predict(X) != y).sum())
print(json.dumps(said), flush=True)
"""


def interrupted(fitted=False, early=False, sleep=0, **parameters) -> dict:
    """Return what a process says whose fit gets a SIGINT.

    The signal comes once there is a tree, while the callback sleeps; `early` sends it at any moment
    after the call of fit, without a callback.
    """
    parameters = {"max_depth": 6, **parameters}
    program = PROGRAM.format(parameters=parameters, fitted=fitted, early=early, sleep=sleep)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "fitting\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    return json.loads(out)


@pytest.mark.parametrize(("search", "n_jobs"), [("best_first", 1), ("best_first", 2), ("paper", 1)])
def test_return_keeps_the_best_tree(search, n_jobs):
    said = interrupted(on_interrupt="return", search=search, n_jobs=n_jobs)
    assert not said["raised"]
    assert said["status"] == "interrupted"
    assert said["wrong"] == said["objective"] < 2667  # better than a leaf
    assert 0 <= said["bound"] <= said["objective"]
    assert said["gap"] == said["objective"] - said["bound"]


@pytest.mark.parametrize(("fitted", "n_jobs", "early"), [(False, 1, True), (True, 2, False)])
def test_raise_leaves_the_estimator_as_it_was(fitted, n_jobs, early):
    said = interrupted(fitted=fitted, n_jobs=n_jobs, early=early)
    assert said["raised"]
    assert said["changed"] == []


@pytest.mark.parametrize("on_interrupt", ["raise", "return"])
def test_a_signal_during_the_callback(on_interrupt):
    said = interrupted(sleep=30, on_interrupt=on_interrupt)
    assert said["raised"] == (on_interrupt == "raise")
    if on_interrupt == "return":
        assert said["status"] == "interrupted"


def test_return_is_for_ctrl_c_only():
    """Another signal's handler raises as ever, whatever on_interrupt says."""
    program = """
import signal
import numpy as np
from contree import ConTreeClassifier

def handler(number, frame):
    raise TimeoutError("by the alarm")

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.5)
rng = np.random.default_rng(0)
clf = ConTreeClassifier(6, on_interrupt="return")
try:
    clf.fit(rng.normal(size=(4000, 12)), rng.integers(0, 3, size=4000))
except TimeoutError as error:
    print(error, hasattr(clf, "tree_"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "by the alarm False\n"


# The thread that sends the signal gets the interpreter when the core lets go of it, and not before:
# a switch by the clock is a thousand seconds away.  Then the core sorts two million values, a tenth
# of a second or more, in which there is no tree.
EARLY = """
import json, os, signal, sys, threading
import numpy as np
from contree import ConTreeClassifier, _core, _fit_request

class Searcher:
    def __init__(self, *rows, **options):
        self.core = _core.Searcher(*rows, **options)

    def run(self, **arguments):
        searching.set()
        return self.core.run(**arguments)

def send():
    searching.wait()
    os.kill(os.getpid(), signal.SIGINT)

rng = np.random.default_rng(0)
X, y = np.asfortranarray(rng.normal(size=(200_000, 10))), rng.integers(0, 3, size=200_000)
clf = ConTreeClassifier(1, on_interrupt="return")
if {fitted}:
    clf.fit(X[:50, :3], y[:50])
before = dict(vars(clf))
_fit_request._core = type("core", (), dict(Searcher=Searcher))
searching = threading.Event()
thread = threading.Thread(target=send)
thread.start()
sys.setswitchinterval(1000)
raised = False
try:
    clf.fit(X, y)
except KeyboardInterrupt:
    raised = True
same = vars(clf).keys() == before.keys() and all(vars(clf)[k] is before[k] for k in before)
status = None if raised else clf.status_
print(json.dumps(dict(sent=searching.is_set(), raised=raised, same=same, status=status)))
"""


@pytest.mark.parametrize("fitted", [False, True])
def test_before_there_is_a_tree_it_is_raised_all_the_same(fitted):
    """There is nothing to keep then: KeyboardInterrupt, and the estimator as it was."""
    for _ in range(5):  # where the thread is kept waiting, there may be a tree already
        done = subprocess.run(
            [sys.executable, "-c", EARLY.format(fitted=fitted)],
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        )
        said = json.loads(done.stdout)
        assert said["sent"]
        if said["raised"]:
            assert said["same"]
            return
        assert said["status"] == "interrupted"
    pytest.fail("the signal never arrived before there was a tree")


@pytest.mark.parametrize("fitted", [False, True])
def test_while_rows_are_checked_it_is_raised_all_the_same(fitted):
    class Rows:
        def __array__(self, *dtype, **how):
            signal.raise_signal(signal.SIGINT)
            return np.zeros((4, 1))

    clf = ConTreeClassifier(1, on_interrupt="return")
    if fitted:
        clf.fit([[1.0], [2.0]], ["a", "b"])
    before = dict(vars(clf))
    with pytest.raises(KeyboardInterrupt):
        clf.fit(Rows(), [0, 1, 0, 1])
    assert vars(clf) == before
