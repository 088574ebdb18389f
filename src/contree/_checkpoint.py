"""A search that continues from a checkpoint file and keeps the file up to date."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from contree import _core
from contree._checkpoint_file import RUNNING, Checkpoint, State, damaged
from contree._fit_request import FitRequest
from contree._typing import Answer, Moment, Nodes, Observer

if TYPE_CHECKING:
    from contree._estimator import TreeEstimator


def check_checkpoint(estimator: TreeEstimator, checkpoint: object) -> None:
    """Reject a checkpoint that is not a path, or a search that cannot be continued."""
    if checkpoint is None:
        return
    if not isinstance(checkpoint, (str, os.PathLike)) or not os.fspath(checkpoint):
        raise TypeError(f"checkpoint must be None or the path of a file; got {checkpoint!r}.")
    if estimator.search != "best_first":
        raise ValueError(
            f"checkpoint needs search='best_first'; got search={estimator.search!r}. "
            "Leave checkpoint at None, or change search."
        )


def resume_search(request: FitRequest, checkpoint: Checkpoint) -> Answer:
    """Search from the state in a request's checkpoint, or from the start without a file.

    The core's answer has the seconds and the history of all calls.  The file gets the last state
    before Ctrl-C is raised.
    """
    searcher = request.search_input.searcher()
    stored = checkpoint.load()
    checkpoint.check_place()
    tree, history, stored_seconds = request.initial_tree, list[Moment](), 0.0
    if stored is not None:
        history, stored_seconds = stored.history, stored.seconds
        tree = better_tree(searcher, stored, checkpoint.path, request.initial_tree)
    seconds_before = stored_seconds + request.elapsed_seconds()
    observe = _saving_observer(searcher, checkpoint, request.observe, seconds_before, list(history))
    answer = searcher.run(
        frontier=None if stored is None else stored.frontier,
        lower_bound=0 if stored is None else stored.lower_bound,
        first=tree,
        time_limit=request.remaining_seconds(),
        resumable=True,
        poll=observe,
        keep_on_interrupt=True,
    )
    answer["seconds"] += seconds_before
    answer["history"] = _joined(history, seconds_before, answer["history"])
    checkpoint.save_or_warn(
        State(
            answer["status"],
            answer["objective"],
            answer["lower_bound"],
            answer["seconds"],
            answer["history"],
            answer["tree"],
            answer["frontier"],
        )
    )
    if answer["interrupted"] and not request.return_on_interrupt:
        raise KeyboardInterrupt
    return answer


def _saving_observer(
    searcher: _core.Searcher,
    checkpoint: Checkpoint,
    observe: Observer | None,
    seconds_before: float,
    history: list[Moment],
) -> Observer:
    """Return a function for the core to call: it saves the state now and then, and observes."""

    def save_snapshot(seconds: float) -> None:
        now = searcher.snapshot()
        if now is None:
            return
        bounds = now["objective"], now["lower_bound"]
        path = [*history, (seconds, *bounds)]
        # The caller may turn warnings into errors.  They must not end the search.
        with suppress(RuntimeWarning):
            checkpoint.save_or_warn(
                State(RUNNING, *bounds, seconds, path, now["tree"], now["frontier"])
            )

    def save_and_observe(
        seconds: float, objective: int, lower_bound: int, root_closed: float
    ) -> bool:
        seconds += seconds_before
        if not history or history[-1][1:] != (objective, lower_bound):
            history.append((seconds, objective, lower_bound))
        if checkpoint.is_due():
            save_snapshot(seconds)
        if observe is None:
            return False
        try:
            return observe(seconds, objective, lower_bound, root_closed)
        except KeyboardInterrupt:
            raise  # the core ends the search and returns the best tree
        except BaseException:
            save_snapshot(seconds)
            raise

    return save_and_observe


def better_tree(
    searcher: _core.Searcher, stored: State, path: str, initial_tree: Nodes | None
) -> Nodes:
    """Return the tree of the checkpoint at a path, or the initial tree if that is better.

    The searcher recounts both on the rows.  A stored tree that is worse than the file says, or that
    is not a tree, means that the file is damaged.
    """
    try:
        recounted = searcher.run(
            frontier=stored.frontier,
            lower_bound=stored.lower_bound,
            first=stored.tree,
            time_limit=0,
            resumable=True,
        )
    except (ValueError, TypeError) as error:
        raise damaged(path) from error
    if recounted["objective"] > stored.objective:
        raise damaged(path)
    if initial_tree is not None:
        other = searcher.run(first=initial_tree, time_limit=0, resumable=True)
        if other["objective"] < recounted["objective"]:
            return other["tree"]
    return stored.tree


def _joined(stored: list[Moment], seconds_before: float, history: list[Moment]) -> list[Moment]:
    """Return one history of all calls, without moments at which nothing improved."""
    joined = list(stored)
    for seconds, objective, bound in history:
        if not joined or (objective, bound) != joined[-1][1:]:
            joined.append((seconds + seconds_before, objective, bound))
    return joined
