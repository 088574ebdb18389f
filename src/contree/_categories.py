"""Categories as numbers: a column's values become codes 0, 1, ... in a stable order.

A fit numbers the categories that it sees; `Categories` keeps them, one tuple for each categorical
feature.  A missing value, and one that the fit has not seen, becomes NaN: both take one way at
every test.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from contree._categorical_features import column_count

# For each feature None if it is a number, else its categories by their codes.
Categories = tuple[tuple[Any, ...] | None, ...]

NUMBERS = "biuf"  # NumPy's letters for bools, integers and floats
WHOLE = 2**53  # up to here floats with whole values are shown as integers


def learn_categories(X: Any, mask: np.ndarray) -> tuple[Any, Categories]:
    """Return X with codes in its categorical columns, and the categories by their codes."""
    X, codes = _table(X), {}
    categories: list[tuple[Any, ...] | None] = [None] * len(mask)
    for f in np.flatnonzero(mask).tolist():
        values, numbers = _distinct(X, f)
        used = np.unique(numbers[numbers >= 0]).tolist()
        known = sorted((_plain(values[number]) for number in used), key=_order)
        categories[f] = tuple(known)
        codes[f] = _coded(values, numbers, known)
    return _with_columns(X, codes), tuple(categories)


def encode_categories(X: Any, categories: Categories) -> Any:
    """Return X with codes in its categorical columns; an unknown value becomes NaN."""
    if column_count(X) != len(categories):  # the checks of X say what is wrong with it
        return X
    X = _table(X)
    codes = {
        f: _coded(*_distinct(X, f), known)
        for f, known in enumerate(categories)
        if known is not None
    }
    return _with_columns(X, codes)


def category_counts(categories: Categories | None) -> np.ndarray | None:
    """Return the number of categories of each feature for the core, 0 for numbers."""
    if categories is None:
        return None
    return np.array([0 if known is None else len(known) for known in categories], dtype=np.int32)


def category_mask(categories: Categories | None) -> np.ndarray | None:
    """Return which features are categorical; None if none is."""
    return None if categories is None else np.array([known is not None for known in categories])


def one_hot(X: np.ndarray, categories: Categories | None) -> np.ndarray:
    """Return rows with a column of 0 and 1 for each category in place of the codes."""
    if categories is None:
        return X
    columns = [
        column[:, np.newaxis] if known is None else column[:, np.newaxis] == np.arange(len(known))
        for column, known in zip(X.T, categories, strict=True)
    ]
    return np.hstack([np.empty((len(X), 0)), *columns])


def _coded(values: list[Any], numbers: np.ndarray, known: Any) -> np.ndarray:
    """Return the code of each row out of its number among `values`; -1 is missing."""
    code_of = {value: float(code) for code, value in enumerate(known)}
    codes = [code_of.get(value, math.nan) for value in values]
    return np.array([*codes, math.nan]).take(numbers)  # -1 takes the last


def _distinct(X: Any, f: int) -> tuple[list[Any], np.ndarray]:
    """Return the values that a column has, and the number of each row's; -1 where it is missing."""
    column = _column(X, f)
    if hasattr(getattr(column, "cat", None), "codes"):  # pandas has them numbered
        values, numbers = column.cat.categories.tolist(), np.asarray(column.cat.codes, np.int64)
    elif isinstance(column, np.ndarray) and column.dtype.kind in NUMBERS:
        found, numbers = np.unique(column, return_inverse=True)
        numbers = np.where(np.isnan(column), -1, numbers)
        values = found.tolist()
    else:
        values, numbers = _numbered(column, X, f)
    if any(isinstance(value, float) and math.isinf(value) for value in values):
        raise ValueError(f"Input X contains infinity in the categorical column {_name(X, f)}.")
    return values, numbers


def _numbered(column: Any, X: Any, f: int) -> tuple[list[Any], np.ndarray]:
    """Return the same of a column of any values, in the order in which they come."""
    number_of: dict[Any, int] = {}
    numbers = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        try:
            missing = _is_missing(value)
            numbers[row] = -1 if missing else number_of.setdefault(value, len(number_of))
        except TypeError:
            raise TypeError(
                f"Input X: the categorical column {_name(X, f)} has {value!r}, which is not "
                "hashable. Use strings or numbers as categories."
            ) from None
    return list(number_of), numbers


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT, and pandas' NA, which does not say whether it equals itself."""
    if value is None or type(value).__name__ == "NAType":
        return True
    differs = value != value
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def _plain(value: Any) -> Any:
    """Return a value of Python's own types; a float with a whole value becomes an integer."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return int(value)
    return value


def _order(value: Any) -> tuple[Any, ...]:
    """Order numbers, then strings, then others by type and text: rows in any order give one."""
    if isinstance(value, Real):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 2, type(value).__name__, repr(value)


def _table(X: Any) -> Any:
    """Return a data frame as it is, and anything else as an array."""
    if hasattr(X, "columns") or isinstance(X, np.ndarray):
        return X
    return X.toarray() if issparse(X) else np.array(X, dtype=object)


def _column(X: Any, f: int) -> Any:
    if hasattr(X, "iloc"):
        column = X.iloc[:, f]
        is_number = isinstance(column.dtype, np.dtype) and column.dtype.kind in NUMBERS
        return column.to_numpy() if is_number else column
    if hasattr(X, "columns"):
        return X[X.columns[f]]
    return X[:, f]


def _name(X: Any, f: int) -> str:
    return repr(X.columns[f]) if hasattr(X, "columns") else str(f)


def _with_columns(X: Any, columns: dict[int, np.ndarray]) -> Any:
    """Return a copy of a table with other columns in these places."""
    if hasattr(X, "isetitem"):  # pandas
        X = X.copy(deep=False)
        for f, column in columns.items():
            X.isetitem(f, column)
        return X
    if hasattr(X, "with_columns"):  # polars
        series = type(X[X.columns[0]])
        return X.with_columns([series(X.columns[f], column) for f, column in columns.items()])
    whole = all(np.isfinite(column).all() for column in columns.values())
    # Integers stay integers, so that those which float64 cannot hold are warned of.
    kinds = {"i": np.int64, "u": np.uint64} if whole else {}
    X = X.astype(kinds.get(X.dtype.kind, np.float64 if X.dtype.kind in NUMBERS else object))
    for f, column in columns.items():
        X[:, f] = column
    return X
