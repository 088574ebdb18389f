"""Turn the user's parameters into scikit-learn's constraints and into the core's numbers.

``_parameters.py`` says which values are allowed.  Once the rows are known, shares of rows, bytes,
threads and seeds become integers here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions

from contree._parameters import SEED, Parameter, Range
from contree._typing import Costs, Number
from contree._weights import ClassWeight, Unit, Weights

if TYPE_CHECKING:
    from contree._classifier import ConTreeClassifier
    from contree._estimator import TreeEstimator

FIXED_SEED = 1  # the core's own
MOST_THREADS = 65_536  # no machine has more processors
UNITS = {
    "": 1,
    **{f"{letter}b": 1000**power for power, letter in enumerate(("", *"kmgt"))},
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
}
NUMBERS = (
    "max_depth",
    "max_leaf_nodes",
    "ccp_alpha",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_gap",
    "time_limit",
    "feature_tolerance",
    "n_jobs",
    "memory_limit",
    "random_state",
    "min_impurity_decrease",
)


class Only(Options):
    """The allowed values of a CART parameter without effect here; the error says what to use."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__((str, Real, type(None)), set(parameter.allowed))
        self.parameter = parameter

    def __str__(self) -> str:
        return f"{self.parameter.values}. {self.parameter.instead}"


def sklearn_constraints(parameter: Parameter) -> list[Any]:
    """Return the constraints on a parameter for scikit-learn's validation."""
    if parameter.instead and not any(isinstance(one, Range) for one in parameter.allowed):
        return [Only(parameter)]
    words = {one for one in parameter.allowed if isinstance(one, str)}
    constraints: list[Any] = [StrOptions(words)] if words else []
    for one in parameter.allowed:
        if one is SEED:
            constraints.append("random_state")  # which allows None too
        elif isinstance(one, Range):
            kind = Integral if one.kind is int else Real
            unlimited = one.low is None and one.high is None
            constraints.append(
                kind if unlimited else Interval(kind, one.low, one.high, closed=one.closed)
            )
        elif one is list:
            constraints.append("array-like")
        elif not isinstance(one, str) and not (one is None and SEED in parameter.allowed):
            constraints.append("boolean" if one is bool else one)
    return constraints


def check_no_bools(estimator: object, names: Iterable[str]) -> None:
    """Reject True and False as numbers, which scikit-learn's ranges accept."""
    for name in names:
        value = getattr(estimator, name)
        if isinstance(value, (bool, np.bool_)):
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be a number, "
                f"not a bool. Got {value!r} instead."
            )


def check_callback(callback: object) -> None:
    if callback is not None and not callable(callback):
        raise TypeError(
            "callback must be None or a function that takes a contree.Progress; "
            f"got {type(callback).__name__}: {callback!r}."
        )


def check_minimize_leaves(estimator: ConTreeClassifier) -> None:
    """Reject a cost of leaves where their number comes second."""
    if estimator.minimize_leaves and estimator.ccp_alpha > 0:
        raise ValueError(
            f"The 'minimize_leaves' parameter of {type(estimator).__name__} must be False if "
            f"ccp_alpha is above 0, here {estimator.ccp_alpha}, which gives each leaf a cost "
            "already. Set ccp_alpha=0, or minimize_leaves=False."
        )


def resolve_max_depth(max_depth: int | None, n_rows: int) -> int:
    """Return the greatest possible depth: every split removes at least one row."""
    most = n_rows - 1
    return most if max_depth is None else min(int(max_depth), most)


def resolve_max_gap(max_gap: Number, total: int, unit: Unit = 1) -> int:
    """Return the permitted gap as a number of errors, or of units of weight, rounded down.

    A share is the decimal in the user's program, so 0.29 of 100 rows is 29.  The float64 nearest to
    0.29, times 100, is a little less.
    """
    if isinstance(max_gap, Integral):
        return min(math.floor(int(max_gap) / Fraction(unit)), total)
    return math.floor(Fraction(str(max_gap)) * total)


def resolve_min_samples_leaf(min_samples_leaf: Number, n_rows: int) -> int:
    """Return the least number of rows of a leaf; a share is rounded up, as scikit-learn does."""
    if isinstance(min_samples_leaf, Integral):
        return min(int(min_samples_leaf), n_rows)
    return max(1, math.ceil(min_samples_leaf * n_rows))


