"""Warn about integers beyond 2**53 that become equal as float64."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

Columns = Iterator[tuple[int, np.ndarray]]  # each with its index

LARGEST_EXACT = 2**53  # beyond it, two neighbouring integers may be the same float64


def warn_of_merged_integers(X: Any, feature_names: np.ndarray | None) -> None:
    """Warn about each column in which two distinct integers become the same float64."""
    for f, integers in _wide_integer_columns(X):
        distinct = np.unique(integers)
        merged = int(
            np.count_nonzero(distinct[1:].astype(np.float64) == distinct[:-1].astype(np.float64))
        )
        if merged:
            column = f"{feature_names[f]!r}" if feature_names is not None else f"{f}"
            warnings.warn(
                f"Column {column} has integers beyond 2**53 that float64 cannot tell apart: "
                f"{merged} of its {len(distinct)} distinct values are lost. "
                "Subtract a common offset, or split the column in two, to keep them.",
                UserWarning,
                stacklevel=6,
            )


def _wide_integer_columns(X: Any) -> Columns:
    """Yield (index, integers) for each column of X that has integers beyond 2**53.

    Floating-point input costs a look at the types.  Integers cost a minimum and a maximum.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        yield from _wide_columns_of_frame(X)
    elif issparse(X):  # a value that is not stored is 0
        if X.dtype.kind in "iu" and _beyond_exact(X.data):
            columns = X.tocsc()
            stored = np.split(columns.data, columns.indptr[1:-1])
            yield from ((f, values) for f, values in enumerate(stored) if _beyond_exact(values))
    elif hasattr(X, "dtype"):
        yield from _wide_columns_of_array(np.asarray(X), 0)
    else:  # nested sequences: NumPy may have turned integers among floats into float64
        array = np.asarray(X)
        if (
            array.dtype.kind == "f"
            and np.fmax.reduce(np.abs(array), axis=None, initial=0) > LARGEST_EXACT
        ):
            array = np.asarray(X, dtype=object)
        yield from _wide_columns_of_array(array, 0)


def _wide_columns_of_frame(frame: Any) -> Columns:
    """Yield the wide integer columns of a data frame, whose columns each have their own type."""
    for f, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        # Nullable integer types have a `kind` too.  Without missing values they convert exactly.
        kind = getattr(dtype, "kind", None)
        if kind == "f":
            continue
        column = frame.iloc[:, f] if hasattr(frame, "iloc") else frame[name]
        if kind in ("i", "u") and hasattr(column, "dropna"):
            column = column.dropna()
        elif hasattr(column, "drop_nulls"):  # polars, which turns columns with nulls into floats
            column = column.drop_nulls()
        yield from _wide_columns_of_array(
            np.asarray(column, dtype=f"{kind}8" if kind in ("i", "u") else None)[:, np.newaxis],
            f,
        )


def _wide_columns_of_array(array: np.ndarray, start: int) -> Columns:
    """Yield the wide integer columns of an array whose column 0 has the index `start`."""
    kind = array.dtype.kind
    if kind == "O":
        for f, column in enumerate(array.T, start=start):
            integers = [int(v) for v in column if isinstance(v, Integral)]
            if integers and max(map(abs, integers)) > LARGEST_EXACT:
                yield f, np.array(integers, dtype=object)
    elif kind in "iu" and array.dtype.itemsize == 8 and _beyond_exact(array):
        for f, column in enumerate(array.T, start=start):
            if _beyond_exact(column):
                yield f, column


def _beyond_exact(integers: np.ndarray) -> bool:
    return integers.size > 0 and (
        int(integers.max()) > LARGEST_EXACT or int(integers.min()) < -LARGEST_EXACT
    )
