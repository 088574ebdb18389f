"""The checks between a JSON text and a classifier: each names what is wrong and where.

A text that passes gives a classifier that predicts; anything else is a ValueError.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np

from contree._class_tree import ClassTree
from contree._fitted_tree import UNDEFINED
from contree._report import Improvement, SearchReport
from contree._weights import Unit, in_user_unit

CERTIFICATE = ("status", "errors", "objective", "lower_bound", "weight_tolerance")
TREE = (
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
SINCE_VERSION_2 = ("missing_go_to_left", "class_weights", "n_node_missing")
MAY_BE_INFINITE = ("threshold", "threshold_gap")
WIDEST_LABEL = 1 << 16  # bytes; a damaged type must not ask for all the memory there is
LABEL_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str}


def damaged(what: str) -> ValueError:
    return ValueError(f"Not a classifier that contree can read: {what.rstrip('.')}.")


def parse(text: str, schema: str, version: int) -> dict:
    """Return the object in the text, of this schema and up to this version."""
    if not isinstance(text, str):
        raise TypeError(f"from_json takes a str, not {type(text).__name__}.")
    try:
        data = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except RecursionError:
        raise damaged("the text is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise damaged(f"the text is not JSON ({error})") from error
    if not isinstance(data, dict):
        raise damaged("the text is not a JSON object")
    if data.get("schema") != schema:
        raise damaged(f"schema is {data.get('schema')!r}, not {schema!r}")
    found = data.get("version")
    if type(found) is not int or not 1 <= found <= version:
        raise damaged(f"version is {found!r}, and this contree reads versions 1 to {version}")
    return data


def part(data: dict, name: str, kind: type, where: str = ""):
    """Return a member of an object, of this type."""
    if name not in data:
        raise damaged(f"{where}{name} is missing")
    value = data[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise damaged(f"{where}{name} must be {_words(kind)}, not {_short(value)}")
    return value


def integer(data: dict, name: str, low: int, where: str = "") -> int:
    value = part(data, name, int, where)
    if not low <= value < 2**63:
        raise damaged(f"{where}{name} is {value}, out of range")
    return value


def real(data: dict, name: str, low: float, where: str = "") -> float:
    value = part(data, name, (int, float), where)
    if not _is_number(value) or value < low:
        raise damaged(f"{where}{name} is {_short(value)}, out of range")
    return float(value)


def class_weight(parameters: dict) -> dict:
    """Return the parameters with the pairs of class weights as a dict again."""
    pairs = parameters.get("class_weight")
    if not isinstance(pairs, list):
        return parameters
    for pair in pairs:
        if not (
            isinstance(pair, list)
            and len(pair) == 2
            and isinstance(pair[0], (bool, int, float, str))
            and _is_number(pair[1])
        ):
            raise damaged(f"parameters.class_weight has {_short(pair)}, not [label, weight]")
    return {**parameters, "class_weight": dict(pairs)}


def feature_names(data: dict, n_features: int) -> list[str] | None:
    if data.get("feature_names") is None:
        return None
    names = part(data, "feature_names", list)
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise damaged(f"feature_names must be {n_features} strings")
    return names


def classes(data: dict) -> np.ndarray:
    """Return the labels with the type they had."""
    labels = part(data, "labels", list, "classes.")
    name = part(data, "dtype", str, "classes.")
    try:
        dtype = np.dtype(name)
    except (TypeError, ValueError, SyntaxError):
        raise damaged(f"classes.dtype is {name!r}, which NumPy does not know") from None
    if dtype.kind == "O":
        fits = all(isinstance(label, str) for label in labels)
    elif dtype.kind in LABEL_TYPES and dtype.itemsize <= WIDEST_LABEL:
        fits = all(type(label) is LABEL_TYPES[dtype.kind] for label in labels)
    else:
        raise damaged(f"classes.dtype is {name!r}, which labels cannot have")
    if not labels or not fits:
        raise damaged(f"classes.labels must be a list of labels of type {name!r}")
    try:
        array = np.array(labels, dtype=dtype)
    except OverflowError:
        raise damaged(f"classes.labels has a number that {name!r} cannot hold") from None
    if array.tolist() != labels or any(a >= b for a, b in pairwise(labels)):
        raise damaged("classes.labels must be sorted and distinct")
    return array


def tree(data: dict, n_features: int, n_classes: int, version: int) -> dict:
    """Return the arrays of a tree in which every row finds a leaf."""
    features = part(data, "feature", list, "tree.")
    nodes = len(features)
    if nodes % 2 == 0:
        raise damaged(f"tree.feature has {nodes} nodes; a binary tree has an odd number")
    arrays = {
        name: _array(data, name, whole=name not in MAY_BE_INFINITE, shape=shape)
        for name, shape in {
            "children_left": (nodes,),
            "children_right": (nodes,),
            "feature": (nodes,),
            "threshold": (nodes,),
            "missing_go_to_left": (nodes,),
            "class_counts": (nodes, n_classes),
            "class_weights": (nodes, n_classes),
            "threshold_gap": (nodes, 2),
            "n_node_missing": (nodes,),
        }.items()
        if version > 1 or name not in SINCE_VERSION_2
    }
    _check_shape(arrays["children_left"], arrays["children_right"], arrays["feature"], n_features)
    _check_counts(arrays, "class_counts")
    _check_thresholds(arrays)
    if version == 1:
        if np.isinf(arrays["threshold"]).any():
            raise damaged("tree.threshold must hold finite numbers only")
        return arrays
    _check_counts(arrays, "class_weights")
    if ((arrays["class_counts"] == 0) != (arrays["class_weights"] == 0)).any():
        raise damaged("tree.class_weights has a weight without rows, or rows without weight")
    _check_missing(arrays)
    return {**arrays, "weight_unit": _weight_unit(data, int(arrays["class_weights"][0].sum()))}


def _weight_unit(data: dict, total: int) -> Unit:
    """Return the unit of the weights, such that their sum is a finite number."""
    unit = data.get("weight_unit")
    parts = unit if isinstance(unit, list) and len(unit) == 2 else [unit, 1]
    if not all(type(one) is int and one > 0 for one in parts):
        raise damaged("tree.weight_unit must be a positive integer, or [numerator, denominator]")
    unit = Fraction(*parts) if isinstance(unit, list) else unit
    most = sys.float_info.max if isinstance(unit, Fraction) else 2**63 - 1
    if total * unit > most:
        raise damaged("tree.weight_unit is too large")
    return unit


def certificate(data: dict, tree: ClassTree, ccp_alpha: float) -> dict:
    found = {"status": part(data, "status", str, "certificate.")}
    for name in CERTIFICATE[1:]:
        counted = name == "errors" or (name != "weight_tolerance" and ccp_alpha == 0)
        whole = isinstance(tree.weight_unit, int) and counted
        found[name] = (integer if whole else real)(data, name, 0, "certificate.")
    leaves = tree.feature < 0
    errors = in_user_unit(int(tree.node_error_units[leaves].sum()), tree.weight_unit)
    if found["errors"] != errors:
        raise damaged(f"certificate.errors is {found['errors']}, but the leaves have {errors}")
    if found["lower_bound"] > found["objective"]:
        raise damaged("certificate.lower_bound is above certificate.objective")
    return found


def search_report(data: dict) -> SearchReport:
    where = "search_report."
    counters = part(data, "counters", dict, where)
    for name in counters:
        integer(counters, name, 0, f"{where}counters.")
    history = part(data, "history", list, where)
    for step in history:
        if not (isinstance(step, list) and len(step) == 3 and all(map(_is_number, step))):
            raise damaged(f"{where}history has {_short(step)}, not [seconds, objective, bound]")
    seconds = part(data, "seconds", (int, float), where)
    if not _is_number(seconds):
        raise damaged(f"{where}seconds must be a finite number")
    return SearchReport(
        seconds=seconds,
        counters=counters,
        history=tuple(Improvement(*step) for step in history),
        search=part(data, "search", str, where),
        kernel=part(data, "kernel", str, where),
        n_jobs=integer(data, "n_jobs", 1, where),
    )


def _array(data: dict, name: str, whole: bool, shape: tuple) -> np.ndarray:
    values = part(data, name, list, "tree.")
    flat = values
    if len(shape) == 2:
        if not all(isinstance(row, list) and len(row) == shape[1] for row in values):
            raise damaged(f"tree.{name} must have rows of {shape[1]} numbers")
        flat = [value for row in values for value in row]
    if len(values) != shape[0]:
        raise damaged(f"tree.{name} has {len(values)} nodes, tree.feature {shape[0]}")
    if whole:
        right = all(type(v) is int and abs(v) < 2**62 for v in flat)
    else:
        right = all(v == "inf" or _is_number(v) for v in flat)
    if not right:
        raise damaged(f"tree.{name} must hold {'integers' if whole else 'finite numbers'} only")
    return np.array(flat, dtype=np.int64 if whole else np.float64).reshape(shape)


def _check_shape(left, right, feature, n_features: int) -> None:
    """Check that the nodes are one binary tree in preorder."""
    open_ends = [0]  # nodes that must come, the next one last
    for node in range(len(feature)):
        if not open_ends or open_ends.pop() != node:
            raise damaged(f"tree.children_left and children_right do not fit at node {node}")
        if feature[node] == UNDEFINED:
            if left[node] != -1 or right[node] != -1:
                raise damaged(f"tree: node {node} is a leaf with children")
            continue
        if not 0 <= feature[node] < n_features:
            raise damaged(f"tree.feature is {feature[node]} at node {node}, out of range")
        if left[node] != node + 1 or not node + 1 < right[node] < len(feature):
            raise damaged(f"tree: node {node} has impossible children")
        open_ends += [right[node], left[node]]
    if open_ends:
        raise damaged("tree: nodes are missing")


def _check_counts(arrays: dict, name: str) -> None:
    counts, inner = arrays[name], np.flatnonzero(arrays["feature"] >= 0)
    if (counts < 0).any() or (counts.sum(axis=1) == 0).any():
        raise damaged(f"tree.{name} has a node without rows")
    if sum(counts[0].tolist()) >= 2**62:
        raise damaged(f"tree.{name} has sums that are too large")
    sides = counts[arrays["children_left"][inner]] + counts[arrays["children_right"][inner]]
    if (sides != counts[inner]).any():
        raise damaged(f"tree.{name} of a node are not the sum of its children's")


def _check_thresholds(arrays: dict) -> None:
    inner = arrays["feature"] >= 0
    threshold, (below, above) = arrays["threshold"][inner], arrays["threshold_gap"][inner].T
    endless = np.isinf(threshold) & np.isinf(above) & np.isfinite(below)
    if not ((below <= threshold) & ((threshold < above) | endless)).all():
        raise damaged("tree.threshold_gap does not hold tree.threshold")


def _check_missing(arrays: dict) -> None:
    left, lacking = arrays["missing_go_to_left"], arrays["n_node_missing"]
    if not np.isin(left, (0, 1)).all():
        raise damaged("tree.missing_go_to_left must hold 0 and 1 only")
    rows = arrays["class_counts"].sum(axis=1)
    if (lacking < 0).any() or (lacking > rows).any():
        raise damaged("tree.n_node_missing must be from 0 to the number of rows")
    if (np.isinf(arrays["threshold"]) & ((left == 1) | (lacking == 0))).any():
        raise damaged("tree.threshold is infinite where no missing value goes right")


def _is_number(value) -> bool:
    """Tell whether a value is a number that float64 holds; integers may be too large for it."""
    if type(value) is int:
        return abs(value) < 2**1023
    return type(value) is float and math.isfinite(value)


def _no_constant(name: str):
    raise damaged(f"{name} is not a number of JSON")


def _no_duplicates(pairs: list) -> dict:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise damaged("a name occurs twice in one object")
    return found


def _words(kind) -> str:
    words = {dict: "an object", list: "a list", str: "a string", int: "an integer"}
    return words.get(kind, "a number")


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
