"""What a search has proved, in one sentence."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted


def certificate(classifier) -> str:
    """Return what the search of a fitted classifier has proved about all trees of its depth."""
    check_is_fitted(classifier, "tree_")
    depth, bound = classifier.max_depth, classifier.lower_bound_
    errors = f"{bound} error{'s' * (bound != 1)}"
    if classifier.feature_tolerance > 0:
        thresholds = f"with any thresholds between values {classifier.feature_tolerance} apart"
    else:
        thresholds = "with any thresholds"
    if bound == classifier.objective_:
        return (
            f"Proved: no tree of depth {depth} or less, {thresholds}, makes fewer than {errors} "
            f"on these rows ({classifier.status_})."
        )
    return (
        f"Proved: every tree of depth {depth} or less, {thresholds}, makes at least {errors} on "
        f"these rows; this one makes {classifier.errors_} ({classifier.status_})."
    )