def check_min_samples_split(estimator: TreeEstimator, least: int, n_rows: int) -> None:
    """Reject a size that two leaves of the least size do not imply."""
    min_samples_split = estimator.min_samples_split
    rows = resolve_min_samples_leaf(min_samples_split, n_rows)  # shares are rounded alike
    if rows > 2 * least:
        raise ValueError(
            f"The 'min_samples_split' parameter of {type(estimator).__name__} must be at most "
            f"twice min_samples_leaf, here {2 * least} rows. Got {min_samples_split!r} instead, "
            f"which is {rows} of {n_rows} rows. Use min_samples_leaf={-(-rows // 2)}, which "
            "implies it."
        )


def resolve_class_weight(class_weight: Costs, classes: np.ndarray) -> ClassWeight:
    """Return one exact weight for each class, "balanced", or None."""
    if class_weight is None or isinstance(class_weight, str):
        return class_weight
    labels = classes.tolist()
    weights = [_exact_class_weight(label, class_weight.get(label, 1)) for label in labels]
    absent = [label for label in labels if label not in class_weight]
    if absent and len(labels) - len(absent) != len(class_weight):  # as scikit-learn
        raise ValueError(
            f"class_weight has no weight for the classes {absent}; its keys are "
            f"{list(class_weight)}. Use the labels in y as keys."
        )
    return weights


def _exact_class_weight(label: Any, weight: Any) -> int | Fraction:
    if not isinstance(weight, Real) or not math.isfinite(weight) or weight < 0:
        raise ValueError(
            f"class_weight must give each class a finite number that is not negative; got "
            f"{weight!r} for the class {label!r}."
        )
    return int(weight) if isinstance(weight, Integral) else Fraction(float(weight))


def resolve_leaf_size(estimator: TreeEstimator, weights: Weights, n_rows: int) -> tuple[int, int]:
    """Return the least rows of a leaf and its least weight, in multiples of the unit.

    Without weights, the first number covers both limits and the second is 0.

    If weights were rounded, by d in all, the limit is d less than the share of the rounded sum R.
    So no leaf that is heavy enough is rejected.  Let p and q be the sums of the increases and the
    decreases, p + q <= d.  Let a leaf have at least a share s of the true sum.  Its rounded weight
    is at least s (R - p) - q >= s R - d.  A leaf of that rounded weight has a true weight of at
    least s R - d - p.  That is at most 2 d less than the share s of the true sum, which is at most
    R + q.
    """
    rows = resolve_min_samples_leaf(estimator.min_samples_leaf, n_rows)
    check_min_samples_split(estimator, rows, n_rows)
    if estimator.min_weight_fraction_leaf == 0:
        return rows, 0
    share = Fraction(str(estimator.min_weight_fraction_leaf))
    off = Fraction(weights.tolerance) / weights.unit
    mass = max(0, math.ceil(share * weights.total - off))
    return (max(rows, mass), 0) if weights.multiples is None else (rows, mass)


def resolve_memory_limit(memory_limit: int | str | None, owner: str = "ConTreeClassifier") -> int:
    """Return the limit in bytes, 0 for None; MB are millions and MiB are 2**20."""
    if memory_limit is None:
        return 0
    size = 0
    if not isinstance(memory_limit, str):
        size = int(memory_limit)
    elif found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", memory_limit, re.ASCII | re.I):
        size = math.floor(Fraction(found[1]) * UNITS.get(found[2].lower(), 0))
    if size < 1:
        raise ValueError(
            f"The 'memory_limit' parameter of {owner} must be None, a number of bytes "
            "from 1 up, or a string such as '2GB', '500MB' or '1.5GiB' (B, kB, MB, GB, TB: powers "
            f"of 1000; KiB, MiB, GiB, TiB: powers of 1024). Got {memory_limit!r} instead."
        )
    return min(size, 2**62)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn understands by ``n_jobs``.

    More than four threads per processor only take memory.
    """
    if n_jobs is None or n_jobs == 1:
        return 1
    if n_jobs == 0 or n_jobs > MOST_THREADS:
        raise ValueError(
            f"The 'n_jobs' parameter must be None or an int other than 0, at most {MOST_THREADS}. "
            f"Got {n_jobs} instead. Use -1 for all processors."
        )
    return max(1, min(int(effective_n_jobs(n_jobs)), 4 * int(cpu_count())))


def resolve_seed(random_state: Any) -> int:
    """Return the seed of a fit; None gives a fixed seed, so that fits can be repeated."""
    if random_state is None:
        return FIXED_SEED
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))  # as CART does


def resolve_switches(search_options: dict[str, Any] | None) -> dict[str, Any]:
    """Return the search options with integers as int; the core checks names and ranges."""
    numbers = (Integral, np.bool_)
    return {
        str(name): int(value) if isinstance(value, numbers) else value
        for name, value in (search_options or {}).items()
    }
