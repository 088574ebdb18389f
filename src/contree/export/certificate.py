"""What a search has proved, in one sentence."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from contree._check_parameters import resolve_min_samples_leaf
from contree.export.wording import Wording, wording_of


def certificate(estimator: Any) -> str:
    """Return what the search of a fitted estimator has proved about all trees of its depth."""
    check_is_fitted(estimator, "tree_")
    wording = wording_of(estimator)
    trees, status = _permitted_trees(estimator), _how_it_ended(estimator)
    bound = estimator.lower_bound_
    if estimator.ccp_alpha > 0:
        return _with_cost(estimator, wording, trees, status)
    own, loss = wording.own(estimator), _loss(wording)
    if bound == estimator.objective_:
        leaves = _leaves(estimator)
        if bound <= 0:
            return f"This tree fits these rows without {loss}{leaves} ({status})."
        return f"Proved: no {trees}, {wording.below(bound)} on these rows{leaves} ({status})."
    if bound <= 0:  # no tree has less than none
        return (
            f"Nothing is proved yet: a {trees}, may fit these rows without {loss}; "
            f"this one {own} ({status})."
        )
    return (
        f"Proved: every {trees}, {wording.at_least(bound)} on these rows; this one {own} "
        f"({status})."
    )


def _loss(wording: Wording) -> str:
    return "errors" if wording.table else "squared error"


def _with_cost(estimator: Any, wording: Wording, trees: str, status: str) -> str:
    bound, own = f"{estimator.lower_bound_:.6g}", f"{estimator.objective_:.6g}"
    cost = f"{_loss(wording)} plus {wording.leaf_cost(estimator.ccp_alpha)} for each leaf"
    if estimator.gap_ == 0:
        return f"Proved: no {trees}, has an objective below {own} on these rows: {cost} ({status})."
    of_a_leaf = estimator.ccp_alpha * wording.tree.weight_of(0)
    if estimator.lower_bound_ <= of_a_leaf * (1 + 1e-9):  # which every tree has
        return (
            f"Nothing is proved yet: a {trees}, may have an objective of {bound} on these rows, "
            f"the cost of one leaf; this one has {own}: {cost} ({status})."
        )
    return (
        f"Proved: every {trees}, has an objective of at least {bound} on these rows, this one "
        f"{own}: {cost} ({status})."
    )


def _leaves(estimator: Any) -> str:
    """Return what is proved of the leaves of trees with as few errors, if they count."""
    if not estimator.minimize_leaves:
        return ""
    own, least = estimator.get_n_leaves(), estimator.leaves_lower_bound_
    if least < own:
        needed = "1 is" if least == 1 else f"{least} are"
        return f"; this one has {own} leaves, of which at least {needed} needed"
    return f", and none as good has fewer than {own} leaves" if own > 1 else ""


def permitted_depth(estimator: Any) -> str:
    """Return the depth of the trees that a search is about."""
    depth = estimator.max_depth
    return "any depth" if depth is None else f"depth {depth} or less"


def _permitted_trees(estimator: Any) -> str:
    text = f"tree of {permitted_depth(estimator)}"
    if estimator.max_leaf_nodes is not None:
        most = int(estimator.max_leaf_nodes)
        text += f" and at most {most} {'leaves' if most > 1 else 'leaf'}"
    text += ", with any thresholds"
    if estimator.feature_tolerance > 0:
        text += f" between values {estimator.feature_tolerance} apart"
    if estimator.categories_ is not None:
        text += " and any sets of categories"
    rows = int(estimator.tree_.n_node_samples[0])
    least = resolve_min_samples_leaf(estimator.min_samples_leaf, rows)
    if least > 1:
        text += f" and at least {least} rows in each leaf"
    share = estimator.min_weight_fraction_leaf
    return text if share == 0 else f"{text} and at least {share:g} of all weight in each leaf"


def _how_it_ended(estimator: Any) -> str:
    text = str(estimator.status_)
    for name, rounded in (("weight_tolerance_", "weights"), ("target_tolerance_", "targets")):
        tolerance = getattr(estimator, name, 0)
        if tolerance:
            text += f", up to {tolerance:.2g} by which the {rounded} are rounded"
    return text
