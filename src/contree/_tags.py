"""What the estimators say of themselves to scikit-learn, by their parameters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contree._cross_validation import TreeCV
    from contree._estimator import TreeEstimator


def set_tags(estimator: TreeEstimator | TreeCV, tags: Any) -> None:
    """Set the tags of scikit-learn that are the same for every estimator here.

    `poor_score` is defined by an accuracy of 0.83 on 300 rows of three equal classes, a few units
    wide; a cross-validation learns from 240 of them.  That takes three leaves: none may ask for
    more than a third of the rows, nor cost nearly the third of them that it gets right.  And values
    that are equal in chains leave too few thresholds where 0.05 is no difference.
    """
    leaf = estimator.min_samples_leaf
    poor = (
        estimator.max_depth in (0, 1)
        or estimator.max_leaf_nodes in (1, 2)
        or _above(leaf, 80 if isinstance(leaf, Integral) else 1 / 3)
        or _above(estimator.min_weight_fraction_leaf, 1 / 3)
        or _above(getattr(estimator, "ccp_alpha", 0.0), 0.25)
        or _above(estimator.feature_tolerance, 0.03)
    )
    (tags.classifier_tags or tags.regressor_tags).poor_score = poor
    tags.input_tags.allow_nan = tags.input_tags.sparse = True
    # Threads and the clock decide which of several optimal trees is found, or which others.
    tags.non_deterministic = estimator.time_limit is not None or estimator.n_jobs not in (None, 1)


def _above(value: object, limit: float) -> bool:
    """Compare what may be no number: tags are asked for before parameters are checked."""
    return isinstance(value, Real) and not value <= limit
