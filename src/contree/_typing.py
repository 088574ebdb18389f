"""The types that several modules share, and those of what crosses to the core and back.

The stub of the core names them, see ``bindings/convert.hpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, cast

import numpy as np
from sklearn.base import _fit_context

Number = int | float
Seed = int | np.random.RandomState | None
Costs = dict[Any, float] | Literal["balanced"] | None  # the user's class_weight
OnInterrupt = Literal["raise", "return"]
Search = Literal["best_first", "paper"]
Task = Literal["classification", "regression"]
Nodes = dict[str, np.ndarray]  # a tree as arrays: one entry for each node
Moment = tuple[float, int, int]  # seconds, and the objective and the proved bound by then
OpenPart = tuple[int, int, np.ndarray]  # of a search: depth, floor and intervals, see `Frontier`
Observer = Callable[[float, int, int, float], bool]  # the fields of `Progress`; True stops
Method = TypeVar("Method", bound=Callable[..., Any])


class SizedTree(TypedDict):
    """The best tree of one number of leaves."""

    tree: Nodes
    loss: int
    lower_bound: int


class Snapshot(TypedDict):
    """The state of a search that runs."""

    tree: Nodes
    objective: int
    lower_bound: int
    frontier: OpenPart


class Answer(TypedDict):
    """What a search returns, in the core's integers."""

    tree: Nodes
    loss: int
    objective: int
    lower_bound: int
    status: str
    seconds: float
    counters: dict[str, int]
    history: list[Moment]
    # The core's alone.
    sizes: NotRequired[list[SizedTree]]
    frontier: NotRequired[OpenPart]
    missing_threads: NotRequired[int]
    interrupted: NotRequired[bool]
    # Of a search that is over.
    kernel: NotRequired[str]
    n_jobs: NotRequired[int]


def with_checked_parameters(fit: Method) -> Method:
    """Check an estimator's parameters by scikit-learn's own rules before ``fit``."""
    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(fit))
