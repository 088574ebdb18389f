"""A search that continues from a checkpoint file and keeps the file up to date."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from contree._checkpoint_file import RUNNING, Checkpoint, State, damaged


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


def search_on(
    searcher,
    checkpoint: Checkpoint,
    *,
    first: dict | None,
    time_limit: float,
    poll: Callable | None,
    past: float,
    keep_on_interrupt: bool,
) -> dict:
    before = checkpoint.load()
    checkpoint.check_place()
    start = {}
    if before is None:
        before = State(RUNNING, 0, 0, 0.0, [], {}, (0, 0, None))
    else:
        start = {"frontier": before.frontier, "lower_bound": before.lower_bound}
        first = better_tree(searcher, checkpoint.path, before, start, first)
    past += before.seconds
    history = list(before.history)

    def save_snapshot(seconds: float) -> None:
        now = searcher.snapshot()
        if now is None:
            return
        moment = (seconds, now["objective"], now["lower_bound"])
        # A warning that is made an error must not end the search.
        with suppress(RuntimeWarning):
            checkpoint.save_or_warn(
                State(
                    RUNNING, *moment[1:], seconds, [*history, moment], now["tree"], now["frontier"]
                )
            )

    def look(seconds, objective, lower_bound, root_closed) -> bool:
        seconds += past
        if not history or history[-1][1:] != (objective, lower_bound):
            history.append((seconds, objective, lower_bound))
        if checkpoint.is_due():
            save_snapshot(seconds)
        if poll is None:
            return False
        try:
            return poll(seconds, objective, lower_bound, root_closed)
        except KeyboardInterrupt:
            raise  # the core ends the search and returns what there is
        except BaseException:
            save_snapshot(seconds)
            raise

    answer = searcher.run(
        **start,
        first=first,
        time_limit=time_limit,
        resumable=True,
        poll=look,
        keep_on_interrupt=True,
    )
    answer["seconds"] += past
    answer["history"] = _joined(before.history, past, answer["history"])
    state = {name: answer[name] for name in ("status", "objective", "lower_bound", "seconds")}
    checkpoint.save_or_warn(
        State(**state, history=answer["history"], tree=answer["tree"], frontier=answer["frontier"])
    )
    if answer["interrupted"] and not keep_on_interrupt:
        raise KeyboardInterrupt
    return answer


def better_tree(searcher, path: str, before: State, start: dict, first):
    """Return the tree to go on with, counted on the rows: the file's, or a better one."""
    try:
        checked = searcher.run(**start, first=before.tree, time_limit=0, resumable=True)
    except (ValueError, TypeError) as error:
        raise damaged(path) from error
    counted = checked["objective"]
    if counted > before.objective:
        raise damaged(path)
    if first is not None:
        other = searcher.run(first=first, time_limit=0, resumable=True)
        if other["objective"] < counted:
            return other["tree"]
    return before.tree


def _joined(before: list, past: float, history: list) -> list:
    """Return one history of all calls, with the improvements alone."""
    joined = list(before)
    for seconds, *bounds in history:
        if not joined or tuple(bounds) != tuple(joined[-1][1:]):
            joined.append((seconds + past, *bounds))
    return joined
