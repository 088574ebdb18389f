"""The trade-off between size and loss: the best tree of every number of leaves, in one search."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from contree._categories import one_hot
from contree._check_data import check_training_data
from contree._check_parameters import NUMBERS, check_no_bools
from contree._classifier import ConTreeClassifier
from contree._estimator import TreeEstimator
from contree._fit import search_tree, store_answer, warn_of_rounded_weights
from contree._fit_request import FitRequest
from contree._progress import observer
from contree._regressor import ConTreeRegressor
from contree._typing import Answer, Costs, Number, OnInterrupt, Seed, SizedTree, Task
from contree._weights import Exact


@dataclass(frozen=True)
class SizeErrorPath:
    """The fewest errors, or the least squared error, of trees of one depth by number of leaves.

    CART's ``cost_complexity_pruning_path`` covers the prunings of one tree; this covers all trees.

    Attributes
    ----------
    leaves : array of int, shape (n_sizes,)
        1, 2, 3, ..., up to the last number that saves an error.
    errors : array of int or float, shape (n_sizes,)
        Training errors, or their weight, of the best tree within this number of leaves.  For
        regression the squared error.
    lower_bounds : array like ``errors``
        Proved: no permitted tree within this number of leaves has fewer errors.  They equal
        ``errors`` for the sizes that are proved to be optimal.
    trees : tuple of ConTreeClassifier or ConTreeRegressor
        The fitted trees, with ``max_leaf_nodes`` set to their size.  A tree has fewer leaves if the
        last one saves no error.
    ccp_alphas : array of float
        Ascending from 0.  With a ``ccp_alpha`` from ``ccp_alphas[i]`` up to the next one, the tree
        of ``ccp_leaves[i]`` leaves is optimal; at ``ccp_alphas[i]`` the larger tree is too.  They
        follow from ``errors``, and are proved if all ``errors`` are.
    ccp_leaves : array of int, like ``ccp_alphas``
        The numbers of leaves of these trees, descending to 1.
    exact_alphas : tuple of Fraction
        ``ccp_alphas`` without rounding.
    status : str
        ``"optimal"`` if all sizes are proved, else the reason why the search ended, as ``status_``
        of :class:`ConTreeClassifier`.
    seconds : float
        Wall time of the search.
    counters : dict of str to int
        Counters of the search.
    """

    leaves: np.ndarray
    errors: np.ndarray
    lower_bounds: np.ndarray
    trees: tuple[TreeEstimator, ...]
    ccp_alphas: np.ndarray
    ccp_leaves: np.ndarray
    exact_alphas: tuple[Fraction, ...]
    status: str
    seconds: float
    counters: dict[str, int]
    _training: tuple[Any, ...] | None = field(default=None, repr=False, compare=False)

    @property
    def proved(self) -> np.ndarray:
        """Whether each size is proved to be optimal."""
        proved: np.ndarray = self.errors == self.lower_bounds
        return proved

    def tree(self, max_leaf_nodes: int) -> TreeEstimator:
        """Return the best tree of a size.

        Parameters
        ----------
        max_leaf_nodes : int
            The most leaves that the tree may have.

        Returns
        -------
        tree : ConTreeClassifier or ConTreeRegressor
            The fitted estimator.
        """
        if not isinstance(max_leaf_nodes, Integral) or max_leaf_nodes < 1:
            raise ValueError(f"max_leaf_nodes must be an int from 1 up; got {max_leaf_nodes!r}.")
        return self.trees[min(int(max_leaf_nodes), len(self.trees)) - 1]

    def plot(self, ax: Any = None) -> Any:
        """Draw errors over leaves, beside those of CART's pruning path.

        A full circle is a proved optimum.  An empty circle is the best tree found, with a bar down
        to the proved bound.  The line joins the sizes that are optimal for some ``ccp_alpha``.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            The axes to draw on.  None: a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
            The axes.
        """
        from contree.export.size_path import plot_size_path

        return plot_size_path(self, ax=ax)

    def cart_path(self) -> tuple[np.ndarray, np.ndarray]:
        """Return leaves and errors of CART's tree and its prunings by cost complexity.

        scikit-learn computes them for the same rows and parameters, with one column for each
        category.

        Returns
        -------
        leaves : array of int
            Ascending.
        errors : array of float
            Training errors, or the squared error, of the pruned tree of each size.
        """
        if self._training is None:
            raise ValueError(
                "A path that was copied or unpickled has no rows. Call cart_path on the original."
            )
        return _cart_path(self.trees[-1], *self._training)

    def __getstate__(self) -> dict[str, Any]:
        # Only the picture needs the rows, so a pickle leaves them out.
        return {**self.__dict__, "_training": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        """Return one line for each size."""
        lines = [f"SizeErrorPath: {self.status}, {self.seconds:.3g} s", "  leaves  errors  proved"]
        lines += [
            f"  {size:>6}  {_figure(errors):>6}  {_figure(errors) if done else _bounded(bound):>6}"
            for size, errors, bound, done in zip(
                self.leaves, self.errors, self.lower_bounds, self.proved, strict=True
            )
        ]
        return "\n".join(lines)


def _bounded(bound: Any) -> str:
    return f"at least {_figure(bound)}" if bound > 0 else "nothing yet"


def _figure(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def size_error_path(
    X: Any,
    y: Any,
    max_depth: int | None = 3,
    *,
    task: Task = "classification",
    sample_weight: Any = None,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: Number = 1,
    min_weight_fraction_leaf: float = 0.0,
    categorical_features: Any = "from_dtype",
    class_weight: Costs = None,
    max_gap: Number = 0,
    time_limit: float | None = None,
    feature_tolerance: float = 0.0,
    n_jobs: int | None = None,
    memory_limit: int | str | None = None,
    random_state: Seed = None,
    on_interrupt: OnInterrupt = "raise",
    search_options: dict[str, int] | None = None,
    verbose: int = 0,
) -> SizeErrorPath:
    """Find the best tree of every number of leaves.

    One search finds them all.  Sizes share bounds, so it takes less time than a fit for each.  It
    begins with CART's trees and with trees of depth one to three.  So if a limit ends it, no size
    is worse than in a path of these depths under the same limit.

    Parameters
    ----------
    X, y
        Rows and labels or numbers, as for ``fit``.
    max_depth : int or None, default=3
        The largest number of tests between the root and a leaf.  None: only the number of leaves
        limits the depth, which takes far longer.
    task : {"classification", "regression"}, default="classification"
        Whether leaves predict classes or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        The cost of an error, or of a unit of squared error, on each row.
    max_leaf_nodes : int, default=None
        The largest size.  None: all sizes.
    min_samples_leaf, min_weight_fraction_leaf, categorical_features, class_weight, max_gap, \
