"""The tree that a fit ends with: flat node arrays under scikit-learn's names.

`FittedTree` holds the tests and sends rows down.  What a leaf is belongs to its subclasses:
`ClassTree` counts the classes of its rows, `NumberTree` has the mean of its targets.  Nodes are
numbered in preorder (root 0, left subtree, right subtree), as in scikit-learn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix

from contree._categories import Categories
from contree._thresholds import short_thresholds
from contree._typing import Nodes, Number
from contree._weights import Exact, Unit, in_user_unit

UNDEFINED = -2  # feature and threshold of a leaf
CHUNK = 1 << 14  # rows sent down at once: few enough to stay in the cache, twice as fast as all


class FittedTree(ABC):
    """A binary tree; all arrays are read-only.

    Parameters
    ----------
    children_left, children_right : array of int64, shape (node_count,)
        Node numbers; -1 at a leaf.
    feature : array of int64, shape (node_count,)
        The column that a node tests; -2 at a leaf.
    threshold : array of float64, shape (node_count,)
        A row goes left if ``x[feature] <= threshold``; -2.0 at a leaf.  Infinity sends all values
        left and missing values right.  NaN: the node tests categories.  A fit takes the number with
        the fewest digits near the middle of `threshold_gap`.
    threshold_gap : array of float64, shape (node_count, 2)
        The neighbours of the threshold among the training values of its column: the largest value
        that goes left and the smallest that goes right; -2.0 at a leaf.  Every number ``t`` with
        ``left <= t < right`` splits the training rows in the same way.  NaN where there is no
        threshold.
    n_node_samples : array of int64, shape (node_count,)
        Training rows that reach a node.
    node_weights : array of int64, shape (node_count,)
        The weight of these rows, in units.
    missing_go_to_left : array of uint8, shape (node_count,), default=None
        1 if a row with a missing value (NaN) goes left; 0 at a leaf.  None: missing values go with
        the most rows, as in CART if the training rows have none.
    n_node_missing : array of int64, shape (node_count,), default=None
        Training rows of a node with a missing value in the feature that it tests.  None: 0.
    weight_unit : int or Fraction, default=1
        The size of one unit in the user's weights.
    n_features : int, default=None
        The number of columns.  None: one more than the largest in `feature`.
    categories : tuple, default=None
        For each feature None if it holds numbers, else its categories.  In the rows that the
        methods take, a category is its position here, its code.  None: all are numbers.
    category_offset : array of int64, shape (node_count,), default=None
        Where the set of a node begins in `category_words`; -1 where no categories are tested.
    category_words : array of uint64, default=None
        Sets of categories: a row of category c goes left if bit ``c % 64`` of the word at
        ``category_offset + c // 64`` is 1.  See `categories_left`.

    Attributes
    ----------
    value : array of float64, shape (node_count, 1, width)
        The prediction of a node, as in scikit-learn 1.3 and newer: the share of each class by
        weight, or the mean of the targets.
    impurity : array of float64, shape (node_count,)
        How mixed the rows of each node are, by the criterion.
    weighted_n_node_samples : array of float64, shape (node_count,)
        The weight of the rows of a node, in the user's unit.
    node_count, max_depth, n_leaves, capacity : int
        Size of the tree.  The capacity is the number of nodes.
    n_outputs : int
        Always 1.
    n_classes : array of int64, shape (1,)
        The number of classes; 1 if a leaf predicts a number.
    max_n_classes : int
        The same.
    """

    n_outputs = 1
    # What the constructor takes: copies and files have these.
    FIELDS: ClassVar[tuple[str, ...]] = (
        "children_left",
        "children_right",
        "feature",
        "threshold",
        "threshold_gap",
        "missing_go_to_left",
        "n_node_missing",
        "weight_unit",
        "n_features",
        "categories",
        "category_offset",
        "category_words",
    )

    def __init__(
        self,
        *,
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
        self.children_left = frozen(children_left, np.int64)
        self.children_right = frozen(children_right, np.int64)
        self.feature = frozen(feature, np.int64)
        self.threshold = frozen(threshold, np.float64)
        self.threshold_gap = frozen(threshold_gap, np.float64)
        self.n_node_samples = frozen(n_node_samples, np.int64)
        self.node_weights = frozen(node_weights, np.int64)
        if category_offset is None:
            category_offset, category_words = np.full(self.node_count, -1), ()
        self.categories = categories
        self.category_offset = frozen(category_offset, np.int64)
        self.category_words = frozen(category_words, np.uint64)
        if missing_go_to_left is None:
            missing_go_to_left = self._larger_side_is_left()
        if n_node_missing is None:
            n_node_missing = np.zeros(self.node_count)
        self.missing_go_to_left = frozen(missing_go_to_left, np.uint8)
        self.n_node_missing = frozen(n_node_missing, np.int64)
        self.weight_unit = weight_unit
        self.n_features = max(0, *self.feature + 1) if n_features is None else n_features

    @property
    @abstractmethod
    def loss_units(self) -> Exact:
        """The loss of all leaves, exactly, in units of weight."""

    @classmethod
    def of_answer(cls, nodes: Nodes, **others: Any) -> Self:
        """Return the tree in an answer of the core, which has the gap as two arrays."""
        fields: dict[str, Any] = {**nodes, **others}
        gap = np.column_stack((fields.pop("gap_below"), fields.pop("gap_above")))
        fields["threshold"] = short_thresholds(nodes["threshold"], gap)
        return cls(threshold_gap=gap, **fields)

    def _larger_side_is_left(self) -> np.ndarray:
        rows, inner = self.n_node_samples, np.flatnonzero(self.feature >= 0)
        larger = np.zeros(self.node_count)
        larger[inner] = rows[self.children_left[inner]] > rows[self.children_right[inner]]
        return larger

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because unpickled arrays would be writeable.
        return _rebuilt, (type(self), {name: getattr(self, name) for name in self.FIELDS})

    def __repr__(self) -> str:
        return f"{type(self).__name__}(node_count={self.node_count}, max_depth={self.max_depth})"

    @property
    @abstractmethod
    def value(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def impurity(self) -> np.ndarray: ...

    @property
    @abstractmethod
    def max_n_classes(self) -> int: ...

    @property
    def n_classes(self) -> np.ndarray:
        return np.array([self.max_n_classes])

    @property
    def node_count(self) -> int:
        return len(self.feature)

    capacity = node_count

    @property
    def n_leaves(self) -> int:
        return (self.node_count + 1) // 2

    @property
    def max_depth(self) -> int:
        return int(self.node_depth.max())

    @cached_property
    def node_depth(self) -> np.ndarray:
        """The number of tests above each node."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):  # preorder: parents come first
            depth[self.children_left[node]] = depth[self.children_right[node]] = depth[node] + 1
        return frozen(depth, np.int64)

    @cached_property
    def parent(self) -> np.ndarray:
        """The node above each node; -1 at the root."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        inner = np.flatnonzero(self.feature >= 0)
        parent[self.children_left[inner]] = parent[self.children_right[inner]] = inner
        return frozen(parent, np.int64)

    @cached_property
    def weighted_n_node_samples(self) -> np.ndarray:
        return frozen(self._in_user_unit(self.node_weights), np.float64)

    @property
    def weighted(self) -> bool:
        """Whether the rows have other weights than 1."""
        return self.weight_unit != 1 or not np.array_equal(self.node_weights, self.n_node_samples)

    @property
    def knows_missing(self) -> bool:
        """Whether some test of this tree met missing values in training."""
        return bool(self.n_node_missing.any())

    def tests_categories(self, node: int) -> bool:
        """Return whether a node tests categories."""
        return bool(self.category_offset[node] >= 0)

    def categories_of(self, node: int) -> tuple[Any, ...]:
        """Return the categories of the feature that a node tests, by their codes."""
        known: tuple[Any, ...] | None = None
        if self.categories is not None:
            known = self.categories[self.feature[node]]
        if known is None or not self.tests_categories(node):
            raise ValueError(f"Node {node} does not test categories that are known.")
        return known

    def codes_go_left(self, node: int) -> np.ndarray:
        """Return for each category of the feature that a node tests whether it goes left."""
        start = self.category_offset[node]
        later = self.category_offset[self.category_offset > start]
        words = self.category_words[start : later.min(initial=len(self.category_words))]
        bits: np.ndarray = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little") == 1
        return bits if self.categories is None else bits[: len(self.categories_of(node))]

    def categories_left(self, node: int) -> tuple[Any, ...]:
        """Return the categories that a node sends to the left."""
        sides = zip(self.categories_of(node), self.codes_go_left(node).tolist(), strict=True)
        return tuple(category for category, goes_left in sides if goes_left)

    def categories_right(self, node: int) -> tuple[Any, ...]:
        """Return the categories that a node sends to the right."""
        sides = zip(self.categories_of(node), self.codes_go_left(node).tolist(), strict=True)
        return tuple(category for category, goes_left in sides if not goes_left)

    def weight_of(self, node: int) -> Number:
        """Return the weight of the rows of a node, in the user's unit."""
        return in_user_unit(int(self.node_weights[node]), self.weight_unit)

    def _in_user_unit(self, multiples: np.ndarray) -> list[Number]:
        return [in_user_unit(multiple, self.weight_unit) for multiple in multiples.tolist()]

    def compute_node_depths(self) -> np.ndarray:
        """Return the depth of each node as scikit-learn counts, with 1 at the root."""
        return self.node_depth + 1

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Return the share of each feature in the decrease of impurity.

        The decrease of a test is the weight of its node times its impurity, less the same of its
        two sides, as in CART.  With `normalize` the shares sum to 1, or are all 0 if no test
        decreases the impurity.  Without, they are the decreases, as a share of all weight.
        """
        inner = np.flatnonzero(self.feature >= 0)
        mass = self.node_weights / self.node_weights[0] * self.impurity
        decrease = mass[inner] - mass[self.children_left[inner]] - mass[self.children_right[inner]]
        importances = np.bincount(self.feature[inner], decrease, self.n_features)
        total = importances.sum()
        if not normalize:
            return importances
        return importances / total if total > 0 else np.zeros(self.n_features)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return `value` of the leaf that each row of a float64 matrix ends in."""
        return np.take(self.value[:, 0, :], self.apply(X), axis=0)

    def decision_path(self, X: np.ndarray) -> csr_matrix:
        """Return the nodes that each row of a float64 matrix passes, as a matrix of 0 and 1."""
        leaves = self.apply(X)
        lengths = self.node_depth[leaves] + 1
        starts = np.concatenate(([0], np.cumsum(lengths)))
        nodes = np.empty(starts[-1], dtype=np.int64)
        for leaf in np.unique(leaves):
            rows = np.flatnonzero(leaves == leaf)
            nodes[starts[rows][:, np.newaxis] + np.arange(lengths[rows[0]])] = self.path(leaf)
        ones = np.ones(len(nodes), dtype=np.int64)
        return csr_matrix((ones, nodes, starts), shape=(len(leaves), self.node_count))

    def path(self, node: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = [int(node)]
        while path[-1] != 0:
            path.append(int(self.parent[path[-1]]))
        return path[::-1]

    def apply(self, X: np.ndarray | csr_matrix) -> np.ndarray:
        """Return the leaf that each row of a float64 matrix, dense or sparse, ends in.

        Categories are codes; any other number in their place counts as missing.
        """
        if not isinstance(X, np.ndarray):
            X = X.toarray()  # sparse
        leaf = np.zeros(len(X), dtype=np.int64)
        for start in range(0, len(X), CHUNK):
            self._apply_to_chunk(X[start : start + CHUNK], leaf[start : start + CHUNK])
        return leaf

    def _apply_to_chunk(self, X: np.ndarray, leaf: np.ndarray) -> None:
        pending = [(0, np.arange(len(X)))]
        while pending:
            node, rows = pending.pop()
            f = self.feature[node]
            if f < 0:
                leaf[rows] = node
            elif len(rows):
                goes_left = self._goes_left(node, X[rows, f])
                pending.append((self.children_left[node], rows[goes_left]))
                pending.append((self.children_right[node], rows[~goes_left]))

    def _goes_left(self, node: int, values: np.ndarray) -> np.ndarray:
        left: np.ndarray
        if self.tests_categories(node):
            codes_left = self.codes_go_left(node)
            known = (values >= 0) & (values < len(codes_left)) & (values == np.floor(values))
            sides = np.append(codes_left, self.missing_go_to_left[node] == 1)
            left = sides[np.where(known, values, len(codes_left)).astype(np.int64)]
        # Every comparison with NaN is false, so how it is put decides where missing values go.
        elif self.missing_go_to_left[node]:
            left = ~(values > self.threshold[node])
        else:
            left = values <= self.threshold[node]
        return left


def frozen(values: Any, dtype: Any) -> np.ndarray:
    """Return a copy as a read-only array."""
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def words_of(goes_left: Any) -> np.ndarray:
    """Return a set of categories as words, by whether each of them is in it."""
    bits = np.zeros(-(-len(goes_left) // 64) * 64, dtype=bool)
    bits[: len(goes_left)] = goes_left
    words: np.ndarray = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)
    return words


def _rebuilt(kind: type[FittedTree], fields: dict[str, Any]) -> FittedTree:
    return kind(**fields)
