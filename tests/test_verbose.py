"""The live line: on a terminal only, and gone when the fit has ended, however it ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from contree import ConTreeClassifier

pty = pytest.importorskip("pty", reason="NOT TESTED: the live line needs a POSIX terminal")

PROGRAM = """
import sys
import numpy as np
from contree import ConTreeClassifier
{before}
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 12)), rng.integers(0, 3, size=4000)

def callback(progress):
    print("called", flush=True)
    {inside}

try:
    ConTreeClassifier(5, verbose={verbose}, {parameters}).fit(X, y, callback={callback})
except BaseException as error:
    print("raised", type(error).__name__, flush=True)
print("the end", flush=True)
"""
SHOWN = "errors, bound"


def on_a_terminal(*, interrupt_after=None, columns=120, stdout=None, **parts) -> str:
    """Return all that a program writes to a terminal, its control codes included."""
    parts = {"before": "", "inside": "", "verbose": 1, "callback": None, "parameters": ""} | parts
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(**parts)],
        stdin=theirs,
        stdout=stdout or theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    out = b""
    try:
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other side has closed
                break
            if not part:
                break
            out += part
            if interrupt_after and interrupt_after.encode() in out:
                interrupt_after = None
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return out.decode()


def on_screen(out: str) -> list[str]:
    """Return the lines that are left to see: a terminal of one page, no wider than a line."""
    lines, row = [""], 0
    for code, text in re.findall(r"(\x1b\[[?0-9;]*[A-Za-z]|\r|\n)|([^\x1b\r\n]+)", out):
        if code == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif code == "\x1b[2K":
            lines[row] = ""
        elif re.fullmatch(r"\x1b\[\d*A", code):
            row -= int(code[2:-1] or 1)
        elif text:
            lines[row] += text
    return [line for line in lines if line]


def test_the_line_shows_and_goes():
    out = on_a_terminal(parameters="time_limit=1.0")
    assert re.search(r"contree: \d+ errors, bound \d+, gap \d+", out)
    stage = r"(shallower trees|<?\d+\.\d % of root)"
    assert re.search(rf"gap \d+ .* {stage} +\d+\.\d s", re.sub(r"\x1b\[[0-9;]*m", "", out))
    assert not re.search(r"[^\d<.]0\.0 % of root", out)
    assert out.count(SHOWN) >= 3  # it was renewed
    first, last = on_screen(out)
    assert first.startswith("contree: time_limit, ")
    assert last == "the end"
    assert out.rfind("\x1b[?25h") > out.rfind("\x1b[?25l")  # the cursor is back


def test_ctrl_c_leaves_no_line():
    out = on_a_terminal(interrupt_after=SHOWN)
    assert on_screen(out.replace("^C", "")) == ["raised KeyboardInterrupt", "the end"]
    assert out.rfind("\x1b[?25h") > out.rfind("\x1b[?25l")


def test_ctrl_c_with_return_leaves_the_summary():
    out = on_a_terminal(interrupt_after=SHOWN, parameters="on_interrupt='return'")
    first, last = on_screen(out.replace("^C", ""))
    assert first.startswith("contree: interrupted, ")
    assert last == "the end"


def test_an_exception_leaves_no_line():
    out = on_a_terminal(callback="callback", inside="raise ZeroDivisionError")
    assert SHOWN in out
    assert on_screen(out) == ["called", "raised ZeroDivisionError", "the end"]


def test_what_a_callback_prints_stands_above_the_line():
    out = on_a_terminal(callback="callback", inside="return progress.seconds > 0.5")
    *called, summary, last = on_screen(out)
    assert set(called) == {"called"}
    assert summary.startswith("contree: stopped, ")
    assert last == "the end"


def test_what_a_callback_prints_to_a_file_arrives_there(tmp_path):
    with (tmp_path / "out").open("w") as file:
        out = on_a_terminal(
            callback="callback", inside="return progress.seconds > 0.5", stdout=file
        )
    assert SHOWN in out
    assert on_screen(out) == []
    *called, summary, last = (tmp_path / "out").read_text().splitlines()
    assert set(called) == {"called"}
    assert summary.startswith("contree: stopped, ")
    assert last == "the end"


@pytest.mark.parametrize("columns", [80, 50])
def test_a_narrow_terminal_is_not_overrun(columns):
    out = on_a_terminal(parameters="time_limit=0.5", columns=columns)
    assert len(on_screen(out)) == 2
    plain = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", out).split("contree: time_limit")[0]
    lines = re.split(r"[\r\n]", plain)
    assert max(map(len, lines)) <= columns
    if columns == 80:
        assert "…" not in plain
        assert any(re.search(r"errors, .* (of root|trees) +\d+\.\d s", line) for line in lines)


def test_silent_with_verbose_0():
    assert on_a_terminal(parameters="time_limit=0.3", verbose=0) == "the end\r\n"


def test_without_rich_the_summary_is_all():
    out = on_a_terminal(before="sys.modules['rich.progress'] = None", parameters="time_limit=0.3")
    assert "\x1b" not in out
    assert [line.split(",")[0] for line in on_screen(out)] == ["contree: time_limit", "the end"]


def test_without_a_terminal_the_summary_is_all(capfd):
    clf = ConTreeClassifier(1, verbose=1).fit([[0.0], [1.0]], [0, 1])
    out, err = capfd.readouterr()
    assert err == ""
    assert re.fullmatch(r"contree: optimal, 0 errors, proved the least, \S+ s\n", out)
    assert clf.errors_ == 0
