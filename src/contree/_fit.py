"""One fit, from its checks to its attributes: weigh the rows, search, keep tree and certificate.

The stages are functions of an estimator, because a path of sizes, a cluster and the experiments put
another search between the same two ends.
"""

from __future__ import annotations

import time
from contextlib import contextmanager

import numpy as np

from contree import _core
from contree._check_data import check_training_data
from contree._check_parameters import (
    NUMBERS,
    check_callback,
    check_no_bools,
    resolve_class_weight,
    resolve_leaf_size,
    resolve_max_depth,
    resolve_max_gap,
    resolve_memory_limit,
    resolve_n_jobs,
    resolve_seed,
    resolve_switches,
    resolve_time_limit,
)
from contree._check_weights import check_sample_weight, rows_with_weight
from contree._checkpoint import check_checkpoint, search_on
from contree._checkpoint_file import Checkpoint
from contree._fitted_tree import FittedTree
from contree._initial_tree import check_initial_tree, previous_tree
from contree._objective import LeafCost, most_leaves, widest_sum
from contree._problem import Problem, fingerprints
from contree._progress import counting_from, observer
from contree._report import Improvement, SearchReport
from contree._weights import in_user_unit, weigh


def fit_with(
    search, estimator, X, y, sample_weight=None, callback=None, initial_tree=None, checkpoint=None
):
    """Fit by whatever `search` is: `search_tree` of this estimator, or what can stand for it."""
    began = time.perf_counter()
    check_no_bools(estimator, NUMBERS)
    check_callback(callback)
    check_checkpoint(estimator, checkpoint)
    with unchanged_on_failure(estimator) as before:
        X, codes, classes = check_training_data(estimator, X, y)
        first = check_initial_tree(estimator, initial_tree)
        if first is None and estimator.warm_start:
            first = previous_tree(estimator, before)
        kept = None
        if checkpoint is not None:
            weights = check_sample_weight(sample_weight, len(X))
            kept = checkpoint, fingerprints(X, codes, classes, weights)
        X, codes, weights, cost = weigh_rows(estimator, X, codes, classes, sample_weight)
        with observer(callback, estimator.verbose, cost) as observe:
            answer = search(X, codes, len(classes), weights, cost, first, observe, began, kept=kept)
        keep(estimator, answer, classes, weights, cost)
    if estimator.verbose:
        with_cost = f", with the cost of leaves {estimator.objective_}" * (estimator.ccp_alpha > 0)
        print(
            f"contree: {estimator.status_}, {estimator.errors_} errors"
            f"{' by weight' * estimator.tree_.weighted}{with_cost}, proved at least "
            f"{estimator.lower_bound_}, {estimator.search_report_.seconds:.3g} s"
        )
    return estimator


@contextmanager
def unchanged_on_failure(estimator):
    """Leave an estimator as it was when what happens inside fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield before
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def weigh_rows(estimator, X, codes, classes, sample_weight):
    """Return the rows that have a weight, their class codes, weights, and a leaf's cost."""
    sample_weight = check_sample_weight(sample_weight, len(X))
    class_weight = resolve_class_weight(estimator.class_weight, classes)
    kept = rows_with_weight(sample_weight, class_weight, codes)
    if kept is not None:
        X, codes = np.asfortranarray(X[kept]), codes[kept]
        sample_weight = None if sample_weight is None else sample_weight[kept]
    depth = resolve_max_depth(estimator.max_depth, len(codes))
    most = most_leaves(estimator.ccp_alpha, depth, estimator.max_leaf_nodes, len(codes))
    limit = widest_sum(estimator.ccp_alpha, most)
    weights = weigh(sample_weight, class_weight, codes, limit)
    return X, codes, weights, LeafCost.of(estimator.ccp_alpha, most, weights)


def core_options(estimator, n_rows: int, weights, cost, *, all_sizes=False) -> dict:
    """Return what the core is given besides rows and labels."""
    min_samples_leaf, min_weight_leaf = resolve_leaf_size(estimator, weights, n_rows)
    return {
        "weights": weights.multiples,
        "max_depth": resolve_max_depth(estimator.max_depth, n_rows),
        "min_samples_leaf": min_samples_leaf,
        "min_weight_leaf": min_weight_leaf,
        "max_leaves": min(int(estimator.max_leaf_nodes or n_rows), n_rows),
        "error_cost": cost.error_cost,
        "leaf_cost": cost.leaf_cost,
        "all_sizes": all_sizes,
        "max_gap": cost.scaled_gap(resolve_max_gap(estimator.max_gap, weights.total, weights.unit)),
        "feature_tolerance": float(estimator.feature_tolerance),
        "n_jobs": resolve_n_jobs(estimator.n_jobs),
        "memory_limit": resolve_memory_limit(estimator.memory_limit),
        "seed": resolve_seed(estimator.random_state),
        "search": estimator.search,
        "switches": resolve_switches(estimator.search_options),
    }


def search_tree(
    estimator,
    X,
    codes,
    n_classes: int,
    weights,
    cost,
    first,
    observe,
    began: float,
    *,
    all_sizes=False,
    kept=None,
) -> dict:
    """Return the core's answer; `kept` is the path of a checkpoint and the data's marks.

    `began` is the moment from which the time limit and all seconds count.
    """
    options = core_options(estimator, X.shape[0], weights, cost, all_sizes=all_sizes)
    searcher = _core.Searcher(X, codes, n_classes, **options)
    how = {
        "first": first,
        "time_limit": resolve_time_limit(estimator.time_limit, began),
        "keep_on_interrupt": estimator.on_interrupt == "return",
    }
    past = time.perf_counter() - began
    if kept is None:
        answer = searcher.run(poll=counting_from(past, observe), **how)
        answer["seconds"] += past
        answer["history"] = [(seconds + past, *rest) for seconds, *rest in answer["history"]]
    else:
        path, data = kept
        checkpoint = Checkpoint(path, Problem.of(estimator, data, options))
        answer = search_on(searcher, checkpoint, poll=observe, past=past, **how)
    return answer | {"kernel": _core.kernel(), "n_jobs": options["n_jobs"]}


def keep(estimator, answer: dict, classes, weights, cost) -> None:
    """Set what a fit leaves behind, out of the core's answer."""
    nodes, unit = answer["tree"], weights.unit
    estimator.classes_ = classes
    estimator.n_classes_ = len(classes)
    estimator.status_ = answer["status"]
    estimator.errors_ = in_user_unit(answer["errors"], unit)
    estimator.objective_, estimator.lower_bound_ = cost.bounds(
        answer["objective"], answer["lower_bound"]
    )
    if estimator.objective_ == estimator.lower_bound_:
        estimator.status_ = "optimal"  # there are no objectives between what was counted
    estimator.weight_tolerance_ = weights.tolerance
    estimator.tree_ = FittedTree(
        threshold_gap=np.column_stack((nodes.pop("gap_below"), nodes.pop("gap_above"))),
        **nodes,
        weight_unit=unit,
        n_features=estimator.n_features_in_,
        criterion=estimator.criterion,
    )
    estimator.search_report_ = SearchReport(
        seconds=answer["seconds"],
        counters=answer["counters"],
        history=tuple(
            Improvement(seconds, *cost.bounds(objective, bound))
            for seconds, objective, bound in answer["history"]
        ),
        search=estimator.search,
        kernel=answer["kernel"],
        n_jobs=answer["n_jobs"],
    )
