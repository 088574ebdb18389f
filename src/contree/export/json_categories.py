"""What of a JSON text belongs to categories: their values, and the sets that nodes send left.

Categories that are dates are an object: ``{"date": "2020-01-31"}``, with a time
``{"datetime": "2020-01-31T12:00:00"}``.  A node that tests categories has their codes, the
positions in ``categories``, in the member ``categories_left`` of the tree, and null in place of
numbers where others have a threshold.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime
from typing import Any

import numpy as np

from contree._categories import Categories
from contree._fitted_tree import FittedTree, words_of
from contree.export import json_check as check
from contree.export.category_sets import unwritable


def written_categories(estimator: Any) -> list[Any] | None:
    """Return the categories of each feature, null for numbers."""
    categories: Categories | None = estimator.categories_
    if categories is None:
        return None
    return [
        None if known is None else [_written(one, _name(estimator, f)) for one in known]
        for f, known in enumerate(categories)
    ]


def _name(estimator: Any, f: int) -> str:
    names = getattr(estimator, "feature_names_in_", None)
    return str(f) if names is None else str(names[f])


def _written(category: Any, column: str) -> Any:
    if isinstance(category, datetime) and not getattr(category, "nanosecond", 0):
        return {"datetime": category.isoformat()}
    if type(category) is date:
        return {"date": category.isoformat()}
    if not isinstance(category, (bool, int, float, str)):
        raise unwritable("to_json", category, column)
    return category


def _read(written: Any) -> Any:
    """Return a category; what `_written` never writes is returned as it is."""
    kinds = {"date": date, "datetime": datetime}
    if isinstance(written, dict) and len(written) == 1:
        for name, kind in kinds.items():
            with suppress(KeyError, TypeError, ValueError):
                return kind.fromisoformat(written[name])
    return written


def _is_category(value: Any) -> bool:
    return isinstance(value, (bool, str, date)) or check.is_number(value)


def written_sets(tree: FittedTree) -> dict[str, Any]:
    """Return the codes that each node sends left, null where it tests none, if there are some."""
    if tree.categories is None:
        return {}
    sets = [
        np.flatnonzero(tree.codes_go_left(node)).tolist() if tree.tests_categories(node) else None
        for node in range(tree.node_count)
    ]
    return {"categories_left": sets}


def read_categories(data: dict[str, Any], n_features: int) -> Categories | None:
    """Return the categories of each feature."""
    if data.get("categories", ...) is None:
        return None
    features = check.part(data, "categories", list)
    if len(features) != n_features:
        raise check.damaged(f"categories must have an entry for each of {n_features} features")
    return tuple(None if known is None else _distinct(known) for known in features)


def _distinct(known: Any) -> tuple[Any, ...]:
    """Return the categories of one feature."""
    categories = [_read(one) for one in known] if isinstance(known, list) else [None]
    if not all(map(_is_category, categories)) or len(set(categories)) != len(categories):
        raise check.damaged(
            f"categories has {check.short(known)}, not null or a list of distinct strings, "
            "numbers, bools and dates"
        )
    return tuple(categories)


def nodes_of(
    data: dict[str, Any], estimator: Any, names: tuple[str, ...] = check.COMMON
) -> dict[str, Any]:
    """Return the arrays of a tree in which every row finds a leaf; `names` are those it has."""
    n_features, categories = estimator.n_features_in_, estimator.categories_
    arrays = check.nodes_of(data, n_features, names, has_sets=categories is not None)
    if categories is not None:
        arrays |= _sets(data, arrays, categories)
    return arrays


def _sets(data: dict[str, Any], arrays: dict[str, Any], categories: Categories) -> dict[str, Any]:
    """Return the arrays that hold the sets of categories; check that they are in their places."""
    sets = check.part(data, "categories_left", list, "tree.")
    if len(sets) != len(arrays["feature"]):
        raise check.damaged("tree.categories_left must have an entry for each node")
    offsets, words = np.full(len(sets), -1, dtype=np.int64), [np.empty(0, dtype=np.uint64)]
    for node, left in enumerate(sets):
        f = int(arrays["feature"][node])
        known = None if f < 0 else categories[f]
        numbers = arrays["threshold"][node], *arrays["threshold_gap"][node]
        if (known is not None) != (left is not None) or (known is not None) != np.isnan(
            numbers
        ).all():
            raise check.damaged(f"tree: node {node} must have a threshold or categories_left")
        if known is not None:
            _check_set(left, len(known), node, arrays)
            goes_left = np.zeros(len(known), dtype=bool)
            goes_left[left] = True
            offsets[node] = sum(map(len, words))
            words.append(words_of(goes_left))
    return {"category_offset": offsets, "category_words": np.concatenate(words)}


def _check_set(left: Any, known: int, node: int, arrays: dict[str, Any]) -> None:
    """Check that a set has codes, and that training rows may go to both sides."""
    codes = left if isinstance(left, list) and all(type(code) is int for code in left) else [-1]
    if len(set(codes)) != len(codes) or not set(codes) <= set(range(known)):
        raise check.damaged(
            f"tree.categories_left of node {node} must be a list of distinct codes below {known}"
        )
    lacks, missing_left = arrays["n_node_missing"][node] > 0, arrays["missing_go_to_left"][node]
    if not codes and not (lacks and missing_left == 1):
        raise check.damaged(f"tree.categories_left of node {node} sends nothing left")
    if len(codes) == known and not (lacks and missing_left == 0):
        raise check.damaged(f"tree.categories_left of node {node} sends nothing right")
