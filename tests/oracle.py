"""Slow and obviously right: every tree there is, and what a tree does to the rows.

No bound, no order, no shortcut; only equal subproblems are solved once.  For a dozen rows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np


def fewest_errors(X, y, depth: int, weights=None, min_leaf: int = 1) -> int | Fraction:
    """Return the least errors, or their least weight, of any tree of at most this depth.

    A leaf has at least so many rows.  Rows whose value is missing (NaN) may go either way at every
    threshold, also where all values go left.  Rows of weight zero are not there.
    """
    return size_front(X, y, depth, weights, min_leaf)[-1]


def size_front(X, y, depth: int, weights=None, min_leaf: int = 1) -> list[int | Fraction]:
    """Return the same for trees of at most 1, 2, 3, ... leaves, until more leaves gain nothing."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if weights is not None:
        weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
        kept = [weight > 0 for weight in weights]
        X, y, weights = X[kept], y[kept], [w for w in weights if w > 0]
    n = len(y)
    costs, unit = _integers([1] * n if weights is None else weights)
    # A set of rows is an integer, one bit for each row.
    classes = [_bits(y == label) for label in np.unique(y)]
    splits = {left for f in range(X.shape[1]) for left in _left_sides(X[:, f])}

    @cache
    def cost(rows: int) -> int:
        return sum(costs[i] for i in range(n) if rows >> i & 1)

    @cache
    def solve(rows: int, depth: int) -> tuple[int, ...]:
        alone = cost(rows) - max(cost(rows & members) for members in classes)
        best = [alone] * min(2**depth, rows.bit_count())
        if depth:
            for left in splits:
                sides = rows & left, rows & ~left
                if min(side.bit_count() for side in sides) < min_leaf:
                    continue
                first, second = (solve(side, depth - 1) for side in sides)
                for a, errors in enumerate(first):
                    for b, others in enumerate(second):
                        best[a + b + 1] = min(best[a + b + 1], errors + others)
        best = [min(best[: k + 1]) for k in range(len(best))]
        return tuple(best[: best.index(best[-1]) + 1])

    return [errors * unit for errors in solve((1 << n) - 1, depth)]


def _left_sides(column):
    """Yield the rows that go left, for every test of a feature."""
    missing = np.isnan(column)
    for value in np.unique(column[~missing]):
        yield _bits(column <= value)
        yield _bits((column <= value) | missing)


def _integers(weights) -> tuple[list[int], int | Fraction]:
    """Return integers and the unit that they are multiples of."""
    fractions = [Fraction(weight) for weight in weights]
    denominator = math.lcm(*(weight.denominator for weight in fractions))
    return [int(weight * denominator) for weight in fractions], (
        1 if denominator == 1 else Fraction(1, denominator)
    )


def check_tree(clf, X, y, weights=None, min_leaf: int = 1) -> None:
    """Assert that a fitted tree is well formed and that all it says of the rows is so.

    ``weights`` are exact: integers or Fractions, class weights included, and none is zero.
    """
    X, y, tree = np.asarray(X, dtype=np.float64), np.asarray(y), clf.tree_
    exact = [1] * len(y) if weights is None else list(weights)
    reached = {}

    def walk(node: int, rows: np.ndarray, depth: int) -> int | Fraction:
        assert node not in reached, "two ways lead to one node"
        assert node == len(reached), "nodes are numbered in preorder"
        reached[node] = rows
        assert len(rows) >= (min_leaf if node else 1), "too few rows in a node"
        counts = [np.count_nonzero(y[rows] == label) for label in clf.classes_]
        masses = [sum(exact[r] for r in rows if y[r] == label) for label in clf.classes_]
        mass = sum(masses)
        assert tree.class_counts[node].tolist() == counts
        assert tree.n_node_samples[node] == len(rows)
        assert [w * tree.weight_unit for w in tree.class_weights[node].tolist()] == masses
        assert tree.weighted_n_node_samples[node] == float(mass)
        assert tree.node_errors[node] == (
            mass - max(masses) if is_whole else float(mass - max(masses))
        )
        assert tree.majority[node] == masses.index(max(masses))
        np.testing.assert_allclose(tree.value[node, 0], [float(w / Fraction(mass)) for w in masses])
        f = tree.feature[node]
        if f < 0:
            assert f == -2
            assert tree.threshold[node] == -2.0
            assert tree.children_left[node] == tree.children_right[node] == -1
            assert tree.missing_go_to_left[node] == tree.n_node_missing[node] == 0
            leaf_of[rows] = node
            return mass - max(masses)
        assert depth < clf.max_depth
        missing = np.isnan(X[rows, f])
        assert tree.n_node_missing[node] == missing.sum()
        goes_left = np.where(
            missing, tree.missing_go_to_left[node], X[rows, f] <= tree.threshold[node]
        )
        goes_left = goes_left.astype(bool)
        if not missing.any():
            assert tree.missing_go_to_left[node] == (goes_left.sum() > (~goes_left).sum())
        below, above = tree.threshold_gap[node]
        values = X[:, f][~np.isnan(X[:, f])]
        assert below == values[values <= tree.threshold[node]].max()
        assert above == min(values[values > tree.threshold[node]], default=np.inf)
        return walk(int(tree.children_left[node]), rows[goes_left], depth + 1) + walk(
            int(tree.children_right[node]), rows[~goes_left], depth + 1
        )

    is_whole = isinstance(tree.weight_unit, int)
    leaf_of = np.full(len(y), -1)
    errors = walk(0, np.arange(len(y)), 0)
    assert len(reached) == tree.node_count
    assert clf.errors_ == (errors if is_whole else float(errors))
    assert type(clf.errors_) is (int if is_whole else float)
    assert clf.max_leaf_nodes is None or tree.n_leaves <= clf.max_leaf_nodes
    if clf.ccp_alpha == 0:
        assert type(clf.lower_bound_) is type(clf.errors_)
        assert clf.objective_ == clf.errors_
    else:
        exact_cost = Fraction(str(clf.ccp_alpha)) * sum(exact) * tree.n_leaves
        assert clf.objective_ == float(errors + exact_cost)
    assert clf.lower_bound_ <= clf.objective_
    assert clf.apply(X).tolist() == leaf_of.tolist()
    wrong = clf.predict(X) != y
    assert sum(weight for weight, is_wrong in zip(exact, wrong, strict=True) if is_wrong) == errors


def _bits(mask) -> int:
    return sum(1 << i for i, bit in enumerate(mask) if bit)
