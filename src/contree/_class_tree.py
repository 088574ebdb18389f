"""A tree whose leaves predict classes: it counts the training rows of each class in each node."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import entr

from contree._categories import Categories
from contree._fitted_tree import FittedTree, frozen
from contree._typing import Number
from contree._weights import Unit


class ClassTree(FittedTree):
    """A binary classification tree; all arrays are read-only.

    Parameters
    ----------
    class_counts : array of int64, shape (node_count, n_classes)
        Training rows of each class that reach a node.
    class_weights : array of int64, shape (node_count, n_classes), default=None
        What the rows of each class weigh, in units; None: 1 each.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        What `impurity` is.
    children_left, children_right, feature, threshold, threshold_gap, missing_go_to_left, \
n_node_missing, weight_unit, n_features, categories, category_offset, category_words
        As in :class:`FittedTree`.

    Attributes
    ----------
    value : array of float64, shape (node_count, 1, n_classes)
        Class fractions of a node, by weight.  The first of the largest is the class that the node
        predicts.
    """

    FIELDS = (*FittedTree.FIELDS, "class_counts", "class_weights", "criterion")

    def __init__(
        self,
        children_left: Any,
        children_right: Any,
        feature: Any,
        threshold: Any,
        class_counts: Any,
        threshold_gap: Any,
        missing_go_to_left: Any = None,
        n_node_missing: Any = None,
        class_weights: Any = None,
        weight_unit: Unit = 1,
        n_features: int | None = None,
        categories: Categories | None = None,
        category_offset: Any = None,
        category_words: Any = None,
        criterion: str = "gini",
    ):
        self.class_counts = frozen(class_counts, np.int64)
        weights = class_counts if class_weights is None else class_weights
        self.class_weights = frozen(weights, np.int64)
        self.criterion = criterion
        super().__init__(
            children_left=children_left,
            children_right=children_right,
            feature=feature,
            threshold=threshold,
            threshold_gap=threshold_gap,
            n_node_samples=self.class_counts.sum(axis=1),
            node_weights=self.class_weights.sum(axis=1),
            missing_go_to_left=missing_go_to_left,
            n_node_missing=n_node_missing,
            weight_unit=weight_unit,
            n_features=n_features,
            categories=categories,
            category_offset=category_offset,
            category_words=category_words,
        )

    @property
    def max_n_classes(self) -> int:
        return int(self.class_counts.shape[1])

    @property
    def weighted(self) -> bool:
        return self.weight_unit != 1 or not np.array_equal(self.class_weights, self.class_counts)

    @cached_property
    def value(self) -> np.ndarray:
        fractions = self.class_weights / self.node_weights[:, np.newaxis]
        # Weights that differ in their last digits only are one float64: the heavier class stays the
        # first among the largest, for all who predict by these fractions.
        tied = np.flatnonzero(fractions.argmax(axis=1) != self.majority)
        heavier = tied, self.majority[tied]
        fractions[heavier] = np.nextafter(fractions[heavier], 1.0)
        return frozen(fractions[:, np.newaxis, :], np.float64)

    @cached_property
    def majority(self) -> np.ndarray:
        """The class index that each node predicts: most weight, the lowest index among equals."""
        return frozen(self.class_weights.argmax(axis=1), np.int64)

    @cached_property
    def node_error_units(self) -> np.ndarray:
        """What the rows of each node weigh that are not of its majority class, in units."""
        return frozen(self.node_weights - self.class_weights.max(axis=1), np.int64)

    @property
    def loss_units(self) -> int:
        """The errors of the tree, in units of weight."""
        return int(self.node_error_units[self.feature < 0].sum())

    @cached_property
    def node_errors(self) -> np.ndarray:
        """The same in the user's unit: integers where the weights are, as without weights."""
        kind = np.int64 if isinstance(self.weight_unit, int) else np.float64
        return frozen(self._in_user_unit(self.node_error_units), kind)

    @cached_property
    def impurity(self) -> np.ndarray:
        """How mixed each node is, by the criterion.

        Gini: how often two of its rows, drawn at random, differ.  Entropy, of which the log loss is
        another name: the bits that tell the class of one.
        """
        shares = self.value[:, 0, :]
        if self.criterion == "gini":
            return frozen(1.0 - np.square(shares).sum(axis=1), np.float64)
        return frozen(entr(shares).sum(axis=1) / np.log(2.0), np.float64)

    def class_weights_of(self, node: int) -> list[Number]:
        """Return what the rows of each class weigh in a node, in the user's unit."""
        return self._in_user_unit(self.class_weights[node])
