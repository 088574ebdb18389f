"""How the exports word a leaf that predicts a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contree._number_tree import BINS, NumberTree
from contree.export.palette import NUMBER_COLOUR, number_colours
from contree.export.wording import Bar, Share, Wording, amount, short_number


class NumberWording(Wording):
    """The words for the nodes of a regressor."""

    tree: NumberTree
    foot = 1.5

    def __init__(
        self,
        regressor: Any,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        decimals: int | None = None,
    ):
        if class_names is not None:
            raise ValueError("class_names must be None: a regressor has no classes.")
        super().__init__(regressor, feature_names, decimals)

    def prediction(self, node: int) -> str:
        return short_number(self.tree.mean(node))

    def head(self, node: int) -> str:
        return f"value: {self.prediction(node)}"

    def loss(self, node: int) -> str:
        return f"spread {self.tree.spread(node):.4g}"

    def details(self, node: int) -> str:
        return f"squared error {self.tree.node_squared_errors[node]:.6g}"

    def result(self, node: int) -> float:
        return self.tree.mean(node)

    def facts(self) -> str:
        low, high = self.tree.histogram_range
        return f"targets from {low:.6g} to {high:.6g}"

    def fills(self) -> list[str]:
        return number_colours(self.tree)

    def bars(self, node: int) -> list[Bar]:
        """Return the histogram of the training targets."""
        counts = self.tree.histogram[node].tolist()
        most = max(*counts, 1)
        bars = [Bar(i / BINS, 1 / BINS, k / most, NUMBER_COLOUR) for i, k in enumerate(counts)]
        return [bar for bar in bars if bar.height > 0]

    def legend(self) -> list[tuple[str, str]]:
        means = self.tree.value[:, 0, 0]
        fills = self.fills()
        low, high = int(means.argmin()), int(means.argmax())
        ends = [(fills[low], f"mean {self.prediction(low)}")]
        if low != high:
            ends.append((fills[high], f"mean {self.prediction(high)}"))
        return [*ends, (NUMBER_COLOUR, f"rows by {self.facts().replace('targets', 'target')}")]

    def shares(self, node: int) -> list[Share]:
        counts = self.tree.histogram[node].tolist()
        low, high = self.tree.histogram_range
        edges = [low + (high / BINS - low / BINS) * i for i in range(BINS + 1)]
        names = [f"{edges[i]:.4g} to {edges[i + 1]:.4g}" for i in range(BINS)]
        total = max(sum(counts), 1)
        entries = zip(names, counts, strict=True)
        return [Share(name, amount(k), k / total, NUMBER_COLOUR) for name, k in entries if k]

    def measure(self) -> str:
        return "squared error"

    def amount(self, loss: float) -> str:
        return f"squared error {loss:.6g}"

    def below(self, loss: float) -> str:
        return f"has a squared error below {loss:.6g}"

    def at_least(self, loss: float) -> str:
        return f"has a squared error of at least {loss:.6g}"

    def own(self, estimator: Any) -> str:
        return f"has {estimator.squared_error_:.6g}"

    def leaf_cost(self, ccp_alpha: float) -> str:
        mass = self.tree.weight_of(0)
        return f"{ccp_alpha * mass:.6g} ({ccp_alpha:g} times the weight of all rows)"
