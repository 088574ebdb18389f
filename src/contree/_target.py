"""What a fit learns of each row: a class or a number.

A fit is the same for both, up to three questions that a `Target` answers: what the core gets and
minimises (`counted`), which attributes tell the result (`store`), and how a tree is counted again
(`recount`).  `ClassTarget` and `NumberTarget` are the two kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from contree._objective import Objective
from contree._weights import Weights

if TYPE_CHECKING:
    from contree._estimator import TreeEstimator
    from contree._fit_request import FitRequest, SearchInput
    from contree._typing import Answer, Nodes


@dataclass(frozen=True)
class Counted:
    """A fit's rows in the core's integers.

    Attributes
    ----------
    rows : array of bool, shape (n_rows,), or None
        The rows that have a weight; None if that is every row.
    y : array of int32 or int64
        What the core learns, for the rows that have a weight.
    weights : Weights
        Their weights.
    cost : Objective
        What the core minimises, and its unit.
    """

    rows: np.ndarray | None
    y: np.ndarray
    weights: Weights
    cost: Objective


class Target(ABC):
    """The checked y of a fit."""

    @staticmethod
    @abstractmethod
    def readable(y: Any) -> Any:
        """Return the user's y in a form that scikit-learn's checks do not change."""

    @classmethod
    @abstractmethod
    def of(cls, y: np.ndarray) -> Target:
        """Return the target of a y that scikit-learn has checked."""

    @property
    @abstractmethod
    def y(self) -> np.ndarray:
        """What is learnt, as the user gave it."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """The number of classes for the core; 0 where leaves predict numbers."""

    @abstractmethod
    def fingerprint(self) -> bytes:
        """Return what tells this y from another."""

    @abstractmethod
    def counted(self, estimator: TreeEstimator, sample_weight: np.ndarray | None) -> Counted:
        """Return the rows in the core's integers, with the estimator's weights and costs."""

    @abstractmethod
    def store(self, estimator: TreeEstimator, answer: Answer, request: FitRequest) -> Objective:
        """Set the estimator's tree and all that depends on its leaves.

        Return the objective of the request, which may know more by the tree.
        """

    @staticmethod
    @abstractmethod
    def recount(tree: Nodes, search_input: SearchInput) -> int:
        """Send the rows down a tree and return its loss, in the core's integers.

        Raise RuntimeError if other rows reach a leaf than the tree says.
        """
