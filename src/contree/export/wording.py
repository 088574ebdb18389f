"""How the exports word a node: the names of features, a threshold's digits, and what a leaf says.

Between the fitted tree and every export that people read.  `ClassWording` and `NumberWording` are
the two kinds; `wording_of` makes the one that an estimator needs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np

from contree._fitted_tree import FittedTree
from contree.export.category_sets import sides_of
from contree.export.names import set_words

SHORT = 40  # characters of a set of categories in a picture


class Bar(NamedTuple):
    """A bar at the foot of a box, whose width and height are 1."""

    left: float
    width: float
    height: float
    colour: str


class Share(NamedTuple):
    """A part of a node's rows, for the note beside the node."""

    name: str
    number: str
    share: float
    colour: str


def wording_of(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
) -> Wording:
    """Return the words for the nodes of a fitted estimator.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names : sequence of str, default=None
        One name for each feature.  None: the names seen in ``fit``, or ``feature_0``, ...
    class_names : sequence of str, default=None
        One name for each class, in the order of ``classes_``.  None: the labels themselves.  For a
        regressor None.
    decimals : int, default=None
        Digits after the point of a threshold.  None: all that it has.
    """
    wording: Wording = estimator._wording_type(estimator, feature_names, class_names, decimals)
    return wording


class Wording(ABC):
    """The words for the nodes of one fitted estimator."""

    tree: FittedTree
    foot: ClassVar[float]  # height of the bars at the foot of a box, in units of the font's size
    # The names of what C code returns by their index; None if it returns a number.
    table: list[str] | None = None

    def __init__(
        self,
        estimator: Any,
        feature_names: Sequence[str] | None,
        decimals: int | None,
    ):
        n_features = estimator.n_features_in_
        if feature_names is None:
            feature_names = getattr(estimator, "feature_names_in_", None)
        if feature_names is None:
            feature_names = [f"feature_{f}" for f in range(n_features)]
        check_length("feature_names", feature_names, n_features, "features")
        _check_decimals(decimals)
        self.tree = estimator.tree_
        self.features = [str(name) for name in feature_names]
        self.decimals = decimals

    # What a leaf says.

    @abstractmethod
    def prediction(self, node: int) -> str:
        """Return what a node predicts, in words."""

    @abstractmethod
    def head(self, node: int) -> str:
        """Return the same with what it is before it."""

    @abstractmethod
    def loss(self, node: int) -> str:
        """Return how wrong a node is as a leaf."""

    @abstractmethod
    def details(self, node: int) -> str:
        """Return what else certifies a leaf in a text."""

    @abstractmethod
    def result(self, node: int) -> Any:
        """Return what code gives for the rows of a leaf: a number or a string."""

    @abstractmethod
    def facts(self) -> str:
        """Return what is learnt in a few words."""

    @abstractmethod
    def fills(self) -> list[str]:
        """Return the colour of each node's box."""

    @abstractmethod
    def bars(self, node: int) -> list[Bar]:
        """Return the bars at the foot of a node's box."""

    @abstractmethod
    def legend(self) -> list[tuple[str, str]]:
        """Return colours and what they mean."""

    @abstractmethod
    def shares(self, node: int) -> list[Share]:
        """Return the parts of a node's rows, the empty ones left out."""

    # What a search minimises.

    @abstractmethod
    def measure(self) -> str:
        """Return the name of the loss."""

    @abstractmethod
    def amount(self, loss: float) -> str:
        """Return a loss with its name."""

    @abstractmethod
    def below(self, loss: float) -> str:
        """Return what a tree does that has less than a loss."""

    @abstractmethod
    def at_least(self, loss: float) -> str:
        """Return what a tree does that has at least a loss."""

    @abstractmethod
    def own(self, estimator: Any) -> str:
        """Return the loss of an estimator's tree, as a part of a sentence on what others have."""

    @abstractmethod
    def leaf_cost(self, ccp_alpha: float) -> str:
        """Return what is added to the loss for each leaf."""

    # What every node says.

    def feature(self, node: int) -> str:
        """Return the name of the feature that a node tests."""
        return self.features[int(self.tree.feature[node])]

    def rows(self, node: int) -> str:
        """Return how many rows reach a node, and what they weigh where that is something else."""
        text = counted(int(self.tree.n_node_samples[node]), "row")
        return f"{text} of {self.weight(node)}" if self.tree.weighted else text

    def weight(self, node: int) -> str:
        """Return what the rows of a node weigh."""
        return f"weight {amount(self.tree.weight_of(node))}"

    def relation(self, node: int) -> str:
        """Return what a node asks of its feature; yes leads to the left."""
        return self._side(node, left=True)

    def opposite(self, node: int) -> str:
        """Return what holds where the answer is no."""
        return self._side(node, left=False)

    def short_relation(self, node: int, at_most: str = "<=") -> str:
        """Return `relation` for a box: long sets are shortened, and a sign may stand for <=."""
        return self._side(node, left=True, most=SHORT, at_most=at_most)

    def whole_test(self, node: int) -> str:
        """Return a test of categories for the note beside its box, which shortens it; else ""."""
        is_set = self.tree.tests_categories(node)
        return f"{self.feature(node)} {self.relation(node)}" if is_set else ""

    def no(self, node: int) -> str:
        """Return the word for the branch to the right, where the box holds the relation."""
        missing = self._learnt_missing(node, False) and not self._parts_missing(node)
        return "no or missing" if missing else "no"

    def _side(self, node: int, left: bool, most: int | None = None, at_most: str = "<=") -> str:
        """Return what holds on one side of a test."""
        if self._parts_missing(node):
            return "is missing" if self.tree.missing_go_to_left[node] == left else "is not missing"
        if self.tree.tests_categories(node):
            text = self._set(node, left, most)
        else:
            text = f"{at_most if left else '> '} {self.threshold(node)}"
        return text + " or missing" * self._learnt_missing(node, left)

    def _set(self, node: int, left: bool, most: int | None) -> str:
        """Name the smaller side of a test of categories; of two equal ones that on the left."""
        sides, known = sides_of(self.tree, node), self.tree.categories_of(node)
        names_left = len(sides.left) <= len(sides.right)
        named = set_words([known[c] for c in sides[not names_left]], most)
        return f"in {named}" if names_left == left else f"not in {named}"

    def _parts_missing(self, node: int) -> bool:
        """Tell whether a node parts the missing values from all others."""
        if self.tree.tests_categories(node):
            return not all(sides_of(self.tree, node))
        return bool(self.tree.threshold[node] == math.inf)

    def _learnt_missing(self, node: int, left: bool) -> bool:
        """Tell whether rows of the training data took this side because their value is missing."""
        tree = self.tree
        return bool(tree.n_node_missing[node] and tree.missing_go_to_left[node] == left)

    def threshold(self, node: int) -> str:
        """Return the threshold of a node, all of it unless `decimals` says otherwise."""
        threshold = float(self.tree.threshold[node])
        if self.decimals is not None:
            return f"{threshold:.{self.decimals}f}"
        return repr(threshold).removesuffix(".0")


def short_number(value: int | float) -> str:
    """Return a number with six significant digits, or all of an integer."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def amount(value: int | float) -> str:
    """Return a count or a weight with commas between thousands, and six significant digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def counted(count: int, word: str) -> str:
    """Return a number and a word that fits it."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def _check_decimals(decimals: Any) -> None:
    if decimals is None:
        return
    if isinstance(decimals, (bool, np.bool_)) or not isinstance(decimals, Integral) or decimals < 0:
        raise ValueError(
            f"decimals must be None or a number of digits, an int from 0 up; got {decimals!r}."
        )


def check_length(name: str, names: Sequence[Any], expected: int, what: str) -> None:
    """Raise ValueError unless there is one name for each thing to name."""
    if len(names) != expected:
        raise ValueError(
            f"{name} must have one name for each of the {expected} {what}; got {len(names)}."
        )
