"""The command ``contree``: from a file to a tree, and on to predictions.

Each command has a file of its own.  Between a file and an estimator lie ``read`` (a file as a data
frame), ``features`` and ``labels`` (its columns as numbers and classes); ``model_file`` keeps what
is needed to do the same again.  What is heavy is imported when a command runs, never before.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process, and exit with its code."""
    try:
        code = _command()
    except KeyboardInterrupt:  # before there was anything to do
        print("contree: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)


def _command() -> int:
    try:
        import click  # noqa: F401
    except ImportError:
        print(
            "contree: the command line needs click, which comes with an extra: "
            "pip install 'contree[cli]'",
            file=sys.stderr,
        )
        return 1
    from contree.cli.app import run

    return run(sys.argv[1:])
