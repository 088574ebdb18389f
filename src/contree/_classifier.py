"""The estimator: its parameters, what a fit leaves behind, and ``fit`` itself."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from contree._cart_methods import CartMixin
from contree._check_parameters import sklearn_constraints
from contree._fit import fit_with, search_tree
from contree._parameters import PARAMETERS
from contree._tags import set_tags
from contree.export.methods import ExportMixin


class ConTreeClassifier(CartMixin, ExportMixin, ClassifierMixin, BaseEstimator):
    """A classification tree with provably the fewest training errors for its depth and size.

    The search considers every threshold of every feature as it is, without binning, and ends with a
    certificate: ``lower_bound_`` is a proved lower bound on the objective of every tree of the
    permitted depth and size.  When ``status_`` is ``"optimal"`` it equals ``objective_``.

    Parameters
    ----------
    max_depth : int or None, default=3
        The largest number of tests between the root and a leaf; 0 gives a single leaf, and more
        than 1000 count as 1000.  None: no limit but that, as in CART.  The work grows steeply with
        the depth, up to where a tree tells all rows apart that differ.  So None takes little time,
        unless leaves have a cost, a size or a limit of their number: a case for ``time_limit``.

    max_leaf_nodes : int, default=None
        The largest number of leaves: the tree is optimal among those that have no more.  None: as
        many as the depth allows.  With a limit the search looks at each way in which a split can
        share the leaves out, and may take several times as long.

    ccp_alpha : float, default=0.0
        What each leaf costs, as a share of the weight of all rows: the search minimises the
        training error rate plus ``ccp_alpha`` times the number of leaves.  That is scikit-learn's
        cost complexity with the error rate as the measure of impurity, but searched for, where
        CART prunes afterwards.  Read as the decimal that is written: with 0.01, a leaf among 1000
        rows costs exactly 10 errors.  Of equal trees one without splits to spare is returned.

    min_samples_leaf : int or float, default=1
        The least number of training rows of a leaf, whatever they weigh.  A float in (0, 1) is a
        share of the rows, rounded up.

    min_weight_fraction_leaf : float, default=0.0
        The least share of the weight of all rows that a leaf must have, from 0 to 0.5.

    class_weight : dict, "balanced" or None, default=None
        What an error costs, by the label of the row; it multiplies ``sample_weight``.  A dict may
        leave out labels, which get 1.  ``"balanced"`` makes all classes weigh the same and keeps
        the weight of all rows: n / (K n_c) for a row of a class with n_c of the n rows, counted by
        ``sample_weight`` if it is given.

    max_gap : int or float, default=0
        How far from the optimum the objective may stay, in exchange for time.  An int is a number
        of training errors, or their weight; a float in [0, 1) is a share of the rows, or of their
        weight, rounded down to what a tree can have.  A share is read as the decimal that is
        written: 0.29 of 100 rows is 29.

    time_limit : float, default=None
        Seconds after which the search stops and keeps the best tree and the bound it has.  None: no
        limit.

    feature_tolerance : float, default=0.0
        Values of a feature that are closer than this count as equal.  With 0.0 every distinct
        float64 value counts; the paper's experiments use 1e-7.

    n_jobs : int, default=None
        Number of threads: None means 1, -1 all processors, -2 all but one.

    memory_limit : int or str, default=None
        Memory for the search's cache, which is what grows while it runs: bytes, or a string such as
        ``"500MB"`` or ``"2GiB"``.  When it is used up the oldest entries go, which costs time and
        never changes the optimum.  The rows themselves come on top.  None: 64 MiB.

    random_state : int, RandomState instance or None, default=None
        The seed of the heuristics that look for better trees from depth four on.  It decides the
        road to the optimum, which of several optimal trees is found, and how good the tree of a
        search that is stopped is; never what is proved.  A RandomState instance gives one number at
        each fit.  Unlike CART's, None is not random but always the same seed: on one thread, the
        same input gives the same tree.

    warm_start : bool, default=False
        With True, the tree of the last ``fit`` of this estimator is the first incumbent of the
        next, if that has the same columns (else a warning says so); the result is never worse than
        it.

    on_interrupt : {"raise", "return"}, default="raise"
        What Ctrl-C does: ``"raise"`` ends the fit with KeyboardInterrupt and leaves the estimator
        as it was; ``"return"`` keeps the best tree so far, with status ``"interrupted"``.  That may
        be less than CART's tree if it comes while that is made, and before there is any tree,
        while the rows are checked and put in order, it is KeyboardInterrupt all the same.

    search : {"best_first", "paper"}, default="best_first"
        The order in which the search works.  ``"paper"`` follows the published algorithm.  Both
        give an optimal tree.  Where leaves must be of some size, ``"paper"`` prunes nothing.

    search_options : dict, default=None
        Switches of the search by name, for experiments, such as ``{"cache": False}``.  None of them
        changes the optimum; see ``docs/options.md``.

    verbose : int, default=0
        With 1 or more, print one line when the search has ended; before, show a live line if
        standard error is a terminal and rich is installed (``contree[progress]``).

    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        The impurity that ``tree_.impurity``, ``feature_importances_`` and ``to_sklearn()`` show.
        Errors are what is minimised, whatever it is.

    splitter : {"best"}, default="best"
        For calls that were written for CART: every test is the best of all.

    min_samples_split : int or float, default=2
        For calls that were written for CART: a number or share of rows that ``min_samples_leaf``
        implies, at most twice as many.  Others are refused.

    max_features : None, default=None
        For calls that were written for CART: every test is the best of all features.

    min_impurity_decrease : {0.0}, default=0.0
        For calls that were written for CART.  ``ccp_alpha`` says what a leaf must save.

    monotonic_cst : None, default=None
        For calls that were written for CART.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.

    n_classes_ : int
        The number of classes.

    n_outputs_ : int
        1.

    max_features_ : int
        The number of features that a test is the best of: all.

    n_features_in_ : int
        The number of features seen in ``fit``.

    feature_names_in_ : array of shape (n_features_in_,)
        The names of the features, if X had names that are all strings.

    status_ : str
        ``"optimal"``: proved.  ``"gap_reached"``: proved to be within ``max_gap`` of the optimum.
        ``"time_limit"``, ``"stopped"`` (by the callback), ``"interrupted"``, ``"memory_limit"``:
        the search ended early.

    errors_ : int or float
        Training errors of the tree, counted on the rows; with weights, what these rows weigh: an
        int where all weights are integers, else a float, correctly rounded.

    objective_ : int or float
        What was minimised, in the unit of errors: ``errors_`` plus ``ccp_alpha`` times the weight
        of all rows times the number of leaves.  Equal to ``errors_`` where ``ccp_alpha`` is 0;
        otherwise a float, correctly rounded.

    lower_bound_ : int or float
        Proved: no permitted tree has a smaller objective.  A float is rounded down, so that it is
        never above what is proved; where the tree is proved to be optimal it is ``objective_``.

    gap_ : int or float
        ``objective_ - lower_bound_``: the tree is at most so far from the optimum, however the
        search ended.

    weight_tolerance_ : float
        0.0: all weights were taken exactly, as multiples of their greatest common divisor.  Where
        these sum to 2**60 or more (with ``ccp_alpha``, to a sixth of that divided by the number of
        leaves), the weights are rounded to as many digits as fit, about 18 without a cost; then
        ``errors_`` and ``lower_bound_`` are at most this far from the exact numbers, and the tree
        is at most this much worse than ``status_`` says.  A leaf may then weigh less than
        ``min_weight_fraction_leaf`` asks for, by at most twice as much.

    tree_ : FittedTree
        The nodes as arrays, under scikit-learn's names, with its methods.

    feature_importances_ : array of shape (n_features_in_,)
        Importance as CART defines it: the share of each feature in the decrease of impurity, which
        is Gini's unless ``criterion`` says otherwise.

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

    _parameter_constraints: dict = {  # noqa: RUF012 (scikit-learn's protocol)
        parameter.name: sklearn_constraints(parameter) for parameter in PARAMETERS
    }

    def __init__(
        self,
        max_depth=3,
        *,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        class_weight=None,
        max_gap=0,
        time_limit=None,
        feature_tolerance=0.0,
        n_jobs=None,
        memory_limit=None,
        random_state=None,
        warm_start=False,
        on_interrupt="raise",
        search="best_first",
        search_options=None,
        verbose=0,
        criterion="gini",
        splitter="best",
        min_samples_split=2,
        max_features=None,
        min_impurity_decrease=0.0,
        monotonic_cst=None,
    ):
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.ccp_alpha = ccp_alpha
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        set_tags(self, tags)
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X,
        y,
        sample_weight=None,
        check_input=True,
        *,
        callback=None,
        initial_tree=None,
        checkpoint=None,
    ):
        """Find an optimal tree.

        A fit that fails, or that is interrupted without ``on_interrupt="return"``, leaves the
        estimator as it was.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Finite numbers, or NaN for a missing value; a NumPy array, a data frame, nested
            sequences, or a sparse matrix, which is made dense.  They are compared as float64; a
            warning names the columns with integers that float64 cannot tell apart.  At every test
            the search tries the missing values on both sides, and apart from all others.
        y : array-like of shape (n_samples,)
            Labels: strings, integers, bools or floats with whole values.
        sample_weight : array-like of shape (n_samples,), default=None
            What an error on each row costs: finite numbers, not negative.  Integers and floats
            count exactly, see ``weight_tolerance_``.  Rows of weight zero are left out, but their
            labels stay in ``classes_``.  None: 1 each.
        check_input : bool, default=True
            For calls that were written for CART: the rows are checked whatever it is, which takes
            little time beside the search.
        callback : callable, default=None
            Called with a :class:`contree.Progress` in this thread, a few times per second and
            within 20 ms when the best tree or the bound has become better, at least once.  If it
            returns True, the search stops and keeps the best tree, with status ``"stopped"``.
            What it raises ends the search and is raised here.  While it runs, the search goes on,
            and nobody looks at the time limit.
        initial_tree : classifier, FittedTree, str or dict, default=None
            The first incumbent, instead of that of ``warm_start``: a fitted classifier or its
            ``tree_``, JSON as ``to_json()`` gives, or a fitted tree of scikit-learn.  Its tests are
            used on the columns of X, cut at ``max_depth`` and pruned to the best tree for
            ``max_leaf_nodes`` and ``ccp_alpha``; leaves predict the majority of the rows in y.  The
            result is never worse than that.
        checkpoint : str or path-like, default=None
            A file in which the search is kept: written every few seconds and whenever the search
            ends, also by Ctrl-C.  If it is there, the search goes on from it, with the time of all
            calls in ``search_report_``; one that had ended gives its tree and certificate at once.
            Rows, labels, weights and all parameters that say which tree is best must be those that
            it was written for, else a ValueError names what differs; ``time_limit``, ``n_jobs``,
            ``memory_limit``, ``search_options`` and the like are free.

        Returns
        -------
        self : ConTreeClassifier
            The fitted estimator.
        """
        return fit_with(search_tree, self, X, y, sample_weight, callback, initial_tree, checkpoint)

    @property
    def gap_(self) -> int:
        check_is_fitted(self, "tree_")
        return self.objective_ - self.lower_bound_
