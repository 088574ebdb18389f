"""Refuse dates and times in X by the column's name, and say how to convert them.

NumPy converts dates to integers, in a unit that depends on their type, and missing ones to about
-9.2e18.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time, timedelta
from typing import Any

import numpy as np

from contree._input_errors import dtype_kind, named_columns

DAYS = (
    "(pandas.to_datetime(column, utc=True) - pandas.Timestamp(0, tz='UTC')) "
    "/ pandas.Timedelta(days=1)"
)
CONVERSIONS = {
    "dates": f"to days: {DAYS}",
    "array of dates": "to days: (column - numpy.datetime64(0, 'D')) / numpy.timedelta64(1, 'D')",
    "durations": "to days: pandas.to_timedelta(column) / pandas.Timedelta(days=1)",
    "array of durations": "to days: column / numpy.timedelta64(1, 'D')",
    "periods": "to their number: column.astype('int64')",
    "times": "to hours: [t.hour + t.minute / 60 for t in column]",
    "polars": "to integers: column.to_physical()",
}


def reject_dates(X: Any) -> None:
    """Raise ValueError if a column of X has dates, times or durations."""
    if not _may_have_dates(X):
        return
    for name, column in named_columns(X):
        kind = _kind_of_dates(column, frame=hasattr(X, "columns"))
        if kind is not None:
            raise ValueError(
                "Input X must be numbers, with NaN for a missing value; column "
                f"{name!r} has dates or times. Convert them first, for example "
                f"{CONVERSIONS[kind]}."
            )


def _may_have_dates(X: Any) -> bool:
    """Return whether X is of a type that can hold dates; arrays of numbers are not looked at."""
    if hasattr(X, "columns"):
        return True
    if isinstance(X, (list, tuple)):
        return any(_is_date(value) for row in X if isinstance(row, (list, tuple)) for value in row)
    return dtype_kind(X) in ("m", "M", "O") and getattr(X, "ndim", 0) == 2


def _kind_of_dates(column: Any, frame: bool) -> str | None:
    """Return the entry of `CONVERSIONS` for a column; None if it has no dates."""
    dtype: Any = getattr(column, "dtype", None)
    if hasattr(dtype, "is_temporal"):  # polars
        if str(dtype) == "Object":
            return _kind_of_objects(column)
        return "polars" if dtype.is_temporal() else None
    kind = getattr(dtype, "kind", None)
    if kind in ("m", "M"):
        of_column = "durations" if kind == "m" else "dates"
        return of_column if frame else f"array of {of_column}"
    if str(dtype).startswith("period"):
        return "periods"
    return _kind_of_objects(column) if kind == "O" else None


def _kind_of_objects(values: Iterable[Any]) -> str | None:
    for value in values:
        if not _is_date(value):
            continue
        if isinstance(value, (timedelta, np.timedelta64)):
            return "durations"
        if isinstance(value, time):
            return "times"
        return "dates" if isinstance(value, (date, np.datetime64)) else "periods"
    return None


def _is_date(value: Any) -> bool:
    # A Period of pandas, which need not be installed.
    types = date, time, timedelta, np.datetime64, np.timedelta64
    return isinstance(value, types) or type(value).__name__ == "Period"
