"""The best tree of a search and the proved bound, with their history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from contree._typing import Moment, Nodes

BOUND_HISTORY_SECONDS = 0.05  # between two bounds in the history, at least
KINDS: dict[str, type[np.generic]] = {  # of the arrays of a tree; all others are int64
    "missing_go_to_left": np.uint8,
    "category_words": np.uint64,
    "threshold": np.float64,
    "gap_below": np.float64,
    "gap_above": np.float64,
}
NO_OBJECTIVE = np.iinfo(np.int64).max


@dataclass
class Incumbent:
    """The best tree and the proved bound.  Both only improve."""

    objective: int = NO_OBJECTIVE
    tree: Nodes | None = None
    lower_bound: int = 0
    history: list[Moment] = field(default_factory=list)
    seconds_before: float = 0.0  # of earlier calls, from the checkpoint

    def offer_tree(self, objective: int, tree: Nodes, seconds: float) -> bool:
        """Store a tree if it is better than the best one; return whether it is."""
        if objective >= self.objective:
            return False
        self.objective, self.tree = objective, tree
        self._add_to_history(seconds)
        return True

    def raise_bound(self, lower_bound: int, seconds: float) -> None:
        """Store a proved bound if it is higher than the last one."""
        lower_bound = min(lower_bound, self.objective)
        if lower_bound <= self.lower_bound:
            return
        self.lower_bound = lower_bound
        last = self.history[-1][0] if self.history else 0.0
        if self.tree is not None and last + BOUND_HISTORY_SECONDS <= self.seconds_before + seconds:
            self._add_to_history(seconds)

    def end(self, seconds: float) -> None:
        """Add the final tree and bound to the history."""
        bounds = (self.objective, self.lower_bound)
        if self.tree is not None and (not self.history or self.history[-1][1:] != bounds):
            self._add_to_history(seconds)

    def _add_to_history(self, seconds: float) -> None:
        self.history.append((self.seconds_before + seconds, self.objective, self.lower_bound))


def as_arrays(tree: Mapping[str, ArrayLike]) -> Nodes:
    """Return a tree as the arrays that the core accepts, from arrays or plain lists."""
    return {
        name: np.ascontiguousarray(values, dtype=KINDS.get(name, np.int64))
        for name, values in tree.items()
    }
