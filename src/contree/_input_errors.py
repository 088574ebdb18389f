"""Say which argument, and which column of X, scikit-learn or NumPy rejected, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# NumPy's words for text, for pandas' NA, and for dates beside numbers.
MOST_NAMED = 10  # columns in a message
NOT_CONVERTED = r"could not convert|float\(\) argument|could not be promoted"


@contextmanager
def explain_bad_input(X: Any, in_fit: bool) -> Iterator[None]:
    """Raise errors of the enclosed checks again, with the argument or the column of X named."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = _explained(X, str(error), in_fit)
        if message == str(error):
            raise
        raise same_error_type(error, message) from error


def same_error_type(error: Exception, message: str) -> Exception:
    """Return a TypeError or ValueError, as `error` is, with another message."""
    return TypeError(message) if isinstance(error, TypeError) else ValueError(message)


def dtype_kind(column: Any) -> str | None:
    """Return NumPy's letter for the type of an array or a column; None without one."""
    return getattr(getattr(column, "dtype", None), "kind", None)


def _explained(X: Any, reason: str, in_fit: bool) -> str:
    """Return the reason of scikit-learn or NumPy together with the argument that it is about."""
    if re.search(NOT_CONVERTED, reason):
        if np.ndim(X) < 2:
            return f"Input X must be a table of numbers, an array or a data frame: {reason}."
        columns = _columns_without_numbers(X)
        if columns:
            remedies = _remedies(columns) if in_fit else "The rows of fit had numbers there."
            return (
                f"Input X must be numbers, with NaN for a missing value; column {columns[0]}: "
                f"{reason}. {remedies}"
            )
    if reason.startswith("Expected 2D array"):  # and goes on with all values
        if np.ndim(X) == 0:
            return f"Input X must be an array or a data frame; got {type(X).__name__}."
        return (
            f"Input X must be a table of numbers, with 2 dimensions; got {np.ndim(X)}. Reshape "
            "your data: X.reshape(-1, 1) is one column, X.reshape(1, -1) is one row."
        )
    if reason.startswith("Complex data not supported"):  # the same
        return "Input X must be real numbers. Complex data not supported."
    if reason.startswith("Input X contains infinity"):
        return f"{reason} Use NaN for a missing value, or leave the rows out."
    if reason.startswith("Input y contains NaN"):
        return "Input y contains NaN. Give every row a value, or drop the row."
    if re.search(r"y should be a 1d array, got an array of shape \(\d+, \d+\)", reason):
        return (
            f"{reason} With several outputs, use scikit-learn's MultiOutputClassifier or "
            "MultiOutputRegressor."
        )
    if re.search(r"\b[Xy]\b", reason):
        return reason
    if "inconsistent numbers of samples" in reason:
        return f"X and y must have the same number of rows. {reason}"
    if "inhomogeneous shape" in reason:
        return f"Input X must have rows of the same length. {reason}"
    return f"Input X: {reason}"


def named_columns(X: Any) -> Iterable[tuple[Any, Any]]:
    """Return pairs of a column's name, or its index, and the column."""
    if hasattr(X, "iloc"):
        return ((name, X.iloc[:, f]) for f, name in enumerate(X.columns))
    if hasattr(X, "columns"):
        return ((name, X[name]) for name in X.columns)
    return enumerate(np.asarray(X, dtype=None if dtype_kind(X) in ("m", "M") else object).T)


def _columns_without_numbers(X: Any) -> list[str]:
    """Return the names or the indices of the columns that are not all numbers, for a message."""
    found = []
    for name, column in named_columns(X):
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            found.append(repr(name))
    return found


def _remedies(columns: list[str]) -> str:
    """Return what to do about columns that are not numbers."""
    names = ", ".join(columns[:MOST_NAMED])
    if len(columns) > MOST_NAMED:
        names += f" and {len(columns) - MOST_NAMED} more"
    it = "it" if len(columns) == 1 else "them"
    return (
        f"Name {names} in categorical_features, or encode {it} as numbers, for example with "
        "scikit-learn's OrdinalEncoder."
    )
