"""What a Dask worker keeps for one fit between tasks, and the messages that it receives.

The caller opens a session on each worker before the worker's first task.  The caller then sends:

- the objective of the best tree on any worker (``cutoff``),
- that idle workers wait for the task's unstarted intervals (``hand_back``),
- that it no longer wants a task (``drop``), or that the fit is over (``over``).

The messages are Dask's events, which the scheduler forwards without waiting for anybody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Client, get_client, get_worker
from distributed import Worker as DaskWorker

from contree import _core

SILENT_CALLER_SECONDS = 60.0  # a task ends if the caller has sent nothing for so long
ABANDONED_SESSION_SECONDS = 12.0  # a session without a task closes after the same silence
SLOW_TICK_SECONDS = 0.5  # between two of Dask's checks of a worker's event loop during a fit
Message = dict[str, Any]
Event = tuple[float, Message]  # of Dask: when, and what

ALL_WORKERS_TOPIC = "contree"  # every worker also has a topic of its own


def worker_topic(address: str) -> str:
    """Return the topic of messages for one worker."""
    return f"{ALL_WORKERS_TOPIC}-{address}"


@dataclass
class WorkerSession:
    """What a worker keeps for one fit."""

    fit_id: str
    caller_topic: str  # the topic that the caller listens to
    heartbeat_seconds: float  # between two reports to the caller, at most
    worker: DaskWorker
    client: Client  # the worker's own
    searcher: _core.Searcher | None = None
    task: int | None = None  # the task in progress
    cutoff: int | None = None  # the best known objective, here or elsewhere
    dropped_task: int | None = None  # a task whose answer the caller no longer wants
    must_hand_back: bool = False  # return the intervals that the task has not started
    is_over: bool = False
    task_lock: threading.Lock = field(default_factory=threading.Lock)  # one task at a time
    last_message: float = field(default_factory=time.monotonic)

    @property
    def address(self) -> str:
        return str(self.worker.address)

    def receive(self, message: Message) -> None:
        """Handle a message of the caller, in the worker's event loop."""
        self.last_message = time.monotonic()
        self.lower_cutoff(message.get("cutoff"))
        if message.get("over"):
            self.is_over = True
        if self.task is not None and message.get("drop") == self.task:
            self.dropped_task = self.task
        if self.task is not None and message.get("hand_back") == self.task:
            self.must_hand_back = True
            if self.searcher is not None:
                self.searcher.hand_back()

    def lower_cutoff(self, objective: int | None) -> None:
        """Store a better objective and pass it to the searcher."""
        if objective is None or (self.cutoff is not None and self.cutoff <= objective):
            return
        self.cutoff = objective
        if self.searcher is not None:
            self.searcher.lower_cutoff(objective)

    @property
    def silent_seconds(self) -> float:
        """Seconds since the last message of the caller."""
        return time.monotonic() - self.last_message

    @property
    def is_unwanted(self) -> bool:
        """Whether the caller no longer wants the task in progress."""
        dropped = self.task is not None and self.dropped_task == self.task
        return self.is_over or dropped or self.silent_seconds > SILENT_CALLER_SECONDS


# By fit and worker address: one process may hold several workers.
_sessions: dict[tuple[str, str], WorkerSession] = {}


def find_session(fit_id: str) -> WorkerSession | None:
    """Return this worker's session for a fit."""
    return _sessions.get((fit_id, get_worker().address))


def open_session(fit_id: str, caller_topic: str, heartbeat_seconds: float) -> dict[str, str]:
    """Prepare this worker for a fit; the caller submits this as the worker's first task."""
    worker, client = get_worker(), get_client()
    session = _sessions.get((fit_id, worker.address))
    if session is None:
        session = WorkerSession(fit_id, caller_topic, heartbeat_seconds, worker, client)
        _sessions[fit_id, worker.address] = session
        worker.loop.add_callback(_close_if_abandoned, session)
    session.last_message = time.monotonic()
    session.dropped_task = session.task  # a caller that asks again has given up the old task
    client.subscribe_topic(ALL_WORKERS_TOPIC, _listener(None))
    client.subscribe_topic(worker_topic(worker.address), _listener(worker.address))
    _set_dask_monitoring(worker, slow=True)
    return {"kernel": _core.kernel(), "version": version("contree")}


def _listener(address: str | None) -> Callable[[Event], None]:
    """Return a function that passes events to the sessions of one worker, or of all."""

    def pass_on(event: Event) -> None:
        _, message = event
        for (fit_id, session_address), session in list(_sessions.items()):
            if fit_id == message["contree"] and address in (None, session_address):
                session.receive(message)
                if session.is_over:
                    _close_session(session)

    return pass_on


def _close_if_abandoned(session: WorkerSession) -> None:
    """Close a session whose caller was killed, or had ended before the session opened.

    Runs in the worker's event loop, and again from time to time while the session is open.
    """
    if _sessions.get((session.fit_id, session.address)) is not session:
        return
    if session.task is None and session.silent_seconds > ABANDONED_SESSION_SECONDS:
        _close_session(session)
    else:
        session.worker.loop.call_later(ABANDONED_SESSION_SECONDS / 4, _close_if_abandoned, session)


def _close_session(session: WorkerSession) -> None:
    """Drop a session, and stop listening on topics that no other session needs."""
    _sessions.pop((session.fit_id, session.address), None)
    if not any(address == session.address for _, address in _sessions):
        session.client.unsubscribe_topic(worker_topic(session.address))
        _set_dask_monitoring(session.worker, slow=False)
    if not _sessions:
        session.client.unsubscribe_topic(ALL_WORKERS_TOPIC)


def _set_dask_monitoring(worker: DaskWorker, slow: bool) -> None:
    """Stop Dask's profiler and slow its tick during a fit, or restore both.

    Dask samples the Python stacks a hundred times a second and checks the event loop fifty times.
    Together they take three percent of a core, which a worker with one thread needs for the search.
    """
    usual = parse_timedelta(dask.config.get("distributed.admin.tick.interval"), default="ms")
    profiler, tick = (worker.periodic_callbacks.get(name) for name in ("profile", "tick"))

    def change() -> None:
        if profiler is not None:
            (profiler.stop if slow else profiler.start)()
        if tick is not None:
            tick.callback_time = 1000 * (max(usual, SLOW_TICK_SECONDS) if slow else usual)

    worker.loop.add_callback(change)
