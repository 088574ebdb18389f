"""From rows, labels and weights as the user gives them to exact columns and class codes.

First stage of a fit, before the core.  Nothing here changes a value: float64 holds every float32
and every integer up to 2**53; integers that it cannot tell apart are reported.
"""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

FEW_CLASSES = 20
PART_CELLS = 1_000_000  # copied in one piece: some milliseconds
LARGEST_EXACT = 2**53  # beyond it, neighbouring integers may share one float64


def check_training_data(estimator, X, y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns (float64, Fortran order), the class codes (int32) and the classes."""
    given, y = X, _exact_labels(y)
    try:
        # scikit-learn looks for NaN in a sum, which overflows both ways for values around 1e308.
        with np.errstate(invalid="ignore"), _input_named(X):
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
            f"Input X contains an integer beyond the range of float64: {error}."
        ) from error
    classes, codes = _check_labels(y)
    warn_of_merged_integers(given, getattr(estimator, "feature_names_in_", None))
    if issparse(X):
        X = X.toarray(order="F")  # the core reads every value of every column
    return X, codes.astype(np.int32), classes


def _in_columns(X):
    """Return a large array of numbers as columns of float64, and anything else as it is.

    They are copied in parts, between which Ctrl-C is seen: in one piece a million rows of twenty
    features take NumPy half a second.
    """
    numbers = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub"
    if not numbers or X.size <= PART_CELLS or (X.flags.f_contiguous and X.dtype == np.float64):
        return X
    columns = np.empty(X.shape, order="F")
    step = max(1, PART_CELLS // X.shape[1])
    for first in range(0, len(X), step):
        columns[first : first + step] = X[first : first + step]
    return columns


def _check_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and each label's class number, if these can be labels."""
    try:
        classes, codes = _classes_and_codes(y)
        # It would sort all labels to look at the distinct ones; the classes show as much, and a few
        # integers always pass.  With many classes it compares their number with that of the rows.
        if len(classes) > FEW_CLASSES:
            check_classification_targets(y)
        elif classes.dtype.kind not in "biu":
            check_classification_targets(classes)
    except (TypeError, ValueError) as error:  # TypeError also of labels that have no order
        raise _alike(
            error,
            "Input y must be labels: strings, integers, bools or floats with whole values. "
            f"{error}",
        ) from error
    return classes, codes


def _classes_and_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and each label's class number; small integers by counting."""
    if y.dtype.kind in "iu" and int(y.max()) - int(y.min()) < len(y):
        low = y.min()
        wide = y.astype(np.uint64 if y.dtype.kind == "u" else np.int64)  # labels up to 2**64 - 1
        offset = (wide - wide.dtype.type(low)).astype(np.int64)
        present = np.bincount(offset) > 0
        classes = np.flatnonzero(present).astype(wide.dtype) + wide.dtype.type(low)
        return classes.astype(y.dtype), (np.cumsum(present) - 1)[offset]
    return np.unique(y, return_inverse=True)


def check_rows(estimator, X, check_input: bool = True) -> np.ndarray:
    """Return rows to predict as float64, in the order in which they lie in memory.

    Without `check_input` an array of floats that has the right width is taken as it is; all else is
    checked, because it must be converted.
    """
    if not check_input and _is_plain(X, estimator.n_features_in_):
        return X
    with np.errstate(invalid="ignore"), _input_named(X):  # as above
        X = validate_data(
            estimator,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite="allow-nan",
        )
    return X.toarray() if issparse(X) else X


def _is_plain(X, width: int) -> bool:
    """Return whether X can be compared with thresholds as it is, and exactly."""
    floats = type(X) is np.ndarray and X.dtype.kind == "f" and X.dtype.itemsize <= 8
    return floats and X.ndim == 2 and X.shape[1] == width


@contextmanager
def _input_named(X):
    """Refuse what has no number, with the name of its column and what is allowed.

    Whatever else is refused, the message says of which argument.  NumPy makes a number of a missing
    date, about -9.2e18, which would pass for an early one.
    """
    for name, column in _columns(X) if _has_dates(X) else ():
        if _kind(column) not in ("m", "M"):
            continue
        missing = column.isna() if hasattr(column, "isna") else np.isnat(column)
        if missing.any():
            raise ValueError(
                f"Input X must be numbers, with NaN for a missing value; column {name!r} has dates "
                "that are missing (NaT). Make numbers of them first."
            )
    try:
        yield
    except (TypeError, ValueError) as error:
        message = _refused(X, str(error))
        if message == str(error):
            raise
        raise _alike(error, message) from error


# What NumPy says of text, of pandas' NA, and of dates beside numbers.
NOT_CONVERTED = r"could not convert|float\(\) argument|could not be promoted"


def _refused(X, reason: str) -> str:
    """Return the reason that scikit-learn or NumPy gives with the argument that it is about."""
    if re.search(NOT_CONVERTED, reason):
        if np.ndim(X) < 2:
            return f"Input X must be a table of numbers, an array or a data frame: {reason}."
        column = _column_without_numbers(X)
        if column is not None:
            return (
                f"Input X must be numbers, with NaN for a missing value; column {column!r}: "
                f"{reason}. Encode what is not a number first, text for example with "
                "scikit-learn's OrdinalEncoder."
            )
    if re.search(r"y should be a 1d array, got an array of shape \(\d+, \d+\)", reason):
        return f"{reason} With several outputs, use scikit-learn's MultiOutputClassifier."
    if re.search(r"\b[Xy]\b", reason):
        return reason
    if "inconsistent numbers of samples" in reason:
        return f"X and y must have the same number of rows. {reason}"
    if "inhomogeneous shape" in reason:
        return f"Input X must have rows of the same length. {reason}"
    return f"Input X: {reason}"


def _alike(error: Exception, message: str) -> Exception:
    """Return an error of the same kind with another message."""
    return TypeError(message) if isinstance(error, TypeError) else ValueError(message)


def _kind(column) -> str | None:
    return getattr(getattr(column, "dtype", None), "kind", None)


def _has_dates(X) -> bool:
    kinds = (
        [getattr(one, "kind", None) for one in X.dtypes] if hasattr(X, "columns") else [_kind(X)]
    )
    return "m" in kinds or "M" in kinds


def _columns(X):
    """Return names, or numbers, and columns."""
    if hasattr(X, "iloc"):
        return ((name, X.iloc[:, f]) for f, name in enumerate(X.columns))
    if hasattr(X, "columns"):
        return ((name, X[name]) for name in X.columns)
    return enumerate(np.asarray(X, dtype=None if _has_dates(X) else object).T)


def _column_without_numbers(X):
    """Return the name or the number of the first column that is not all numbers."""
    for name, column in _columns(X):
        if _kind(column) in ("m", "M"):
            return name
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            return name
    return None


def _exact_labels(y):
    """Return y so that scikit-learn's checks keep its labels apart and of their own type.

    They would turn pandas' nullable integers into floats, numbers beside strings into strings, and
    refuse integers in an array of objects.
    """
    dtype = getattr(y, "dtype", None)
    if isinstance(y, (list, tuple)):
        _refuse_mixed_labels(y)
        _refuse_complex_labels(_as_array(y))
    elif hasattr(y, "columns"):  # a data frame: scikit-learn takes one column, with a warning
        if len(y.columns) == 1:
            column = y.iloc[:, 0] if hasattr(y, "iloc") else y[y.columns[0]]
            return np.asarray(_exact_labels(column))[:, np.newaxis]
    elif hasattr(y, "null_count") and y.null_count():  # of polars
        raise ValueError("Input y contains None, which is no label.")
    elif hasattr(y, "isna") and not isinstance(dtype, np.dtype):
        if y.isna().any():
            raise ValueError("Input y contains NaN.")
        if _kind(y) in ("b", "i", "u"):
            return np.asarray(y, dtype=f"{dtype.kind}{dtype.itemsize}")
    elif _kind(y) == "O" and np.ndim(y) == 1:
        labels = list(y)
        _refuse_mixed_labels(labels)
        narrow = _as_array(labels)
        return narrow if narrow.dtype.kind in "biu" and narrow.ndim == 1 else y
    _refuse_complex_labels(y)
    return y


def _as_array(labels) -> np.ndarray:
    try:
        return np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"y must have one label for each row. {error}") from error


