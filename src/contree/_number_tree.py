"""A tree whose leaves predict numbers: it has the sums of the training targets in each node."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from contree._categories import Categories
from contree._fitted_tree import FittedTree, frozen
from contree._weights import Unit

WORD = 62  # bits of the lower part of a sum of squares
BINS = 16  # of the histograms


class NumberTree(FittedTree):
    """A binary regression tree; all arrays are read-only.

    Parameters
    ----------
    node_sums : array of int64, shape (node_count,)
        The sum of weights times targets of the rows of a node, in units.
    node_squares : array of int64, shape (node_count, 2)
        The sum of weights times squared targets: the first times 2**62 plus the second.
    target_unit, target_centre : Fraction
        A target is `target_centre` plus `target_unit` times the integer that is summed up.
    histogram : array of int64, shape (node_count, 16), default=None
        How many training rows of a node have a target in each of so many equal parts of
        `histogram_range`.  None: zeros.
    histogram_range : (float, float)
        The least and the largest target of all training rows.
    children_left, children_right, feature, threshold, threshold_gap, n_node_samples, \
node_weights, missing_go_to_left, n_node_missing, weight_unit, n_features, categories, \
category_offset, category_words
        As in :class:`FittedTree`.

    Attributes
    ----------
    value : array of float64, shape (node_count, 1, 1)
        The mean of the targets of a node, by weight, correctly rounded.
    impurity : array of float64, shape (node_count,)
        The mean of the squared distances from it, by weight.
    """

    FIELDS = (
        *FittedTree.FIELDS,
        "n_node_samples",
        "node_weights",
        "node_sums",
        "node_squares",
        "target_unit",
        "target_centre",
        "histogram",
        "histogram_range",
    )
    criterion = "squared_error"
    max_n_classes = 1

    def __init__(
        self,
        *,
        node_sums: Any,
        node_squares: Any,
        target_unit: Fraction = Fraction(1),
        target_centre: Fraction = Fraction(0),
        histogram: Any = None,
        histogram_range: tuple[float, float] = (0.0, 0.0),
        children_left: Any,
        children_right: Any,
        feature: Any,
        threshold: Any,
        threshold_gap: Any,
        n_node_samples: Any,
        node_weights: Any,
        missing_go_to_left: Any = None,
        n_node_missing: Any = None,
        weight_unit: Unit = 1,
        n_features: int | None = None,
        categories: Categories | None = None,
        category_offset: Any = None,
        category_words: Any = None,
    ):
        self.node_sums = frozen(node_sums, np.int64)
        self.node_squares = frozen(node_squares, np.int64)
        self.target_unit, self.target_centre = target_unit, target_centre
        bins = np.zeros((len(feature), BINS)) if histogram is None else histogram
        self.histogram = frozen(bins, np.int64)
        low, high = histogram_range
        self.histogram_range = (float(low), float(high))
        super().__init__(
            children_left=children_left,
            children_right=children_right,
            feature=feature,
            threshold=threshold,
            threshold_gap=threshold_gap,
            n_node_samples=n_node_samples,
            node_weights=node_weights,
            missing_go_to_left=missing_go_to_left,
            n_node_missing=n_node_missing,
            weight_unit=weight_unit,
            n_features=n_features,
            categories=categories,
            category_offset=category_offset,
            category_words=category_words,
        )

    def with_histogram(self, X: np.ndarray, integers: np.ndarray) -> NumberTree:
        """Return this tree with the histograms of the training rows and their integer targets."""
        low, high = int(integers.min()), int(integers.max())
        bins = (integers - low) * BINS // (high - low + 1)  # below 2**58
        counts = np.zeros((self.node_count, BINS), dtype=np.int64)
        np.add.at(counts, (self.apply(X), bins), 1)
        for node in range(self.node_count - 1, 0, -1):  # preorder backwards: children come first
            counts[self.parent[node]] += counts[node]
        ends = [float(self.target_centre + self.target_unit * end) for end in (low, high)]
        fields = {name: getattr(self, name) for name in self.FIELDS}
        return NumberTree(**fields | {"histogram": counts, "histogram_range": tuple(ends)})

    @cached_property
    def value(self) -> np.ndarray:
        sums = zip(self.node_sums.tolist(), self.node_weights.tolist(), strict=True)
        means = [self.target_centre + self.target_unit * Fraction(s, w) for s, w in sums]
        return frozen(np.array(list(map(float, means)))[:, np.newaxis, np.newaxis], np.float64)

    @cached_property
    def impurity(self) -> np.ndarray:
        weights = self.node_weights.tolist()
        errors = zip(self._squared_error_units, weights, strict=True)
        return frozen([float(e / w * self.target_unit**2) for e, w in errors], np.float64)

    @cached_property
    def _squared_error_units(self) -> list[Fraction]:
        """The squared error of each node as a leaf, in units of weight and squared target."""
        squares = [(high << WORD) + low for high, low in self.node_squares.tolist()]
        parts = zip(squares, self.node_sums.tolist(), self.node_weights.tolist(), strict=True)
        return [square - Fraction(s * s, w) for square, s, w in parts]

    @cached_property
    def node_squared_errors(self) -> np.ndarray:
        """The squared error of each node as a leaf, in the user's unit."""
        return frozen([float(e * self._unit) for e in self._squared_error_units], np.float64)

    @property
    def squared_error(self) -> Fraction:
        """The squared error of the tree, exactly, in the user's unit."""
        leaves = np.flatnonzero(self.feature < 0).tolist()
        return sum((self._squared_error_units[leaf] for leaf in leaves), Fraction(0)) * self._unit

    @property
    def loss_units(self) -> Fraction:
        """The squared error of the tree for a unit of weight, in the unit of squared targets."""
        return self.squared_error / self.weight_unit

    @property
    def _unit(self) -> Fraction:
        return self.weight_unit * self.target_unit**2

    def mean(self, node: int) -> float:
        """Return the mean of the targets of a node."""
        return float(self.value[node, 0, 0])

    def spread(self, node: int) -> float:
        """Return the standard deviation of the targets of a node."""
        return math.sqrt(float(self.impurity[node]))
