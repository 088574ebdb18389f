"""Slow and obviously right: every tree there is, and what a tree does to the rows.

No bound, no order, no shortcut; only equal subproblems are solved once.  For a dozen rows.
"""

from __future__ import annotations

from functools import cache

import numpy as np


def fewest_errors(X, y, depth: int) -> int:
    """Return the least number of errors of any tree of at most this depth."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    n = len(y)
    # A set of rows is an integer, one bit for each row.
    classes = [_bits(y == label) for label in np.unique(y)]
    splits = {
        _bits(X[:, f] <= value) for f in range(X.shape[1]) for value in np.unique(X[:, f])[:-1]
    }

    @cache
    def solve(rows: int, depth: int) -> int:
        best = rows.bit_count() - max((rows & members).bit_count() for members in classes)
        if depth:
            for left in splits:
                if rows & left and rows & ~left:
                    best = min(best, solve(rows & left, depth - 1) + solve(rows & ~left, depth - 1))
        return best

    return solve((1 << n) - 1, depth)


def check_tree(clf, X, y) -> None:
    """Assert that a fitted tree is well formed and that all it says of the rows is so."""
    X, y, tree = np.asarray(X, dtype=np.float64), np.asarray(y), clf.tree_
    reached = {}

    def walk(node: int, rows: np.ndarray, depth: int) -> int:
        assert node not in reached, "two ways lead to one node"
        assert node == len(reached), "nodes are numbered in preorder"
        reached[node] = rows
        assert len(rows), "an empty node"
        counts = [np.count_nonzero(y[rows] == label) for label in clf.classes_]
        assert tree.class_counts[node].tolist() == counts
        assert tree.n_node_samples[node] == len(rows)
        np.testing.assert_allclose(tree.value[node, 0], np.array(counts) / len(rows))
        f = tree.feature[node]
        if f < 0:
            assert f == -2
            assert tree.threshold[node] == -2.0
            assert tree.children_left[node] == tree.children_right[node] == -1
            leaf_of[rows] = node
            return len(rows) - max(counts)
        assert depth < clf.max_depth
        goes_left = X[rows, f] <= tree.threshold[node]
        return walk(int(tree.children_left[node]), rows[goes_left], depth + 1) + walk(
            int(tree.children_right[node]), rows[~goes_left], depth + 1
        )

    leaf_of = np.full(len(y), -1)
    errors = walk(0, np.arange(len(y)), 0)
    assert len(reached) == tree.node_count
    assert clf.errors_ == errors
    assert clf.objective_ == clf.errors_
    assert clf.lower_bound_ <= clf.objective_
    assert clf.apply(X).tolist() == leaf_of.tolist()
    assert np.count_nonzero(clf.predict(X) != y) == errors


def _bits(mask) -> int:
    return sum(1 << i for i, bit in enumerate(mask) if bit)
