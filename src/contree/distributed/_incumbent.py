"""The best tree of a search and the proved bound, with their history."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

BOUND_HISTORY_SECONDS = 0.05  # between two bounds in the history, at least
NO_OBJECTIVE = np.iinfo(np.int64).max


@dataclass
class Incumbent:
    """The best tree and the proved bound.  Both only improve."""

    objective: int = NO_OBJECTIVE
    tree: dict | None = None
    lower_bound: int = 0
    history: list[tuple[float, int, int]] = field(default_factory=list)
    seconds_before: float = 0.0  # of earlier calls, from the checkpoint

    def offer_tree(self, objective: int, tree: dict, seconds: float) -> bool:
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


def as_arrays(tree: dict) -> dict:
    """Return a tree as the arrays that the core accepts, from arrays or plain lists."""
    floats = ("threshold", "gap_below", "gap_above")
    kinds = {"missing_go_to_left": np.uint8, "category_words": np.uint64}
    kinds |= dict.fromkeys(floats, np.float64)
    return {
        name: np.ascontiguousarray(values, dtype=kinds.get(name, np.int64))
        for name, values in tree.items()
    }
