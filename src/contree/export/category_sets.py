"""Which categories a test tells apart, for people and for code.

A test of categories has two sides.  Every category that the fit has seen is on one of them;
missing values and unknown categories take the side of ``missing_go_to_left``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from contree._fitted_tree import FittedTree


class Sides(NamedTuple):
    """The codes of the categories on each side of a test."""

    left: list[int]
    right: list[int]


def sides_of(tree: FittedTree, node: int) -> Sides:
    """Return what goes left and right at a node, of the categories that can reach it."""
    goes_left, path = tree.codes_go_left(node), tree.path(node)
    reached = np.ones(len(goes_left), dtype=bool)
    for above, below in pairwise(path):
        if tree.feature[above] == tree.feature[node]:
            left_above = tree.codes_go_left(above)
            reached &= left_above if below == tree.children_left[above] else ~left_above
    return Sides(
        np.flatnonzero(reached & goes_left).tolist(), np.flatnonzero(reached & ~goes_left).tolist()
    )


def known_side(tree: FittedTree, node: int) -> tuple[list[int], bool]:
    """Return the codes on the side that only known categories take, and whether it is the left.

    Everything else takes the other side: a test for these codes alone does what ``predict`` does.
    """
    is_left = not tree.missing_go_to_left[node]
    left, right = sides_of(tree, node)
    goes_left = tree.codes_go_left(node)
    whole: list[int] = np.flatnonzero(goes_left == is_left).tolist()
    return (left if is_left else right) or whole, is_left


def unwritable(method: str, category: Any, column: str) -> ValueError:
    """Return the error for a category that a language has no literal for."""
    return ValueError(
        f"{method}() cannot write the category {category!r} of column {column!r}, which is a "
        f"{type(category).__name__}. Turn the column into strings before fit."
    )
