"""One task on a Dask worker: search some intervals, and report to the caller meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from contree._fit_request import SearchInput
from contree._typing import Answer
from contree.distributed._worker_session import Message, WorkerSession, find_session

REPORT_PAUSE_SECONDS = 0.1  # between two reports, at least


def run_task(
    fit_id: str,
    task: int,
    search_input: SearchInput,
    *,
    n_jobs: int,
    cutoff: int | None,
    slice_seconds: float,
    least_parts: int,
    **run_arguments: Any,
) -> Answer | None:
    """Search some intervals, or start the search, and return the core's answer.

    Parameters
    ----------
    slice_seconds : float
        After this time the searcher starts no further interval.
    least_parts : int
        If fewer intervals are open at the end, the searcher cuts them into this number.
    run_arguments
        Further arguments of the searcher's `run`.

    Returns
    -------
    answer : dict, or None
        None if this worker has no session for the fit: it was restarted, or the fit is over.
    """
    session = find_session(fit_id)
    if session is None:
        return None
    with session.task_lock:
        session.task, session.must_hand_back = task, False
        session.last_message = time.monotonic()
        reporter = TaskReporter(session, task, slice_seconds)
        try:
            with reporter.reporting():
                if session.searcher is None:
                    session.searcher = search_input.searcher(n_jobs=n_jobs)
                session.lower_cutoff(cutoff)
                answer = session.searcher.run(
                    cutoff=session.cutoff, resumable=True, poll=reporter.observe, **run_arguments
                )
                if least_parts:
                    answer["frontier"] = session.searcher.split(answer["frontier"], least_parts)
                return answer
        finally:
            session.task = None


class TaskReporter:
    """Reports a task's bound, and each better tree at once, from a thread of its own."""

    def __init__(self, session: WorkerSession, task: int, slice_seconds: float):
        self._session, self._task = session, task
        self._slice_end = time.monotonic() + slice_seconds
        self._bound: int | None = None
        self._objective: int | None = None
        self._has_better_tree = threading.Event()
        self._done = threading.Event()

    def observe(self, seconds: float, objective: int, lower_bound: int, root_closed: float) -> bool:
        """Store the state of the search; return True to stop it.  The core calls this."""
        self._objective, self._bound = objective, lower_bound
        if self._session.cutoff is None or objective < self._session.cutoff:
            self._has_better_tree.set()
        return self._session.is_unwanted

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Report while the enclosed code runs."""
        thread = threading.Thread(target=self._report_until_done, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._done.set()
            self._has_better_tree.set()
            thread.join()

    def _report_until_done(self) -> None:
        heartbeat = self._session.heartbeat_seconds
        while not self._done.is_set():
            self._has_better_tree.clear()
            self._session.worker.log_event(self._session.caller_topic, self._message())
            remaining = self._slice_end - time.monotonic()
            self._has_better_tree.wait(min(heartbeat, remaining) if remaining > 0 else heartbeat)
            self._done.wait(REPORT_PAUSE_SECONDS)
            self._repeat_to_searcher()

    def _message(self) -> Message:
        session = self._session
        message: Message = {
            "contree": session.fit_id,
            "worker": session.address,
            "task": self._task,
        }
        message |= {"bound": self._bound, "cutoff": session.cutoff}
        objective = self._objective
        if objective is not None and (session.cutoff is None or objective < session.cutoff):
            snapshot = session.searcher.snapshot() if session.searcher is not None else None
            if snapshot is not None:
                session.lower_cutoff(snapshot["objective"])
                tree = {name: array.tolist() for name, array in snapshot["tree"].items()}
                message |= {"objective": snapshot["objective"], "tree": tree}
        return message

    def _repeat_to_searcher(self) -> None:
        """Pass the cutoff and the end of the slice on again: a search that starts forgets both."""
        searcher = self._session.searcher
        if searcher is None:
            return
        if self._session.cutoff is not None:
            searcher.lower_cutoff(self._session.cutoff)
        if self._session.must_hand_back or time.monotonic() >= self._slice_end:
            searcher.hand_back()
