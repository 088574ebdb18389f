"""From a tree that the user has to the node arrays that the core starts with.

Only the tests of such a tree are used: the core sends the training rows down, and its leaves
predict by the rows that arrive.  So it may be a tree of any kind, for any labels or targets, but
its features must be the columns of X.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.tree import BaseDecisionTree

from contree._categories import Categories, category_mask
from contree._fitted_tree import FittedTree, words_of
from contree._typing import Nodes
from contree.export.json import read_any

if TYPE_CHECKING:
    from contree._estimator import TreeEstimator

ALLOWED = (
    "a fitted ConTreeClassifier or ConTreeRegressor or its tree_, JSON as to_json() gives (str or "
    "dict), or a fitted scikit-learn DecisionTreeClassifier or DecisionTreeRegressor"
)


def check_initial_tree(estimator: TreeEstimator, initial_tree: Any) -> Nodes | None:
    """Return the arrays of ``fit``'s argument, checked against the columns that were just seen."""
    from contree._estimator import TreeEstimator  # which imports this module

    if initial_tree is None:
        return None
    if isinstance(initial_tree, (str, dict)):
        initial_tree = _from_json(initial_tree)
    if isinstance(initial_tree, FittedTree):
        return _arrays_for(estimator, initial_tree)
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
    arrays = _arrays_for(estimator, initial_tree.tree_)
    if isinstance(initial_tree, BaseDecisionTree):
        arrays["threshold"] = _compared_as_float64(initial_tree.tree_.threshold)
    return arrays


def previous_tree(estimator: TreeEstimator, before: dict[str, Any]) -> Nodes | None:
    """Return the arrays of the tree that the estimator had `before`, if they fit the new columns.

    If they do not, a warning says so: without them the search takes longer, and ends the same.
    """
    if "tree_" not in before:
        return None
    mismatch = _mismatch(vars(estimator), before) or _mismatched_test(estimator, before["tree_"])
    if mismatch:
        warnings.warn(
            f"warm_start=True, but the tree of the last fit does not fit X: {mismatch}. "
            "This fit starts without it.",
            UserWarning,
            stacklevel=5,
        )
        return None
    return _arrays_for(estimator, before["tree_"])


def _mismatch(now: Mapping[str, Any], then: Mapping[str, Any]) -> str | None:
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


def _from_json(given: str | dict[str, Any]) -> TreeEstimator:
    try:
        tree: TreeEstimator = read_any(given if isinstance(given, str) else json.dumps(given))
    except (TypeError, ValueError) as error:
        raise ValueError(f"initial_tree must be {ALLOWED}. {error}") from error
    return tree


def _mismatched_test(estimator: TreeEstimator, tree: Any) -> str | None:
    """Say which test of a tree is for numbers where X has categories, or the reverse."""
    now = category_mask(estimator.categories_)
    sets = getattr(tree, "category_offset", None)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        f = int(tree.feature[node])
        is_set = sets is not None and sets[node] >= 0
        if f < estimator.n_features_in_ and is_set != (now is not None and bool(now[f])):
            names = getattr(estimator, "feature_names_in_", None)
            kinds = ("numbers", "categories") if is_set else ("categories", "numbers")
            column = f if names is None else repr(names[f])
            return f"column {column} holds {kinds[0]}, and the tree tests it for {kinds[1]}"
    return None


def _arrays_for(estimator: TreeEstimator, tree: Any) -> Nodes:
    """Return the tests of a tree, ours or scikit-learn's, for the columns of an estimator."""
    mismatch = _mismatched_test(estimator, tree)
    if mismatch:
        raise ValueError(f"initial_tree does not fit X: {mismatch}.")
    arrays = _arrays(tree)
    if estimator.categories_ is not None:
        arrays |= _sets(tree, estimator.categories_)
    return arrays


def _sets(tree: Any, categories: Categories) -> Nodes:
    """Return the sets of categories that a tree sends left, by the codes of this fit.

    Categories that the tree does not know go where its missing values go.
    """
    offsets = np.full(len(tree.feature), -1, dtype=np.int64)
    words: list[np.ndarray] = []
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        known = categories[tree.feature[node]]
        if known is None:
            continue
        left, right = set(tree.categories_left(node)), set(tree.categories_right(node))
        others = tree.missing_go_to_left[node] == 1
        goes_left = [one in left or (others and one not in right) for one in known]
        offsets[node] = sum(map(len, words))
        words.append(words_of(goes_left))
    return {
        "category_offset": offsets,
        "category_words": np.concatenate([np.empty(0, np.uint64), *words]),
    }


def _arrays(tree: Any) -> Nodes:
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
