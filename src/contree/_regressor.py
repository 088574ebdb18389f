"""The regressor: its parameters, its fitted attributes and its predictions."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from contree._check_parameters import sklearn_constraints
from contree._estimator import TreeEstimator
from contree._number_target import NumberTarget
from contree._parameters import REGRESSOR_PARAMETERS
from contree._tags import set_tags
from contree._typing import Number, OnInterrupt, Seed
from contree.export.json_number import NumberJson
from contree.export.number_wording import NumberWording


class ConTreeRegressor(RegressorMixin, TreeEstimator):
    """A regression tree with provably the least squared training error for its depth and size.

    The search considers every threshold of every feature, without binning, and every set of
    categories.  It ends with a certificate: no tree of the permitted depth and size has an
    objective below ``lower_bound_``.  When ``status_`` is ``"optimal"``, ``lower_bound_`` equals
    ``objective_``.

    Parameters
    ----------
    ccp_alpha : float, default=0.0
        The cost of a leaf.  The search minimises the mean squared training error plus
        ``ccp_alpha`` times the number of leaves.  This is scikit-learn's cost complexity; CART
        prunes by it, contree searches for it.  The value is the decimal as written.  If several
        trees tie, contree returns one in which no split can be removed.

    max_gap : int or float, default=0
        How far the objective may stay from the optimum, in exchange for time.  An int is a squared
        error.  A float in [0, 1) is a share of the squared error of a single leaf: with 0.01, the
        training R^2 is within 0.01 of the best.

    criterion : {"squared_error"}, default="squared_error"
        What the search minimises.

    search : {"best_first"}, default="best_first"
        The order of the search.  The published one is for classes.

    min_impurity_decrease : {0.0}, default=0.0
        Accepted for compatibility with CART.  ``ccp_alpha`` says how much squared error a leaf must
        save.

    max_depth, max_leaf_nodes, min_samples_leaf, min_weight_fraction_leaf, categorical_features, \
time_limit, feature_tolerance, n_jobs, memory_limit, random_state, warm_start, on_interrupt, \
search_options, verbose, splitter, min_samples_split, max_features, monotonic_cst
        As in :class:`ConTreeClassifier`.

    Attributes
    ----------
    n_outputs_ : int
        Always 1.

    max_features_ : int
        The number of features that every test considers: all.

    n_features_in_ : int
        The number of features seen in ``fit``.

    feature_names_in_ : array of shape (n_features,)
        The names of the features, if all column names of X are strings.

    categories_ : tuple, or None
        For each feature None if it holds numbers, else its categories, sorted.  None if no feature
        is categorical.

    is_categorical_ : array of bool, shape (n_features,), or None
        Which features are categorical; None if none is.

    status_ : str
        How the search ended, as in :class:`ConTreeClassifier`.

    squared_error_ : float
        The sum of the squared training errors of the tree, by weight, correctly rounded.

    objective_ : float
        The minimised number: ``squared_error_`` plus ``ccp_alpha`` times the weight of all rows
        times the number of leaves, correctly rounded.

    lower_bound_ : float
        Proved: no permitted tree has a smaller objective.  It is rounded down, so that it is never
        above the proved bound.  It equals ``objective_`` if the tree is proved to be optimal.

    gap_ : float
        ``objective_ - lower_bound_``: the tree is at most this far from the optimum, however the
        search ended.

    target_tolerance_ : float
        0.0 if contree counted all targets exactly: integers, and decimals with few digits.  If
        targets times the weight of all rows need more than 53 bits, contree rounds the targets.
        Then ``objective_`` and ``lower_bound_`` are at most this far from the exact numbers, and
        the tree is at most this much worse than ``status_`` says.  It includes what the rounding
        of scores to 60 bits can change, if that is more than 1e-12 of the objective.

    weight_tolerance_ : float
        0.0 if contree counted all weights exactly.  Else the same for rounded weights.

    tree_ : NumberTree
        The nodes as arrays, with scikit-learn's names and methods.

    feature_importances_ : array of shape (n_features,)
        The share of each feature in the decrease of squared error, as CART defines it.

    search_report_ : SearchReport
        Counters, time and history of the search.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from contree import ConTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = ConTreeRegressor(max_depth=2).fit(X, y)
    >>> reg.status_, reg.squared_error_ == reg.lower_bound_, round(reg.score(X, y), 3)
    ('optimal', True, 0.436)
    """

    _target_type = NumberTarget
    _wording_type = NumberWording
    _json_leaf = NumberJson
    _cart_type = DecisionTreeRegressor
    _parameters = REGRESSOR_PARAMETERS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        parameter.name: sklearn_constraints(parameter) for parameter in REGRESSOR_PARAMETERS
    }

    # Set by fit.
    squared_error_: float
    target_tolerance_: float

    def __init__(
        self,
        max_depth: int | None = 3,
        *,
        max_leaf_nodes: int | None = None,
        ccp_alpha: float = 0.0,
        minimize_leaves: bool = False,
        min_samples_leaf: Number = 1,
        min_weight_fraction_leaf: float = 0.0,
        categorical_features: Any = "from_dtype",
        max_gap: Number = 0,
        time_limit: float | None = None,
        feature_tolerance: float = 0.0,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        on_interrupt: OnInterrupt = "raise",
        search: Literal["best_first"] = "best_first",
        search_options: dict[str, int] | None = None,
        verbose: int = 0,
        criterion: Literal["squared_error"] = "squared_error",
        splitter: Literal["best"] = "best",
        min_samples_split: Number = 2,
        max_features: None = None,
        min_impurity_decrease: float = 0.0,
        monotonic_cst: None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.ccp_alpha = ccp_alpha
        self.minimize_leaves = minimize_leaves
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.categorical_features = categorical_features
        self.max_gap = max_gap
        self.time_limit = time_limit
        self.feature_tolerance = feature_tolerance
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.search = search
        self.search_options = search_options
        self.verbose = verbose
        self.criterion = criterion
        self.splitter = splitter
        self.min_samples_split = min_samples_split
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.monotonic_cst = monotonic_cst

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_tags(self, tags)
        return tags

    def predict(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Predict the number of each row: the mean of the training targets in its leaf, by weight.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            With False, a NumPy array of floats is not checked for infinity, which saves time on few
            rows.  Other input is always checked.

        Returns
        -------
        y : array of float64, shape (n_samples,)
            Numbers.
        """
        leaves = self.apply(X, check_input)
        numbers: np.ndarray = self.tree_.value[leaves, 0, 0]
        return numbers

    @staticmethod
    def _training_loss(y: Any, predicted: Any, weights: np.ndarray) -> float:
        return float((weights * np.square(y - predicted)).sum())

    def _loss_in_words(self) -> str:
        return f"squared error {self.squared_error_:.6g}"
