"""Slow and obviously right: every tree there is, and what a tree does to the rows.

No bound, no order, no shortcut; only equal subproblems are solved once.  For a dozen rows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np


def fewest_errors(
    X, y, depth: int, weights=None, min_leaf: int = 1, categorical=()
) -> int | Fraction:
    """Return the least errors, or their least weight, of any tree of at most this depth.

    A leaf has at least so many rows.  Rows whose value is missing (NaN) may go either way at every
    threshold, also where all values go left.  In `categorical` columns any set of values may go
    left, missing ones too.  Rows of weight zero are not there.
    """
    return size_front(X, y, depth, weights, min_leaf, categorical)[-1]


def size_front(
    X, y, depth: int, weights=None, min_leaf: int = 1, categorical=()
) -> list[int | Fraction]:
    """Return the same for trees of at most 1, 2, 3, ... leaves, until more leaves gain nothing."""
    X, y, weights = _with_weight(X, y, weights)
    n = len(y)
    costs, unit = _integers([1] * n if weights is None else weights)
    classes = [_bits(y == label) for label in np.unique(y)]

    @cache
    def cost(rows: int) -> int:
        return sum(costs[i] for i in range(n) if rows >> i & 1)

    def alone(rows: int) -> int:
        return cost(rows) - max(cost(rows & members) for members in classes)

    front = _front(X, depth, alone, min_leaf, categorical=categorical)
    return [errors * unit for errors in front]


def squared_error_front(
    X,
    y,
    depth: int,
    weights=None,
    min_leaf: int = 1,
    min_share: Fraction = Fraction(0),
    categorical=(),
) -> list[Fraction]:
    """Return the least squared error of trees of at most 1, 2, 3, ... leaves, as fractions.

    A leaf has at least a share of the weight.
    """
    X, y, weights = _with_weight(X, y, weights)
    targets = exact_targets(y)
    exact = [Fraction(1)] * len(y) if weights is None else [Fraction(w) for w in weights]

    @cache
    def sums(rows: int) -> tuple[Fraction, Fraction, Fraction]:
        members = [i for i in range(len(y)) if rows >> i & 1]
        moments = ([exact[i] * targets[i] ** k for i in members] for k in range(3))
        mass, total, squares = (sum(terms, Fraction(0)) for terms in moments)
        return mass, total, squares

    def alone(rows: int) -> Fraction:
        mass, total, squares = sums(rows)
        return squares - total * total / mass

    least = min_share * sum(exact)
    return _front(X, depth, alone, min_leaf, lambda rows: sums(rows)[0] >= least, categorical)


def exact_targets(y) -> list[Fraction]:
    """Return targets as the decimals that are written, or the binary values of long ones."""
    words = map(repr, y.tolist())
    short = [len(word.split("e")[0].strip("-0").replace(".", "")) <= 15 for word in words]
    return [Fraction(repr(v)) if all(short) else Fraction(v) for v in y.tolist()]


def _with_weight(X, y, weights):
    """Return the rows that have a weight, as arrays, and the weights as a list or None."""
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if weights is None:
        return X, y, None
    weights = weights.tolist() if isinstance(weights, np.ndarray) else weights
    kept = [weight > 0 for weight in weights]
    return X[kept], y[kept], [w for w in weights if w > 0]


def _front(X, depth: int, alone, min_leaf: int, is_heavy=lambda rows: True, categorical=()) -> list:
    """Return the least loss for 1, 2, 3, ... leaves; `alone` is the loss of a leaf.

    A set of rows is an integer, one bit for each row.
    """
    splits = {
        left
        for f in range(X.shape[1])
        for left in (_subsets if f in categorical else _left_sides)(X[:, f])
    }

    @cache
    def solve(rows: int, depth: int) -> tuple:
        best = [alone(rows)] * min(2**depth, rows.bit_count())
        if depth:
            for left in splits:
                sides = rows & left, rows & ~left
                if min(side.bit_count() for side in sides) < max(min_leaf, 1):
                    continue
                if not all(map(is_heavy, sides)):
                    continue
                first, second = (solve(side, depth - 1) for side in sides)
                for a, errors in enumerate(first):
                    for b, others in enumerate(second):
                        best[a + b + 1] = min(best[a + b + 1], errors + others)
        best = [min(best[: k + 1]) for k in range(len(best))]
        return tuple(best[: best.index(best[-1]) + 1])

    return list(solve((1 << len(X)) - 1, depth))


def _left_sides(column):
    """Yield the rows that go left, for every test of a feature."""
    missing = np.isnan(column)
    for value in np.unique(column[~missing]):
        yield _bits(column <= value)
        yield _bits((column <= value) | missing)


def _subsets(column):
    """Yield the rows that go left, for every set of categories."""
    values = [_bits(column == value) for value in np.unique(column[~np.isnan(column)])]
    values.append(_bits(np.isnan(column)))
    for chosen in range(1 << len(values)):
        yield sum(rows for k, rows in enumerate(values) if chosen >> k & 1)


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


def check_number_tree(reg, X, y, weights=None, min_leaf: int = 1) -> Fraction:
    """Assert that a fitted regression tree tells the truth; return its exact squared error.

    No weight is zero.
    """
    X, y, tree = np.asarray(X, dtype=np.float64), np.asarray(y), reg.tree_
    targets = exact_targets(y)
    exact = [Fraction(1)] * len(y) if weights is None else [Fraction(w) for w in weights]
    is_exact = reg.weight_tolerance_ == reg.target_tolerance_ == 0
    total = Fraction(0)
    path = reg.decision_path(X).toarray().astype(bool)
    assert path[:, 0].all()
    for node in range(tree.node_count):
        rows = np.flatnonzero(path[:, node])
        assert len(rows) == tree.n_node_samples[node] == tree.histogram[node].sum()
        assert len(rows) >= (min_leaf if node else 1)
        mass, first, second = (
            sum((exact[r] * targets[r] ** k for r in rows), Fraction(0)) for k in range(3)
        )
        error = second - first * first / mass
        if is_exact:
            assert tree.value[node, 0, 0] == float(first / mass)
            assert tree.impurity[node] == float(error / mass)
        np.testing.assert_allclose(tree.weighted_n_node_samples[node], float(mass), rtol=1e-6)
        total += error if tree.feature[node] < 0 else 0
        if tree.feature[node] >= 0:
            missing = np.isnan(X[rows, tree.feature[node]])
            assert tree.n_node_missing[node] == missing.sum()
            left = path[rows, tree.children_left[node]]
            assert (left != path[rows, tree.children_right[node]]).all()
            below, above = tree.threshold_gap[node]
            is_threshold = below <= tree.threshold[node] < above or tree.threshold[node] == np.inf
            assert is_threshold or tree.tests_categories(node)
    assert (reg.apply(X) == [np.flatnonzero(one)[-1] for one in path]).all()
    assert (reg.predict(X) == tree.value[reg.apply(X), 0, 0]).all()
    if is_exact:
        assert reg.squared_error_ == float(total)
    assert tree.max_depth <= (reg.max_depth if reg.max_depth is not None else len(y))
    return total
