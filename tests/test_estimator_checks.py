"""scikit-learn's own battery of checks; those that no such tree passes are named, with reasons."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from contree import ConTreeClassifier, ConTreeClassifierCV

pytestmark = pytest.mark.filterwarnings(
    # A check that fits labels most of which occur once; it is about the check's own data.
    "ignore:The number of unique classes is greater than 50%:UserWarning"
)

# Two rows are two rows, one row of weight two is one.
COUNTED_ROWS = {
    "check_sample_weight_equivalence": "min_samples_leaf counts rows, as in CART",
    "check_sample_weight_equivalence_on_dense_data": "min_samples_leaf counts rows, as in CART",
}
ESTIMATORS = [
    (ConTreeClassifier(), {}),
    (ConTreeClassifier(max_depth=2, max_gap=0.05, time_limit=30.0, n_jobs=2), {}),
    (ConTreeClassifier(max_depth=2, search="paper", feature_tolerance=1e-7), {}),
    (ConTreeClassifier(1), {}),
    (ConTreeClassifier(max_depth=None), {}),
    (ConTreeClassifier(max_depth=4, random_state=3), {}),
    (ConTreeClassifier(max_leaf_nodes=2), {}),
    (ConTreeClassifier(class_weight="balanced"), {}),
    (ConTreeClassifier(max_leaf_nodes=5, ccp_alpha=0.003), {}),
    (ConTreeClassifier(ccp_alpha=0.02, max_gap=1, search="paper"), {}),
    (ConTreeClassifier(max_depth=2, min_samples_leaf=2), COUNTED_ROWS),
    (ConTreeClassifier(2, min_samples_leaf=0.1, class_weight="balanced"), {}),
    (ConTreeClassifier(2, min_weight_fraction_leaf=0.1), {}),
    (ConTreeClassifier(2, warm_start=True, on_interrupt="return", memory_limit="1MB"), {}),
    (ConTreeClassifierCV(2), {}),
    (ConTreeClassifierCV(cv=3, one_standard_error=True, max_leaf_nodes=6), {}),
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
