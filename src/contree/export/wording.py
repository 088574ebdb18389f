"""How the exports word a node: the names of features and classes, and a threshold's digits.

Between the fitted tree and every export that people read.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from numbers import Integral

import numpy as np

from contree._class_tree import ClassTree

LONGEST = 88  # characters of a name in a box
JOINTS = "_./-"  # after which a long name may be broken


class Wording:
    """The words for the nodes of one fitted classifier.

    Parameters
    ----------
    classifier : ConTreeClassifier
        A fitted classifier.
    feature_names : sequence of str, default=None
        One name for each feature.  None: the names seen in ``fit``, or ``feature_0``, ...
    class_names : sequence of str, default=None
        One name for each class, in the order of ``classes_``.  None: the labels themselves.
    decimals : int, default=None
        Digits after the point of a threshold.  None: as few as are true, see `threshold`.
    """

    def __init__(self, classifier, feature_names=None, class_names=None, decimals=None):
        n_features = classifier.n_features_in_
        if feature_names is None:
            feature_names = getattr(classifier, "feature_names_in_", None)
        if feature_names is None:
            feature_names = [f"feature_{f}" for f in range(n_features)]
        if class_names is None:
            class_names = classifier.classes_
        _check_length("feature_names", feature_names, n_features, "features")
        _check_length("class_names", class_names, classifier.n_classes_, "classes")
        _check_decimals(decimals)
        self.tree: ClassTree = classifier.tree_
        self.features = [str(name) for name in feature_names]
        self.classes = [str(name) for name in class_names]
        self.decimals = decimals

    def feature(self, node: int) -> str:
        """Return the name of the feature that a node tests."""
        return self.features[self.tree.feature[node]]

    def majority(self, node: int) -> str:
        """Return the name of the class that a node predicts."""
        return self.classes[self.tree.majority[node]]

    def rows(self, node: int) -> str:
        """Return how many rows reach a node, and what they weigh where that is something else."""
        text = _counted(int(self.tree.n_node_samples[node]), "row")
        if not self.tree.weighted:
            return text
        return f"{text} of weight {short_number(sum(self.tree.class_weights_of(node)))}"

    def errors(self, node: int) -> str:
        """Return how many rows of a node are not of its class, or what they weigh."""
        errors = self.tree.node_errors[node].item()
        if not self.tree.weighted:
            return _counted(errors, "error")
        return f"errors of weight {short_number(errors)}"

    def counts(self, node: int) -> str:
        """Return the rows of each class, or what they weigh."""
        if not self.tree.weighted:
            return f"counts {self.tree.class_counts[node].tolist()}"
        return f"weights [{', '.join(map(short_number, self.tree.class_weights_of(node)))}]"

    def relation(self, node: int) -> str:
        """Return what a node asks of its feature; yes leads to the left."""
        if self.tree.threshold[node] == math.inf:
            return "is not missing"
        return f"<= {self.threshold(node)}{' or missing' * self._learnt_missing(node, True)}"

    def opposite(self, node: int) -> str:
        """Return what holds where the answer is no."""
        if self.tree.threshold[node] == math.inf:
            return "is missing"
        return f">  {self.threshold(node)}{' or missing' * self._learnt_missing(node, False)}"

    def no(self, node: int) -> str:
        """Return the word for the branch to the right, where the box holds the relation."""
        asks_for_missing = self.tree.threshold[node] == math.inf
        missing = self._learnt_missing(node, False) and not asks_for_missing
        return "no or missing" if missing else "no"

    def _learnt_missing(self, node: int, left: bool) -> bool:
        """Tell whether rows of the training data took this side because their value is missing."""
        tree = self.tree
        return bool(tree.n_node_missing[node] and tree.missing_go_to_left[node] == left)

    def threshold(self, node: int) -> str:
        """Return the threshold of a node, short and true.

        Four significant digits, and more where they are needed for every training row to take the
        same way.  A threshold may be a hair away from a training value that its own rows do not
        have; where rounding to the nearest would reach that value, rounding to the other side is
        as short.
        """
        threshold = float(self.tree.threshold[node])
        if self.decimals is not None:
            return f"{threshold:.{self.decimals}f}"
        below, above = self.tree.threshold_gap[node]
        for digits in range(4, 17):
            for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
                rounded = Context(digits, rounding).create_decimal(Decimal(threshold))
                text = f"{float(rounded):.{digits}g}"
                if below <= float(text) < above:
                    return _plain(text)
        return _plain(repr(threshold))


def shortened(name: str, most: int = LONGEST) -> str:
    """Return a name of at most so many characters: a longer one keeps its beginning and its end.

    Long names often differ at the end only.
    """
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 1]}…{name[-end:]}"


def short_number(value: int | float) -> str:
    """Return a number with six significant digits, or all of an integer."""
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _plain(text: str) -> str:
    """Write 1.2e+02 as 120, but leave the exponents that help."""
    value = float(text)
    if "e" in text and 1e-4 <= abs(value) < 1e16:
        return f"{value:.0f}" if value.is_integer() else repr(value)
    return text


def _check_decimals(decimals) -> None:
    if decimals is None:
        return
    if isinstance(decimals, (bool, np.bool_)) or not isinstance(decimals, Integral) or decimals < 0:
        raise ValueError(
            f"decimals must be None or a number of digits, an int from 0 up; got {decimals!r}."
        )


def _check_length(name: str, names, expected: int, what: str) -> None:
    if len(names) != expected:
        raise ValueError(
            f"{name} must have one name for each of the {expected} {what}; got {len(names)}."
        )
