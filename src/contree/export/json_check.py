"""The checks between a JSON text and an estimator: each names what is wrong and where.

A text that passes gives an estimator that predicts; anything else is a ValueError.  What depends on
the leaves is in ``json_class.py`` and ``json_number.py``.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from contree._fitted_tree import UNDEFINED
from contree._report import Improvement, SearchReport
from contree._weights import Unit

COMMON = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "missing_go_to_left",
    "threshold_gap",
    "n_node_missing",
)
Kind = type | tuple[type, ...]  # of a member
MAY_BE_INFINITE = ("threshold", "threshold_gap")


def damaged(what: str) -> ValueError:
    return ValueError(f"Not an estimator that contree can read: {what.rstrip('.')}.")


def parse(text: str) -> dict[str, Any]:
    """Return the object in the text."""
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
    return data


def schema(data: dict[str, Any], schema: str, version: int) -> None:
    """Check that an object is of a schema, up to a version."""
    if data.get("schema") != schema:
        raise damaged(f"schema is {data.get('schema')!r}, not {schema!r}")
    found = data.get("version")
    if type(found) is not int or not 1 <= found <= version:
        raise damaged(f"version is {found!r}, and this contree reads versions 1 to {version}")
    part(data, "contree", str)


def part(data: dict[str, Any], name: str, kind: Kind, where: str = "") -> Any:
    """Return a member of an object, of this type."""
    if name not in data:
        raise damaged(f"{where}{name} is missing")
    value = data[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise damaged(f"{where}{name} must be {_words(kind)}, not {short(value)}")
    return value


def word(data: dict[str, Any], name: str, words: tuple[str, ...], where: str = "") -> str:
    """Return a member of an object that is one of these words."""
    value: str = part(data, name, str, where)
    if value not in words:
        raise damaged(f"{where}{name} is {short(value)}, not one of {', '.join(words)}")
    return value


def integer(data: dict[str, Any], name: str, low: int, where: str = "") -> int:
    value: int = part(data, name, int, where)
    if not low <= value < 2**63:
        raise damaged(f"{where}{name} is {value}, out of range")
    return value


def real(data: dict[str, Any], name: str, low: float, where: str = "") -> float:
    value = part(data, name, (int, float), where)
    if not is_number(value) or value < low:
        raise damaged(f"{where}{name} is {short(value)}, out of range")
    return float(value)


def feature_names(data: dict[str, Any], n_features: int) -> list[str] | None:
    if data.get("feature_names", ...) is None:
        return None
    names: list[str] = part(data, "feature_names", list)
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise damaged(f"feature_names must be {n_features} strings")
    return names


def nodes_of(
    data: dict[str, Any], n_features: int, names: tuple[str, ...] = COMMON, has_sets: bool = False
) -> dict[str, Any]:
    """Return the arrays of a tree in which every row finds a leaf; `names` are those it has.

    With `has_sets`, nodes may test categories in place of a threshold.
    """
    features = part(data, "feature", list, "tree.")
    nodes = len(features)
    if nodes % 2 == 0:
        raise damaged(f"tree.feature has {nodes} nodes; a binary tree has an odd number")
    arrays = {
        name: array(
            data,
            name,
            whole=name not in MAY_BE_INFINITE,
            shape=(nodes, 2) if name == "threshold_gap" else (nodes,),
            may_lack=has_sets and name in MAY_BE_INFINITE,
        )
        for name in names
    }
    _check_shape(arrays["children_left"], arrays["children_right"], arrays["feature"], n_features)
    _check_thresholds(arrays)
    return arrays


def weight_unit(data: dict[str, Any], total: int) -> Unit:
    """Return the unit of the weights, such that their sum is a finite number."""
    given = data.get("weight_unit")
    parts: list[Any] = given if isinstance(given, list) and len(given) == 2 else [given, 1]
    if not all(type(one) is int and one > 0 for one in parts):
        raise damaged("tree.weight_unit must be a positive integer, or [numerator, denominator]")
    unit: Unit = Fraction(*parts) if isinstance(given, list) else parts[0]
    most = sys.float_info.max if isinstance(unit, Fraction) else 2**63 - 1
    if total * unit > most:
        raise damaged("tree.weight_unit is too large")
    return unit


def search_report(data: dict[str, Any]) -> SearchReport:
    where = "search_report."
    counters = part(data, "counters", dict, where)
    for name in counters:
        integer(counters, name, 0, f"{where}counters.")
    history = part(data, "history", list, where)
    for step in history:
        if not (isinstance(step, list) and len(step) == 3 and all(map(is_number, step))):
            raise damaged(f"{where}history has {short(step)}, not [seconds, objective, bound]")
    return SearchReport(
        seconds=real(data, "seconds", 0, where),
        counters=counters,
        history=tuple(Improvement(*step) for step in history),
        search=part(data, "search", str, where),
        kernel=part(data, "kernel", str, where),
        n_jobs=integer(data, "n_jobs", 1, where),
    )


def array(
    data: dict[str, Any], name: str, whole: bool, shape: tuple[int, ...], may_lack: bool = False
) -> np.ndarray:
    """Return an array of a tree, of integers or of finite numbers; NaN where it may be null."""
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
        right = all(v == "inf" or is_number(v) or (may_lack and v is None) for v in flat)
    if not right:
        raise damaged(f"tree.{name} must hold {'integers' if whole else 'finite numbers'} only")
    return np.array(flat, dtype=np.int64 if whole else np.float64).reshape(shape)


def _check_shape(left: np.ndarray, right: np.ndarray, feature: np.ndarray, n_features: int) -> None:
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


def check_sums(arrays: dict[str, Any], name: str) -> None:
    """Check that what is counted of a node is the sum of its children's, and that none is empty."""
    counts, inner = arrays[name], np.flatnonzero(arrays["feature"] >= 0)
    counts = counts.reshape(len(counts), -1)
    if (counts < 0).any() or (counts.sum(axis=1) == 0).any():
        raise damaged(f"tree.{name} has a node without rows")
    if sum(counts[0].tolist()) >= 2**62:
        raise damaged(f"tree.{name} has sums that are too large")
    sides = counts[arrays["children_left"][inner]] + counts[arrays["children_right"][inner]]
    if (sides != counts[inner]).any():
        raise damaged(f"tree.{name} of a node are not the sum of its children's")


