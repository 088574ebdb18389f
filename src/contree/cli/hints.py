"""What to do about columns that are neither clearly numbers nor clearly categories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, time, timedelta
from typing import Any

from contree.cli.errors import named, one_line

GROUPED = re.compile(
    r"[+-]?[0-9]{1,3}(?:([ ,.'_\u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*([.,][0-9]+)?"
)
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
DATE = re.compile(
    r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}([ T].*)?|[0-9]{1,2}([-/.])[0-9]{1,2}\3[0-9]{4}"
)


def needs_a_choice(column: Any) -> bool:
    """Tell whether a column of text may be something else: dates, or numbers in disguise."""
    return _holds_dates(column) or _number_hint(column) is not None


def column_hints(columns: dict[str, Any], wanted: str = "") -> str:
    """Return one line on columns: what each holds, and a way out.

    `wanted` is what takes them for numbers, "--numeric" or "the model"; without it the user may
    still choose what they are.
    """
    hints: list[str] = []
    dates: list[str] = []
    text: list[str] = []
    for name, column in columns.items():
        hint = _number_hint(column)
        if hint is not None:
            hints.append(f"'{one_line(name)}' holds {hint}")
        else:
            (dates if _holds_dates(column) else text).append(name)
    if wanted == "the model":
        text, dates = [*text, *dates], []
    if dates:
        flags = f"--drop {_listed(dates)}"
        flags += ", or --categorical if they repeat" * (not wanted)
        hints.append(f"{_these(dates)} dates: make numbers of them, such as days, or add {flags}")
    if text and wanted == "the model":
        hints.append(f"{_these(text)} text, and the model was trained with numbers there")
    elif text:
        hints.append(f"{_these(text)} text: leave the column out of {wanted}, or mend the file")
    end = "; or, for categories, add --categorical" * (bool(hints) and not wanted and not dates)
    return "; ".join(hints) + end


def _these(names: list[str]) -> str:
    s = "s" * (len(names) > 1)
    return f"the column{s} {named(names)} hold{'s' * (not s)}"


def _holds_dates(column: Any) -> bool:
    kind: str = column.dtype.kind
    if kind in "mM":
        return True
    values = column.dropna().unique()[:1000]
    if len(values) and isinstance(values[0], (date, time, timedelta)):
        return True
    words = [value for value in values if isinstance(value, str)]
    return bool(words) and all(DATE.fullmatch(word.strip()) for word in words)


def _listed(names: Iterable[str]) -> str:
    shown = [name if re.fullmatch(r"[\w.-]+", name) else f"'{one_line(name)}'" for name in names]
    return ",".join(shown[:5]) + (",..." if len(shown) > 5 else "")


def _number_hint(column: Any) -> str | None:
    """Tell numbers that are written in an unexpected way, and numbers among a few other words."""
    if column.dtype.kind != "O" or column.dtype.name == "category":
        return None
    words = [word for word in column.dropna().unique()[:10_000] if isinstance(word, str)]
    strange = [word for word in words if not _is_number(word)]
    if not strange:
        return None
    sample = f"numbers written as text, such as '{one_line(strange[0])[:30]}': add"
    grouped = [GROUPED.fullmatch(word.strip()) for word in strange]
    if all(grouped):
        found = [match for match in grouped if match]
        separators, points = {m[1] for m in found}, {m[2][0] for m in found if m[2]}
        if len(separators) == 1 and len(points) <= 1 and not separators & points:
            thousands = separators.pop()
            shown = thousands if thousands in ",." else repr(thousands)
            return f"{sample} --thousands {shown}" + " --decimal ," * (
                thousands == "." or "," in points
            )
    if all(DECIMAL_COMMA.fullmatch(word.strip()) for word in strange):
        return f"{sample} --decimal ,"
    if len(strange) <= 2 and len(words) > 2 * len(strange):
        flags = " ".join(f"--na-values {_listed([word])}" for word in strange)
        return f"numbers and {named(strange)}: if that means missing, add {flags}"
    return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
