"""A tree as scikit-learn's own, for the tools that want one.

scikit-learn compares float32 values with float64 thresholds, and tools such as ONNX compare in
float32 throughout.  Each threshold is therefore moved to a float32 number inside its gap, the one
that sends every float32 value where the float64 threshold does, if the gap has it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.category_wording import refuse_categories
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
        two training values around such a threshold apart.
    """
    check_is_fitted(estimator, "tree_")
    refuse_categories(estimator, "to_sklearn")
    tree = estimator.tree_
    thresholds, merged = _float32_thresholds(tree)
    _warn_of_merged(tree, wording_of(estimator), merged)

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
            "nodes": _nodes(tree, thresholds, template),
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


def _nodes(tree: FittedTree, thresholds: np.ndarray, dtype: np.dtype) -> np.ndarray:
    nodes = np.zeros(tree.node_count, dtype=dtype)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    nodes["feature"] = tree.feature
    nodes["threshold"] = thresholds
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["weighted_n_node_samples"] = tree.weighted_n_node_samples
    nodes["missing_go_to_left"] = tree.missing_go_to_left
    return nodes


def _float32_thresholds(tree: FittedTree) -> tuple[np.ndarray, list[int]]:
    """Return the thresholds as float32 numbers, and the nodes where float32 merges the gap.

    For a float32 value, ``x <= t`` holds just when ``x <= floor32(t)``.  The floor may leave the
    gap, because the neighbours of t are rounded too; then the nearest float32 inside is taken.
    """
    with np.errstate(over="ignore"):
        below, above = tree.threshold_gap.T.astype(np.float32)
        floor = tree.threshold.astype(np.float32)
    floor = np.where(floor > tree.threshold, np.nextafter(floor, np.float32(-np.inf)), floor)
    inside = np.clip(floor, below, np.maximum(np.nextafter(above, np.float32(-np.inf)), below))
    # An infinite threshold, which parts the missing values from all others, is scikit-learn's too.
    endless = np.isinf(tree.threshold)
    as_it_is = (tree.feature < 0) | endless
    apart = (below < above) & np.isfinite(below) & (np.isfinite(above) | endless)
    apart |= tree.feature < 0
    return np.where(as_it_is, tree.threshold, inside.astype(np.float64)), np.flatnonzero(~apart)


def _warn_of_merged(tree: FittedTree, wording: Wording, merged) -> None:
    for f in sorted({int(tree.feature[node]) for node in merged}):
        node = next(node for node in merged if tree.feature[node] == f)
        below, above = map(float, tree.threshold_gap[node])
        warnings.warn(
            f"Feature {wording.features[f]!r}: scikit-learn compares in float32, which cannot tell "
            f"the training values {below!r} and {above!r} apart; rows around this threshold may go "
            "another way than in contree. Subtract an offset from the column, or scale it, and fit "
            "again.",
            UserWarning,
            stacklevel=4,
        )
