"""A tree as scikit-learn's own, for the tools that want one.

scikit-learn compares float32 values with float64 thresholds, and tools such as ONNX compare in
float32 throughout.  Each threshold is therefore moved to a float32 number inside its gap, the one
that sends every float32 value where the float64 threshold does, if the gap has it.

It has no sets of categories.  A test of categories that are numbers is a threshold if all on one
side are smaller than all on the other; if those are on the right, its two branches change places.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.category_sets import sides_of
from contree.export.wording import Wording, wording_of


def to_sklearn(estimator: Any) -> BaseDecisionTree:
    """Return a fitted estimator of scikit-learn with the same tree.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.

    Returns
    -------
    cart : DecisionTreeClassifier or DecisionTreeRegressor
        It predicts every training row as the estimator does, with missing values too.  An exception
        are tests that a warning names: scikit-learn rounds values to float32, which cannot tell the
        two training values around such a threshold apart.  An unknown category is a number for it,
        and goes where its size sends it.

    Raises
    ------
    ValueError
        If the tree tests categories that are not numbers, or for a set that no threshold parts from
        the others.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> clf.to_sklearn().predict([[1.2], [9.0]]).tolist()
    ['no', 'yes']
    """
    check_is_fitted(estimator, "tree_")
    tree, wording = estimator.tree_, wording_of(estimator)
    tests = _tests_of(tree, wording)
    thresholds, merged = _float32_thresholds(tests)
    _warn_of_merged(tests, wording, merged)

    # A fit of one row knows what a fitted estimator of the installed version is made of.
    cart = estimator._cart_type().fit([[0.0]], [0])
    cart.set_params(**_shared_parameters(estimator))
    template = cart.tree_.__getstate__()["nodes"].dtype
    cart.n_features_in_ = cart.max_features_ = estimator.n_features_in_
    if hasattr(estimator, "feature_names_in_"):
        cart.feature_names_in_ = estimator.feature_names_in_.copy()
    if hasattr(estimator, "classes_"):
        cart.classes_ = estimator.classes_.copy()
        cart.n_classes_ = np.int64(estimator.n_classes_)

    inner = type(cart.tree_)(estimator.n_features_in_, tree.n_classes.astype(np.intp), 1)
    inner.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": _nodes(tree, tests, thresholds, template),
            "values": np.array(tree.value, order="C"),
        }
    )
    cart.tree_ = inner
    return cart


def _shared_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that CART has too; a single leaf keeps to the least of its limits."""
    theirs = estimator._cart_type().get_params()
    found = {name: getattr(estimator, name) for name in theirs if hasattr(estimator, name)}
    for name, least in (("max_depth", 1), ("max_leaf_nodes", 2)):
        if found[name] is not None:
            found[name] = max(found[name], least)
    return found


@dataclass
class Tests:
    """The tests of a tree as thresholds, as `FittedTree` has them."""

    feature: np.ndarray
    children_left: np.ndarray
    children_right: np.ndarray
    threshold: np.ndarray
    threshold_gap: np.ndarray
    missing_go_to_left: np.ndarray


def _tests_of(tree: FittedTree, wording: Wording) -> Tests:
    """Return the tests of a tree with thresholds in the place of sets of categories."""
    tests = Tests(**{one.name: getattr(tree, one.name).copy() for one in fields(Tests)})
    for node in np.flatnonzero(tree.category_offset >= 0).tolist():
        known, sides = tree.categories_of(node), sides_of(tree, node)
        left, right = ([known[code] for code in side] for side in sides)
        if not all(isinstance(one, Real) for one in known):
            raise _inexpressible(wording, node, "categories that are not numbers")
        swapped = not left or (bool(right) and max(right) < min(left))
        low, high = (right, left) if swapped else (left, right)
        if high and max(low) >= min(high):
            raise _inexpressible(wording, node, "a set of categories that no threshold parts")
        gap = float(max(low)), float(min(high, default=np.inf))
        tests.threshold_gap[node] = gap
        tests.threshold[node] = gap[0] / 2 + gap[1] / 2
        if swapped:
            tests.children_left[node] = tree.children_right[node]
            tests.children_right[node] = tree.children_left[node]
            tests.missing_go_to_left[node] = 1 - tests.missing_go_to_left[node]
    return tests


def _inexpressible(wording: Wording, node: int, what: str) -> ValueError:
    return ValueError(
        f"to_sklearn() cannot express node {node}: column {wording.feature(node)!r} is tested for "
        f"{what}. Use to_python() or to_json(), or fit on one-hot encoded columns."
    )


def _nodes(tree: FittedTree, tests: Tests, thresholds: np.ndarray, dtype: np.dtype) -> np.ndarray:
    nodes = np.zeros(tree.node_count, dtype=dtype)
    nodes["left_child"] = tests.children_left
    nodes["right_child"] = tests.children_right
    nodes["feature"] = tests.feature
    nodes["threshold"] = thresholds
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["weighted_n_node_samples"] = tree.weighted_n_node_samples
    nodes["missing_go_to_left"] = tests.missing_go_to_left
    return nodes


def _float32_thresholds(tests: Tests) -> tuple[np.ndarray, np.ndarray]:
    """Return the thresholds as float32 numbers, and the nodes where float32 merges the gap.

    For a float32 value, ``x <= t`` holds just when ``x <= floor32(t)``.  The floor may leave the
    gap, because the neighbours of t are rounded too; then the nearest float32 inside is taken.
    """
    with np.errstate(over="ignore"):
        below, above = tests.threshold_gap.T.astype(np.float32)
        floor = tests.threshold.astype(np.float32)
    floor = np.where(floor > tests.threshold, np.nextafter(floor, np.float32(-np.inf)), floor)
    inside = np.clip(floor, below, np.maximum(np.nextafter(above, np.float32(-np.inf)), below))
    # An infinite threshold, which parts the missing values from all others, is scikit-learn's too.
    endless = np.isinf(tests.threshold)
    as_it_is = (tests.feature < 0) | endless
    apart = (below < above) & np.isfinite(below) & (np.isfinite(above) | endless)
    apart |= tests.feature < 0
    return np.where(as_it_is, tests.threshold, inside.astype(np.float64)), np.flatnonzero(~apart)


def _warn_of_merged(tests: Tests, wording: Wording, merged: np.ndarray) -> None:
    for f in sorted({int(tests.feature[node]) for node in merged.tolist()}):
        node = next(node for node in merged.tolist() if tests.feature[node] == f)
        below, above = map(float, tests.threshold_gap[node])
        warnings.warn(
            f"Feature {wording.features[f]!r}: scikit-learn compares in float32, which cannot tell "
            f"the training values {below!r} and {above!r} apart; rows around this threshold may go "
            "another way than in contree. Subtract an offset from the column, or scale it, and fit "
            "again.",
            UserWarning,
            stacklevel=4,
        )
