"""One fit, from its checks to the fitted attributes.

`fit_with` checks the input, makes a `FitRequest`, runs a search and stores the answer.  The search
is an argument: a cluster and the experiments put another one between the same two ends.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contree import _core
from contree._check_data import check_training_data
from contree._check_parameters import NUMBERS, check_callback, check_no_bools
from contree._checkpoint import check_checkpoint, resume_search
from contree._fit_request import FitRequest, SearchInput
from contree._initial_tree import check_initial_tree, previous_tree
from contree._progress import Callback, observer, with_seconds_before
from contree._report import Improvement, SearchReport
from contree._typing import Answer

if TYPE_CHECKING:
    from contree._draft import StrPath
    from contree._estimator import TreeEstimator

BYTES_PER_VALUE = 24  # of the core: a value, its rank, its place in an order, and the root's entry


def fit_with(
    search: Callable[[FitRequest], Answer],
    estimator: TreeEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    callback: Callback | None = None,
    initial_tree: Any = None,
    checkpoint: StrPath | None = None,
) -> None:
    """Fit an estimator by a search: `search_tree`, or a function that can replace it."""
    start_time = time.perf_counter()
    check_no_bools(estimator, NUMBERS)
    check_callback(callback)
    check_checkpoint(estimator, checkpoint)
    with unchanged_on_failure(estimator) as before:
        X, target = check_training_data(estimator, X, y)
        nodes = check_initial_tree(estimator, initial_tree)
        if nodes is None and estimator.warm_start:
            nodes = previous_tree(estimator, before)
        request = FitRequest.of(
            estimator,
            X,
            target,
            sample_weight,
            start_time=start_time,
            initial_tree=nodes,
            checkpoint=checkpoint,
        )
        with observer(callback, estimator.verbose, request.cost, estimator.search) as observe:
            answer = search(replace(request, observe=observe))
        store_answer(estimator, answer, request)
    warn_of_rounded_weights(estimator)
    if estimator.verbose:
        with_cost = f", with the cost of leaves {estimator.objective_}" * (estimator.ccp_alpha > 0)
        print(
            f"contree: {estimator.status_}, {estimator._loss_in_words()}{with_cost}, "
            f"{_proved(estimator)}, {estimator.search_report_.seconds:.3g} s"
        )


def _proved(estimator: TreeEstimator) -> str:
    """Return what a search has proved, for one line; that a loss is not negative is no proof."""
    bound = estimator.lower_bound_
    if bound == estimator.objective_:
        return "proved the least" + _leaves_proved(estimator)
    return f"proved at least {bound}" if bound > 0 else "nothing proved yet"


def _leaves_proved(estimator: TreeEstimator) -> str:
    if not estimator.minimize_leaves:
        return ""
    own, least = estimator.get_n_leaves(), estimator.leaves_lower_bound_
    return f" with the fewest leaves, {own}" if least == own else f" with {own} leaves"


@contextmanager
def unchanged_on_failure(estimator: object) -> Iterator[dict[str, Any]]:
    """Restore an estimator if the enclosed code fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield before
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def search_tree(request: FitRequest) -> Answer:
    """Return the core's answer, from a search in this process."""
    search_input = request.search_input
    with memory_error_explained(search_input):
        answer = run_search(request)
    warn_of_missing_threads(answer)
    n_jobs = search_input.options["n_jobs"] - answer["missing_threads"]
    return {**answer, "kernel": _core.kernel(), "n_jobs": n_jobs}


def run_search(request: FitRequest) -> Answer:
    """Return the answer of one run of the core, or of the runs that a checkpoint joins."""
    if request.checkpoint is not None:
        return resume_search(request, request.checkpoint)
    searcher = request.search_input.searcher()
    seconds_before = request.elapsed_seconds()
    answer = searcher.run(
        first=request.initial_tree,
        time_limit=request.remaining_seconds(),
        poll=with_seconds_before(seconds_before, request.observe),
        keep_on_interrupt=request.return_on_interrupt,
    )
    answer["seconds"] += seconds_before
    answer["history"] = [
        (seconds + seconds_before, objective, bound)
        for seconds, objective, bound in answer["history"]
    ]
    return answer


@contextmanager
def memory_error_explained(search_input: SearchInput) -> Iterator[None]:
    """Say in a MemoryError how much memory the rows take, and what to do."""
    try:
        yield
    except MemoryError as error:
        rows, features = search_input.X.shape
        megabytes = -(-rows * features * BYTES_PER_VALUE // 1_000_000)
        raise MemoryError(
            f"Not enough memory to find a tree: {rows} rows of {features} features need at least "
            f"{megabytes} MB besides X. Use fewer rows or features, or free memory first."
        ) from error


def warn_of_missing_threads(answer: Answer) -> None:
    if answer["missing_threads"]:
        warnings.warn(
            f"The system did not start {answer['missing_threads']} of the threads that n_jobs asks "
            "for. The search went on without them.",
            RuntimeWarning,
            stacklevel=2,
        )


def warn_of_rounded_weights(*trees: TreeEstimator) -> None:
    """Warn where weights are so far apart that rounding them may change a loss many times."""
    for tree in trees:
        loss, tolerance = tree.objective_, tree.weight_tolerance_
        if tolerance > loss > 0:
            warnings.warn(
                "sample_weight or class_weight has weights that are too far apart to be added "
                f"exactly: they are rounded by up to {tolerance:.2g} in all, which is more than "
                f"the loss of the tree, {loss:.2g}. Leave out the rows of the smallest weights.",
                RuntimeWarning,
                stacklevel=3,
            )
            return


def store_answer(estimator: TreeEstimator, answer: Answer, request: FitRequest) -> None:
    """Set the fitted attributes of an estimator from the core's answer."""
    cost = request.target.store(estimator, answer, request)
    estimator.status_ = answer["status"]
    estimator.objective_, estimator.lower_bound_ = cost.bounds(
        answer["objective"], answer["lower_bound"]
    )
    if cost.proved(answer["objective"], answer["lower_bound"]):
        estimator.status_ = "optimal"  # no tree has an objective between the two counts
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
