"""What of a JSON text belongs to a regressor: its leaves and its certificate."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np

from contree._number_tree import BINS, WORD, NumberTree
from contree._report import STATUSES
from contree.export import json_check as check
from contree.export.json_categories import nodes_of
from contree.export.json_leaf import JsonLeaf, fraction


class NumberJson(JsonLeaf):
    """Writes and reads leaves of numbers."""

    schema, version = "contree.regressor", 2
    certificate_names = (
        "status",
        "squared_error",
        "objective",
        "lower_bound",
        "target_tolerance",
        "weight_tolerance",
    )
    arrays = (
        *check.COMMON,
        "n_node_samples",
        "node_weights",
        "node_sums",
        "node_squares",
        "histogram",
    )

    @staticmethod
    def learnt(estimator: Any) -> dict[str, Any]:
        low, high = estimator.tree_.histogram_range
        return {"targets": {"least": low, "greatest": high}}

    @classmethod
    def tree(cls, tree: Any) -> dict[str, Any]:
        units = {name: fraction(getattr(tree, name)) for name in ("target_unit", "target_centre")}
        return super().tree(tree) | units

    @classmethod
    def read(cls, data: dict[str, Any], estimator: Any) -> None:
        targets = check.part(data, "targets", dict)
        low, high = (_finite(targets, name, "targets.") for name in ("least", "greatest"))
        if low > high:
            raise check.damaged("targets.least is above targets.greatest")
        members = check.part(data, "tree", dict)
        estimator.tree_ = NumberTree(
            **_tree(members, estimator),
            n_features=estimator.n_features_in_,
            categories=estimator.categories_,
            histogram_range=(low, high),
        )
        _check_means(estimator.tree_)
        cls.set_certificate(estimator, check.part(data, "certificate", dict))

    @classmethod
    def set_certificate(cls, estimator: Any, data: dict[str, Any]) -> None:
        """Set the certificate, whose squared error must be that of the leaves."""
        where = "certificate."
        found: dict[str, Any] = {"status": check.word(data, "status", STATUSES, where)}
        for name in cls.certificate_names[1:]:
            found[name] = check.real(data, name, 0, where)
        error = float(estimator.tree_.squared_error)
        if found["squared_error"] != error:
            raise check.damaged(
                f"certificate.squared_error is {found['squared_error']}, but the leaves have "
                f"{error}"
            )
        if found["lower_bound"] > found["objective"]:
            raise check.damaged("certificate.lower_bound is above certificate.objective")
        for name, value in found.items():
            setattr(estimator, f"{name}_", value)


def _finite(data: dict[str, Any], name: str, where: str) -> float:
    value = check.part(data, name, (int, float), where)
    if not check.is_number(value):
        raise check.damaged(f"{where}{name} must be a finite number")
    return float(value)


def _tree(data: dict[str, Any], estimator: Any) -> dict[str, Any]:
    """Return the arrays and units of a tree whose sums fit together."""
    arrays = nodes_of(data, estimator)
    nodes = len(arrays["feature"])
    shapes = {"node_squares": (nodes, 2), "histogram": (nodes, BINS)}
    for name in ("n_node_samples", "node_weights", "node_sums", "node_squares", "histogram"):
        shape = shapes.get(name, (nodes,))
        arrays[name] = check.array(data, name, whole=True, shape=shape)
    for name in ("n_node_samples", "node_weights", "histogram"):
        check.check_sums(arrays, name)
    if (arrays["histogram"].sum(axis=1) != arrays["n_node_samples"]).any():
        raise check.damaged("tree.histogram of a node does not sum to its rows")
    if (arrays["node_weights"] < arrays["n_node_samples"]).any():
        raise check.damaged("tree.node_weights must be at least 1 for each row")
    check.check_missing(arrays, arrays["n_node_samples"])
    _check_moments(arrays)
    return {
        **arrays,
        "weight_unit": check.weight_unit(data, int(arrays["node_weights"][0])),
        "target_unit": _fraction(data, "target_unit", positive=True),
        "target_centre": _fraction(data, "target_centre", positive=False),
    }


def _check_moments(arrays: dict[str, Any]) -> None:
    """Check that sums are those of the children, and that no squared error is negative."""
    squares = [(high << WORD) + low for high, low in arrays["node_squares"].tolist()]
    sums, weights = arrays["node_sums"].tolist(), arrays["node_weights"].tolist()
    for node in np.flatnonzero(arrays["feature"] >= 0).tolist():
        left, right = int(arrays["children_left"][node]), int(arrays["children_right"][node])
        if sums[left] + sums[right] != sums[node]:
            raise check.damaged("tree.node_sums of a node are not the sum of its children's")
        if squares[left] + squares[right] != squares[node]:
            raise check.damaged("tree.node_squares of a node are not the sum of its children's")
    for square, total, weight in zip(squares, sums, weights, strict=True):
        if square * weight < total * total:
            raise check.damaged("tree.node_squares are too small for tree.node_sums")


def _check_means(tree: NumberTree) -> None:
    """Check that float64 holds every mean and squared error."""
    try:
        fits = np.isfinite(tree.value).all() and tree.squared_error <= sys.float_info.max
    except OverflowError:
        fits = False
    if not fits:
        raise check.damaged("tree.target_unit or target_centre is too large")


def _fraction(data: dict[str, Any], name: str, positive: bool) -> Fraction:
    value = data.get(name)
    parts: list[Any] = value if isinstance(value, list) and len(value) == 2 else [value, 1]
    if not all(type(one) is int for one in parts) or parts[1] < 1 or (positive and parts[0] < 1):
        raise check.damaged(f"tree.{name} must be an integer, or [numerator, denominator]")
    return Fraction(*parts)
