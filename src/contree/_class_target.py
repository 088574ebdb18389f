"""Classes as what a fit learns: labels become class numbers, and errors are counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from contree._check_labels import check_labels, exact_labels
from contree._check_parameters import (
    check_minimize_leaves,
    resolve_class_weight,
    resolve_max_depth,
)
from contree._check_weights import rows_with_weight
from contree._class_tree import ClassTree
from contree._leaves_second import LeavesSecond
from contree._objective import LeafCost, Objective, most_leaves, widest_sum
from contree._target import Counted, Target
from contree._weights import in_user_unit, weigh

if TYPE_CHECKING:
    from contree._estimator import TreeEstimator
    from contree._fit_request import FitRequest, SearchInput
    from contree._typing import Answer, Nodes


class ClassTarget(Target):
    """The class of each row.

    Parameters
    ----------
    codes : array of int32, shape (n_rows,)
        The class numbers.
    classes : array of shape (n_classes,)
        The labels, sorted.
    """

    def __init__(self, codes: np.ndarray, classes: np.ndarray):
        self.codes, self.classes = codes, classes

    @staticmethod
    def readable(y: Any) -> Any:
        return exact_labels(y)

    @classmethod
    def of(cls, y: np.ndarray) -> ClassTarget:
        classes, codes = check_labels(y)
        return cls(codes.astype(np.int32), classes)

    @property
    def y(self) -> np.ndarray:
        return self.classes.take(self.codes)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def fingerprint(self) -> bytes:
        labels = json.dumps([repr(label) for label in self.classes.tolist()]).encode()
        return labels + self.codes.tobytes()

    def counted(self, estimator: TreeEstimator, sample_weight: np.ndarray | None) -> Counted:
        check_minimize_leaves(estimator)
        class_weight = resolve_class_weight(estimator.class_weight, self.classes)
        rows, codes = rows_with_weight(sample_weight, class_weight, self.codes), self.codes
        if rows is not None:
            codes = codes[rows]
            sample_weight = None if sample_weight is None else sample_weight[rows]
        depth = resolve_max_depth(estimator.max_depth, len(codes))
        most = most_leaves(estimator.ccp_alpha, depth, estimator.max_leaf_nodes, len(codes))
        leaves_count = estimator.ccp_alpha > 0 or estimator.minimize_leaves
        weights = weigh(sample_weight, class_weight, codes, widest_sum(most if leaves_count else 0))
        if estimator.minimize_leaves:
            return Counted(rows, codes, weights, LeavesSecond.of(most, weights))
        return Counted(rows, codes, weights, LeafCost.of(estimator.ccp_alpha, most, weights))

    def store(self, estimator: TreeEstimator, answer: Answer, request: FitRequest) -> Objective:
        unit = request.weights.unit
        estimator.classes_ = self.classes
        estimator.n_classes_ = len(self.classes)
        estimator.weight_tolerance_ = request.weights.tolerance
        estimator.leaves_lower_bound_ = request.cost.least_leaves(
            answer["objective"], answer["lower_bound"]
        )
        estimator.errors_ = in_user_unit(answer["loss"], unit)
        estimator.tree_ = ClassTree.of_answer(
            answer["tree"],
            weight_unit=unit,
            n_features=estimator.n_features_in_,
            categories=estimator.categories_,
            criterion=estimator.criterion,
        )
        return request.cost

    @staticmethod
    def recount(tree: Nodes, search_input: SearchInput) -> int:
        leaves = ClassTree.of_answer(tree).apply(search_input.X)
        weights = search_input.options["weights"]
        counts = np.zeros_like(tree["class_counts"])
        np.add.at(counts, (leaves, search_input.y), 1)
        mass = np.zeros_like(tree["class_weights"])
        np.add.at(mass, (leaves, search_input.y), 1 if weights is None else weights)
        is_leaf = tree["feature"] < 0
        counted = np.stack((counts, mass))[:, is_leaf]
        if (counted != np.stack((tree["class_counts"], tree["class_weights"]))[:, is_leaf]).any():
            raise RuntimeError("contree: the class counts of a leaf are not those of its rows.")
        return int(mass.sum() - mass.max(axis=1).sum())
