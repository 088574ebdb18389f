"""A search that continues from a checkpoint file and keeps the file up to date."""

from __future__ import annotations

import os
from contextlib import suppress

from contree._checkpoint_file import RUNNING, State, damaged
from contree._fit_request import FitRequest


def check_checkpoint(estimator, checkpoint) -> None:
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


def resume_search(request: FitRequest) -> dict:
    """Search from the state in the request's checkpoint, or from the start without a file.

    The core's answer has the seconds and the history of all calls.  The file gets the last state
    before Ctrl-C is raised.
    """
    searcher, checkpoint = request.search_input.searcher(), request.checkpoint
    stored = checkpoint.load()
    checkpoint.check_place()
    tree, start, history, stored_seconds = request.initial_tree, {}, [], 0.0
    if stored is not None:
        history, stored_seconds = stored.history, stored.seconds
        start = {"frontier": stored.frontier, "lower_bound": stored.lower_bound}
        tree = better_tree(searcher, stored, request)
    seconds_before = stored_seconds + request.elapsed_seconds()
    answer = searcher.run(
        **start,
        first=tree,
        time_limit=request.remaining_seconds(),
        resumable=True,
        poll=_saving_observer(searcher, request, seconds_before, list(history)),
        keep_on_interrupt=True,
    )
    answer["seconds"] += seconds_before
    answer["history"] = _joined(history, seconds_before, answer["history"])
    names = ("status", "objective", "lower_bound", "seconds", "history", "tree", "frontier")
    checkpoint.save_or_warn(State(**{name: answer[name] for name in names}))
    if answer["interrupted"] and not request.return_on_interrupt:
        raise KeyboardInterrupt
    return answer


def _saving_observer(searcher, request: FitRequest, seconds_before: float, history: list):
    """Return a function for the core to call: it saves the state now and then, and observes."""
    checkpoint, observe = request.checkpoint, request.observe

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

    def save_and_observe(seconds, objective, lower_bound, root_closed) -> bool:
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


def better_tree(searcher, stored: State, request: FitRequest) -> dict:
    """Return the checkpoint's tree, or the request's initial tree if that is better.

    The searcher recounts both on the rows.  A stored tree that is worse than the file says, or that
    is not a tree, means that the file is damaged.
    """
    path = request.checkpoint.path
    start = {"frontier": stored.frontier, "lower_bound": stored.lower_bound}
    try:
        recounted = searcher.run(**start, first=stored.tree, time_limit=0, resumable=True)
    except (ValueError, TypeError) as error:
        raise damaged(path) from error
    if recounted["objective"] > stored.objective:
        raise damaged(path)
    if request.initial_tree is not None:
        other = searcher.run(first=request.initial_tree, time_limit=0, resumable=True)
        if other["objective"] < recounted["objective"]:
            return other["tree"]
    return stored.tree


def _joined(stored: list, seconds_before: float, history: list) -> list:
    """Return one history of all calls, without moments at which nothing improved."""
    joined = list(stored)
    for seconds, *bounds in history:
        if not joined or tuple(bounds) != tuple(joined[-1][1:]):
            joined.append((seconds + seconds_before, *bounds))
    return joined
