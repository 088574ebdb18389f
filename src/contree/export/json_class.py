"""What of a JSON text belongs to a classifier: its classes, its leaves and its certificate."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from contree._class_tree import ClassTree
from contree._report import STATUSES
from contree._weights import in_user_unit
from contree.export import json_check as check
from contree.export.json_categories import nodes_of
from contree.export.json_leaf import JsonLeaf, plain

SINCE_VERSION_2 = ("missing_go_to_left", "class_weights", "n_node_missing")
WIDEST_LABEL = 1 << 16  # bytes; a damaged type must not ask for all the memory there is
LABEL_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str}


class ClassJson(JsonLeaf):
    """Writes and reads leaves of classes."""

    schema, version = "contree.classifier", 3
    certificate_names = (
        "status",
        "errors",
        "objective",
        "lower_bound",
        "leaves_lower_bound",
        "weight_tolerance",
    )
    arrays = (
        "children_left",
        "children_right",
        "feature",
        "threshold",
        "missing_go_to_left",
        "class_counts",
        "class_weights",
        "threshold_gap",
        "n_node_missing",
    )

    @staticmethod
    def learnt(estimator: Any) -> dict[str, Any]:
        classes = estimator.classes_
        labels = [plain(label) for label in classes]
        return {"classes": {"dtype": str(classes.dtype), "labels": labels}}

    @staticmethod
    def written_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        parameters = JsonLeaf.written_parameters(parameters)
        if not isinstance(parameters.get("class_weight"), dict):
            return parameters
        # The keys need not be strings.  A weight may be True, which is 1; a label that is one must
        # stay it.
        pairs = [
            [plain(label), int(weight) if isinstance(weight, bool) else plain(weight)]
            for label, weight in parameters["class_weight"].items()
        ]
        return parameters | {"class_weight": pairs}

    @staticmethod
    def read_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters with the pairs of class weights as a dict again."""
        pairs = parameters.get("class_weight")
        if not isinstance(pairs, list):
            return parameters
        for pair in pairs:
            if not (
                isinstance(pair, list)
                and len(pair) == 2
                and isinstance(pair[0], (bool, int, float, str))
                and check.is_number(pair[1])
            ):
                raise check.damaged(
                    f"parameters.class_weight has {check.short(pair)}, not [label, weight]"
                )
        return {**parameters, "class_weight": dict(pairs)}

    @classmethod
    def read(cls, data: dict[str, Any], estimator: Any) -> None:
        classes = _classes(check.part(data, "classes", dict))
        estimator.classes_, estimator.n_classes_ = classes, len(classes)
        members, version = check.part(data, "tree", dict), data["version"]
        estimator.tree_ = ClassTree(
            **_tree(members, estimator, version),
            n_features=estimator.n_features_in_,
            categories=estimator.categories_,
            criterion=estimator.criterion,
        )
        certificate = check.part(data, "certificate", dict)
        if version == 1:
            certificate.setdefault("weight_tolerance", 0.0)
        certificate.setdefault("leaves_lower_bound", 1)
        cls.set_certificate(estimator, certificate)

    @classmethod
    def set_certificate(cls, estimator: Any, data: dict[str, Any]) -> None:
        """Set the certificate, whose errors must be those of the leaves."""
        tree, where = estimator.tree_, "certificate."
        found: dict[str, Any] = {"status": check.word(data, "status", STATUSES, where)}
        for name in cls.certificate_names[1:]:
            if name == "leaves_lower_bound":
                found[name] = check.integer(data, name, 1, where)
                continue
            of_errors = name == "errors" or (
                name != "weight_tolerance" and estimator.ccp_alpha == 0
            )
            whole = isinstance(tree.weight_unit, int) and of_errors
            found[name] = (check.integer if whole else check.real)(data, name, 0, where)
        leaves = tree.feature < 0
        errors = in_user_unit(int(tree.node_error_units[leaves].sum()), tree.weight_unit)
        if found["errors"] != errors:
            raise check.damaged(
                f"certificate.errors is {found['errors']}, but the leaves have {errors}"
            )
        if found["lower_bound"] > found["objective"]:
            raise check.damaged("certificate.lower_bound is above certificate.objective")
        if found["leaves_lower_bound"] > tree.n_leaves:
            raise check.damaged("certificate.leaves_lower_bound is above the number of leaves")
        for name, value in found.items():
            setattr(estimator, f"{name}_", value)


def _classes(data: dict[str, Any]) -> np.ndarray:
    """Return the labels with the type they had."""
    labels = check.part(data, "labels", list, "classes.")
    name = check.part(data, "dtype", str, "classes.")
    try:
        dtype = np.dtype(name)
    except (TypeError, ValueError, SyntaxError):
        raise check.damaged(f"classes.dtype is {name!r}, which NumPy does not know") from None
    if dtype.kind == "O":
        fits = all(isinstance(label, str) for label in labels)
    elif dtype.kind in LABEL_TYPES and dtype.itemsize <= WIDEST_LABEL:
        fits = all(type(label) is LABEL_TYPES[dtype.kind] for label in labels)
    else:
        raise check.damaged(f"classes.dtype is {name!r}, which labels cannot have")
    if not labels or not fits:
        raise check.damaged(f"classes.labels must be a list of labels of type {name!r}")
    try:
        array = np.array(labels, dtype=dtype)
    except OverflowError:
        raise check.damaged(f"classes.labels has a number that {name!r} cannot hold") from None
    if array.tolist() != labels or any(a >= b for a, b in pairwise(labels)):
        raise check.damaged("classes.labels must be sorted and distinct")
    return array


def _tree(data: dict[str, Any], estimator: Any, version: int) -> dict[str, Any]:
    """Return the arrays of a tree in which every row finds a leaf."""
    absent = SINCE_VERSION_2 if version == 1 else ()
    names = tuple(name for name in check.COMMON if name not in absent)
    arrays = nodes_of(data, estimator, names)
    shape = (len(arrays["feature"]), estimator.n_classes_)
    for name in ("class_counts", "class_weights"):
        if name not in absent:
            arrays[name] = check.array(data, name, whole=True, shape=shape)
            check.check_sums(arrays, name)
    if version == 1:
        if np.isinf(arrays["threshold"]).any():
            raise check.damaged("tree.threshold must hold finite numbers only")
        return arrays
    if ((arrays["class_counts"] == 0) != (arrays["class_weights"] == 0)).any():
        raise check.damaged("tree.class_weights has a weight without rows, or rows without weight")
    check.check_missing(arrays, arrays["class_counts"].sum(axis=1))
    total = int(arrays["class_weights"][0].sum())
    return {**arrays, "weight_unit": check.weight_unit(data, total)}