time_limit, feature_tolerance, n_jobs, memory_limit, random_state, on_interrupt, search_options, \
verbose
        As in :class:`ConTreeClassifier`.  ``max_gap`` is for each size, the other limits are for
        the whole search.  The live line shows the largest size.

    Returns
    -------
    path : SizeErrorPath
        Errors, proved bounds and trees by size, and the ``ccp_alpha`` at which the optimum changes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from contree import size_error_path
    >>> path = size_error_path(*load_iris(return_X_y=True), max_depth=2)
    >>> path.errors.tolist(), path.status
    ([100, 50, 6], 'optimal')
    """
    kinds: dict[str, type[TreeEstimator]] = {
        "classification": ConTreeClassifier,
        "regression": ConTreeRegressor,
    }
    if task not in kinds:
        raise ValueError(f"task must be 'classification' or 'regression'; got {task!r}.")
    of_classes = {"class_weight": class_weight} if task == "classification" else {}
    if class_weight is not None and not of_classes:
        raise ValueError("class_weight must be None for task='regression'. Use sample_weight.")
    base = kinds[task](
        max_depth,
        max_leaf_nodes=max_leaf_nodes,
        min_samples_leaf=min_samples_leaf,
        min_weight_fraction_leaf=min_weight_fraction_leaf,
        categorical_features=categorical_features,
        max_gap=max_gap,
        time_limit=time_limit,
        feature_tolerance=feature_tolerance,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        random_state=random_state,
        on_interrupt=on_interrupt,
        search_options=search_options,
        verbose=verbose,
        **of_classes,
    )
    path = path_of(base, X, y, sample_weight)
    warn_of_rounded_weights(*path.trees)
    return path


def path_of(base: TreeEstimator, X: Any, y: Any, sample_weight: Any = None) -> SizeErrorPath:
    """Return the path of the trees that an estimator permits."""
    start_time = time.perf_counter()
    base._validate_params()
    check_no_bools(base, NUMBERS)
    columns, target = check_training_data(base, X, y)
    training = columns, y, sample_weight
    request = FitRequest.of(
        base, columns, target, sample_weight, start_time=start_time, all_sizes=True
    )
    with observer(None, base.verbose, request.cost) as observe:
        answer = search_tree(replace(request, observe=observe))
    sizes = answer["sizes"]
    trees = tuple(
        _fitted(base, leaves, size, answer, request) for leaves, size in enumerate(sizes, start=1)
    )
    alphas = _hull([one.tree_.loss_units for one in trees], request.weights.total)
    return SizeErrorPath(
        leaves=np.arange(1, len(sizes) + 1),
        errors=np.array([one.objective_ for one in trees]),
        lower_bounds=np.array([one.lower_bound_ for one in trees]),
        trees=trees,
        ccp_alphas=np.array([float(alpha) for alpha, _ in alphas]),
        ccp_leaves=np.array([leaves for _, leaves in alphas]),
        exact_alphas=tuple(alpha for alpha, _ in alphas),
        status=answer["status"],
        seconds=answer["seconds"],
        counters=answer["counters"],
        _training=training,
    )


def _fitted(
    base: TreeEstimator, leaves: int, size: SizedTree, answer: Answer, request: FitRequest
) -> TreeEstimator:
    """Return the estimator that a fit with this limit of leaves would give."""
    errors, bound = size["loss"], size["lower_bound"]
    status = "optimal" if errors == bound else answer["status"]
    found = copy.copy(base)
    found.max_leaf_nodes = leaves
    of_size: Answer = {
        **answer,
        **size,
        "objective": errors,
        "status": status,
        "history": [(answer["seconds"], errors, bound)],
    }
    store_answer(found, of_size, request)
    return found


def _hull(errors: Sequence[Exact], total: int) -> list[tuple[Fraction, int]]:
    """Return each ccp_alpha at which the best size changes, and the size from there on.

    The objective of a size is a line over alpha: the errors are its value at 0, the leaves are its
    slope.  So the best sizes are the corners of the lower convex hull of errors over leaves.
    Between two corners, alpha is the number of errors that a leaf saves, as a share of all rows.
    """
    corners: list[tuple[int, Exact]] = []
    for leaves, wrong in enumerate(errors, start=1):
        if corners and wrong >= corners[-1][1]:
            continue
        while len(corners) > 1 and _saved(corners[-2], corners[-1]) <= _saved(
            corners[-1], (leaves, wrong)
        ):
            corners.pop()
        corners.append((leaves, wrong))
    alphas = [(Fraction(0), corners[-1][0])]
    for smaller, larger in zip(corners[-2::-1], corners[::-1], strict=False):
        alphas.append((_saved(smaller, larger) / total, smaller[0]))
    return alphas


def _saved(smaller: tuple[int, Exact], larger: tuple[int, Exact]) -> Fraction:
    """Return the loss that each additional leaf saves."""
    return Fraction(smaller[1] - larger[1], larger[0] - smaller[0])


def _cart_path(
    estimator: TreeEstimator, X: np.ndarray, y: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    X, y = one_hot(X, estimator.categories_), np.asarray(y)
    depth = estimator.max_depth
    params = {
        "max_depth": None if depth is None else max(int(depth), 1),
        "min_samples_leaf": estimator.min_samples_leaf,
        "min_weight_fraction_leaf": estimator.min_weight_fraction_leaf,
        "random_state": 0,
    }
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if hasattr(estimator, "class_weight"):
        params["class_weight"] = estimator.class_weight
        weights = weights * _class_factors(estimator, y, weights)
    whole = estimator._cart_type(**params).fit(X, y, sample_weight)
    path = whole.cost_complexity_pruning_path(X, y, sample_weight)
    found: dict[int, float] = {}
    for alpha in path.ccp_alphas:
        cart = copy.copy(whole).set_params(ccp_alpha=max(float(alpha), 0.0))
        cart._prune_tree()  # a new fit would train the same tree again
        errors = estimator._training_loss(y, cart.predict(X), weights)
        found[cart.get_n_leaves()] = min(errors, found.get(cart.get_n_leaves(), np.inf))
    leaves = sorted(found)
    return np.array(leaves), np.array([found[size] for size in leaves])


def _class_factors(estimator: TreeEstimator, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from sklearn.utils.class_weight import compute_sample_weight

    if estimator.class_weight == "balanced":
        totals = {label: weights[y == label].sum() for label in np.unique(y)}
        return np.array([weights.sum() / (len(totals) * totals[label]) for label in y])
    factors: np.ndarray = compute_sample_weight(estimator.class_weight, y)
    return factors
