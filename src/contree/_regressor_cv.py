"""Depth and size of a regression tree by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import RegressorMixin
from sklearn.model_selection import ShuffleSplit

from contree._cross_validation import SPLITS, TEST_SHARE, TreeCV, constraints
from contree._number_target import NumberTarget
from contree._parameters import OF_EVERY_FOLD_OF_NUMBERS
from contree._regressor import ConTreeRegressor
from contree._tags import set_tags
from contree._target import Target
from contree._typing import Number, Seed


class ConTreeRegressorCV(RegressorMixin, TreeCV):
    """An optimal regression tree whose depth and size are chosen by cross-validation.

    It works as :class:`ConTreeClassifierCV` does, and has the same parameters but ``class_weight``.

    Parameters
    ----------
    cv : int, splitter, iterable or None, default=None
        The folds.  None: five random splits, 80 % of the rows for training and 20 % for the score.
        Otherwise as in scikit-learn.

    scoring : str or callable, default=None
        The score, as in scikit-learn.  None: R^2.

    minimize_leaves : {False}, default=False
        As in :class:`ConTreeRegressor`.

    max_depth, max_leaf_nodes, one_standard_error, random_state, n_jobs, min_samples_leaf, \
min_weight_fraction_leaf, categorical_features, time_limit, feature_tolerance, memory_limit, \
search_options, verbose
        As in :class:`ConTreeClassifierCV`.

    Attributes
    ----------
    best_estimator_ : ConTreeRegressor
        The chosen tree, fitted to all rows.  Use it to draw, export and certify the tree.

    best_params_, best_index_, best_score_, cv_results_, n_splits_, n_features_in_, \
feature_names_in_
        As in :class:`ConTreeClassifierCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from contree import ConTreeRegressorCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = ConTreeRegressorCV(max_depth=2).fit(X, y)
    >>> reg.best_params_
    {'max_depth': 2, 'max_leaf_nodes': 4}
    """

    _tree_type = ConTreeRegressor
    _target_type = NumberTarget
    _default_score = "R²"
    _of_every_fold = OF_EVERY_FOLD_OF_NUMBERS
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints(
        ConTreeRegressor, OF_EVERY_FOLD_OF_NUMBERS
    )

    # Set by fit.
    best_estimator_: ConTreeRegressor

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
        self.time_limit = time_limit
        self.feature_tolerance = feature_tolerance
        self.memory_limit = memory_limit
        self.search_options = search_options
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_tags(self, tags)
        return tags

    def _default_splitter(self, target: Target) -> ShuffleSplit:
        """Return five random splits."""
        return ShuffleSplit(SPLITS, test_size=TEST_SHARE, random_state=self.random_state)
