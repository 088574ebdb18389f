"""The methods of a fitted tree of scikit-learn, under the same names."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from contree._check_data import check_rows
from contree._fitted_tree import FittedTree


class CartMixin:
    """Leaves and paths of rows, the size of the tree, and its importances."""

    tree_: FittedTree
    n_features_in_: int

    def apply(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Return the number of the leaf that each row ends in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            With False, a NumPy array of floats is not checked for infinity, which saves time on few
            rows.  Other input is always checked.

        Returns
        -------
        leaves : array of int64, shape (n_samples,)
            Node numbers of ``tree_``.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.apply(check_rows(self, X, check_input))

    def decision_path(self, X: Any, check_input: bool = True) -> Any:
        """Return the nodes that each row passes on its way to a leaf.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            With False, a NumPy array of floats is not checked for infinity, which saves time on few
            rows.  Other input is always checked.

        Returns
        -------
        indicator : sparse matrix (CSR) of shape (n_samples, node_count)
            1 where the row passes the node.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.decision_path(check_rows(self, X, check_input))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return at which ``ccp_alpha`` the optimal tree changes, and the errors from there on.

        CART prunes one tree.  Here every ``ccp_alpha`` has an optimal tree of its own, and these
        trees need not be parts of each other.  :func:`contree.size_error_path` also returns the
        trees, the bounds and all sizes.  After a time limit, the path has the best trees found.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.

        Returns
        -------
        path : Bunch
            ``ccp_alphas``, ascending from 0, and ``impurities``: the weight of the errors of all
            leaves, as a share of the weight of all rows, of the tree that is optimal from that
            ``ccp_alpha`` up to the next.
        """
        from contree._size_path import path_of  # which needs this class

        found = path_of(
            clone(self).set_params(ccp_alpha=0.0, minimize_leaves=False, search="best_first"),
            X,
            y,
            sample_weight,
        )
        weight = found.trees[0].tree_.weighted_n_node_samples[0]
        return Bunch(
            ccp_alphas=found.ccp_alphas, impurities=found.errors[found.ccp_leaves - 1] / weight
        )

    def get_depth(self) -> int:
        """Return the depth: the largest number of tests between the root and a leaf."""
        check_is_fitted(self, "tree_")
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def n_outputs_(self) -> int:
        check_is_fitted(self, "tree_")
        return self.tree_.n_outputs

    @property
    def max_features_(self) -> int:
        check_is_fitted(self, "tree_")
        return self.n_features_in_

    @property
    def feature_importances_(self) -> np.ndarray:
        check_is_fitted(self, "tree_")
        return self.tree_.compute_feature_importances()
