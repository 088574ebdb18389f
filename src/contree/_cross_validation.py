"""Choose the depth and size of a tree by cross-validation.

A candidate is a depth and a number of leaves.  A tree of depth d has at least d + 1 and at most
2**d leaves, so those are the candidates of depth d.  One path of optimal trees serves all
candidates of a fold and a depth.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from contree._categories import category_mask
from contree._check_data import check_training_data
from contree._check_parameters import check_no_bools, resolve_n_jobs
from contree._check_weights import check_sample_weight
from contree._estimator import TreeEstimator
from contree._fit import unchanged_on_failure
from contree._progress import bar
from contree._size_path import path_of
from contree._target import Target
from contree._typing import with_checked_parameters
from contree.export.scores import plot_scores

SPLITS, TEST_SHARE = 5, 0.2  # the paper's protocol


def constraints(
    estimator: type[TreeEstimator], of_every_fold: tuple[str, ...]
) -> dict[str, list[Any]]:
    """Return the constraints on the parameters of a cross-validation, for scikit-learn."""
    known = estimator._parameter_constraints
    return {
        **{name: known[name] for name in ("max_leaf_nodes", *of_every_fold, "n_jobs", "verbose")},
        # The cross-validation tries all depths, so there must be a last one.
        "max_depth": [one for one in known["max_depth"] if one is not None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "one_standard_error": ["boolean"],
        "random_state": ["random_state"],
    }


class TreeCV(BaseEstimator):
    """The cross-validation of one kind of estimator."""

    _tree_type: ClassVar[type[TreeEstimator]]  # what is fitted
    _default_score: ClassVar[str]  # what scoring=None is
    _of_every_fold: ClassVar[tuple[str, ...]]  # the parameters that all searches get

    @with_checked_parameters
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose depth and size by cross-validation, and fit that tree to all rows.

        A fit that fails or is interrupted leaves the estimator as it was.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit`` of the estimator; weights count in the scores too.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        check_no_bools(self, ("max_depth", "max_leaf_nodes", "random_state", "n_jobs"))
        with unchanged_on_failure(self):
            given = X
            X, target = check_training_data(self, X, y)
            y = target.y
            weights = check_sample_weight(sample_weight, len(y))
            splits = list(self._splitter(target).split(X, y))
            self.n_splits_ = len(splits)
            tried = candidates(self.max_depth, self.max_leaf_nodes, len(y))
            scores = self._scores(X, y, weights, splits, tried)
            self.cv_results_ = _results(tried, scores)
            self.best_index_ = choose(tried, scores, self.one_standard_error)
            self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            best = self._tree_type(
                **self._of_every_search(), **self.best_params_, n_jobs=self.n_jobs
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # X has had its warnings
                best.fit(given, y, weights)
            if hasattr(best, "classes_"):
                self.classes_ = best.classes_
            self.best_estimator_ = best
        return self

    def _of_every_search(self) -> dict[str, Any]:
        """Return the parameters of all searches.

        Searches run in any order, so they share a seed but not a RandomState.
        """
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        return {name: getattr(self, name) for name in self._of_every_fold} | {"random_state": seed}

    def _splitter(self, target: Target) -> Any:
        """Return the splitter: the user's, or the default of this kind of estimator."""
        if self.cv is not None:
            return check_cv(self.cv, target.y, classifier=target.n_classes > 0)
        return self._default_splitter(target)

    @abstractmethod
    def _default_splitter(self, target: Target) -> Any:
        """Return the splitter that ``cv=None`` means."""

    def _scores(
        self,
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        splits: list[tuple[np.ndarray, np.ndarray]],
        tried: list[tuple[int, int]],
    ) -> np.ndarray:
        """Return the score of each candidate on each fold."""
        base = self._tree_type(**self._of_every_search()).set_params(
            minimize_leaves=False,  # a path has the smallest tree of each number of errors anyway
            categorical_features=category_mask(self.categories_),  # of X, which has codes now
        )
        scorer = check_scoring(base, scoring=self.scoring)
        sizes: dict[int, list[int]] = {}
        for depth, leaves in tried:
            sizes.setdefault(depth, []).append(leaves)
        tasks = [
            delayed(_score_path)(fold, depth, base, sizes[depth], X, y, weights, *split, scorer)
            for depth in sizes
            for fold, split in enumerate(splits)
        ]
        column = {candidate: number for number, candidate in enumerate(tried)}
        scores = np.empty((len(splits), len(tried)))
        with bar(
            self.verbose, len(tasks), "paths of trees, one for each fold and depth"
        ) as advance:
            n_jobs = processes(self.n_jobs, len(tasks))
            for fold, depth, found in Parallel(n_jobs, return_as="generator_unordered")(tasks):
                for leaves, score in found.items():
                    scores[fold, column[depth, leaves]] = score
                advance()
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict each row by the chosen tree.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels, or numbers.
        """
        check_is_fitted(self, "best_estimator_")
        predicted: np.ndarray = self.best_estimator_.predict(X)
        return predicted

    def plot_scores(self, ax: Any = None) -> Any:
        """Draw the scores of all candidates with matplotlib, over their number of leaves.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            The axes to draw on.  None: a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
            The axes.
        """
        check_is_fitted(self, "best_estimator_")
        return plot_scores(self, ax)


def processes(n_jobs: int | None, n_tasks: int) -> int | None:
    """Return how many processes joblib may start; only joblib knows what None and -1 mean."""
    return n_jobs if n_jobs is None or n_jobs < 0 else min(resolve_n_jobs(n_jobs), n_tasks)


def candidates(max_depth: int, max_leaf_nodes: int | None, n_rows: int) -> list[tuple[int, int]]:
    """Return each depth with each number of leaves that a tree of exactly this depth can have."""
    most = n_rows if max_leaf_nodes is None else min(n_rows, int(max_leaf_nodes))
    found = [(0, 1)]
    for depth in range(1, min(int(max_depth), most - 1) + 1):
        widest = most if depth >= 31 else min(most, 2**depth)
        found += [(depth, leaves) for leaves in range(depth + 1, widest + 1)]
    return found


def choose(tried: list[tuple[int, int]], scores: np.ndarray, one_standard_error: bool) -> int:
    """Return the candidate with the best mean score; the smallest among equals.

    With `one_standard_error`, return the smallest candidate whose mean is at most one standard
    error of the best candidate below the best mean.
    """
    means = np.nan_to_num(np.nanmean(scores, axis=0), nan=-np.inf)
    floor = means.max()
    order = sorted(range(len(tried)), key=lambda number: tried[number][::-1])
    best = next(number for number in order if means[number] == floor)
    if one_standard_error and len(scores) > 1:
        column = scores[:, best][~np.isnan(scores[:, best])]
        floor -= np.std(column, ddof=1) / math.sqrt(len(column)) if len(column) > 1 else 0.0
    return next(number for number in order if means[number] >= floor)


def _score_path(
    fold: int,
    depth: int,
    base: TreeEstimator,
    sizes: list[int],
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    scorer: Any,
) -> tuple[int, int, dict[int, float]]:
    """Return the scores on `test` of the optimal trees of each size on `train`."""
    base = clone(base).set_params(max_depth=depth, max_leaf_nodes=max(sizes))
    path = path_of(base, X[train], y[train], None if weights is None else weights[train])
    given = {} if weights is None else {"sample_weight": weights[test]}
    trees = {leaves: path.tree(leaves) for leaves in sizes}
    scores = {id(tree): scorer(tree, X[test], y[test], **given) for tree in trees.values()}
    return fold, depth, {leaves: scores[id(tree)] for leaves, tree in trees.items()}


def _results(tried: list[tuple[int, int]], scores: np.ndarray) -> dict[str, Any]:
    """Return the scores under the names of scikit-learn's searches."""
    names = ("max_depth", "max_leaf_nodes")
    means = np.nanmean(scores, axis=0)
    return {
        "params": [dict(zip(names, candidate, strict=True)) for candidate in tried],
        **{f"param_{name}": np.array([c[k] for c in tried]) for k, name in enumerate(names)},
        **{f"split{fold}_test_score": row for fold, row in enumerate(scores)},
        "mean_test_score": means,
        "std_test_score": np.nanstd(scores, axis=0),
        "rank_test_score": np.array([1 + int((means > mean).sum()) for mean in means], np.int32),
    }
