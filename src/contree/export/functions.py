"""What a tree as a function in Python and one in C have in common.

Both are nested ifs.  Compilers limit how deep these may nest, so the subtrees at every sixteenth
level become functions of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from contree._fitted_tree import FittedTree
from contree.export.wording import Wording, counted

LEVELS = 16  # Python allows 100 levels of indentation, C99 127 of blocks


def starts(tree: FittedTree) -> list[int]:
    """Return the nodes, in preorder, that get a function of their own: the root and deep tests."""
    own = (tree.node_depth % LEVELS == 0) & (tree.feature >= 0)
    own[0] = True
    nodes: list[int] = np.flatnonzero(own).tolist()
    return nodes


def is_name(name: Any) -> bool:
    """Tell whether both languages allow a name, but for their own words."""
    return isinstance(name, str) and name.isidentifier() and name.isascii()


def categorical_tests(tree: FittedTree) -> list[int]:
    """Return the nodes that test categories."""
    tests: list[int] = np.flatnonzero(tree.category_offset >= 0).tolist()
    return tests


def columns(wording: Wording) -> str:
    """Return what a row consists of."""
    kind = "number" if wording.tree.categories is None else "value"
    return counted(len(wording.features), kind)


def counts(wording: Wording, node: int) -> str:
    """Return what a comment says of the rows of a leaf."""
    what = wording.loss(node) if wording.table is None else wording.details(node)
    return f"{wording.rows(node)}, {what}"
