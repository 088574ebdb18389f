"""Check the rows of a fit or a prediction and return them as float64 columns.

This is the first stage of a fit.  It changes no number: float64 holds every float32 and every
integer up to 2**53.  `_check_integers` warns about the integers that float64 cannot hold.
Categories become codes, see `_categories`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from contree._categorical_features import categorical_mask
from contree._categories import encode_categories, learn_categories
from contree._check_integers import warn_of_merged_integers
from contree._dates import reject_dates
from contree._input_errors import explain_bad_input
from contree._target import Target

if TYPE_CHECKING:
    from contree._cart_methods import CartMixin
    from contree._cross_validation import TreeCV
    from contree._estimator import TreeEstimator

CHUNK_CELLS = 1_000_000  # values copied between two looks at Ctrl-C: some milliseconds


def check_training_data(
    estimator: TreeEstimator | TreeCV, X: Any, y: Any
) -> tuple[np.ndarray, Target]:
    """Return the columns (float64, Fortran order) and what is learnt, as the estimator reads it.

    Set the estimator's `categories_`.
    """
    mask = categorical_mask(estimator.categorical_features, X)
    X, estimator.categories_ = (X, None) if mask is None else learn_categories(X, mask)
    reject_dates(X)
    user_X, y = X, estimator._target_type.readable(y)
    try:
        # scikit-learn looks for NaN in a sum, which overflows both ways for values around 1e308.
        with np.errstate(invalid="ignore"), explain_bad_input(X, in_fit=True):
            X, y = validate_data(
                estimator,
                _in_columns(X),
                y,
                accept_sparse="csc",
                dtype=np.float64,
                order="F",
                ensure_all_finite="allow-nan",
            )
    except OverflowError as error:
        raise ValueError(
            f"Input X contains an integer beyond the range of float64: {error}. "
            "Scale that column first."
        ) from error
    target = estimator._target_type.of(y)
    warn_of_merged_integers(user_X, getattr(estimator, "feature_names_in_", None))
    if issparse(X):
        X = X.toarray(order="F")  # the core reads every value of every column
    return X, target


def _in_columns(X: Any) -> Any:
    """Return a large array of numbers as columns of float64, and any other input unchanged.

    Python handles Ctrl-C between two chunks.  NumPy takes half a second to copy a million rows of
    twenty features in one piece.
    """
    is_numeric = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"
    if not is_numeric or X.size <= CHUNK_CELLS or (X.flags.f_contiguous and X.dtype == np.float64):
        return X
    columns = np.empty(X.shape, order="F")
    step = max(1, CHUNK_CELLS // X.shape[1])
    for start in range(0, len(X), step):
        columns[start : start + step] = X[start : start + step]
    return columns


def check_rows(estimator: CartMixin, X: Any, check_input: bool = True) -> np.ndarray:
    """Return rows to predict as float64, in their own memory order.

    Without `check_input`, an array of floats with the right number of columns is returned
    unchecked.  Any other input must be converted, so it is checked regardless.
    """
    categories = estimator.tree_.categories
    if categories is not None:
        validate_data(estimator, X, reset=False, skip_check_array=True)  # names, before values
        X = encode_categories(X, categories)
    elif not check_input and _needs_no_conversion(X, estimator.n_features_in_):
        return np.asarray(X)
    reject_dates(X)
    with (
        np.errstate(invalid="ignore"),
        explain_bad_input(X, in_fit=False),
    ):  # as in check_training_data
        X = validate_data(
            estimator,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
        )
    rows: np.ndarray = X.toarray() if issparse(X) else X
    return rows


def _needs_no_conversion(X: Any, n_columns: int) -> bool:
    """Return whether float64 thresholds compare exactly with the values of X as they are."""
    is_float = type(X) is np.ndarray and X.dtype.kind == "f" and X.dtype.itemsize <= 8
    return is_float and X.ndim == 2 and X.shape[1] == n_columns
