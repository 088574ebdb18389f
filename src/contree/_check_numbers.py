"""Check the targets of a regression, without rounding any integer."""

from __future__ import annotations

from typing import Any

import numpy as np

from contree._input_errors import dtype_kind

WRONG = "Input y must be finite numbers"


def exact_numbers(y: Any) -> Any:
    """Return y in a form whose numbers scikit-learn's checks do not change."""
    if y is None:
        return y
    if hasattr(y, "columns"):  # a data frame: scikit-learn accepts one column, with a warning
        if len(y.columns) != 1:
            return y
        column = y.iloc[:, 0] if hasattr(y, "iloc") else y[y.columns[0]]
        return np.asarray(exact_numbers(column))[:, np.newaxis]
    if hasattr(y, "null_count") and y.null_count():  # polars
        raise ValueError("Input y contains None. Give every row a number, or drop the row.")
    if hasattr(y, "isna") and not isinstance(y.dtype, np.dtype):
        if y.isna().any():
            raise ValueError("Input y contains NaN. Give every row a number, or drop the row.")
        if dtype_kind(y) in ("b", "i", "u", "f"):
            return np.asarray(y, dtype=f"{y.dtype.kind}{y.dtype.itemsize}")
    array = _as_array(y)
    if array.dtype.kind == "c":
        raise ValueError(f"{WRONG}. Complex data not supported.")
    if array.dtype.kind == "O":
        array = _as_floats(array)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{WRONG}; got values of type {array.dtype}. For classes use ConTreeClassifier."
        )
    return array


def check_numbers(y: np.ndarray) -> np.ndarray:
    """Return numbers that scikit-learn has checked as int64, uint64 or float64."""
    kind = y.dtype.kind
    return y.astype({"b": np.int64, "i": np.int64, "u": np.uint64}.get(kind, np.float64))


def _as_array(y: Any) -> np.ndarray:
    try:
        return np.asarray(y)
    except ValueError as error:
        raise ValueError(f"Input y must have one number for each row. {error}") from error


def _as_floats(array: np.ndarray) -> np.ndarray:
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{WRONG}. {error}. For classes use ConTreeClassifier.") from error
