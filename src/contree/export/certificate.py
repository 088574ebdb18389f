"""What a search has proved, in one sentence."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from contree._check_parameters import resolve_min_samples_leaf


def certificate(classifier) -> str:
    """Return what the search of a fitted classifier has proved about all trees of its depth."""
    check_is_fitted(classifier, "tree_")
    trees, status = _permitted_trees(classifier), _how_it_ended(classifier)
    bound, errors = classifier.lower_bound_, classifier.errors_
    if classifier.ccp_alpha > 0:
        return _with_cost(classifier, trees, status)
    if classifier.tree_.weighted:
        least, own = f"errors of weight {bound}", f"errors of weight {errors}"
        fewer = f"has errors that weigh less than {bound}"
    else:
        least, own = f"{bound} error{'s' * (bound != 1)}", f"{errors}"
        fewer = f"makes fewer than {least}"
    if bound == classifier.objective_:
        return f"Proved: no {trees}, {fewer} on these rows ({status})."
    return (
        f"Proved: every {trees}, makes at least {least} on these rows; this one makes {own} "
        f"({status})."
    )


def _with_cost(classifier, trees: str, status: str) -> str:
    bound, own = f"{classifier.lower_bound_:.6g}", f"{classifier.objective_:.6g}"
    share = f"{classifier.ccp_alpha:g} of all {'weight' if classifier.tree_.weighted else 'rows'}"
    cost = f"errors plus {share} for each leaf"
    if classifier.gap_ == 0:
        return f"Proved: no {trees}, has an objective below {own} on these rows: {cost} ({status})."
    return (
        f"Proved: every {trees}, has an objective of at least {bound} on these rows, this one "
        f"{own}: {cost} ({status})."
    )


def permitted_depth(classifier) -> str:
    """Return the depth of the trees that a search is about."""
    depth = classifier.max_depth
    return "any depth" if depth is None else f"depth {depth} or less"


def _permitted_trees(classifier) -> str:
    text = f"tree of {permitted_depth(classifier)}"
    if classifier.max_leaf_nodes is not None:
        most = int(classifier.max_leaf_nodes)
        text += f" and at most {most} {'leaves' if most > 1 else 'leaf'}"
    text += ", with any thresholds"
    if classifier.feature_tolerance > 0:
        text += f" between values {classifier.feature_tolerance} apart"
    rows = int(classifier.tree_.n_node_samples[0])
    least = resolve_min_samples_leaf(classifier.min_samples_leaf, rows)
    if least > 1:
        text += f" and at least {least} rows in each leaf"
    share = classifier.min_weight_fraction_leaf
    return text if share == 0 else f"{text} and at least {share:g} of all weight in each leaf"


def _how_it_ended(classifier) -> str:
    tolerance = classifier.weight_tolerance_
    if tolerance == 0:
        return classifier.status_
    return f"{classifier.status_}, up to {tolerance:.2g} by which the weights are rounded"
