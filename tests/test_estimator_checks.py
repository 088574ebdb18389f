"""scikit-learn's own battery of checks, with no expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from contree import ConTreeClassifier

pytestmark = pytest.mark.filterwarnings(
    # A check that fits labels most of which occur once; it is about the check's own data.
    "ignore:The number of unique classes is greater than 50%:UserWarning"
)

ESTIMATORS = [
    ConTreeClassifier(),
    ConTreeClassifier(max_depth=2, max_gap=0.05, time_limit=30.0, n_jobs=2),
    ConTreeClassifier(max_depth=2, search="paper", feature_tolerance=1e-7),
    ConTreeClassifier(max_depth=2, warm_start=True, on_interrupt="return", memory_limit="1MB"),
]


# Not scikit-learn's `parametrize_with_checks`, which before 1.7 hands pytest a generator.
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{estimator}-{check.func.__name__}")
        for one in ESTIMATORS
        for estimator, check in estimator_checks_generator(one)
    ],
)
def test_check(estimator, check):
    check(estimator)
