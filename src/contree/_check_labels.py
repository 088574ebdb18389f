"""Check the labels and number the classes, without changing the type of any label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from contree._input_errors import dtype_kind, same_error_type

FEW_CLASSES = 20


def exact_labels(y: Any) -> Any:
    """Return y in a form whose labels scikit-learn's checks leave distinct and of their own type.

    Those checks turn pandas' nullable integers into floats and numbers beside strings into
    strings.  They reject integers in an array of objects.
    """
    if isinstance(y, (list, tuple)):
        _reject_mixed_labels(y)
        y = _wide_integers(y)
        _reject_complex_labels(_as_array(y))
    elif hasattr(y, "columns"):  # a data frame: scikit-learn accepts one column, with a warning
        if len(y.columns) == 1:
            column = y.iloc[:, 0] if hasattr(y, "iloc") else y[y.columns[0]]
            return np.asarray(exact_labels(column))[:, np.newaxis]
    elif hasattr(y, "null_count") and y.null_count():  # polars
        raise ValueError("Input y contains None. Give every row a label, or drop the row.")
    elif hasattr(y, "isna") and not isinstance(y.dtype, np.dtype):
        if y.isna().any():
            raise ValueError("Input y contains NaN. Give every row a label, or drop the row.")
        if dtype_kind(y) in ("b", "i", "u"):
            return np.asarray(y, dtype=f"{y.dtype.kind}{y.dtype.itemsize}")
    elif dtype_kind(y) == "O" and np.ndim(y) == 1:
        labels = list(y)
        _reject_mixed_labels(labels)
        narrow = _as_array(_wide_integers(labels))
        return narrow if narrow.dtype.kind in "biu" and narrow.ndim == 1 else y
    _reject_complex_labels(y)
    return y


def check_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and each label's class number."""
    try:
        classes, codes = _classes_and_codes(y)
        # scikit-learn's check sorts all labels to find the distinct ones.  The classes are those,
        # and a few integers always pass.  With many classes the check needs the number of rows.
        if len(classes) > FEW_CLASSES:
            check_classification_targets(y)
        elif classes.dtype.kind not in "biu":
            check_classification_targets(classes)
    except (TypeError, ValueError) as error:  # NumPy raises TypeError for labels without an order
        instead = " For numbers use ConTreeRegressor." if "continuous" in str(error) else ""
        raise same_error_type(
            error,
            "Input y must be labels: strings, integers, bools or floats with whole values. "
            f"{error}{instead}",
        ) from error
    return classes, codes


def _classes_and_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and each label's class number; small integers are not sorted."""
    if y.dtype.kind in "iu" and int(y.max()) - int(y.min()) < len(y):
        low = y.min()
        wide = y.astype(np.uint64 if y.dtype.kind == "u" else np.int64)  # labels up to 2**64 - 1
        offset = (wide - wide.dtype.type(low)).astype(np.int64)
        present = np.bincount(offset) > 0
        classes = np.flatnonzero(present).astype(wide.dtype) + wide.dtype.type(low)
        return classes.astype(y.dtype), (np.cumsum(present) - 1)[offset]
    return np.unique(y, return_inverse=True)


def _as_array(labels: Any) -> np.ndarray:
    try:
        return np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"Input y must have one label for each row. {error}") from error


def _wide_integers(labels: Any) -> Any:
    """Return integers that only uint64 holds in that type, because NumPy makes floats of them."""
    if not all(type(label) is int for label in labels):
        return labels
    least, most = min(labels, default=0), max(labels, default=0)
    if least >= -(2**63) and most < 2**63:
        return labels
    if least >= 0 and most < 2**64:
        return np.array(labels, dtype=np.uint64)
    wide = most if most >= 2**63 else least
    raise ValueError(
        f"Input y has the label {wide}, which no integer of 64 bits can hold together with the "
        "other labels. Use strings: [str(label) for label in y]."
    )


def _reject_complex_labels(y: Any) -> None:
    if dtype_kind(y) == "c":
        raise ValueError("Input y must be labels. Complex data not supported.")


def _reject_mixed_labels(labels: Iterable[Any]) -> None:
    if any(label is None for label in labels):
        raise ValueError("Input y contains None. Give every row a label, or drop the row.")
    if len({isinstance(label, str) for label in labels}) == 2:
        raise ValueError(
            "Input y must be all strings or all numbers; got both. Convert the labels to one type."
        )