def _check_thresholds(arrays: dict[str, Any]) -> None:
    inner = (arrays["feature"] >= 0) & ~np.isnan(arrays["threshold"])
    threshold, (below, above) = arrays["threshold"][inner], arrays["threshold_gap"][inner].T
    endless = np.isinf(threshold) & np.isinf(above) & np.isfinite(below)
    if not ((below <= threshold) & ((threshold < above) | endless)).all():
        raise damaged("tree.threshold_gap does not hold tree.threshold")


def check_missing(arrays: dict[str, Any], rows: np.ndarray) -> None:
    """Check where missing values go, by the rows of each node."""
    left, lacking = arrays["missing_go_to_left"], arrays["n_node_missing"]
    if not np.isin(left, (0, 1)).all():
        raise damaged("tree.missing_go_to_left must hold 0 and 1 only")
    if (lacking < 0).any() or (lacking > rows).any():
        raise damaged("tree.n_node_missing must be from 0 to the number of rows")
    if (np.isinf(arrays["threshold"]) & ((left == 1) | (lacking == 0))).any():
        raise damaged("tree.threshold is infinite where no missing value goes right")


def is_number(value: Any) -> bool:
    """Tell whether a value is a number that float64 holds; integers may be too large for it."""
    if type(value) is int:
        return abs(value) < 2**1023
    return type(value) is float and math.isfinite(value)


def _no_constant(name: str) -> NoReturn:
    raise damaged(f"{name} is not a number of JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise damaged("a name occurs twice in one object")
    return found


def _words(kind: Kind) -> str:
    words: dict[Kind, str] = {
        dict: "an object",
        list: "a list",
        str: "a string",
        int: "an integer",
    }
    return words.get(kind, "a number")


def short(value: Any) -> str:
    """Return a value for an error message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
