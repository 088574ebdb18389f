"""From a tree that the user has to the node arrays that the core starts with.

Only the tests of such a tree are used: the core sends the training rows down, and its leaves
predict by the rows that arrive.  So it may be a tree of any kind, for any labels or targets, but
its features must be the columns of X.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.tree import BaseDecisionTree

from contree._fitted_tree import FittedTree
from contree.export.json import read_any

ALLOWED = (
    "a fitted ConTreeClassifier or ConTreeRegressor or its tree_, JSON as to_json() gives (str or "
    "dict), or a fitted scikit-learn DecisionTreeClassifier or DecisionTreeRegressor"
)


def check_initial_tree(estimator, initial_tree) -> dict[str, np.ndarray] | None:
    """Return the arrays of ``fit``'s argument, checked against the columns that were just seen."""
    from contree._estimator import TreeEstimator  # which imports this module

    if initial_tree is None:
        return None
    if isinstance(initial_tree, (str, dict)):
        initial_tree = _from_json(initial_tree)
    if isinstance(initial_tree, FittedTree):
        return _arrays(initial_tree)
    if not isinstance(initial_tree, (TreeEstimator, BaseDecisionTree)):
        raise TypeError(
            f"initial_tree must be {ALLOWED}; got {type(initial_tree).__name__}: {initial_tree!r}."
        )
    if not hasattr(initial_tree, "tree_"):
        raise NotFittedError(
            f"initial_tree is a {type(initial_tree).__name__} that is not fitted; it must be "
            f"{ALLOWED}."
        )
    mismatch = _mismatch(vars(estimator), vars(initial_tree))
    if mismatch:
        raise ValueError(f"initial_tree does not fit X: {mismatch}.")
    if isinstance(initial_tree, BaseDecisionTree):
        return {
            **_arrays(initial_tree.tree_),
            "threshold": _compared_as_float64(initial_tree.tree_.threshold),
        }
    return _arrays(initial_tree.tree_)


def previous_tree(estimator, before: dict) -> dict[str, np.ndarray] | None:
    """Return the arrays of the tree that the estimator had `before`, if they fit the new columns.

    If they do not, a warning says so: without them the search takes longer, and ends the same.
    """
    if "tree_" not in before:
        return None
    mismatch = _mismatch(vars(estimator), before)
    if mismatch:
        warnings.warn(
            f"warm_start=True, but the tree of the last fit does not fit X: {mismatch}. "
            "This fit starts without it.",
            UserWarning,
            stacklevel=5,
        )
        return None
    return _arrays(before["tree_"])


def _mismatch(now: dict, then: dict) -> str | None:
    """Say why a tree of other columns cannot be used; None if it can."""
    if then["n_features_in_"] != now["n_features_in_"]:
        return (
            f"the tree has {then['n_features_in_']} features, X has {now['n_features_in_']} columns"
        )
    names, known = now.get("feature_names_in_"), then.get("feature_names_in_")
    if names is not None and known is not None and list(names) != list(known):
        f = next(f for f, pair in enumerate(zip(known, names, strict=True)) if pair[0] != pair[1])
        return f"the tree's feature {f} is {known[f]!r}, the column of X is {names[f]!r}"
    return None


def _from_json(given: str | dict):
    try:
        return read_any(given if isinstance(given, str) else json.dumps(given))
    except (TypeError, ValueError) as error:
        raise ValueError(f"initial_tree must be {ALLOWED}. {error}") from error


def _arrays(tree) -> dict[str, np.ndarray]:
    """Return the tests of a tree, ours or scikit-learn's."""
    return {
        "children_left": np.ascontiguousarray(tree.children_left, dtype=np.int64),
        "children_right": np.ascontiguousarray(tree.children_right, dtype=np.int64),
        "feature": np.ascontiguousarray(tree.feature, dtype=np.int64),
        "threshold": np.ascontiguousarray(tree.threshold, dtype=np.float64),
        "missing_go_to_left": np.ascontiguousarray(tree.missing_go_to_left, dtype=np.uint8),
    }


def _compared_as_float64(threshold: np.ndarray) -> np.ndarray:
    """Return thresholds that part float64 values as scikit-learn's do, which rounds to float32.

    A value goes left there when its nearest float32 is at most the threshold, that is, when it lies
    at most half way from the last such float32 to the next; at half way, to the even one of them.
    """
    with np.errstate(over="ignore"):
        last = threshold.astype(np.float32)
        last = np.where(last > threshold, np.nextafter(last, np.float32(-np.inf)), last)
        after = np.nextafter(last, np.float32(np.inf))
        half_way = last.astype(np.float64) / 2 + after.astype(np.float64) / 2
        goes_left = half_way.astype(np.float32) <= last
    return np.where(goes_left, half_way, np.nextafter(half_way, -np.inf))
