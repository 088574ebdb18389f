"""From what a user passes to what the core takes: checked parameters, exact columns, class codes.

First stage of a fit, before the core.  Nothing here changes a value: float64 holds every float32
and every integer up to 2**53; integers that it cannot tell apart are reported.
"""

from __future__ import annotations

import math
import re
import warnings
from contextlib import contextmanager
from fractions import Fraction
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

LARGEST_EXACT = 2**53  # beyond it, neighbouring integers may share one float64
UNITS = {
    "": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate(("", *"kmgt"))},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}


@contextmanager
def unchanged_on_failure(estimator):
    """Leave an estimator as it was when what happens inside fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield before
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_no_bools(estimator, names) -> None:
    """Refuse True and False where a number is meant; scikit-learn's ranges let them pass."""
    for name in names:
        value = getattr(estimator, name)
        if isinstance(value, (bool, np.bool_)):
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be a number, "
                f"not a bool. Got {value!r} instead."
            )


def check_callback(callback) -> None:
    if callback is not None and not callable(callback):
        raise TypeError(
            "callback must be None or a function that takes a contree.Progress; "
            f"got {type(callback).__name__}: {callback!r}."
        )


def resolve_max_gap(max_gap: Real, n_rows: int) -> int:
    """Return the permitted gap as a number of errors.

    A share is read as the decimal that stands in the user's program, so that 0.29 of 100 rows is 29
    although the nearest float64 to 0.29, times 100, is a little less.  The product is rounded down,
    as in the paper.
    """
    if isinstance(max_gap, Integral):
        return min(int(max_gap), n_rows)
    return math.floor(Fraction(str(max_gap)) * n_rows)


def resolve_time_limit(time_limit: Real | None) -> float:
    return math.inf if time_limit is None else float(time_limit)


def resolve_memory_limit(memory_limit: int | str | None) -> int:
    """Return the limit in bytes, and 0 for none; MB are millions and MiB are 2**20."""
    if memory_limit is None:
        return 0
    number, unit = memory_limit, ""
    if isinstance(memory_limit, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", memory_limit, re.ASCII | re.I)
        number, unit = (Fraction(found[1]), found[2].lower()) if found else (0, "")
    size = math.floor(number * UNITS.get(unit, 0))
    if size < 1:
        raise ValueError(
            "The 'memory_limit' parameter of ConTreeClassifier must be None, a number of bytes "
            "from 1 up, or a string such as '2GB', '500MB' or '1.5GiB' (B, kB, MB, GB, TB: powers "
            f"of 1000; KiB, MiB, GiB, TiB: powers of 1024). Got {memory_limit!r} instead."
        )
    return min(size, 2**62)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return a number of threads, by scikit-learn's reading of ``n_jobs``."""
    return 1 if n_jobs is None or n_jobs == 1 else max(1, effective_n_jobs(n_jobs))


def resolve_switches(search_options: dict | None) -> dict:
    """Return the search options for the core, which knows their names and ranges."""
    numbers = (Integral, np.bool_)
    return {
        str(name): int(value) if isinstance(value, numbers) else value
        for name, value in (search_options or {}).items()
    }


def check_training_data(estimator, X, y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the columns (float64, Fortran order), the class codes (int32) and the classes."""
    given = X
    try:
        # scikit-learn looks for NaN in a sum, which overflows both ways for values around 1e308.
        with np.errstate(invalid="ignore"):
            X, y = validate_data(estimator, X, _exact_labels(y), dtype=np.float64, order="F")
    except OverflowError as error:
        raise ValueError(
            f"Input X contains an integer beyond the range of float64: {error}."
        ) from error
    check_classification_targets(y)
    warn_of_merged_integers(given, getattr(estimator, "feature_names_in_", None))
    classes, codes = np.unique(y, return_inverse=True)
    return X, codes.astype(np.int32), classes


def check_rows(estimator, X) -> np.ndarray:
    """Return rows to predict as float64, in the order in which they lie in memory."""
    with np.errstate(invalid="ignore"):  # as above
        return validate_data(estimator, X, dtype=np.float64, reset=False)


def _exact_labels(y):
    """Return y so that scikit-learn's checks keep its labels apart and of their own type.

    They would turn pandas' nullable integers into floats, numbers beside strings into strings, and
    refuse integers in an array of objects.
    """
    dtype = getattr(y, "dtype", None)
    if isinstance(y, (list, tuple)):
        _refuse_mixed_labels(y)
    elif hasattr(y, "isna") and not isinstance(dtype, np.dtype):
        if y.isna().any():
            raise ValueError("Input y contains NaN.")
        if getattr(dtype, "kind", None) in ("b", "i", "u"):
            return np.asarray(y, dtype=f"{dtype.kind}{dtype.itemsize}")
    elif getattr(dtype, "kind", None) == "O" and np.ndim(y) == 1:
        labels = list(y)
        _refuse_mixed_labels(labels)
        narrow = np.array(labels)
        return narrow if narrow.dtype.kind in "biu" else y
    return y


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
                stacklevel=5,
            )


def _wide_integer_columns(X):
    """Yield (index, integers) for each column of X with integers beyond 2**53.

    Costs a look at the types for floating-point input, and a minimum and a maximum for integers.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # a data frame: one type for each column
        for f, name in enumerate(X.columns):
            column = X.iloc[:, f] if hasattr(X, "iloc") else X[name]
            # Nullable integer types answer `kind` too; without missing values they convert exactly.
            kind = getattr(column.dtype, "kind", None)
            if kind == "f":
                continue
            yield from _wide_columns_of_array(
                np.asarray(column, dtype=f"{kind}8" if kind in ("i", "u") else None)[:, np.newaxis],
                f,
            )
    elif hasattr(X, "dtype"):
        yield from _wide_columns_of_array(np.asarray(X), 0)
    else:  # nested sequences: NumPy may have made float64 of integers among floats
        array = np.asarray(X)
        if array.dtype.kind == "f" and np.abs(array).max(initial=0) > LARGEST_EXACT:
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
    return int(integers.max()) > LARGEST_EXACT or int(integers.min()) < -LARGEST_EXACT
