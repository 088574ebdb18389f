"""Where the nodes of a drawn tree stand: as close as they can without touching.

After Reingold and Tilford (1981), for boxes of any width: a subtree knows how far it reaches to
both sides on each of its levels; two siblings are pushed together until they meet on one level.
"""

from __future__ import annotations

import numpy as np

from contree._fitted_tree import FittedTree


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
    reach: dict[int, list[tuple[float, float]]] = {}  # (left, right) of each level of a subtree
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
    return middle - (middle - widths / 2).min()


def _merged(a: list, b: list, apart: float) -> list[tuple[float, float]]:
    """Return how far two siblings reach together, as seen from between them."""
    levels = []
    for depth in range(max(len(a), len(b))):
        left = a[depth] if depth < len(a) else None
        right = b[depth] if depth < len(b) else None
        levels.append(
            (
                left[0] - apart if left else right[0] + apart,
                right[1] + apart if right else left[1] - apart,
            )
        )
    return levels
