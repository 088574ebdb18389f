"""The tree that a fit ends with: flat node arrays under scikit-learn's names.

Built by the classifier from the core's answer; the exports and ``predict`` read it.  Nodes are
numbered in preorder (root 0, left subtree, right subtree), as in scikit-learn.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

UNDEFINED = -2  # feature and threshold of a leaf
CHUNK = 1 << 14  # rows sent down at once: few enough to stay in the cache, twice as fast as all


class FittedTree:
    """A binary classification tree; all arrays are read-only.

    Parameters
    ----------
    children_left, children_right : array of int64, shape (node_count,)
        Node numbers; -1 at a leaf.
    feature : array of int64, shape (node_count,)
        The column that a node tests; -2 at a leaf.
    threshold : array of float64, shape (node_count,)
        A row goes left when ``x[feature] <= threshold``; -2.0 at a leaf.
    class_counts : array of int64, shape (node_count, n_classes)
        Training rows of each class that reach a node.
    threshold_gap : array of float64, shape (node_count, 2)
        The neighbours of the threshold among the training values of its column: the largest value
        that goes left and the smallest that goes right; -2.0 at a leaf.  Every number ``t`` with
        ``left <= t < right`` splits the training rows in the same way.

    Attributes
    ----------
    value : array of float64, shape (node_count, 1, n_classes)
        Class fractions of a node, as in scikit-learn 1.3 and newer.
    n_node_samples : array of int64, shape (node_count,)
        Training rows that reach a node.
    node_count, max_depth, n_leaves : int
        Size of the tree.
    """

    def __init__(
        self, children_left, children_right, feature, threshold, class_counts, threshold_gap
    ):
        self.children_left = _frozen(children_left, np.int64)
        self.children_right = _frozen(children_right, np.int64)
        self.feature = _frozen(feature, np.int64)
        self.threshold = _frozen(threshold, np.float64)
        self.class_counts = _frozen(class_counts, np.int64)
        self.threshold_gap = _frozen(threshold_gap, np.float64)
        self.n_node_samples = _frozen(self.class_counts.sum(axis=1), np.int64)

    def __reduce__(self):
        # Through the constructor, because unpickled arrays would be writeable.
        return type(self), (
            self.children_left,
            self.children_right,
            self.feature,
            self.threshold,
            self.class_counts,
            self.threshold_gap,
        )

    def __repr__(self):
        return f"FittedTree(node_count={self.node_count}, max_depth={self.max_depth})"

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return (self.node_count + 1) // 2

    @property
    def max_depth(self) -> int:
        return int(self.node_depth.max())

    @cached_property
    def node_depth(self) -> np.ndarray:
        """The number of tests above each node."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):  # preorder: parents come first
            depth[self.children_left[node]] = depth[self.children_right[node]] = depth[node] + 1
        return _frozen(depth, np.int64)

    @cached_property
    def parent(self) -> np.ndarray:
        """The node above each node; -1 at the root."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        inner = np.flatnonzero(self.feature >= 0)
        parent[self.children_left[inner]] = parent[self.children_right[inner]] = inner
        return _frozen(parent, np.int64)

    @cached_property
    def value(self) -> np.ndarray:
        fractions = self.class_counts / self.n_node_samples[:, np.newaxis]
        return _frozen(fractions[:, np.newaxis, :], np.float64)

    @cached_property
    def majority(self) -> np.ndarray:
        """The class index that each node predicts: most rows, the lowest index among equals."""
        return _frozen(self.class_counts.argmax(axis=1), np.int64)

    @cached_property
    def node_errors(self) -> np.ndarray:
        """Training rows of each node that are not of its majority class."""
        return _frozen(self.n_node_samples - self.class_counts.max(axis=1), np.int64)

    @cached_property
    def impurity(self) -> np.ndarray:
        """The Gini impurity of each node: how often two of its rows, drawn at random, differ."""
        return _frozen(1.0 - np.square(self.value[:, 0, :]).sum(axis=1), np.float64)

    def feature_importances(self, n_features: int) -> np.ndarray:
        """Return the decrease of impurity that each feature brings, in shares of the total.

        As CART: a test brings the rows of its node times their impurity, less the same of its two
        sides.  All zero where no test brings anything.
        """
        inner = np.flatnonzero(self.feature >= 0)
        mass = self.n_node_samples * self.impurity
        decrease = mass[inner] - mass[self.children_left[inner]] - mass[self.children_right[inner]]
        importances = np.bincount(self.feature[inner], weights=decrease, minlength=n_features)
        total = importances.sum()
        return importances / total if total > 0 else np.zeros(n_features)

    def decision_path(self, X: np.ndarray) -> csr_matrix:
        """Return the nodes that each row of a float64 matrix passes, as a matrix of 0 and 1."""
        leaves = self.apply(X)
        lengths = self.node_depth[leaves] + 1
        starts = np.concatenate(([0], np.cumsum(lengths)))
        nodes = np.empty(starts[-1], dtype=np.int64)
        for leaf in np.unique(leaves):
            rows = np.flatnonzero(leaves == leaf)
            nodes[starts[rows][:, np.newaxis] + np.arange(lengths[rows[0]])] = self.path(leaf)
        ones = np.ones(len(nodes), dtype=np.int64)
        return csr_matrix((ones, nodes, starts), shape=(len(X), self.node_count))

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = [int(node)]
        while path[-1] != 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return the number of the leaf that each row of a float64 matrix ends in."""
        leaf = np.zeros(len(X), dtype=np.int64)
        for start in range(0, len(X), CHUNK):
            self._apply_to_chunk(X[start : start + CHUNK], leaf[start : start + CHUNK])
        return leaf

    def _apply_to_chunk(self, X: np.ndarray, leaf: np.ndarray) -> None:
        pending = [(0, np.arange(len(X)))]
        while pending:
            node, rows = pending.pop()
            f = self.feature[node]
            if f < 0:
                leaf[rows] = node
            elif len(rows):
                goes_left = X[rows, f] <= self.threshold[node]
                pending.append((self.children_left[node], rows[goes_left]))
                pending.append((self.children_right[node], rows[~goes_left]))


def threshold_gaps(X: np.ndarray, feature: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Return the two training values around each threshold, and -2.0 twice at leaves."""
    gaps = np.full((len(feature), 2), float(UNDEFINED))
    for f in np.unique(feature[feature >= 0]):
        nodes, column = np.flatnonzero(feature == f), X[:, f]
        if len(nodes) > 16:  # one sort is cheaper than a pass for each node
            values = np.sort(column)
            right = np.searchsorted(values, threshold[nodes], side="right")
            gaps[nodes] = np.column_stack((values[right - 1], values[right]))
            continue
        for node in nodes:
            goes_left = column <= threshold[node]
            gaps[node, 0] = column.max(where=goes_left, initial=-np.inf)
            gaps[node, 1] = column.min(where=~goes_left, initial=np.inf)
    return gaps


def _frozen(values, dtype) -> np.ndarray:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array
