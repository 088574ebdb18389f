"""The workers of one fit: which are there, which have a session and the rows, which are idle.

The registry opens a session on each new worker; that is the worker's first task.  A worker that
leaves, or stays silent for too long, loses its task.  The registry opens a new session on a silent
worker, and uses it again as soon as it answers or reports.
"""

from __future__ import annotations

import warnings
from collections.abc import Container
from dataclasses import dataclass

from distributed import Future, KilledWorker

from contree._fit_request import SearchInput
from contree.distributed._cluster import Cluster, RowsSent, TaskDone
from contree.distributed._worker_session import open_session

POLL_SECONDS = 0.1  # between two looks at the clock while a worker or the callback waits
IDLE_POLL_SECONDS = 0.5  # the same while nobody waits
LIST_WORKERS_SECONDS = 1.0  # between two requests for the list of workers
HEARTBEAT_SECONDS = 1.0  # between two reports of a worker, at most
CALLER_HEARTBEAT_SECONDS = 5.0  # between two messages to all workers
FIRST_WORKERS_SECONDS = 3.0  # wait for the first workers, to send the rows to all at once
NO_WORKERS_WARNING_SECONDS = 5.0  # without any worker until a warning
MAX_LOSSES = 20  # losses of workers in a row with no task done in between
LOSSES = (KilledWorker, OSError, TimeoutError)  # and Dask's cancellations


@dataclass
class Worker:
    """One worker, as the caller knows it."""

    address: str
    threads: int
    ready: bool = False  # has a session for this fit
    task: int | None = None  # in progress, wanted or not
    silent_seconds: float = 0.0  # since its last answer or report
    unresponsive: bool = False  # gets no task until it answers or reports
    kernel: str = ""


