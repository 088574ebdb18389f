"""The target column as numbers, exactly as they are written."""

from __future__ import annotations

import math
from typing import Any

from contree.cli.errors import UserError
from contree.cli.labels import as_integer, as_words
from contree.cli.reading import Reading


def target_numbers(column: Any, reading: Reading) -> list[int | float] | None:
    """Return the values of a column that are there as numbers, or None if one is no number."""
    numbers = []
    for word in as_words(column).dropna().tolist():
        number = _number(word, reading)
        if number is None:
            return None
        numbers.append(number)
    return numbers or None


def read_numbers(column: Any, name: str, numbers: list[int | float] | None) -> Any:
    """Return the numbers of a column as an array; reject what cannot be learnt."""
    import numpy as np

    if numbers is None:
        raise UserError(
            f"--target: '{name}' holds text, and a regression needs finite numbers: name a column "
            "of numbers, or use --task classification"
        )
    whole = all(isinstance(number, int) for number in numbers)
    return np.array(numbers, dtype=np.int64 if whole else np.float64)


def _number(word: str, reading: Reading) -> int | float | None:
    """Return what a word means as a finite number, else None."""
    if reading.thousands:
        word = word.replace(reading.thousands, "")
    if reading.decimal:
        word = word.replace(reading.decimal, ".")
    whole = as_integer(word)
    if whole is not None:
        return whole
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
