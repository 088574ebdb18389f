"""Numbers as what a fit learns: targets become integers, and squared errors are counted."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from contree._check_numbers import check_numbers, exact_numbers
from contree._check_parameters import resolve_max_depth
from contree._check_weights import rows_with_weight
from contree._integer_targets import (
    BITS,
    IntegerTargets,
    exact_targets,
    fits,
    grid_targets,
    sums,
    widest,
)
from contree._number_tree import WORD, NumberTree
from contree._objective import most_leaves
from contree._squared_error import SquaredErrorCost, squared_error
from contree._target import Counted, Target
from contree._weights import Weights, weigh

if TYPE_CHECKING:
    from contree._estimator import TreeEstimator
    from contree._fit_request import FitRequest, SearchInput
    from contree._typing import Answer, Nodes

EXACT_WEIGHTS = 1 << (BITS - 1)  # what weights must sum to less than, beside targets of one bit
FEW_WEIGHTS = 1 << 26  # what they are rounded to sum to, at least, if targets are rounded too
LEAST_WEIGHT = 64  # the same for one row, on average


class NumberTarget(Target):
    """The number of each row.

    Parameters
    ----------
    y : array of int64, uint64 or float64, shape (n_rows,)
        Finite.
    """

    def __init__(self, y: np.ndarray):
        self._y = y

    @staticmethod
    def readable(y: Any) -> Any:
        return exact_numbers(y)

    @classmethod
    def of(cls, y: np.ndarray) -> NumberTarget:
        return cls(check_numbers(y))

    @property
    def y(self) -> np.ndarray:
        return self._y

    n_classes = 0

    def fingerprint(self) -> bytes:
        return str(self._y.dtype).encode() + self._y.tobytes()

    def counted(self, estimator: TreeEstimator, sample_weight: np.ndarray | None) -> Counted:
        rows, y = rows_with_weight(sample_weight, None, self._y), self._y
        if rows is not None:
            y = y[rows]
            sample_weight = sample_weight[rows] if sample_weight is not None else None
        weights, targets = _as_integers(y, sample_weight)
        depth = resolve_max_depth(estimator.max_depth, len(y))
        most = most_leaves(0.0, depth, estimator.max_leaf_nodes, len(y))
        cost = SquaredErrorCost.of(estimator.ccp_alpha, most, targets, weights)
        return Counted(rows, targets.integers, weights, cost)

    def store(
        self, estimator: TreeEstimator, answer: Answer, request: FitRequest
    ) -> SquaredErrorCost:
        cost, weights = request.cost, request.weights
        assert isinstance(cost, SquaredErrorCost)
        tree = NumberTree.of_answer(
            answer["tree"],
            target_unit=cost.targets.unit,
            target_centre=cost.targets.centre,
            weight_unit=weights.unit,
            n_features=estimator.n_features_in_,
            categories=estimator.categories_,
        ).with_histogram(request.search_input.X, request.search_input.y)
        settled = cost.settle(answer["objective"], tree.squared_error, tree.n_leaves)
        estimator.tree_ = tree
        estimator.squared_error_ = float(tree.squared_error)
        estimator.weight_tolerance_ = settled.weight_tolerance(weights)
        estimator.target_tolerance_ = settled.target_tolerance(weights, answer["lower_bound"])
        return settled

    @staticmethod
    def recount(tree: Nodes, search_input: SearchInput) -> int:
        leaf_of = NumberTree.of_answer(tree).apply(search_input.X)
        weights, shift = search_input.options["weights"], search_input.options["score_shift"]
        loss = 0
        for leaf in np.flatnonzero(tree["feature"] < 0).tolist():
            rows = np.flatnonzero(leaf_of == leaf)
            own = None if weights is None else weights[rows]
            mass, total, squares = sums(search_input.y[rows], own)
            high, low = tree["node_squares"][leaf].tolist()
            told = (tree["node_weights"][leaf], tree["node_sums"][leaf], (high << WORD) + low)
            if len(rows) != tree["n_node_samples"][leaf] or (mass, total, squares) != told:
                raise RuntimeError("contree: the sums of a leaf are not those of its rows.")
            loss += math.floor(squared_error(mass, total, squares) * Fraction(2) ** shift)
        return loss


def _as_integers(y: np.ndarray, sample_weight: np.ndarray | None) -> tuple[Weights, IntegerTargets]:
    """Return weights and targets as integers whose products sum to less than 2**53.

    Both are exact if they fit.  Else the weights stay exact if they are few, or the targets if
    they are narrow; else both are rounded.
    """
    one_group = np.zeros(len(y), dtype=np.int8)
    weights = weigh(sample_weight, None, one_group, EXACT_WEIGHTS)
    few = max(FEW_WEIGHTS, LEAST_WEIGHT * len(y))
    ways = exact_targets(y)
    if weights.tolerance == 0:
        exact = next((one for one in ways if fits(one, weights.total)), None)
        if exact is not None or weights.total <= few:
            return weights, exact or grid_targets(y, weights.total)
    for targets in ways:
        limit = min(EXACT_WEIGHTS, (1 << BITS) // (widest(targets) + 1))
        if limit > few:
            return weigh(sample_weight, None, one_group, limit), targets
    weights = weigh(sample_weight, None, one_group, few)
    return weights, grid_targets(y, weights.total)
