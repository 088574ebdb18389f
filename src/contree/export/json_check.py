"""The checks between a JSON text and a classifier: each names what is wrong and where.

A text that passes gives a classifier that predicts; anything else is a ValueError.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np

from contree._fitted_tree import UNDEFINED, FittedTree
from contree._report import Improvement, SearchReport

CERTIFICATE = ("status", "errors", "objective", "lower_bound")
TREE = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "class_counts",
    "threshold_gap",
)
WIDEST_LABEL = 1 << 16  # bytes; a damaged type must not ask for all the memory there is
LABEL_TYPES = {"b": bool, "i": int, "u": int, "f": float, "U": str}


def damaged(what: str) -> ValueError:
    return ValueError(f"Not a classifier that contree can read: {what}.")


def parse(text: str, schema: str, version: int) -> dict:
    """Return the object in the text, of this schema and version."""
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
    if data.get("version") != version or isinstance(data["version"], bool):
        raise damaged(
            f"version is {data.get('version')!r}, and this contree reads version {version}"
        )
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


def tree(data: dict, n_features: int, n_classes: int) -> dict[str, np.ndarray]:
    """Return the arrays of a tree in which every row finds a leaf."""
    features = part(data, "feature", list, "tree.")
    nodes = len(features)
    if nodes % 2 == 0:
        raise damaged(f"tree.feature has {nodes} nodes; a binary tree has an odd number")
    arrays = {
        name: _array(data, name, whole=name not in ("threshold", "threshold_gap"), shape=shape)
        for name, shape in {
            "children_left": (nodes,),
            "children_right": (nodes,),
            "feature": (nodes,),
            "threshold": (nodes,),
            "class_counts": (nodes, n_classes),
            "threshold_gap": (nodes, 2),
        }.items()
    }
    _check_shape(arrays["children_left"], arrays["children_right"], arrays["feature"], n_features)
    _check_counts(arrays)
    _check_thresholds(arrays)
    return arrays


def certificate(data: dict, tree: FittedTree) -> dict:
    found = {"status": part(data, "status", str, "certificate.")}
    for name in CERTIFICATE[1:]:
        found[name] = integer(data, name, 0, "certificate.")
    errors = int(tree.node_errors[tree.feature < 0].sum())
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
        if not (
            isinstance(step, list)
            and len(step) == 3
            and _is_number(step[0])
            and all(type(value) is int for value in step[1:])
        ):
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
    right = all(type(v) is int and abs(v) < 2**62 if whole else _is_number(v) for v in flat)
    if not right:
        raise damaged(f"tree.{name} must hold {'integers' if whole else 'finite numbers'} only")
    return np.array(values, dtype=np.int64 if whole else np.float64).reshape(shape)


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


def _check_counts(arrays: dict) -> None:
    counts, inner = arrays["class_counts"], np.flatnonzero(arrays["feature"] >= 0)
    if (counts < 0).any() or (counts.sum(axis=1) == 0).any():
        raise damaged("tree.class_counts has a node without rows")
    sides = counts[arrays["children_left"][inner]] + counts[arrays["children_right"][inner]]
    if (sides != counts[inner]).any():
        raise damaged("tree.class_counts of a node are not the sum of its children's")


def _check_thresholds(arrays: dict) -> None:
    inner = arrays["feature"] >= 0
    threshold, (below, above) = arrays["threshold"][inner], arrays["threshold_gap"][inner].T
    if not ((below <= threshold) & (threshold < above)).all():
        raise damaged("tree.threshold_gap does not hold tree.threshold")


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
