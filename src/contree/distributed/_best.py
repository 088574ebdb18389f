"""The best tree of a search and the proved bound, with their history."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

PAUSE = 0.05  # seconds between two bounds in the history
NO_OBJECTIVE = np.iinfo(np.int64).max


@dataclass
class Best:
    """The best tree, and what is proved: both only get better."""

    objective: int = NO_OBJECTIVE
    tree: dict | None = None
    lower_bound: int = 0
    history: list[tuple[float, int, int]] = field(default_factory=list)
    seconds_before: float = 0.0  # of calls before this one

    def take(self, objective: int, tree: dict, seconds: float) -> bool:
        if objective >= self.objective:
            return False
        self.objective, self.tree = objective, tree
        self._note(seconds)
        return True

    def raise_bound(self, lower_bound: int, seconds: float) -> None:
        lower_bound = min(lower_bound, self.objective)
        if lower_bound <= self.lower_bound:
            return
        self.lower_bound = lower_bound
        last = self.history[-1][0] if self.history else 0.0
        if self.tree is not None and last + PAUSE <= self.seconds_before + seconds:
            self._note(seconds)

    def end(self, seconds: float) -> None:
        """Note the last state, if that is not done yet."""
        now = (self.objective, self.lower_bound)
        if self.tree is not None and (not self.history or self.history[-1][1:] != now):
            self._note(seconds)

    def _note(self, seconds: float) -> None:
        moment = self.seconds_before + seconds
        self.history.append((moment, self.objective, self.lower_bound))


def as_arrays(tree: dict) -> dict:
    """Return a tree as the core takes it, also if it came as plain lists."""
    floats = ("threshold", "gap_below", "gap_above")
    kinds = {"missing_go_to_left": np.uint8} | dict.fromkeys(floats, np.float64)
    return {
        name: np.ascontiguousarray(values, dtype=kinds.get(name, np.int64))
        for name, values in tree.items()
    }
