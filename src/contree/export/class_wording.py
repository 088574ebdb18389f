"""How the exports word a leaf that predicts a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contree._class_tree import ClassTree
from contree.export.palette import class_colours, node_colours
from contree.export.wording import (
    Bar,
    Share,
    Wording,
    amount,
    check_length,
    counted,
    short_number,
)


class ClassWording(Wording):
    """The words for the nodes of a classifier."""

    tree: ClassTree
    foot = 0.42

    def __init__(
        self,
        classifier: Any,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        decimals: int | None = None,
    ):
        super().__init__(classifier, feature_names, decimals)
        self._labels = classifier.classes_ if class_names is None else class_names
        check_length("class_names", self._labels, classifier.n_classes_, "classes")
        self.classes = self.table = [str(name) for name in self._labels]
        self._colours = class_colours(len(self.classes))

    def prediction(self, node: int) -> str:
        return self.classes[int(self.tree.majority[node])]

    def head(self, node: int) -> str:
        return f"class: {self.prediction(node)}"

    def loss(self, node: int) -> str:
        return self.amount(self.tree.node_errors[node].item())

    def details(self, node: int) -> str:
        """Return the rows of each class, or what they weigh."""
        if not self.tree.weighted:
            return f"counts {self.tree.class_counts[node].tolist()}"
        return f"weights [{', '.join(map(short_number, self.tree.class_weights_of(node)))}]"

    def result(self, node: int) -> Any:
        return self._labels[self.tree.majority[node]]

    def facts(self) -> str:
        return f"{len(self.classes)} classes"

    def fills(self) -> list[str]:
        return node_colours(self.tree)

    def bars(self, node: int) -> list[Bar]:
        """Return one bar for each class, as wide as its share."""
        bars, left = [], 0.0
        for share, colour in zip(self.tree.value[node, 0].tolist(), self._colours, strict=True):
            if share > 0:
                bars.append(Bar(left, share, 1.0, colour))
            left += share
        return bars

    def legend(self) -> list[tuple[str, str]]:
        return list(zip(self._colours, self.classes, strict=True))

    def shares(self, node: int) -> list[Share]:
        counts = self.tree.class_weights_of(node)
        total = sum(counts)
        entries = zip(self.classes, counts, self._colours, strict=True)
        return [Share(n, amount(k), k / total, c) for n, k, c in entries if k]

    def measure(self) -> str:
        return "weight of errors" if self.tree.weighted else "errors"

    def amount(self, loss: float) -> str:
        if self.tree.weighted:
            return f"errors of weight {amount(loss)}"
        return counted(int(loss), "error")

    def below(self, loss: float) -> str:
        if self.tree.weighted:
            return f"has errors that weigh less than {_exact(loss)}"
        return f"makes fewer than {counted(int(loss), 'error')}"

    def at_least(self, loss: float) -> str:
        if self.tree.weighted:
            return f"makes at least errors of weight {_exact(loss)}"
        return f"makes at least {counted(int(loss), 'error')}"

    def own(self, estimator: Any) -> str:
        return f"makes {'errors of weight ' * self.tree.weighted}{_exact(estimator.errors_)}"

    def leaf_cost(self, ccp_alpha: float) -> str:
        return f"{ccp_alpha:g} of all {'weight' if self.tree.weighted else 'rows'}"


def _exact(value: float) -> str:
    """Return all digits of a number, because what is proved must not be rounded up."""
    return f"{value:,}".removesuffix(".0")
