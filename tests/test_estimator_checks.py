"""scikit-learn's own battery of checks; those that no such tree passes are named, with reasons."""

from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    estimator_checks_generator,
)

from contree import ConTreeClassifier

pytestmark = pytest.mark.filterwarnings(
    # A check that fits labels most of which occur once; it is about the check's own data.
    "ignore:The number of unique classes is greater than 50%:UserWarning"
)

# The check sets min_weight_fraction_leaf where an estimator has it, and asks for trees that only it
# makes: without it, an optimal tree gives the rows that weigh next to nothing leaves of their own.
LIGHT_LEAVES = {
    "check_class_weight_classifiers": "needs min_weight_fraction_leaf, as CART does: see below"
}
# Two rows are two rows, one row of weight two is one.
COUNTED_ROWS = {
    "check_sample_weight_equivalence": "min_samples_leaf counts rows, as in CART",
    "check_sample_weight_equivalence_on_dense_data": "min_samples_leaf counts rows, as in CART",
}
NO_WEIGHTS = dict.fromkeys(
    (
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence",
        "check_sample_weight_equivalence_on_dense_data",
        "check_class_weight_classifiers",
    ),
    "the published algorithm takes no weights",
)

ESTIMATORS = [
    (ConTreeClassifier(), LIGHT_LEAVES),
    (ConTreeClassifier(max_depth=2, max_gap=0.05, time_limit=30.0, n_jobs=2), LIGHT_LEAVES),
    (ConTreeClassifier(max_depth=2, search="paper", feature_tolerance=1e-7), NO_WEIGHTS),
    (ConTreeClassifier(class_weight="balanced"), LIGHT_LEAVES),
    (ConTreeClassifier(max_depth=2, min_samples_leaf=2), LIGHT_LEAVES | COUNTED_ROWS),
    (ConTreeClassifier(2, min_samples_leaf=0.1, class_weight="balanced"), LIGHT_LEAVES),
    (
        ConTreeClassifier(2, warm_start=True, on_interrupt="return", memory_limit="1MB"),
        LIGHT_LEAVES,
    ),
]


def cases():
    for one, reasons in ESTIMATORS:
        for estimator, check in estimator_checks_generator(one):
            name = check.func.__name__
            marks = [pytest.mark.xfail(reason=reasons[name])] if name in reasons else []
            yield pytest.param(estimator, check, id=f"{estimator}-{name}", marks=marks)


# Not scikit-learn's `parametrize_with_checks`, which before 1.7 hands pytest a generator.
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_check(estimator, check):
    check(estimator)


def test_cart_needs_its_smallest_weight_for_the_same_check():
    class PlainTree(ClassifierMixin, BaseEstimator):
        """CART with no other parameter than ours has."""

        def __init__(self, max_depth=3, class_weight=None):
            self.max_depth = max_depth
            self.class_weight = class_weight

        def fit(self, X, y):
            self.tree_ = DecisionTreeClassifier(**self.get_params(), random_state=0).fit(X, y)
            return self

        def predict(self, X):
            return self.tree_.predict(X)

    with pytest.raises(AssertionError):
        check_class_weight_classifiers("PlainTree", PlainTree())
    check_class_weight_classifiers("CART", DecisionTreeClassifier(max_depth=3))
