"""What to do about columns that hold text: told from what the text looks like."""

from __future__ import annotations

import re
from datetime import date, time, timedelta

from contree.cli.errors import named, one_line

FEW_VALUES = 50  # of which columns of 0 and 1 are still a good idea
GROUPED = re.compile(
    r"[+-]?[0-9]{1,3}(?:([ ,.'_\u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*([.,][0-9]+)?"
)
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def text_hints(columns: dict, training: bool) -> str:
    """Return one line on columns that are no numbers: which they are, and a way out for each.

    What is learnt from is a choice in training only.
    """
    text, others = {}, []
    for name, column in columns.items():
        hint = _number_hint(column)
        if hint is None:
            text[name] = column
        else:
            others.append(f"'{one_line(name)}' holds {hint}")
    if text:
        s = "s" * (len(text) > 1)
        kinds = " or ".join(sorted(set(map(_kind, text.values())), reverse=True))
        what = f"the column{s} {named(text)} hold{'s' * (not s)} {kinds}"
        if training:
            others.append(f"{what}, and contree needs numbers: add {_ways_out(text)}")
        else:
            others.append(f"{what}, and the model was trained with numbers there")
    return "; ".join(others)


def _kind(column) -> str:
    """Tell dates, which Parquet knows as such, from text."""
    first = next(iter(column.dropna()), None)
    return "dates" if isinstance(first, (date, time, timedelta)) else "text"


def _ways_out(columns: dict) -> str:
    few = [name for name, column in columns.items() if column.astype("str").nunique() <= FEW_VALUES]
    many = [name for name in columns if name not in few]
    one_hot = f"--one-hot {_listed(few)} for columns of 0 and 1"
    if few and many:
        return f"--drop {_listed(many)} and {one_hot}"
    return f"{one_hot}, or --drop {_listed(few)}" if few else f"--drop {_listed(many)}"


def _listed(names) -> str:
    names = [name if re.fullmatch(r"[\w.-]+", name) else f"'{one_line(name)}'" for name in names]
    return ",".join(names[:5]) + (",..." if len(names) > 5 else "")


def _number_hint(column) -> str | None:
    """Tell numbers that are written in an unexpected way, and numbers among a few other words."""
    words = [word for word in column.dropna().unique()[:10_000] if isinstance(word, str)]
    strange = [word for word in words if not _is_number(word)]
    if not strange:
        return None
    sample = f"numbers written as text, such as '{one_line(strange[0])[:30]}': add"
    grouped = [GROUPED.fullmatch(word.strip()) for word in strange]
    if all(grouped):
        separators, points = {m[1] for m in grouped}, {m[2][0] for m in grouped if m[2]}
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
