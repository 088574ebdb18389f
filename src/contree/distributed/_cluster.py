"""The caller's side of Dask: the list of workers, tasks pinned to workers, and messages.

Calls that may wait for the network run in threads of their own and report to `inbox`.  So the
caller's thread never waits for a worker or for the scheduler.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from distributed import Client, Future

from contree.distributed._worker_session import (
    ALL_WORKERS_TOPIC,
    Event,
    Message,
    worker_topic,
)

if TYPE_CHECKING:
    from contree._fit_request import SearchInput

FETCH_SECONDS = 20.0  # for a result that Dask says is there


class WorkerList(NamedTuple):
    """The workers of the cluster now."""

    threads: dict[str, int]  # by address


class Report(NamedTuple):
    """A message of a worker at work."""

    content: Message


class RowsSent(NamedTuple):
    """The rows are on the cluster, or sending them failed."""

    rows: Future[SearchInput] | None
    error: BaseException | None


class TaskDone(NamedTuple):
    """A task has ended."""

    task: int
    answer: Any
    error: BaseException | None


Inbox = queue.SimpleQueue[WorkerList | Report | RowsSent | TaskDone]


class Cluster:
    """A Dask client, for one fit."""

    def __init__(self, client: Client, fit_id: str) -> None:
        self.inbox: Inbox = queue.SimpleQueue()
        self.fit_id, self._client = fit_id, client
        self._futures: dict[int, Future[Any]] = {}
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="contree")
        self._listing = False
        _subscribe(client, fit_id, self.inbox)

    @property
    def caller_topic(self) -> str:
        """The topic under which workers report."""
        return str(self._client.id)

    @property
    def alive(self) -> bool:
        return bool(self._client.status == "running")

    def request_workers(self) -> None:
        """Put a `WorkerList` into the inbox later, unless a request is under way."""
        if not self._listing:
            self._listing = True
            self._threads.submit(self._list_workers)

    def _list_workers(self) -> None:
        try:
            self.inbox.put(WorkerList(self._client.nthreads()))
        except Exception:  # the scheduler is gone, which `alive` says
            self.inbox.put(WorkerList({}))
        finally:
            self._listing = False

    def send_rows(self, rows: SearchInput, workers: list[str]) -> None:
        """Copy the rows to some workers; put `RowsSent` into the inbox later."""

        def scatter() -> None:
            try:
                (future,) = self._client.scatter(
                    [rows], workers=workers, broadcast=True, hash=False
                )
                self.inbox.put(RowsSent(future, None))
            except Exception as error:
                self.inbox.put(RowsSent(None, error))

        self._threads.submit(scatter)

    def submit(
        self, task: int, worker: str, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> None:
        """Run a function on a worker; put `TaskDone` into the inbox, unless the worker is lost."""
        future = self._client.submit(
            function,
            *args,
            **kwargs,
            key=f"contree-{self.fit_id}-{task}",
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        self._futures[task] = future
        future.add_done_callback(lambda done: self._fetch(task, done))

    def _fetch(self, task: int, future: Future[Any]) -> None:
        def fetch() -> None:
            answer = error = None
            try:
                answer = future.result(timeout=FETCH_SECONDS)
            except BaseException as raised:
                error = raised
            self.inbox.put(TaskDone(task, answer, error))

        with suppress(RuntimeError):  # the fit is over
            self._threads.submit(fetch)

    def release(self, task: int) -> None:
        """Drop a task and its result."""
        future = self._futures.pop(task, None)
        if future is not None:
            future.release()

    def send(self, worker: str | None, **message: Any) -> None:
        """Send one worker, or with None all workers, a message without waiting."""
        topic = ALL_WORKERS_TOPIC if worker is None else worker_topic(worker)
        self._threads.submit(self._client.log_event, topic, {"contree": self.fit_id, **message})

    def close(self) -> None:
        """End all sessions and drop all tasks and rows."""
        _unsubscribe(self._client, self.fit_id)
        self.send(None, over=True)
        for task in list(self._futures):
            self.release(task)
        self._threads.shutdown(wait=False)


# A client has one listener for a topic, and may serve several fits at once.
_inboxes: dict[str, dict[str, Inbox]] = {}  # by client and fit
_lock = threading.Lock()


def _subscribe(client: Client, fit_id: str, inbox: Inbox) -> None:
    def pass_on(event: Event) -> None:
        _, content = event
        fit_inbox = _inboxes.get(client.id, {}).get(content.get("contree", ""))
        if fit_inbox is not None:  # Dask uses a client's topic too
            fit_inbox.put(Report(content))

    with _lock:
        fits = _inboxes.setdefault(client.id, {})
        if not fits:
            client.subscribe_topic(client.id, pass_on)
        fits[fit_id] = inbox


def _unsubscribe(client: Client, fit_id: str) -> None:
    with _lock:
        del _inboxes[client.id][fit_id]
        if not _inboxes[client.id]:
            del _inboxes[client.id]
            if client.status == "running":
                client.unsubscribe_topic(client.id)
