"""Where the nodes of a drawn tree stand: as close as they can without touching.

After Reingold and Tilford (1981), for boxes of any width: a subtree knows how far it reaches to
both sides on each of its levels; two siblings are pushed together until they meet on one level.
"""

from __future__ import annotations

import numpy as np

from contree._fitted_tree import FittedTree

Reach = list[tuple[float, float]]  # how far each level goes to the left and to the right


def centres(tree: FittedTree, widths: np.ndarray, gap: float, words: np.ndarray) -> np.ndarray:
    """Return the middle of each node along the horizontal axis; the leftmost box starts at 0.

    Parameters
    ----------
    tree : FittedTree
        The tree.
    widths : array of shape (node_count,)
        The width of each node's box.
    gap : float
        The least distance between two boxes of one level.
    words : array of shape (node_count,)
        The room that the words on each of a node's two branches need, from its middle to the
        child's.
    """
    offset = np.zeros(tree.node_count)  # from the parent's middle
    reach: dict[int, Reach] = {}  # of each subtree
    for node in reversed(range(tree.node_count)):  # preorder backwards: children come first
        half = widths[node] / 2
        levels = [(-half, half)]
        if tree.feature[node] >= 0:
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            a, b = reach.pop(left), reach.pop(right)
            shared = zip(a, b, strict=False)
            apart = max(one[1] - other[0] + gap for one, other in shared) / 2
            apart = max(apart, words[node])
            offset[left], offset[right] = -apart, apart
            levels += _merged(a, b, apart)
        reach[node] = levels
    middle = np.zeros(tree.node_count)
    for node in range(1, tree.node_count):
        middle[node] = middle[tree.parent[node]] + offset[node]
    placed: np.ndarray = middle - (middle - widths / 2).min()
    return placed


def _merged(a: Reach, b: Reach, apart: float) -> Reach:
    """Return how far two siblings reach together, as seen from between them."""
    both = [(one[0] - apart, other[1] + apart) for one, other in zip(a, b, strict=False)]
    alone = [(low - apart, high - apart) for low, high in a[len(b) :]]
    alone += [(low + apart, high + apart) for low, high in b[len(a) :]]
    return both + alone
