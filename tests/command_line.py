"""The installed command ``contree``, run as users run it: in a process of its own."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import warnings
from pathlib import Path

COMMAND = Path(sys.executable).with_name("contree")


def contree(*arguments, stdin: bytes | None = None, folder=None, prefix=()):
    """Return the ended process; output is text."""
    result = subprocess.run(
        [*prefix, COMMAND, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        cwd=folder,
        timeout=300,
    )
    result.stdout, result.stderr = result.stdout.decode(), result.stderr.decode()
    return result


def inside(*arguments, folder="."):
    """Return what `contree` returns, from a run in this process: quicker, for many small files."""
    from contree.cli.app import run

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "ab")
    with contextlib.ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGTERM, signal.getsignal(signal.SIGTERM))
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        code = run(list(map(str, arguments)))
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(arguments, code, *texts)


def fails(*arguments, run=contree, **settings) -> str:
    """Return the one line that a command says which cannot do what is asked."""
    result = run(*arguments, **settings)
    assert result.returncode == 1, (result.stdout, result.stderr)
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if "contree: note:" not in line]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("contree: ")
    return lines[0]


def works(*arguments, run=contree, **settings) -> str:
    """Return what a command prints that does what is asked."""
    result = run(*arguments, **settings)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout
