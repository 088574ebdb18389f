"""Errors first, leaves second: both as one integer for the core.

Let n be the most leaves that a tree may have.  For a tree with e errors, in multiples of the
weights' unit, and l leaves the core minimises n e + l.  Since 1 <= l <= n, a tree with fewer errors
has the smaller number, whatever its leaves, and e and l are known by it:

    e = floor((n e + l - 1) / n),    l = (n e + l) - n e.

If b is a proved bound, n e + l >= b for every tree, then e >= floor((b - 1) / n) for every tree,
and a tree with e errors has at least b - n e leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from contree._objective import LeafCost
from contree._typing import Number
from contree._weights import Weights


@dataclass(frozen=True)
class LeavesSecond:
    """What the core minimises where trees with equal errors are told apart by their leaves.

    Attributes
    ----------
    errors : LeafCost
        The errors alone, which are what the user sees.
    most : int
        The most leaves of a permitted tree.
    """

    errors: LeafCost
    most: int

    loss: ClassVar[str] = "errors"
    leaf_cost: ClassVar[int] = 1

    @classmethod
    def of(cls, most: int, weights: Weights) -> LeavesSecond:
        return cls(LeafCost.free(most, weights), most)

    @property
    def error_cost(self) -> int:
        return self.most

    @property
    def core_options(self) -> dict[str, Any]:
        return {}

    def gap(self, max_gap: Number) -> int:
        """Return ``max_gap`` in the core's integers: more errors up to it, and any leaves."""
        return self.most * self.errors.gap(max_gap)

    def bounds(self, counted: int, counted_bound: int) -> tuple[Number, Number]:
        """Return the errors of a tree and a proved bound of all errors, in the user's unit."""
        return self.errors.bounds(self._errors(counted), self._errors(counted_bound))

    def proved(self, counted: int, counted_bound: int) -> bool:
        """Tell whether no tree has fewer errors, or as many and fewer leaves."""
        return counted_bound >= counted

    def least_leaves(self, counted: int, counted_bound: int) -> int:
        """Return how many leaves a tree with no more errors is proved to have, at the least."""
        return max(1, min(counted, counted_bound) - self.most * self._errors(counted))

    def _errors(self, counted: int) -> int:
        return max(0, counted - 1) // self.most
