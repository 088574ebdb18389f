"""What type checkers see: the public interface has types, and wrong calls are rejected."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from contree import _core

HERE = Path(__file__).parent
CONFIGURATION = HERE.parent / "pyproject.toml"


def checked(path: Path, folder: Path) -> tuple[int, dict[int, set[str]]]:
    """Return mypy's exit code and the kinds of errors by line of a file."""
    pytest.importorskip("mypy", reason="NOT TESTED: mypy is not installed; make .venv/.lint")
    options = ["--config-file", CONFIGURATION, "--no-incremental", "--python-executable"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, sys.executable, path],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
    )
    found: dict[int, set[str]] = {}
    for line, kind in re.findall(rf"{path.name}:(\d+): error: .*\[([\w-]+)\]", done.stdout):
        found.setdefault(int(line), set()).add(kind)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode, found


def test_right_calls_are_accepted(tmp_path):
    assert checked(HERE / "typing" / "right.py", tmp_path) == (0, {})


def test_wrong_calls_are_rejected(tmp_path):
    path = HERE / "typing" / "wrong.py"
    lines = enumerate(path.read_text().splitlines(), 1)
    expected = {n: {line.split("# E: ")[1]} for n, line in lines if "# E: " in line}
    assert len(expected) >= 10
    assert checked(path, tmp_path) == (1, expected)


def test_the_stub_of_the_core_names_all_that_it_has():
    stub = ast.parse(Path(_core.__file__).with_name("_core.pyi").read_text())
    named = {one.name for one in stub.body if isinstance(one, (ast.ClassDef, ast.FunctionDef))}
    assert {name for name in vars(_core) if not name.startswith("_")} <= named
    (searcher,) = (one for one in stub.body if getattr(one, "name", "") == "Searcher")
    methods = {one.name for one in searcher.body if isinstance(one, ast.FunctionDef)}
    assert {name for name in vars(_core.Searcher) if not name.startswith("_")} <= methods
