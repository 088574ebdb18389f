"""Check the user's sample weights and find the rows that have a weight."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from contree._input_errors import dtype_kind, same_error_type
from contree._weights import ClassWeight


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return the weights of the rows as exact integers or float64; None for None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = [sample_weight] * n_rows
    kind = dtype_kind(sample_weight)
    nullable = kind in ("i", "u") and not isinstance(sample_weight.dtype, np.dtype)
    if nullable and not sample_weight.isna().any():  # scikit-learn would turn them into floats
        sample_weight = np.asarray(sample_weight, dtype=f"{kind}8")
    try:
        weights: np.ndarray = check_array(
            sample_weight, ensure_2d=False, input_name="sample_weight"
        )
    except (TypeError, ValueError) as error:
        if "sample_weight" in str(error):
            raise
        raise same_error_type(
            error, f"sample_weight must be finite numbers that are not negative: {error}"
        ) from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n_rows} rows; its shape is "
            f"{weights.shape}."
        )
    if weights.dtype.kind not in "iu":
        weights = weights.astype(np.int64 if weights.dtype.kind == "b" else np.float64)
    if (weights < 0).any():
        raise ValueError(
            f"Negative values in sample_weight: the least is {weights.min()}. "
            "Use 0 to leave a row out."
        )
    return weights


def rows_with_weight(
    sample_weight: np.ndarray | None, class_weight: ClassWeight, codes: np.ndarray
) -> np.ndarray | None:
    """Return a mask of the rows whose weight is positive; None if that is every row."""
    if sample_weight is None and not isinstance(class_weight, list):
        return None
    positive = np.ones(len(codes), dtype=bool) if sample_weight is None else sample_weight > 0
    if isinstance(class_weight, list):
        positive &= np.array([weight > 0 for weight in class_weight])[codes]
    if not positive.any():
        raise ValueError(
            "The weights of all rows are zero: sample_weight times class_weight. "
            "Give at least one row a positive weight."
        )
    return None if positive.all() else positive
