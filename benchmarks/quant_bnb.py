"""Optimal trees by branch-and-bound over quantile cells, on numpy: a baseline without Julia.

A small version of our own of Mazumder, Meng and Wang, "Quant-BnB: a scalable branch-and-bound
method for optimal decision trees with continuous features" (ICML 2022).

A cell is a range of thresholds of one feature.  The rows below the range go left and those above it
go right, whatever the threshold, so

    bound of a cell = bound of the rows below it + bound of the rows above it

and the rows inside count for nothing.  A cell that may hold a better tree is cut at its quantiles,
and the thresholds there are tried.  A cell with few thresholds is searched one by one.  Stumps are
exact.  The bound of a set of rows for deeper trees is the least bound of its first cells.
"""

from __future__ import annotations

import heapq
import time
from itertools import count, pairwise

import numpy as np

from _complete_tree import CompleteTree, cart

CUTS = 3  # quantiles of a cell
LEAF = ()  # a tree is a leaf, or (feature, threshold, left tree, right tree)


class OutOfTime(Exception):
    """The time limit has passed."""


def fit(X, y, depth: int, time_limit: float) -> tuple[CompleteTree, int]:
    """Return the best tree and a proved lower bound of its errors; they meet at the optimum."""
    first = cart(X, y, depth)
    search = _Search(X, y, first.errors(X, y), time.perf_counter() + time_limit)
    try:
        search.better(np.ones(len(X), dtype=bool), depth, search.errors, at_root=True)
        search.bound = search.errors
    except OutOfTime:
        pass
    tree = first if search.best is None else complete(search.best, X, y, depth)
    return tree, min(search.bound, search.errors)


class _Search:
    """Rows are boolean masks over all rows; `errors` are those of a tree that is known."""

    def __init__(self, X, y, errors: int, end: float):
        self.X, self.end = X, end
        self.order = np.argsort(X, axis=0, kind="stable").T
        self.sorted = np.take_along_axis(X.T, self.order, axis=1)
        self.y = y
        self.of_class = np.equal.outer(np.arange(y.max() + 1), y).astype(np.int32)
        self.best, self.errors, self.bound = None, errors, 0  # None: none is better

    def leaf(self, rows) -> int:
        counts = np.bincount(self.y[rows])
        return int(counts.sum() - counts.max(initial=0))

    def stump(self, rows) -> tuple[int, tuple]:
        """Return the errors of the best stump or leaf, and that tree."""
        if time.perf_counter() > self.end:
            raise OutOfTime
        errors = self.leaf(rows)
        if errors == 0:
            return 0, LEAF
        inside, shape = rows[self.order], (len(self.order), -1)
        order, values = self.order[inside].reshape(shape), self.sorted[inside].reshape(shape)
        left = np.cumsum(self.of_class[:, order], axis=2, dtype=np.int32)
        right = left[:, :, -1:] - left
        wrong = order.shape[1] - left.max(axis=0) - right.max(axis=0)
        wrong[:, :-1][values[:, 1:] == values[:, :-1]] = errors  # equal values stay together
        f, k = np.unravel_index(wrong.argmin(), wrong.shape)
        if wrong[f, k] >= errors:
            return errors, LEAF
        return int(wrong[f, k]), (int(f), float(values[f, k]), LEAF, LEAF)

    def lower(self, rows, depth: int) -> int:
        """Return a bound of the errors of all trees of a depth on these rows."""
        if depth <= 1:
            return self.stump(rows)[0] if depth else self.leaf(rows)
        least = self.leaf(rows)
        for cell in (cell for f in range(len(self.order)) for cell in self.cells(rows, f)):
            if least == 0:
                break
            least = min(least, self.cell_bound(rows, depth, least, *cell))
        return least

    def cell_bound(self, rows, depth: int, enough: int, f: int, thresholds) -> int:
        """Return a bound of the errors with a split in the cell; above `enough` any will do."""
        x = self.X[:, f]
        below = self.lower(rows & (x <= thresholds[0]), depth - 1)
        if below >= enough:
            return below
        return below + self.lower(rows & (x > thresholds[-1]), depth - 1)

    def cells(self, rows, f: int, thresholds=None):
        """Yield the cells of a feature, or of a part of its thresholds, cut at its quantiles."""
        if thresholds is None:
            thresholds = np.unique(self.X[rows, f])[:-1]
        ends = np.unique(np.linspace(0, len(thresholds) - 1, CUTS + 2).astype(int))
        if len(thresholds) == 1:
            yield f, thresholds
        elif len(thresholds):
            yield from ((f, thresholds[a : b + 1]) for a, b in pairwise(ends.tolist()))

    def better(self, rows, depth: int, limit: int, at_root=False):
        """Return the best tree with fewer errors than `limit` and its errors, or None."""
        found = None

        def offer(tree, errors: int) -> None:
            nonlocal found, limit
            if errors < limit:
                found, limit = (tree, errors), errors
                if at_root:
                    self.best, self.errors = tree, errors

        offer(LEAF, self.leaf(rows))
        if depth == 1 and limit:
            offer(*reversed(self.stump(rows)))
        if depth <= 1 or limit == 0:
            return found
        number = count()  # breaks ties
        queue = [
            (0, next(number), f, thresholds)
            for f in range(len(self.order))
            for f, thresholds in self.cells(rows, f)
        ]
        while queue and queue[0][0] < limit:
            bound, _, f, thresholds = heapq.heappop(queue)
            if at_root:
                self.bound = bound
            if len(thresholds) <= CUTS:
                for threshold in thresholds:
                    self.try_split(rows, depth, f, threshold, limit, offer)
                continue
            for _, cell in self.cells(rows, f, thresholds):
                self.try_split(rows, depth, f, cell[0], limit, offer)
                bound_of_cell = max(bound, self.cell_bound(rows, depth, limit, f, cell))
                if bound_of_cell < limit:
                    heapq.heappush(queue, (bound_of_cell, next(number), f, cell))
        return found

    def try_split(self, rows, depth: int, f: int, threshold, limit: int, offer) -> None:
        """Offer the best tree with this split at its root, if it is below the limit."""
        goes_left = self.X[:, f] <= threshold
        left = self.better(rows & goes_left, depth - 1, limit)
        if left is None:
            return
        right = self.better(rows & ~goes_left, depth - 1, limit - left[1])
        if right is not None:
            offer((f, float(threshold), left[0], right[0]), left[1] + right[1])


def complete(tree, X, y, depth: int) -> CompleteTree:
    """Return the tree with every leaf at `depth`; its leaves say the majority."""
    feature, threshold = np.zeros(2**depth - 1, dtype=int), np.full(2**depth - 1, np.inf)

    def place(tree, at: int) -> None:
        if tree is not LEAF:
            feature[at], threshold[at] = tree[:2]
            place(tree[2], 2 * at + 1)
            place(tree[3], 2 * at + 2)

    place(tree, 0)
    made = CompleteTree(depth, feature, threshold, np.full(2**depth, np.bincount(y).argmax()))
    leaf = made.leaves(X)
    for number in np.unique(leaf):
        made.label[number] = np.bincount(y[leaf == number]).argmax()
    return made
