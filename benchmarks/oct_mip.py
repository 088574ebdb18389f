"""OCT as a mixed-integer program on HiGHS: a baseline without licences.

The program of Bertsimas and Dunn, "Optimal classification trees" (Machine Learning, 2017), for a
complete tree without a cost of splits, in their letters:

    a[t,j]   node t tests feature j            b[t]     its threshold
    z[i,l]   row i is in leaf l                c[k,l]   leaf l says class k       L[l]   its errors

Without a cost of splits or a leaf size, the parts of their model that switch nodes and leaves off
have no effect and are left out: a test that sends all rows to one side does the same.  Features are
ranks, scaled to [0, 1]; half a step on either side of b[t] takes the place of their epsilon.  The
search begins with CART's tree, as in the experiments of the ConTree paper.
"""

from __future__ import annotations

import math
import time

import numpy as np

from _complete_tree import CompleteTree, ancestors, cart, from_rows


def fit(X, y, depth: int, time_limit: float) -> tuple[CompleteTree, int]:
    """Return the best tree and a proved lower bound of its errors; they meet at the optimum."""
    import highspy
    from scipy.sparse import csr_matrix

    end = time.perf_counter() + time_limit
    model = _Model(X, y, depth)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.999)  # errors are whole
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.columns, len(model.upper)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = model.cost, model.low, model.high
    lp.row_lower_, lp.row_upper_ = np.array(model.lower), np.array(model.upper)
    lp.integrality_ = [
        highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
        for whole in model.whole
    ]
    matrix = csr_matrix(
        (model.values, (model.at_row, model.at_column)), (len(model.upper), model.columns)
    )
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    solver.passModel(lp)
    first = cart(X, y, depth)
    start = highspy.HighsSolution()
    start.col_value = model.solution_of(first, X, y).tolist()
    solver.setSolution(start)
    solver.setOptionValue("time_limit", max(0.0, end - time.perf_counter()))
    solver.run()
    info = solver.getInfo()
    best = first
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        best = min(
            best, model.tree_of(solver.getSolution().col_value), key=lambda t: t.errors(X, y)
        )
    if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
        return best, best.errors(X, y)
    bound = info.mip_dual_bound
    return best, max(0, math.ceil(bound - 1e-6)) if math.isfinite(bound) else 0


class _Model:
    """The columns and rows of the program."""

    def __init__(self, X, y, depth: int):
        self.X, self.y, self.depth = X, y, depth
        (n, p), classes = X.shape, int(y.max()) + 1
        nodes, leaves = 2**depth - 1, 2**depth
        top = X.max(axis=0)
        self.x = X / np.maximum(top, 1.0)
        step = 1.0 / np.maximum(top, 1.0)  # between neighbouring values of a feature
        sizes = {"a": (nodes, p), "b": (nodes,), "z": (n, leaves)}
        sizes |= {"c": (classes, leaves), "L": (leaves,)}
        self.at, self.columns = {}, 0
        for name, shape in sizes.items():
            size = math.prod(shape)
            self.at[name] = self.columns + np.arange(size).reshape(shape)
            self.columns += size
        a, b, z, c, losses = (self.at[name] for name in "abzcL")
        self.low, self.high = np.zeros(self.columns), np.ones(self.columns)
        self.low[b], self.high[b] = -step.max() / 2, 1 + step.max() / 2
        self.high[losses] = n
        self.whole = np.ones(self.columns, dtype=bool)
        self.whole[b] = self.whole[losses] = False
        self.cost = np.zeros(self.columns)
        self.cost[losses] = 1.0
        self.values, self.at_row, self.at_column = [], [], []
        self.lower, self.upper = [], []
        for node in range(nodes):  # one feature in each node
            self._row(a[node], np.ones(p), 1.0, 1.0)
        for i in range(n):  # each row in one leaf
            self._row(z[i], np.ones(leaves), 1.0, 1.0)
        big = 1 + step.max()
        for leaf in range(leaves):
            for node, left in ancestors(leaf, depth):
                columns = [*a[node], b[node]]
                for i in range(n):
                    if left:  # a (x + step / 2) <= b + big (1 - z)
                        values = [*(self.x[i] + step / 2), -1.0, big]
                        self._row([*columns, z[i, leaf]], values, -np.inf, big)
                    else:  # a (x - step / 2) >= b - big (1 - z)
                        values = [*(self.x[i] - step / 2), -1.0, -big]
                        self._row([*columns, z[i, leaf]], values, -big, np.inf)
            self._row(c[:, leaf], np.ones(classes), 1.0, 1.0)
            for k in range(classes):  # L >= rows of other classes, if the leaf says k
                others = np.flatnonzero(y != k)
                columns = [*z[others, leaf], losses[leaf], c[k, leaf]]
                values = [*np.ones(len(others)), -1.0, len(others)]
                self._row(columns, values, -np.inf, len(others))

    def _row(self, columns, values, lower: float, upper: float) -> None:
        self.at_row += [len(self.lower)] * len(columns)
        self.at_column += list(columns)
        self.values += list(values)
        self.lower.append(lower)
        self.upper.append(upper)

    def solution_of(self, tree: CompleteTree, X, y) -> np.ndarray:
        """Return the values of the columns that say this tree."""
        solution = np.zeros(self.columns)
        leaf = tree.leaves(X)
        top = np.maximum(X.max(axis=0), 1.0)
        for node, (feature, threshold) in enumerate(zip(tree.feature, tree.threshold, strict=True)):
            solution[self.at["a"][node, feature]] = 1.0
            # Between the values of two neighbouring ranks, or outside of all of them.
            rank = np.clip(np.floor(threshold), -1, X[:, feature].max())
            solution[self.at["b"][node]] = (rank + 0.5) / top[feature]
        solution[self.at["z"][np.arange(len(y)), leaf]] = 1.0
        solution[self.at["c"][tree.label, np.arange(2**self.depth)]] = 1.0
        wrong = tree.predict(X) != y
        solution[self.at["L"]] = np.bincount(leaf[wrong], minlength=2**self.depth)
        return solution

    def tree_of(self, solution) -> CompleteTree:
        solution = np.asarray(solution)
        feature = solution[self.at["a"]].argmax(axis=1)
        leaf = solution[self.at["z"]].argmax(axis=1)
        return from_rows(self.X, self.y, self.depth, feature, leaf)
