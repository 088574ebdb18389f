"""The target column as classes: integers where they are written as such, else text as it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from contree.cli.errors import UserError, named, note

if TYPE_CHECKING:
    from contree.cli.training import Training

INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0*)?")  # without leading zeros, which are names
MANY = 20  # so many different values, and in more than half of the rows, are no classes


def as_words(column: Any) -> Any:
    """Return the values of a column as text, missing ones as they are; 1.0 is written 1."""
    if column.dtype.kind == "f":
        whole = column.dropna() == column.dropna().round()
        if whole.all() and (column.abs() < 2**53).all():
            column = column.astype("Int64")
    return column.astype("str").where(column.notna())


def as_integer(word: str) -> int | None:
    """Return the integer that a label is written as, None for other text."""
    return int(word.partition(".")[0]) if INTEGER.fullmatch(word) else None


def read_labels(column: Any, name: str, sure: bool = False) -> Any:
    """Return the labels as an array of int64 or of strings.

    Values that look like no classes are rejected, unless the user is `sure` that they are.
    """
    import numpy as np

    words = as_words(column)
    distinct = list(words.unique())
    numbers = {word: as_integer(word) for word in distinct}
    if None not in numbers.values():
        if not sure:
            _reject_identifiers(list(dict.fromkeys(map(str, numbers.values()))), len(words), name)
        return words.map(numbers).to_numpy(dtype=np.int64)
    if not sure:
        _reject_identifiers(distinct, len(words), name)
    if not sure and len(distinct) > MANY and all(map(_is_number, distinct)):
        raise UserError(
            f"--target: '{name}' holds {len(distinct):,} different numbers such as {distinct[0]}, "
            "which are too many classes: use --task regression, or name a column of classes"
        )
    if len(distinct) == 1:
        note(f"all rows have the same label, '{distinct[0]}', so the tree is one leaf")
    return words.to_numpy(dtype=object)


def class_weights_by_label(class_weight: Any, table: Training) -> Any:
    """Return class weights whose keys are the labels that the user's text means."""
    if not isinstance(class_weight, dict) or not table.classes:
        return class_weight
    by_text = {str(label): label for label in set(table.y.tolist())}
    strange = [text for text in class_weight if text not in by_text]
    if strange:
        raise UserError(
            f"--class-weight: there is no label {named(strange)}; the labels are "
            f"{named(sorted(by_text))}"
        )
    return {by_text[text]: weight for text, weight in class_weight.items()}


def looks_unique(distinct: int, rows: int) -> bool:
    """Tell whether so many different values are names of rows, or measurements, and no classes."""
    return distinct == rows > 2 or distinct > max(MANY, rows / 2)


def _reject_identifiers(distinct: list[str], rows: int, name: str) -> None:
    if looks_unique(len(distinct), rows):
        raise UserError(
            f"--target: '{name}' has {len(distinct):,} different values in {rows:,} rows, "
            f"{named(distinct, 2)}: it looks like an identifier or a measurement; name a column of "
            "classes, or use --task regression for numbers"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
