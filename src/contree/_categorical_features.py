"""The parameter `categorical_features` as a mask over the columns of X."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

ALLOWED = 'None, "from_dtype", or a list of bools, of column indices or of column names'
CATEGORICAL_TYPES = ("CategoricalDtype", "Categorical", "Enum")  # of pandas, and two of polars


def categorical_mask(given: Any, X: Any) -> np.ndarray | None:
    """Return which columns of X are categorical; None if none is.

    `given` is None, "from_dtype", or array-like.
    """
    if given is None:
        return None
    if isinstance(given, str):
        mask = _by_type(X)
    else:
        n_columns = column_count(X)
        if n_columns is None:  # the checks of X say what is wrong with it
            return None
        mask = _declared(given, X, n_columns)
    return mask if mask.any() else None


def column_count(X: Any) -> int | None:
    """Return how many columns a table has; None if X is none."""
    try:
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    except ValueError:  # rows of different lengths
        return None
    return int(shape[1]) if len(shape) == 2 else None


def _by_type(X: Any) -> np.ndarray:
    dtypes = X.dtypes if hasattr(X, "columns") else []
    return np.array([_is_categorical(dtype) for dtype in dtypes], dtype=bool)


def _is_categorical(dtype: Any) -> bool:
    name = (dtype if isinstance(dtype, type) else type(dtype)).__name__
    return name in CATEGORICAL_TYPES or str(dtype).startswith("dictionary<")  # Arrow's, in pandas


def _declared(given: Any, X: Any, n_columns: int) -> np.ndarray:
    """Return the mask that a list of bools, of indices or of names means."""
    values = given.tolist() if isinstance(given, np.ndarray) else list(given)
    kinds = sorted({_kind(value) for value in values})
    if len(kinds) > 1:
        raise _refused(f"it mixes {' and '.join(kinds)}")
    if kinds == ["names"]:
        return _by_name(values, X)
    mask = np.zeros(n_columns, dtype=bool)
    if kinds == ["bools"]:
        if len(values) != n_columns:
            raise _refused(f"the mask has {len(values)} entries, X has {n_columns} columns")
        mask[:] = values
    for index in values if kinds == ["indices"] else ():
        if not 0 <= index < n_columns:
            raise _refused(f"{index} is not an index from 0 to {n_columns - 1}")
        mask[index] = True
    return mask


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "bools"
    if isinstance(value, Integral):
        return "indices"
    if isinstance(value, str):
        return "names"
    raise _refused(f"it has {value!r}")


def _by_name(names: list[str], X: Any) -> np.ndarray:
    if not hasattr(X, "columns"):
        raise _refused(f"{names[0]!r} is a name, and the columns of X have no names")
    columns = list(X.columns)
    for name in names:
        if name not in columns:
            raise _refused(f"X has no column {name!r}; its columns are {columns}")
    return np.array([column in names for column in columns])


def _refused(reason: str) -> ValueError:
    return ValueError(f"categorical_features must be {ALLOWED}: {reason}.")
