"""A cluster's search into and out of the checkpoint file of its request."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from contree._checkpoint import better_tree
from contree._checkpoint_file import RUNNING, Checkpoint, State
from contree._fit_request import FitRequest
from contree.distributed._incumbent import Incumbent, as_arrays
from contree.distributed._pool import BOUND, Frontier


def load_search(request: FitRequest) -> tuple[Incumbent, Frontier | None]:
    """Return the best tree and the open part in a request's checkpoint, if it has one.

    The tree is the file's, or the request's initial tree if that is better, recounted on the rows.
    """
    checkpoint = request.checkpoint
    if checkpoint is None:
        return Incumbent(), None
    state = checkpoint.load()
    checkpoint.check_place()
    if state is None:
        return Incumbent(), None
    searcher = request.search_input.searcher(n_jobs=1)
    tree = better_tree(searcher, state, checkpoint.path, request.initial_tree)
    recounted = searcher.run(
        frontier=state.frontier, lower_bound=state.lower_bound, first=tree, time_limit=0.0
    )
    incumbent = Incumbent(
        recounted["objective"],
        recounted["tree"],
        state.lower_bound,
        list(state.history),
        state.seconds,
    )
    frontier = Frontier(*state.frontier)
    return incumbent, frontier if frontier.depth else None


def save_search(
    checkpoint: Checkpoint,
    status: str | None,
    incumbent: Incumbent,
    frontier: Frontier | None,
    seconds: float,
) -> None:
    """Write the state of a search; `status` is None while it runs."""
    if frontier is None:
        frontier = Frontier(0, 0, np.empty((0, BOUND + 1), np.int64))
    assert incumbent.tree is not None
    state = State(
        status or RUNNING,
        incumbent.objective,
        incumbent.lower_bound,
        incumbent.seconds_before + seconds,
        incumbent.history,
        as_arrays(incumbent.tree),
        frontier,
    )
    with suppress(RuntimeWarning):  # the caller may turn warnings into errors
        checkpoint.save_or_warn(state)
