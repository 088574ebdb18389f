"""What a search did: its counters, its time and its history.

The classifier fills the report from the core's answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from contree._typing import Number


class Improvement(NamedTuple):
    """A moment at which the best tree or the proved bound got better."""

    seconds: float
    objective: Number  # a float if the weights are not integers
    lower_bound: Number


STATUSES = ("optimal", "gap_reached", "time_limit", "stopped", "interrupted", "memory_limit")


@dataclass(frozen=True)
class SearchReport:
    """What one call of ``fit`` did.

    Attributes
    ----------
    seconds : float
        Wall time from the call of ``fit`` to the verified tree.
    counters : mapping of str to int
        The number of subproblems, depth-two calls and cache hits, and how much each pruning rule
        removed.
    history : tuple of Improvement
        The improvements of the best tree and of the proved bound, oldest first.
    search : str
        The estimator's parameter of the same name.
    kernel : str
        The depth-two kernel that ran.
    n_jobs : int
        The number of threads.
    """

    seconds: float
    counters: Mapping[str, int]
    history: tuple[Improvement, ...]
    search: str
    kernel: str
    n_jobs: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled; the plain dict it shows can.
        fields = (self.seconds, dict(self.counters), self.history)
        return type(self), (*fields, self.search, self.kernel, self.n_jobs)

    def without_times(self) -> SearchReport:
        """Return a copy in which all times are 0, with the history of the best tree alone.

        The rest is the same for two equal fits on one thread.  So after
        ``clf.search_report_ = clf.search_report_.without_times()`` both give the same pickle.
        """
        better: list[Improvement] = []
        for _, objective, bound in self.history:
            if not better or objective < better[-1].objective:
                better.append(Improvement(0.0, objective, bound))
        return replace(self, seconds=0.0, history=tuple(better))

    def __repr__(self) -> str:
        """Return one line for each counter."""
        threads = f"{self.n_jobs} thread{'s' * (self.n_jobs != 1)}"
        lines = [
            f"SearchReport: {self.search} search, {self.kernel} kernel, {threads}, "
            f"{self.seconds:.3g} s"
        ]
        width = max(map(len, self.counters), default=0)
        lines += [f"  {name:<{width}}  {count:>15,}" for name, count in self.counters.items()]
        if self.history:
            lines.append("  history (seconds: objective, proved bound)")
            lines += [
                f"    {step.seconds:.4f}: {step.objective}, {step.lower_bound}"
                for step in self.history
            ]
        return "\n".join(lines)
