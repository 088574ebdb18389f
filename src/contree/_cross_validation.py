"""Choose the depth and size of a tree by cross-validation.

A candidate is a depth and a number of leaves.  A tree of depth d has at least d + 1 and at most
2**d leaves, so those are the candidates of depth d.  One path of optimal trees serves all
candidates of a fold and a depth.
"""

from __future__ import annotations

import math
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.metrics import check_scoring
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv
from sklearn.utils.validation import check_is_fitted

from contree._check_data import check_training_data
from contree._check_parameters import check_no_bools
from contree._check_weights import check_sample_weight
from contree._classifier import ConTreeClassifier
from contree._fit import unchanged_on_failure
from contree._parameters import OF_EVERY_FOLD
from contree._progress import bar
from contree._size_path import size_error_path
from contree._tags import set_tags
from contree.export.scores import plot_scores

SPLITS, TEST_SHARE = 5, 0.2  # the paper's protocol


class ConTreeClassifierCV(ClassifierMixin, BaseEstimator):
    """An optimal classification tree whose depth and size are chosen by cross-validation.

    For each fold and each depth up to `max_depth`, ``fit`` computes one path of optimal trees by
    their number of leaves on the training rows.  It scores every tree of the path on the other
    rows.  Then it fits the depth and size with the best mean score to all rows.

    Parameters
    ----------
    max_depth : int, default=3
        The greatest depth to try, as in :class:`ConTreeClassifier`, but never None.

    max_leaf_nodes : int, default=None
        The most leaves to try.  None: as many as the depth allows.

    cv : int, splitter, iterable or None, default=None
        The folds.  None: the paper's protocol, five random splits, 80 % of the rows for training
        and 20 % for the score, stratified by class.  Otherwise as in scikit-learn.

    scoring : str or callable, default=None
        The score, as in scikit-learn.  None: accuracy.

    one_standard_error : bool, default=False
        With True, choose the smallest tree whose mean score is at most one standard error below the
        best.  The smallest tree has the fewest leaves, then the least depth.

    random_state : int, RandomState instance or None, default=0
        The seed of the default splits; other values of `cv` have their own.  An int is also the
        ``random_state`` of every search, as in :class:`ConTreeClassifier`.

    n_jobs : int, default=None
        Number of joblib's processes for folds and depths; threads for the fit to all rows.

    min_samples_leaf, min_weight_fraction_leaf, class_weight, time_limit, feature_tolerance, \
memory_limit, search_options
        As in :class:`ConTreeClassifier`, for every search.

    verbose : int, default=0
        With 1 or more, ``fit`` shows a bar over the folds if standard error is a terminal and rich
        is installed (``contree[progress]``).

    Attributes
    ----------
    best_estimator_ : ConTreeClassifier
        The chosen tree, fitted to all rows.  Use it to draw, export and certify the tree.

    best_params_ : dict
        Its ``max_depth`` and ``max_leaf_nodes``.

    best_index_ : int
        The chosen candidate in ``cv_results_``.

    best_score_ : float
        Its mean score.

    cv_results_ : dict of arrays
        One entry for each candidate, under the names that ``GridSearchCV`` uses.

    n_splits_ : int
        The number of folds.

    classes_ : array of shape (n_classes,)
        The labels, sorted.

    n_features_in_ : int
        The number of features seen in ``fit``.

    feature_names_in_ : array of shape (n_features_in_,)
        The names of the features, if all column names of X are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from contree import ConTreeClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = ConTreeClassifierCV(max_depth=2).fit(X, y)
    >>> clf.best_params_
    {'max_depth': 2, 'max_leaf_nodes': 3}
    """

    _parameter_constraints: dict = {  # noqa: RUF012 (scikit-learn's protocol)
        **{
            name: ConTreeClassifier._parameter_constraints[name]
            for name in ("max_leaf_nodes", *OF_EVERY_FOLD, "n_jobs", "verbose")
        },
        # The cross-validation tries all depths, so there must be a last one.
        "max_depth": [
            one for one in ConTreeClassifier._parameter_constraints["max_depth"] if one is not None
        ],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "one_standard_error": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        max_depth=3,
        *,
        max_leaf_nodes=None,
        cv=None,
        scoring=None,
        one_standard_error=False,
        random_state=0,
        n_jobs=None,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        class_weight=None,
        time_limit=None,
        feature_tolerance=0.0,
        memory_limit=None,
        search_options=None,
        verbose=0,
    ):
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.feature_tolerance = feature_tolerance
        self.memory_limit = memory_limit
        self.search_options = search_options
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        set_tags(self, tags)
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose depth and size by cross-validation, and fit that tree to all rows.

        A fit that fails or is interrupted leaves the estimator as it was.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`ConTreeClassifier.fit`; weights count in the scores too.

        Returns
        -------
        self : ConTreeClassifierCV
            The fitted estimator.
        """
        check_no_bools(self, ("max_depth", "max_leaf_nodes", "random_state", "n_jobs"))
        with unchanged_on_failure(self):
            X, codes, self.classes_ = check_training_data(self, X, y)
            y = self.classes_.take(codes)
            weights = check_sample_weight(sample_weight, len(y))
            splits = list(self._splitter(codes).split(X, y))
            self.n_splits_ = len(splits)
            tried = candidates(self.max_depth, self.max_leaf_nodes, len(y))
            scores = self._scores(X, y, weights, splits, tried)
            self.cv_results_ = _results(tried, scores)
            self.best_index_ = choose(tried, scores, self.one_standard_error)
            self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            best = ConTreeClassifier(
                **self._of_every_search(), **self.best_params_, n_jobs=self.n_jobs
            ).fit(X, y, weights)
            if hasattr(self, "feature_names_in_"):
                best.feature_names_in_ = self.feature_names_in_
            self.best_estimator_ = best
        return self

    def _of_every_search(self) -> dict:
        """Return the parameters of all searches.

        Searches run in any order, so they share a seed but not a RandomState.
        """
        seed = self.random_state if isinstance(self.random_state, Integral) else None
        return {name: getattr(self, name) for name in OF_EVERY_FOLD} | {"random_state": seed}

    def _splitter(self, codes: np.ndarray):
        """Return the splitter; it is stratified unless a class has too few rows."""
        if self.cv is not None:
            return check_cv(self.cv, codes, classifier=True)
        rows, counts = len(codes), np.bincount(codes)
        held_out = math.ceil(TEST_SHARE * rows)
        enough = counts.min() >= 2 and min(held_out, rows - held_out) >= len(counts)
        kind = StratifiedShuffleSplit if enough else ShuffleSplit
        return kind(SPLITS, test_size=TEST_SHARE, random_state=self.random_state)

    def _scores(self, X, y, weights, splits, tried) -> np.ndarray:
        """Return the score of each candidate on each fold."""
        of_every_search = self._of_every_search()
        scorer = check_scoring(ConTreeClassifier(), scoring=self.scoring)
        sizes: dict[int, list[int]] = {}
        for depth, leaves in tried:
            sizes.setdefault(depth, []).append(leaves)
        tasks = [
            delayed(_score_path)(
                fold, depth, of_every_search, sizes[depth], X, y, weights, *split, scorer
            )
            for depth in sizes
            for fold, split in enumerate(splits)
        ]
        column = {candidate: number for number, candidate in enumerate(tried)}
        scores = np.empty((len(splits), len(tried)))
        with bar(
            self.verbose, len(tasks), "paths of trees, one for each fold and depth"
        ) as advance:
            for fold, depth, found in Parallel(self.n_jobs, return_as="generator_unordered")(tasks):
                for leaves, score in found.items():
                    scores[fold, column[depth, leaves]] = score
                advance()
        return scores

    def predict(self, X):
        """Predict the class of each row by the chosen tree."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def predict_proba(self, X):
        """Return the class fractions of the leaf that each row ends in."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def predict_log_proba(self, X):
        """Return the logarithms of ``predict_proba``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_log_proba(X)

    def plot_scores(self, ax=None):
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


def _score_path(fold, depth, parameters, sizes, X, y, weights, train, test, scorer) -> tuple:
    """Return the scores on `test` of the optimal trees of each size on `train`."""
    path = size_error_path(
        X[train],
        y[train],
        depth,
        max_leaf_nodes=max(sizes),
        sample_weight=None if weights is None else weights[train],
        **parameters,
    )
    given = {} if weights is None else {"sample_weight": weights[test]}
    trees = {leaves: path.tree(leaves) for leaves in sizes}
    scores = {id(tree): scorer(tree, X[test], y[test], **given) for tree in trees.values()}
    return fold, depth, {leaves: scores[id(tree)] for leaves, tree in trees.items()}


def _results(tried: list[tuple[int, int]], scores: np.ndarray) -> dict:
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
