"""How the exports word a test of categories: ``colour in {blue, red}``."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from contree._fitted_tree import FittedTree

SHORT = 40  # characters of a set in a picture
MARKS = set(",{}'\"…")  # categories with these are quoted


def category_word(category: Any) -> str:
    """Return a category as text; quoted if it could be taken for something else."""
    text = str(category)
    if not isinstance(category, str) or (
        text.strip() == text != "" and text.isprintable() and not MARKS & set(text)
    ):
        return text
    return repr(text)


def learnt_left(tree: FittedTree, node: int) -> list[Any]:
    """Return the categories that go left at a node, of those that can reach it."""
    reached, codes_left = reachable(tree, node), tree.codes_go_left(node)
    known = tree.categories_of(node)
    return [known[code] for code in np.flatnonzero(reached & codes_left)]


def reachable(tree: FittedTree, node: int) -> np.ndarray:
    """Return for each category of a node's feature whether the tests above let it through."""
    path = tree.path(node)
    reached = np.ones(len(tree.codes_go_left(node)), dtype=bool)
    for above, below in pairwise(path):
        if tree.feature[above] == tree.feature[node]:
            goes_left = tree.codes_go_left(above)
            reached &= goes_left if below == tree.children_left[above] else ~goes_left
    return reached


def set_words(categories: list[Any], most: int | None = None) -> str:
    """Return a set in words, of at most about so many characters; None: whole."""
    words = [category_word(one) for one in categories]
    shown = len(words)
    while most is not None and shown > 1 and len(", ".join(words[:shown])) > most:
        shown -= 1
    rest = len(words) - shown
    return "{" + ", ".join([*words[:shown], *([f"… {rest} more"] if rest else [])]) + "}"


def refuse_categories(estimator: Any, what: str) -> None:
    """Raise ValueError if a tree tests categories."""
    if (estimator.tree_.category_offset >= 0).any():
        raise ValueError(
            f"{what}() does not take trees with categorical tests yet. Use to_json(), or one-hot "
            "encoded columns."
        )
