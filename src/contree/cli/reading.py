"""How a user wants a file to be read, and what is checked in every format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from contree.cli.errors import UserError, named


@dataclass(frozen=True)
class Reading:
    """How a user wants a file to be read; None and () are for the usual way."""

    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    na_values: tuple[str, ...] = ()
    no_header: bool = False


def check_names(names: list[str]) -> None:
    """Reject names of columns that occur twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        s = "s" * (len(twice) > 1)
        raise UserError(
            f"the column name{s} {named(twice)} occur{'s' * (not s)} more than once: rename "
            "the columns in the file"
        )


def encoding_hint(what: str, reading: Reading) -> str:
    """Say that text is not in the encoding that was tried."""
    tried = reading.encoding or "utf-8"
    return f"{what} is not {tried}: add --encoding latin-1, cp1252, utf-16 or what the file is in"
