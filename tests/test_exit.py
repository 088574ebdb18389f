"""The interpreter ends while a fit runs in another thread: the search ends, the exit code stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
from contree import ConTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 12)), rng.integers(0, 3, size=4000)
begun = threading.Event()

def fit(sleep=0.0, **parameters):
    def callback(progress):
        begun.set()
        time.sleep(sleep)
    fit_arguments = {"checkpoint": parameters.pop("checkpoint", None)}
    clf = ConTreeClassifier(6, **parameters).fit(X, y, callback=callback, **fit_arguments)
    print("fitted", clf.status_, flush=True)

def start(daemon=True, **parameters):
    thread = threading.Thread(target=fit, kwargs=parameters, daemon=daemon)
    thread.start()
    begun.wait()
    return thread
"""


def run(program: str, *signals: signal.Signals) -> subprocess.CompletedProcess:
    """Run a program after `PROGRAM`; send each signal when it has printed a line."""
    command = [sys.executable, "-c", PROGRAM + program]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            for one in signals:
                assert process.stdout.readline() == "ready\n"
                time.sleep(0.2)
                process.send_signal(one)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_daemon_threads_that_fit_leave_the_exit_code(tmp_path):
    path = str(tmp_path / "search.ckpt")
    done = run(f"start(n_jobs=2); start(search='paper'); start(checkpoint={path!r}); sys.exit(7)")
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_a_callback_without_end_leaves_the_exit_code():
    done = run("start(sleep=1000); sys.exit(7)")
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_a_daemon_thread_that_ranks_many_rows_leaves_the_exit_code():
    done = run("""
X, y = rng.normal(size=(400_000, 20)), rng.integers(0, 3, size=400_000)
threading.Thread(target=fit, daemon=True).start()
time.sleep(0.3)
sys.exit(7)
""")
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_a_thread_that_is_no_daemon_is_waited_for():
    done = run("start(daemon=False, time_limit=0.5); sys.exit(7)")
    assert (done.returncode, done.stdout) == (7, "fitted time_limit\n")


def test_fits_in_exit_hooks_of_the_program_still_work():
    hook = "ConTreeClassifier(1).fit(X[:50], y[:50]).status_"
    done = run(f"""
import atexit
atexit._clear()
atexit.register(lambda: print({hook}))
from contree import _core
atexit.register(_core._end_all)
start()
sys.exit(7)
""")
    assert (done.returncode, done.stdout) == (7, "optimal\n")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
@pytest.mark.parametrize("daemon", [True, False])
def test_an_interrupt_while_the_program_waits_ends_it(daemon):
    done = run(
        f"thread = start(daemon={daemon}); print('ready', flush=True); thread.join()", signal.SIGINT
    )
    assert done.returncode == -signal.SIGINT  # as Python does for KeyboardInterrupt
    assert "KeyboardInterrupt" in done.stderr
    assert "terminate" not in done.stderr
    assert "fitted" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_an_interrupted_program_gets_the_tree_that_it_asked_for():
    done = run(
        "start(daemon=False, on_interrupt='return'); print('ready', flush=True); time.sleep(100)",
        signal.SIGINT,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "fitted interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_a_second_interrupt_ends_a_program_that_has_caught_the_first():
    done = run(
        """
start(daemon=False)
try:
    print('ready', flush=True)
    time.sleep(100)  # after an interrupted join(), Python 3.11 no longer waits for the thread
except KeyboardInterrupt:
    print('ready', flush=True)
    sys.exit(7)
""",
        signal.SIGINT,
        signal.SIGINT,
    )
    assert "terminate" not in done.stderr
    assert done.returncode == 7


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_forked_child_does_not_wait_for_the_threads_of_its_parent():
    done = run("""
start()
child = os.fork()
if child == 0:
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
sys.exit(7)
""")
    assert (done.returncode, done.stdout) == (7, "3\n")