def _refuse_complex_labels(y) -> None:
    if _kind(y) == "c":
        raise ValueError("Input y must be labels. Complex data not supported.")


def _refuse_mixed_labels(labels) -> None:
    if any(label is None for label in labels):
        raise ValueError("Input y contains None, which is no label.")
    if len({isinstance(label, str) for label in labels}) == 2:
        raise ValueError("The labels in y must be all strings or all numbers; got both.")


def warn_of_merged_integers(X, feature_names) -> None:
    """Warn of each column in which float64 makes one value of two distinct integers."""
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


def _wide_integer_columns(X):
    """Yield (index, integers) for each column of X with integers beyond 2**53.

    Costs a look at the types for floating-point input, and a minimum and a maximum for integers.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # a data frame: one type for each column
        for f, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
            # Nullable integer types answer `kind` too; without missing values they convert exactly.
            kind = getattr(dtype, "kind", None)
            if kind == "f":
                continue
            column = X.iloc[:, f] if hasattr(X, "iloc") else X[name]
            if kind in ("i", "u") and hasattr(column, "dropna"):
                column = column.dropna()
            elif hasattr(column, "drop_nulls"):  # of polars, which makes floats where some are null
                column = column.drop_nulls()
            yield from _wide_columns_of_array(
                np.asarray(column, dtype=f"{kind}8" if kind in ("i", "u") else None)[:, np.newaxis],
                f,
            )
    elif issparse(X):  # what is not stored is 0
        if X.dtype.kind in "iu" and _beyond_exact(X.data):
            columns = X.tocsc()
            stored = np.split(columns.data, columns.indptr[1:-1])
            yield from ((f, one) for f, one in enumerate(stored) if _beyond_exact(one))
    elif hasattr(X, "dtype"):
        yield from _wide_columns_of_array(np.asarray(X), 0)
    else:  # nested sequences: NumPy may have made float64 of integers among floats
        array = np.asarray(X)
        if (
            array.dtype.kind == "f"
            and np.fmax.reduce(np.abs(array), axis=None, initial=0) > LARGEST_EXACT
        ):
            array = np.asarray(X, dtype=object)
        yield from _wide_columns_of_array(array, 0)


def _wide_columns_of_array(array: np.ndarray, first: int):
    """Yield the wide integer columns of an array whose column 0 is numbered `first`."""
    kind = array.dtype.kind
    if kind == "O":
        for f, column in enumerate(array.T, start=first):
            integers = [int(v) for v in column if isinstance(v, Integral)]
            if integers and max(map(abs, integers)) > LARGEST_EXACT:
                yield f, np.array(integers, dtype=object)
    elif kind in "iu" and array.dtype.itemsize == 8 and _beyond_exact(array):
        for f, column in enumerate(array.T, start=first):
            if _beyond_exact(column):
                yield f, column


def _beyond_exact(integers: np.ndarray) -> bool:
    return integers.size > 0 and (
        int(integers.max()) > LARGEST_EXACT or int(integers.min()) < -LARGEST_EXACT
    )


def check_sample_weight(sample_weight, n_rows: int) -> np.ndarray | None:
    """Return the weights of the rows as integers or float64, unchanged; None where all are 1."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = [sample_weight] * n_rows
    dtype = getattr(sample_weight, "dtype", None)
    nullable = getattr(dtype, "kind", None) in ("i", "u") and not isinstance(dtype, np.dtype)
    if nullable and not sample_weight.isna().any():  # scikit-learn would make floats of them
        sample_weight = np.asarray(sample_weight, dtype=f"{dtype.kind}8")
    try:
        weights = check_array(sample_weight, ensure_2d=False, input_name="sample_weight")
    except (TypeError, ValueError) as error:
        if "sample_weight" in str(error):
            raise
        raise _alike(
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
        raise ValueError(f"Negative values in sample_weight: the least is {weights.min()}.")
    return weights


def rows_with_weight(sample_weight: np.ndarray | None, class_weight, codes: np.ndarray):
    """Return which rows have a weight, or None where all do; it is an error if none does."""
    if sample_weight is None and not isinstance(class_weight, list):
        return None
    kept = np.ones(len(codes), dtype=bool) if sample_weight is None else sample_weight > 0
    if isinstance(class_weight, list):
        kept &= np.array([one > 0 for one in class_weight])[codes]
    if not kept.any():
        raise ValueError("The weights of all rows are zero: sample_weight times class_weight.")
    return None if kept.all() else kept
