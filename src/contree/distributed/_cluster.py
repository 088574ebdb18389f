"""The caller's side of Dask: who is there, tasks pinned to workers, and messages both ways.

Whatever may have to wait for the network runs in threads of its own and reports to `inbox`, so that
the caller's thread never waits for a worker, nor for the scheduler.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from distributed import Client, Future

from contree.distributed._worker import TO_ALL, topic_of

FETCH_LIMIT = 20.0  # seconds for a result that is said to be there


class Workers(NamedTuple):
    """Who is there now."""

    threads: dict[str, int]  # by address


class Message(NamedTuple):
    """What a worker tells while it works."""

    content: dict


class Scattered(NamedTuple):
    """The rows are on the cluster, or `error`."""

    rows: Future | None
    error: BaseException | None


class Done(NamedTuple):
    """A task has ended."""

    task: int
    answer: Any
    error: BaseException | None


class Cluster:
    """A Dask client, for one fit."""

    def __init__(self, client: Client, fit: str):
        self.inbox: queue.SimpleQueue = queue.SimpleQueue()
        self._client, self._fit = client, fit
        self._futures: dict[int, Future] = {}
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="contree")
        self._looking = False
        _listen(client, fit, self.inbox)

    @property
    def home(self) -> str:
        """The topic under which workers report."""
        return self._client.id

    @property
    def alive(self) -> bool:
        return self._client.status == "running"

    def look_around(self) -> None:
        """Ask who is there, unless a question is under way; `Workers` comes to the inbox."""
        if not self._looking:
            self._looking = True
            self._threads.submit(self._look_around)

    def _look_around(self) -> None:
        try:
            self.inbox.put(Workers(self._client.nthreads()))
        except Exception:  # the scheduler is gone, which `alive` says
            self.inbox.put(Workers({}))
        finally:
            self._looking = False

    def scatter(self, rows, workers: list[str]) -> None:
        """Copy the rows to all of some workers; `Scattered` comes to the inbox."""

        def scatter() -> None:
            try:
                (future,) = self._client.scatter(
                    [rows], workers=workers, broadcast=True, hash=False
                )
                self.inbox.put(Scattered(future, None))
            except Exception as error:
                self.inbox.put(Scattered(None, error))

        self._threads.submit(scatter)

    def submit(self, task: int, worker: str, function: Callable, *args, **kwargs) -> None:
        """Have a worker do something; `Done` comes to the inbox, unless the worker is lost."""
        future = self._client.submit(
            function,
            *args,
            **kwargs,
            key=f"contree-{self._fit}-{task}",
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        self._futures[task] = future
        future.add_done_callback(lambda done: self._fetch(task, done))

    def _fetch(self, task: int, future: Future) -> None:
        def fetch() -> None:
            answer = error = None
            try:
                answer = future.result(timeout=FETCH_LIMIT)
            except BaseException as raised:
                error = raised
            self.inbox.put(Done(task, answer, error))

        with suppress(RuntimeError):  # the fit is over
            self._threads.submit(fetch)

    def release(self, task: int) -> None:
        """Forget a task: what it returns, or has returned, is not wanted."""
        future = self._futures.pop(task, None)
        if future is not None:
            future.release()

    def tell(self, worker: str | None, **message) -> None:
        """Send one worker, or all, a message, and wait for nobody."""
        topic = TO_ALL if worker is None else topic_of(worker)
        self._threads.submit(self._client.log_event, topic, {"contree": self._fit, **message})

    def close(self) -> None:
        """Leave nothing behind: the workers drop what they hold, Dask the tasks and the rows."""
        _stop_listening(self._client, self._fit)
        self.tell(None, over=True)
        for task in list(self._futures):
            self.release(task)
        self._threads.shutdown(wait=False)


# A client has one listener for a topic, and may serve several fits at once.
_inboxes: dict[str, dict[str, queue.SimpleQueue]] = {}  # by client and fit
_lock = threading.Lock()


def _listen(client: Client, fit: str, inbox: queue.SimpleQueue) -> None:
    def hear(event) -> None:
        _, content = event
        to = _inboxes.get(client.id, {}).get(content.get("contree"))
        if to is not None:  # Dask too has things to say about a client
            to.put(Message(content))

    with _lock:
        fits = _inboxes.setdefault(client.id, {})
        if not fits:
            client.subscribe_topic(client.id, hear)
        fits[fit] = inbox


def _stop_listening(client: Client, fit: str) -> None:
    with _lock:
        del _inboxes[client.id][fit]
        if not _inboxes[client.id]:
            del _inboxes[client.id]
            if client.status == "running":
                client.unsubscribe_topic(client.id)
