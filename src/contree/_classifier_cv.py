"""Depth and size of a classification tree by cross-validation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils.validation import check_is_fitted

from contree._class_target import ClassTarget
from contree._classifier import ConTreeClassifier
from contree._cross_validation import SPLITS, TEST_SHARE, TreeCV, constraints
from contree._parameters import OF_EVERY_FOLD
from contree._tags import set_tags
from contree._typing import Costs, Number, Seed


class ConTreeClassifierCV(ClassifierMixin, TreeCV):
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
        Number of joblib's processes for folds and depths, at most one for each fold and depth;
        threads for the fit to all rows.

    minimize_leaves : bool, default=False
        As in :class:`ConTreeClassifier`, for the fit to all rows.  The trees of the folds have the
        fewest leaves in any case.

    min_samples_leaf, min_weight_fraction_leaf, categorical_features, class_weight, time_limit, \
feature_tolerance, memory_limit, search_options
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

    feature_names_in_ : array of shape (n_features,)
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

    _tree_type = ConTreeClassifier
    _target_type = ClassTarget
    _default_score = "accuracy"
    _of_every_fold = OF_EVERY_FOLD
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints(ConTreeClassifier, OF_EVERY_FOLD)

    # Set by fit.
    classes_: np.ndarray
    best_estimator_: ConTreeClassifier

    def __init__(
        self,
        max_depth: int = 3,
        *,
        max_leaf_nodes: int | None = None,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = False,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        minimize_leaves: bool = False,
        min_samples_leaf: Number = 1,
        min_weight_fraction_leaf: float = 0.0,
        categorical_features: Any = "from_dtype",
        class_weight: Costs = None,
        time_limit: float | None = None,
        feature_tolerance: float = 0.0,
        memory_limit: int | str | None = None,
        search_options: dict[str, int] | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.minimize_leaves = minimize_leaves
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.feature_tolerance = feature_tolerance
        self.memory_limit = memory_limit
        self.search_options = search_options
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_tags(self, tags)
        return tags

    def _default_splitter(self, target: ClassTarget) -> ShuffleSplit:  # type: ignore[override]
        """Return five random splits; they are stratified unless a class has too few rows."""
        rows, counts = len(target.codes), np.bincount(target.codes)
        held_out = math.ceil(TEST_SHARE * rows)
        enough = counts.min() >= 2 and min(held_out, rows - held_out) >= len(counts)
        kind = StratifiedShuffleSplit if enough else ShuffleSplit
        return kind(SPLITS, test_size=TEST_SHARE, random_state=self.random_state)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class fractions of the leaf that each row ends in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_log_proba(X)
