"""What goes wrong in one line: what it is and how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

import click


class UserError(click.ClickException):
    """Something that the user can mend; shown as one line, exit code 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        print(f"contree: {one_line(self.message)}", file=file or sys.stderr)


class Interrupted(click.ClickException):
    """Ctrl-C where there is nothing to keep, and why."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        print(f"contree: interrupted {self.message}", file=file or sys.stderr)


def one_line(text: object) -> str:
    """Return a text without line breaks and without what a terminal takes for a command."""
    words = " ".join(str(text).split())
    if words.isprintable():
        return words
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in words)


def note(text: str) -> None:
    """Tell something that is no error, beside the output."""
    print(f"contree: note: {one_line(text)}", file=sys.stderr)


@contextmanager
def as_user_errors() -> Iterator[None]:
    """Turn what the estimator says about its arguments into one line."""
    try:
        yield
    except (ValueError, TypeError, ImportError) as error:
        raise UserError(one_line(error)) from error


def needed(module: str, purpose: str) -> Any:
    """Import a library of the extra; where it is not installed, say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise UserError(
            f"{purpose} needs {library}, which comes with an extra: pip install 'contree[cli]'"
        ) from error


def named(names: Iterable[Any], most: int = 5) -> str:
    """Return names in quotes, the first few of many."""
    quoted = [f"'{one_line(name)[:60]}'" for name in names]
    if len(quoted) <= most + 1:
        return ", ".join(quoted)
    return f"{', '.join(quoted[:most])} and {len(quoted) - most:,} more"


def near(name: str, names: list[str]) -> list[str]:
    """Return the names that someone who typed `name` may have meant."""
    import difflib

    def plain(text: str) -> str:
        return "".join(letter for letter in text.casefold() if letter.isalnum())

    same = [one for one in names if plain(one) == plain(name)]
    return same or difflib.get_close_matches(name, names[:5000], n=3, cutoff=0.6)


def no_such_column(name: str, names: list[str], flag: str) -> UserError:
    """Return the error for a column that is not there, with those that may be meant."""
    found = near(name, names)
    meant = f"did you mean {named(found)}?" if found else f"the columns are {named(names, 8)}"
    return UserError(f"{flag}: there is no column '{one_line(name)}'; {meant}")
