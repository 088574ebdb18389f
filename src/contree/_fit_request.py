"""What one fit asks a search for: the problem in the core's integers, and how to run.

`fit_with` in ``_fit.py`` builds a `FitRequest` and hands it to a search: `search_tree` there, the
cluster's in ``distributed/``, or an experiment's.  A search answers with the core's dictionary.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from contree import _core
from contree._categories import category_counts
from contree._check_parameters import (
    resolve_leaf_size,
    resolve_max_depth,
    resolve_memory_limit,
    resolve_n_jobs,
    resolve_seed,
    resolve_switches,
)
from contree._check_weights import check_sample_weight
from contree._checkpoint_file import Checkpoint
from contree._objective import Objective
from contree._problem import Problem, fingerprints
from contree._target import Target
from contree._typing import Nodes, Observer
from contree._weights import Weights

if TYPE_CHECKING:
    from contree._draft import StrPath
    from contree._estimator import TreeEstimator


@dataclass(frozen=True)
class SearchInput:
    """The arguments of the core's `Searcher`; a cluster sends them to each worker once.

    Attributes
    ----------
    X : array of float64 in Fortran order, shape (n_rows, n_features)
        The rows that have a weight.
    y : array of int32 or int64, shape (n_rows,)
        What is learnt of each row: its class number, or an integer.
    n_classes : int
        The number of classes, including those without rows; 0 where y are no classes.
    options : dict
        The keyword arguments of the searcher, see `core_options`.
    """

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    options: dict[str, Any]

    @property
    def last_level(self) -> int:
        """The greatest depth of any permitted tree."""
        return min(int(self.options["max_depth"]), int(self.options["max_leaves"]) - 1)

    def searcher(self, **changed_options: Any) -> _core.Searcher:
        """Return a new searcher, with some options changed."""
        options = self.options | changed_options
        return _core.Searcher(self.X, self.y, self.n_classes, **options)


@dataclass(frozen=True)
class FitRequest:
    """What one fit asks a search for.

    Attributes
    ----------
    search_input : SearchInput
        The problem, in the core's integers.
    weights : Weights
        The weights of the rows, with their unit.
    target : Target
        What is learnt.
    cost : Objective
        What the core minimises, in its integers and in the user's unit.
    initial_tree : dict of arrays, or None
        The node arrays of the first incumbent.
    observe : function, or None
        The function that the search calls with (seconds, objective, lower_bound, root_closed).
        It returns True to stop the search.
    start_time : float
        ``time.perf_counter()`` at the call of ``fit``.  All seconds count from here.
    time_limit : float
        Seconds for the whole fit; infinity without a limit.
    return_on_interrupt : bool
        True: Ctrl-C returns the best tree.  False: Ctrl-C raises KeyboardInterrupt.
    checkpoint : Checkpoint, or None
        The file that the search continues from and writes to.
    """

    search_input: SearchInput
    weights: Weights
    target: Target
    cost: Objective
    start_time: float
    time_limit: float = math.inf
    return_on_interrupt: bool = False
    initial_tree: Nodes | None = None
    observe: Observer | None = None
    checkpoint: Checkpoint | None = None

    @classmethod
    def of(
        cls,
        estimator: TreeEstimator,
        X: np.ndarray,
        target: Target,
        sample_weight: Any,
        *,
        start_time: float,
        initial_tree: Nodes | None = None,
        checkpoint: StrPath | None = None,
        all_sizes: bool = False,
    ) -> FitRequest:
        """Return the request of an estimator for checked rows; `checkpoint` is a path or None."""
        sample_weight = check_sample_weight(sample_weight, len(X))
        data: dict[str, str] = {}
        if checkpoint is not None:
            data = fingerprints(X, target, sample_weight, estimator.categories_)
        counted = target.counted(estimator, sample_weight)
        if counted.rows is not None:
            X = np.asfortranarray(X[counted.rows])
        y, weights, cost = counted.y, counted.weights, counted.cost
        options = core_options(estimator, len(y), weights, cost, all_sizes=all_sizes)
        limit = estimator.time_limit
        return cls(
            SearchInput(X, y, target.n_classes, options),
            weights,
            target,
            cost,
            start_time,
            time_limit=math.inf if limit is None else float(limit),
            return_on_interrupt=estimator.on_interrupt == "return",
            initial_tree=initial_tree,
            checkpoint=(
                None
                if checkpoint is None
                else Checkpoint(checkpoint, Problem.of(estimator, data, options))
            ),
        )

    def elapsed_seconds(self) -> float:
        """Return the seconds since the call of ``fit``."""
        return time.perf_counter() - self.start_time

    def remaining_seconds(self) -> float:
        """Return the seconds until the time limit: checking many rows takes a part of them."""
        return max(0.0, self.time_limit - self.elapsed_seconds())


def core_options(
    estimator: TreeEstimator,
    n_rows: int,
    weights: Weights,
    cost: Objective,
    *,
    all_sizes: bool = False,
) -> dict[str, Any]:
    """Return the keyword arguments of the core's `Searcher`, besides rows and labels."""
    min_samples_leaf, min_weight_leaf = resolve_leaf_size(estimator, weights, n_rows)
    return {
        "weights": weights.multiples,
        "categories": category_counts(estimator.categories_),
        "max_depth": resolve_max_depth(estimator.max_depth, n_rows),
        "min_samples_leaf": min_samples_leaf,
        "min_weight_leaf": min_weight_leaf,
        "max_leaves": min(int(estimator.max_leaf_nodes or n_rows), n_rows),
        "error_cost": cost.error_cost,
        "leaf_cost": cost.leaf_cost,
        "all_sizes": all_sizes,
        "max_gap": cost.gap(estimator.max_gap),
        "feature_tolerance": float(estimator.feature_tolerance),
        "n_jobs": resolve_n_jobs(estimator.n_jobs),
        "memory_limit": resolve_memory_limit(estimator.memory_limit, type(estimator).__name__),
        "seed": resolve_seed(estimator.random_state),
        "search": estimator.search,
        "switches": resolve_switches(estimator.search_options),
        **cost.core_options,
    }
