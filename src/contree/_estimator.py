"""What the classifier and the regressor have in common: ``fit``, and all that it leads to."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from contree._cart_methods import CartMixin
from contree._categories import Categories, category_mask
from contree._draft import StrPath
from contree._fit import fit_with, search_tree
from contree._fitted_tree import FittedTree
from contree._parameters import Parameter
from contree._progress import Callback
from contree._report import SearchReport
from contree._target import Target
from contree._typing import Number, OnInterrupt, Search, Seed, with_checked_parameters
from contree.export.json_leaf import JsonLeaf
from contree.export.methods import ExportMixin
from contree.export.wording import Wording


class TreeEstimator(CartMixin, ExportMixin, BaseEstimator):
    """An optimal decision tree of one kind."""

    _target_type: ClassVar[type[Target]]  # what is learnt: classes or numbers
    _wording_type: ClassVar[type[Wording]]  # how exports word it
    _json_leaf: ClassVar[type[JsonLeaf]]  # how JSON holds it
    _cart_type: ClassVar[type[BaseDecisionTree]]  # what to_sklearn() gives
    _parameters: ClassVar[tuple[Parameter, ...]]

    # Parameters.
    max_depth: int | None
    max_leaf_nodes: int | None
    ccp_alpha: float
    minimize_leaves: bool
    min_samples_leaf: Number
    min_weight_fraction_leaf: float
    categorical_features: Any
    max_gap: Number
    time_limit: float | None
    feature_tolerance: float
    n_jobs: int | None
    memory_limit: int | str | None
    random_state: Seed
    warm_start: bool
    on_interrupt: OnInterrupt
    search: Search
    search_options: dict[str, int] | None
    verbose: int
    min_samples_split: Number

    # Set by fit.
    tree_: FittedTree
    status_: str
    objective_: Number
    lower_bound_: Number
    search_report_: SearchReport
    n_features_in_: int
    feature_names_in_: np.ndarray
    categories_: Categories | None = None  # what was pickled before there were any has none

    @with_checked_parameters
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        *,
        callback: Callback | None = None,
        initial_tree: Any = None,
        checkpoint: StrPath | None = None,
    ) -> Self:
        """Find an optimal tree.

        A fit that fails, or that is interrupted without ``on_interrupt="return"``, leaves the
        estimator as it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Finite numbers, or NaN for a missing value; in columns of ``categorical_features`` any
            hashable values.  A NumPy array, a data frame, nested sequences, or a sparse matrix,
            which ``fit`` makes dense.  ``fit`` compares numbers as float64 and warns about columns
            with integers that float64 cannot tell apart.  At every test the search tries missing
            values on both sides, and apart from all others.
        y : array-like of shape (n_samples,)
            For a classifier labels: strings, integers, bools or floats with whole values.  For a
            regressor finite numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            The cost of an error, or of a unit of squared error, on each row: finite numbers, not
            negative.  Integers and floats count exactly, see ``weight_tolerance_``.  Rows of weight
            zero are left out, but their labels stay in ``classes_``.  None: 1 each.
        check_input : bool, default=True
            Accepted for compatibility with CART.  ``fit`` always checks the rows, which takes
            little time beside the search.
        callback : callable, default=None
            A function that takes a :class:`contree.Progress`.  ``fit`` calls it in this thread, at
            least once, a few times per second, and within 20 ms of a better tree or bound.  If it
            returns True, the search stops with status ``"stopped"`` and keeps the best tree.  If it
            raises, the search ends and ``fit`` raises the same.  While it runs the search goes on,
            but the time limit is not checked.
        initial_tree : estimator, FittedTree, str or dict, default=None
            The first incumbent, instead of that of ``warm_start``.  A fitted estimator or its
            ``tree_``, JSON from ``to_json()``, or a fitted tree of scikit-learn.  ``fit`` applies
            its tests to the columns of X, cuts it at ``max_depth`` and prunes it to the best tree
            for ``max_leaf_nodes`` and ``ccp_alpha``.  Its leaves predict by the rows of this fit.
            The result is never worse than this tree.
        checkpoint : str or path-like, default=None
            A file for the state of the search.  ``fit`` writes it every few seconds and when the
            search ends, also by Ctrl-C.  If the file exists, ``fit`` continues from it, and
            ``search_report_`` counts the time of all calls.  The file of a search that has ended
            gives its tree and certificate at once.  ``fit`` raises ValueError if the rows, y,
            weights or parameters that decide which tree is best differ from those of the file.
            ``time_limit``, ``n_jobs``, ``memory_limit`` and ``search_options`` may differ.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        fit_with(search_tree, self, X, y, sample_weight, callback, initial_tree, checkpoint)
        return self

    @property
    def is_categorical_(self) -> np.ndarray | None:
        check_is_fitted(self, "tree_")
        return category_mask(self.categories_)

    @property
    def gap_(self) -> Number:
        check_is_fitted(self, "tree_")
        return self.objective_ - self.lower_bound_

    @staticmethod
    @abstractmethod
    def _training_loss(y: Any, predicted: Any, weights: np.ndarray) -> float:
        """Return what predictions lose on rows with these weights."""

    @abstractmethod
    def _loss_in_words(self) -> str:
        """Return the loss of the tree for a line of text."""
