"""Trees in which every leaf has the same depth, as the MIP and SAT encodings have them.

Nodes are numbered as in a heap: the root is 0, the children of t are 2t + 1 and 2t + 2.  A row goes
left if its value is at most the threshold; a node that sends all rows one way has an infinite one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class CompleteTree:
    depth: int
    feature: np.ndarray  # of each inner node
    threshold: np.ndarray
    label: np.ndarray  # of each leaf, from left to right

    def leaves(self, X) -> np.ndarray:
        """Return the number of the leaf of each row, from left to right."""
        X, rows = np.asarray(X), np.arange(len(X))
        node = np.zeros(len(X), dtype=int)
        for _ in range(self.depth):
            goes_right = X[rows, self.feature[node]] > self.threshold[node]
            node = 2 * node + 1 + goes_right
        return node - len(self.feature)

    def predict(self, X) -> np.ndarray:
        return self.label[self.leaves(X)]

    def errors(self, X, y) -> int:
        return int(np.count_nonzero(self.predict(X) != y))


def ancestors(leaf: int, depth: int) -> list[tuple[int, bool]]:
    """Return the (node, goes left) of the way from the root to a leaf."""
    way, node = [], 2**depth - 1 + leaf
    while node:
        parent = (node - 1) // 2
        way.append((parent, node == 2 * parent + 1))
        node = parent
    return way[::-1]


def from_rows(X, y, depth: int, feature, leaf) -> CompleteTree:
    """Return the tree with these features that sends each row to the leaf that is given for it.

    The labels are those of the majority.
    """
    feature, leaf = np.asarray(feature), np.asarray(leaf)
    threshold = np.full(2**depth - 1, np.inf)
    label = np.full(2**depth, np.bincount(y).argmax())
    for number in range(2**depth):
        if np.any(leaf == number):
            label[number] = np.bincount(y[leaf == number]).argmax()
    for node in range(2**depth - 1):
        sides = {True: np.zeros(len(y), dtype=bool), False: np.zeros(len(y), dtype=bool)}
        for number in range(2**depth):
            for at, left in ancestors(number, depth):
                if at == node:
                    sides[left] |= leaf == number
        values = X[:, feature[node]]
        if not sides[False].any():
            continue
        low = values[sides[True]].max(initial=-np.inf)
        threshold[node] = low if sides[True].any() else -np.inf
    return CompleteTree(depth, feature, threshold, label)


def cart(X, y, depth: int) -> CompleteTree:
    """Return CART's tree, where needed with tests that send all rows to the left."""
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    inner = fitted.tree_
    feature, threshold = np.zeros(2**depth - 1, dtype=int), np.full(2**depth - 1, np.inf)
    label = np.zeros(2**depth, dtype=int)

    def place(node: int, at: int) -> None:
        if at >= len(feature):
            label[at - len(feature)] = fitted.classes_[inner.value[node].argmax()]
            return
        left = right = node
        if inner.children_left[node] >= 0:
            feature[at], threshold[at] = inner.feature[node], inner.threshold[node]
            left, right = inner.children_left[node], inner.children_right[node]
        place(left, 2 * at + 1)
        place(right, 2 * at + 2)

    place(0, 0)
    return CompleteTree(depth, feature, threshold, label)
