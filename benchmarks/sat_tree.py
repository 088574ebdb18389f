"""Optimal trees on numeric features by SAT, on python-sat: a baseline without licences.

The encoding of Shati, Cohen and McIlraith, "SAT-based approach for learning optimal decision trees
with non-binary features" (CP 2021), for numeric features and a complete tree:

    a[t,j]   node t tests feature j            s[i,t]   row i would go left at node t
    z[i,l]   row i is in leaf l                g[l,k]   leaf l says class k
    e[i]     row i may be an error

Thresholds need no variables: if a node tests a feature, then with each row all those before it in
the order of the feature go left.  The number of errors is brought down by a totalizer: each tree
that is found asks for one better, the first is CART's; the last answer is that there is none.
"""

from __future__ import annotations

import time
from itertools import count, pairwise
from threading import Timer

import numpy as np

from _complete_tree import CompleteTree, ancestors, cart, from_rows


def fit(X, y, depth: int, time_limit: float) -> tuple[CompleteTree, int]:
    """Return the best tree and a proved lower bound of its errors; they meet at the optimum."""
    from pysat.card import ITotalizer
    from pysat.solvers import Glucose4

    end = time.perf_counter() + time_limit
    best = cart(X, y, depth)
    errors = best.errors(X, y)
    if errors == 0:
        return best, 0
    encoding = _Encoding(X, y, depth)
    totalizer = ITotalizer(list(encoding.e), ubound=errors - 1, top_id=encoding.top)
    with Glucose4(bootstrap_with=encoding.clauses) as solver:
        solver.append_formula(totalizer.cnf.clauses)
        timer = Timer(max(0.0, end - time.perf_counter()), solver.interrupt)
        timer.daemon = True
        timer.start()
        try:
            while errors and time.perf_counter() < end:
                solver.add_clause([-totalizer.rhs[errors - 1]])  # fewer errors
                found = solver.solve_limited(expect_interrupt=True)
                if found is None:
                    return best, 0
                if not found:
                    return best, errors
                best = encoding.tree_of(np.array(solver.get_model()))
                errors = best.errors(X, y)
        finally:
            timer.cancel()
            totalizer.delete()
    return best, 0


class _Encoding:
    """The variables and clauses of "a tree of this depth, with errors where e says so"."""

    def __init__(self, X, y, depth: int):
        self.X, self.y, self.depth = X, y, depth
        (n, p), classes = X.shape, int(y.max()) + 1
        nodes, leaves = 2**depth - 1, 2**depth
        fresh = count(1)

        def variables(*shape: int) -> np.ndarray:
            size = int(np.prod(shape))
            return np.array([next(fresh) for _ in range(size)]).reshape(shape)

        self.a, self.s = variables(nodes, p), variables(n, nodes)
        self.z, self.g = variables(n, leaves), variables(leaves, classes)
        self.e = variables(n).tolist()
        self.top = next(fresh) - 1
        self.clauses: list[list[int]] = []
        self._tests(X)
        self._ways(leaves, depth)
        self._labels(y, classes)

    def _tests(self, X) -> None:
        """One feature in each node; along it, left is before right."""
        a, s = self.a.tolist(), self.s.tolist()
        for node, chosen in enumerate(a):
            self._exactly_one(chosen)
            for j, test in enumerate(chosen):
                order = np.argsort(X[:, j], kind="stable").tolist()
                # All right is the same as all left with the subtrees exchanged.
                self.clauses.append([-test, s[order[0]][node]])
                for before, after in pairwise(order):
                    self.clauses.append([-test, -s[after][node], s[before][node]])
                    if X[before, j] == X[after, j]:
                        self.clauses.append([-test, -s[before][node], s[after][node]])

    def _ways(self, leaves: int, depth: int) -> None:
        """A row is in the leaf that its way leads to."""
        s, z = self.s.tolist(), self.z.tolist()
        for leaf in range(leaves):
            way = ancestors(leaf, depth)
            for went, arrived in zip(s, z, strict=True):
                steps = [went[node] if left else -went[node] for node, left in way]
                self.clauses += [[-arrived[leaf], step] for step in steps]
                self.clauses.append([arrived[leaf], *(-step for step in steps)])

    def _labels(self, y, classes: int) -> None:
        """A row in a leaf of another class is an error."""
        g, z = self.g.tolist(), self.z.tolist()
        for said in g:
            self._exactly_one(said)
        for i, k in enumerate(y.tolist()):
            for leaf, said in enumerate(g):
                self.clauses.append([self.e[i], -z[i][leaf], said[k]])

    def _exactly_one(self, literals: list[int]) -> None:
        self.clauses.append(list(literals))
        for number, one in enumerate(literals):
            self.clauses += [[-one, -other] for other in literals[number + 1 :]]

    def tree_of(self, model: np.ndarray) -> CompleteTree:
        true = model > 0  # variable v is at v - 1
        feature = true[self.a - 1].argmax(axis=1)
        leaf = true[self.z - 1].argmax(axis=1)
        return from_rows(self.X, self.y, self.depth, feature, leaf)