class WorkerRegistry:
    """The workers of one fit."""

    def __init__(
        self, cluster: Cluster, search_input: SearchInput, n_jobs: int | None, patience: float
    ):
        self.workers: dict[str, Worker] = {}
        self.rows: Future[SearchInput] | None = None  # the search input on the cluster
        self._cluster, self._search_input = cluster, search_input
        self._n_jobs, self._patience = n_jobs, patience
        self._task_owner: dict[int, str] = {}  # for all tasks that may still answer
        self._last_task = 0
        self._now = 0.0  # seconds since the search started
        self._next_listing = self._next_heartbeat = 0.0
        self._sending_since: float | None = None
        self._send_rows_after = 0.0
        self._empty_since: float | None = 0.0
        self._losses = 0

    @property
    def ready(self) -> list[Worker]:
        """The workers that can have a task."""
        return [one for one in self.workers.values() if one.ready and not one.unresponsive]

    @property
    def idle(self) -> list[Worker]:
        """The ready workers without a task, those with most threads first."""
        return sorted((w for w in self.ready if w.task is None), key=lambda w: -w.threads)

    @property
    def anyone_waits(self) -> bool:
        """Whether a worker has no task, or no worker is ready."""
        return not self.ready or any(worker.task is None for worker in self.workers.values())

    @property
    def threads(self) -> int:
        """The threads of all ready workers."""
        return sum(worker.threads for worker in self.ready)

    # Tasks.

    def start_task(self, worker: Worker) -> int:
        """Return the number of a new task that the worker has from now on."""
        self._last_task += 1
        self._task_owner[self._last_task] = worker.address
        worker.task, worker.silent_seconds = self._last_task, 0.0
        return self._last_task

    def end_task(self, done: TaskDone) -> Worker | None:
        """Return the worker that has ended a search task.

        None if the task opened a session, or if the worker has another task by now.
        """
        worker = self.workers.get(self._task_owner.get(done.task, ""))
        if worker is None or worker.task != done.task:
            return None
        worker.task, worker.silent_seconds, worker.unresponsive = None, 0.0, False
        self._forget(done.task)
        if worker.ready:
            return worker
        self._session_opened(worker, done)
        return None

    def _session_opened(self, worker: Worker, done: TaskDone) -> None:
        if done.error is None:
            worker.ready, worker.kernel = True, done.answer["kernel"]
        elif is_loss(done.error):
            self.open_session(worker)
        else:
            raise RuntimeError(
                f"The Dask worker {worker.address} cannot take part in the fit: "
                f"{type(done.error).__name__}: {done.error}. Install the same version of "
                "contree[distributed] there."
            ) from done.error

    def _forget(self, task: int) -> None:
        self._task_owner.pop(task, None)
        self._cluster.release(task)

    def open_session(self, worker: Worker) -> None:
        """Submit the task that opens a session on a worker."""
        worker.ready = False
        task = self.start_task(worker)
        heartbeat = min(HEARTBEAT_SECONDS, self._patience / 8)
        arguments = (self._cluster.fit_id, self._cluster.caller_topic, heartbeat)
        self._cluster.submit(task, worker.address, open_session, *arguments)

    # Workers that come, leave, report and stay silent.

    def update(self, threads: dict[str, int]) -> list[int]:
        """Open sessions on new workers; return the tasks of workers that have left."""
        gone = [address for address in self.workers if address not in threads]
        tasks = [self.workers.pop(address).task for address in gone]
        lost = [task for task in tasks if task is not None]
        for task in lost:
            self._forget(task)
        if gone:
            self.count_loss()
        for address in threads.keys() - self.workers.keys():
            worker = self.workers[address] = Worker(address, self._threads_of(threads[address]))
            self.open_session(worker)
        return lost

    def _threads_of(self, dask_threads: int) -> int:
        """Return the threads of a worker, by the estimator's n_jobs."""
        if self._n_jobs is None:
            return dask_threads
        return max(1, dask_threads + 1 + self._n_jobs) if self._n_jobs < 0 else self._n_jobs

    def note_report(self, address: str) -> Worker | None:
        """Note that a worker has reported; return it, or None if it has left."""
        worker = self.workers.get(address)
        if worker is not None:
            worker.silent_seconds, worker.unresponsive = 0.0, False
        return worker

    def advance(self, now: float) -> None:
        """Set the time; request the list of workers and send a heartbeat when they are due."""
        # A caller that was itself suspended must not count that time as silence of the workers.
        passed, self._now = min(now - self._now, 2 * IDLE_POLL_SECONDS), now
        for worker in self.workers.values():
            worker.silent_seconds += passed
        if not self._cluster.alive:
            raise ConnectionError("The connection to the Dask scheduler is lost.")
        if now >= self._next_listing:
            self._next_listing = now + LIST_WORKERS_SECONDS
            self._cluster.request_workers()
        if now >= self._next_heartbeat:
            self._next_heartbeat = now + CALLER_HEARTBEAT_SECONDS
            self._cluster.send(None)
        self._warn_without_workers()

    def _warn_without_workers(self) -> None:
        if self.workers:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = self._now
        elif self._now - self._empty_since > NO_WORKERS_WARNING_SECONDS:
            self._empty_since = float("inf")
            warnings.warn(
                "contree.distributed: the cluster has no Dask worker. The fit waits for one.",
                stacklevel=8,
            )

    def drop_silent(self, tasks: Container[int]) -> list[int]:
        """Take some tasks from workers that are silent for too long; return these tasks.

        A new session asks each of these workers whether it is there.  It may only wait for the rows
        from another worker that hangs, so the rows are sent again.
        """
        silent = [
            (worker, task)
            for worker in self.workers.values()
            if (task := worker.task) is not None
            and task in tasks
            and worker.silent_seconds > self._patience
        ]
        for worker, task in silent:
            self._forget(task)
            worker.unresponsive = True
            self.rows = None
            self.open_session(worker)
        return [task for _, task in silent]

    def count_loss(self) -> None:
        """Count a lost worker; raise RuntimeError after too many in a row."""
        self._losses += 1
        if self._losses > MAX_LOSSES:
            raise RuntimeError(
                f"Dask workers were lost {MAX_LOSSES} times with no task done in between. They may "
                "run out of memory: lower memory_limit, or read the workers' logs."
            )

    def count_success(self) -> None:
        """Count a task that was done."""
        self._losses = 0

    # The rows.

    def note_rows_sent(self, sent: RowsSent) -> None:
        """Store where the rows are, or send them again later."""
        self._sending_since = None
        if sent.error is None:
            self.rows = sent.rows
        else:  # a worker may have left just now: list the workers first
            self._send_rows_after = self._now + LIST_WORKERS_SECONDS
            self.count_loss()

    def have_rows(self) -> bool:
        """Return whether the rows are on the cluster; if not, send them, but not twice at once."""
        if self.rows is not None and self.rows.status == "finished":
            return True
        ready = self.ready
        if self._sending_since is None:
            enough = self._now > FIRST_WORKERS_SECONDS or len(ready) == len(self.workers)
            if enough and self._now >= self._send_rows_after:
                self.rows, self._sending_since = None, self._now
                self._cluster.send_rows(self._search_input, [worker.address for worker in ready])
        elif self._now - self._sending_since > self._patience:
            self._sending_since = None  # a worker hangs: send again to those that answer
            for worker in self.idle:  # busy workers report, or `drop_silent` finds them
                self.open_session(worker)
        return False


def is_loss(error: BaseException) -> bool:
    """Return whether a task was lost with its worker, rather than failed by itself."""
    return isinstance(error, LOSSES) or "Cancelled" in type(error).__name__
