"""The classifier: its parameters, its fitted attributes and its predictions."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from contree._check_data import check_rows
from contree._check_parameters import sklearn_constraints
from contree._class_target import ClassTarget
from contree._class_tree import ClassTree
from contree._estimator import TreeEstimator
from contree._parameters import PARAMETERS
from contree._tags import set_tags
from contree._typing import Costs, Number, OnInterrupt, Search, Seed
from contree.export.class_wording import ClassWording
from contree.export.json_class import ClassJson


class ConTreeClassifier(ClassifierMixin, TreeEstimator):
    """A classification tree with provably the fewest training errors for its depth and size.

    The search considers every threshold of every feature, without binning, and every set of
    categories.  It ends with a certificate: no tree of the permitted depth and size has an
    objective below ``lower_bound_``.  When ``status_`` is ``"optimal"``, ``lower_bound_`` equals
    ``objective_``.

    Parameters
    ----------
    max_depth : int or None, default=3
        The largest number of tests between the root and a leaf; 0 gives a single leaf.  Values
        above 1000 count as 1000, and so does None.  The work grows steeply with the depth, until a
        tree can separate all rows that differ.  Use ``time_limit`` with None if leaves have a cost,
        a size or a limit on their number.

    max_leaf_nodes : int, default=None
        The largest number of leaves.  The tree is optimal among all trees within it.  None:
        as many as the depth allows.  With a limit, the search tries every division of the leaves
        between the two sides of a split.  That may take several times as long.

    ccp_alpha : float, default=0.0
        The cost of a leaf, as a share of the weight of all rows.  The search minimises the training
        error rate plus ``ccp_alpha`` times the number of leaves.  This is scikit-learn's cost
        complexity with the error rate as the impurity; CART prunes by it, contree searches for it.
        The value is the decimal as written: with 0.01, a leaf among 1000 rows costs exactly 10
        errors.  If several trees tie, contree returns one in which no split can be removed.

    minimize_leaves : bool, default=False
        With True, the search finds a tree with the fewest leaves among all trees with the fewest
        errors, and proves it.  That takes about a third longer, and more if very many trees tie.
        With False, no subtree of depth two can be replaced by a smaller one with as few errors, if
        no feature has more than ten categories there.
        With ``ccp_alpha`` above 0, ``fit`` raises ValueError: each leaf has a cost
        already.

    min_samples_leaf : int or float, default=1
        The least number of training rows in a leaf; weights do not count.  A float in (0, 1) is a
        share of the rows, rounded up.

    min_weight_fraction_leaf : float, default=0.0
        The least share of the weight of all rows in a leaf, from 0 to 0.5.

    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        The columns that hold categories.  ``"from_dtype"``: those of type ``category`` in a pandas
        frame, ``Categorical`` or ``Enum`` in a polars frame.  Otherwise a mask with a bool for each
        column, or column indices, or column names.  None: all columns are numbers.  The values of
        such a column may be strings, numbers, bools or any hashable objects.  A test sends any set
        of categories to the left, and the tree is optimal among all sets.  A missing value (None,
        NaN, NA) is one more category.  In ``predict``, a category that ``fit`` has not seen goes
        where missing values go.  If no row of a node had a missing value, both go to the side with
        more rows.  A category that no row of the node had goes there too.

    class_weight : dict, "balanced" or None, default=None
        The cost of an error, by the label of the row; it multiplies ``sample_weight``.  Labels that
        a dict leaves out cost 1.  ``"balanced"`` gives all K classes the same weight and keeps the
        weight of all rows.  A row of a class with n_c of the n rows then weighs n / (K n_c), where
        ``sample_weight`` counts the rows if it is given.

    max_gap : int or float, default=0
        How far the objective may stay from the optimum, in exchange for time.  An int is a number
        of training errors, or their weight.  A float in [0, 1) is a share of the rows, or of their
        weight, rounded down.  A share is the decimal as written: 0.29 of 100 rows is 29.

    time_limit : float, default=None
        Seconds after which the search stops and returns its best tree and bound.  None: no limit.

    feature_tolerance : float, default=0.0
        Values of a feature that are closer than this count as equal.  With 0.0 every distinct
        float64 value counts; the paper's experiments use 1e-7.

    n_jobs : int, default=None
        Number of threads: None means 1, -1 all processors, -2 all but one.  The search uses at most
        four per processor.  A thread that the system cannot start costs a RuntimeWarning.

    memory_limit : int or str, default=None
        Memory for the search's cache: bytes, or a string such as ``"500MB"`` or ``"2GiB"``.  A full
        cache drops its oldest entries, which costs time but never changes the optimum.  The rows
        need memory of their own.  None: 64 MiB.

    random_state : int, RandomState instance or None, default=None
        The seed of the heuristics that look for better trees from depth four on.  The seed affects
        which optimal tree is returned and how good an interrupted search's tree is.  It never
        affects what is proved.  A RandomState instance gives each fit another seed.  Unlike in
        CART, None is a fixed seed: on one thread, the same input gives the same tree.

    warm_start : bool, default=False
        With True, the search starts with the tree of the last ``fit`` of this estimator, and its
        result is never worse.  If that tree has other columns, ``fit`` warns and ignores it.

    on_interrupt : {"raise", "return"}, default="raise"
        What Ctrl-C does.  ``"raise"`` ends the fit with KeyboardInterrupt and leaves the estimator
        as it was.  ``"return"`` keeps the best tree so far, with status ``"interrupted"``.  That
        tree can be worse than CART's if Ctrl-C comes before CART's is complete.  Before there is
        any tree, ``"return"`` raises KeyboardInterrupt too.

    search : {"best_first", "paper"}, default="best_first"
        The order of the search.  ``"paper"`` follows the published algorithm.  Both return an
        optimal tree.  With a least leaf size, ``"paper"`` prunes nothing.

    search_options : dict, default=None
        Switches of the search by name, for experiments, such as ``{"cache": False}``.  None of them
        changes the optimum; see ``docs/options.md``.

    verbose : int, default=0
        With 1 or more, ``fit`` prints one line when the search has ended.  During the search it
        shows a live line if standard error is a terminal and rich is installed
        (``contree[progress]``).

    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity that ``tree_.impurity``, ``feature_importances_`` and ``to_sklearn()`` show.
        The search minimises errors with every criterion.

    splitter : {"best"}, default="best"
        Accepted for compatibility with CART.  The search considers all splits.

    min_samples_split : int or float, default=2
        Accepted for compatibility with CART, up to twice ``min_samples_leaf``, which implies it.
        ``fit`` raises ValueError for larger values.

    max_features : None, default=None
        Accepted for compatibility with CART.  Every test considers all features.

    min_impurity_decrease : {0.0}, default=0.0
        Accepted for compatibility with CART.  ``ccp_alpha`` says how many errors a leaf must save.

    monotonic_cst : None, default=None
        Accepted for compatibility with CART.  Monotonic constraints are not supported.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.

    n_classes_ : int
        The number of classes.

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
        ``"optimal"``: proved, with ``minimize_leaves`` of the leaves too.  ``"gap_reached"``:
        proved to be within ``max_gap`` of the optimum.  ``"time_limit"``, ``"stopped"`` (by the
        callback), ``"interrupted"``, ``"memory_limit"``: the search ended early.

    errors_ : int or float
        Training errors of the tree, counted on the rows; with weights, the weight of these rows.
        An int if all weights are integers, else a correctly rounded float.

    objective_ : int or float
        The minimised number, in the unit of errors: ``errors_`` plus ``ccp_alpha`` times the weight
        of all rows times the number of leaves.  It equals ``errors_`` if ``ccp_alpha`` is 0;
        otherwise it is a correctly rounded float.

    lower_bound_ : int or float
        Proved: no permitted tree has a smaller objective.  A float is rounded down, so that it is
        never above the proved bound.  It equals ``objective_`` if the tree is proved to be optimal.

    gap_ : int or float
        ``objective_ - lower_bound_``: the tree is at most this far from the optimum, however the
        search ended.

    leaves_lower_bound_ : int
        With ``minimize_leaves``, proved: no permitted tree with at most ``errors_`` errors has
        fewer leaves.  It equals ``get_n_leaves()`` if the tree is proved to have the fewest.
        Without ``minimize_leaves`` it is 1.

    weight_tolerance_ : float
        0.0 if contree counted all weights exactly, as multiples of their greatest common divisor.
        If these multiples sum to 2**60 or more, contree rounds the weights to about 18 digits.
        With ``ccp_alpha`` or ``minimize_leaves``, the limit is a sixth of 2**60, divided by the
        number of leaves.  Rounding moves ``errors_`` and ``lower_bound_`` by at most this number.
        The tree is at most this much worse than ``status_`` says.  A leaf may weigh less than
        ``min_weight_fraction_leaf`` asks for, by at most twice this number.

    tree_ : ClassTree
        The nodes as arrays, with scikit-learn's names and methods.

    feature_importances_ : array of shape (n_features,)
        The share of each feature in the decrease of impurity, as CART defines it, by ``criterion``.

    search_report_ : SearchReport
        Counters, time and history of the search.

    References
    ----------
    C. E. Brita, J. G. M. van der Linden, E. Demirović: Optimal Classification Trees for Continuous
    Feature Data Using Dynamic Programming with Branch-and-Bound.  AAAI 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from contree import ConTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = ConTreeClassifier(max_depth=2).fit(X, y)
    >>> clf.status_, clf.errors_, clf.lower_bound_
    ('optimal', 6, 6)
    """

    _target_type = ClassTarget
    _wording_type = ClassWording
    _json_leaf = ClassJson
    _cart_type = DecisionTreeClassifier
    _parameters = PARAMETERS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        parameter.name: sklearn_constraints(parameter) for parameter in PARAMETERS
    }

    # Set by fit.
    tree_: ClassTree
    classes_: np.ndarray
    n_classes_: int
    errors_: Number
    leaves_lower_bound_: int
    weight_tolerance_: float

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
        class_weight: Costs = None,
        max_gap: Number = 0,
        time_limit: float | None = None,
        feature_tolerance: float = 0.0,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        on_interrupt: OnInterrupt = "raise",
        search: Search = "best_first",
        search_options: dict[str, int] | None = None,
        verbose: int = 0,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
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
        self.class_weight = class_weight
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
        """Predict the class of each row: the heaviest of its leaf, or the first if several tie.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            With False, a NumPy array of floats is not checked for infinity, which saves time on few
            rows.  Other input is always checked.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``.
        """
        leaves = self.apply(X, check_input)
        labels: np.ndarray = self.classes_.take(self.tree_.majority[leaves])
        return labels

    def predict_proba(self, X: Any, check_input: bool = True) -> np.ndarray:
        """Return the class fractions, by weight, of the leaf that each row ends in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            With False, a NumPy array of floats is not checked for infinity, which saves time on few
            rows.  Other input is always checked.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "tree_")
        shares: np.ndarray = self.tree_.predict(check_rows(self, X, check_input))
        return shares

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of ``predict_proba``; minus infinity for a class that is absent.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms

    @staticmethod
    def _training_loss(y: Any, predicted: Any, weights: np.ndarray) -> float:
        return float(weights[predicted != y].sum())

    def _loss_in_words(self) -> str:
        return f"{self.errors_} errors{' by weight' * self.tree_.weighted}"
