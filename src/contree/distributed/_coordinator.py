"""One search over many workers: deals out the open intervals, stores the best tree and the bound.

Everything happens in the caller's thread, in answer to messages in the cluster's inbox.

The invariant: each open interval is in the pool or in the part of exactly one task.  A task's part
is replaced once, by the part that the task returns.  A lost task's part goes back into the pool.
So no interval is lost or counted twice, and the least bound of all parts is proved.
"""

from __future__ import annotations

import math
import queue
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from contree._checkpoint_file import RUNNING
from contree._fit_request import FitRequest
from contree._typing import Nodes
from contree.distributed._cluster import Cluster, Report, RowsSent, TaskDone, WorkerList
from contree.distributed._cluster_checkpoint import save_search
from contree.distributed._incumbent import NO_OBJECTIVE, Incumbent, as_arrays
from contree.distributed._pool import Frontier, Pool, first_parts, shortest_slice, slice_seconds
from contree.distributed._worker_registry import (
    IDLE_POLL_SECONDS,
    POLL_SECONDS,
    Worker,
    WorkerRegistry,
    is_loss,
)
from contree.distributed._worker_session import Message
from contree.distributed._worker_task import run_task

OBSERVER_SECONDS = 0.2  # between two calls of the observer without an improvement
MAX_FAILURES = 3  # tasks that may fail and are tried again
GAUGES = ("cache_entries", "arena_bytes")  # counters that are sizes: take the largest, not the sum


@dataclass
class Task:
    """A part of the search that a worker has."""

    number: int
    worker: str
    part: Frontier | None  # None: the task starts the search, or the next level
    start: float
    bound: int = 0  # the last one that the worker reported for the part
    improves_tree: bool = False  # the one task that looks for better trees near the best one
    was_asked_back: bool = False  # to hand back its unstarted intervals


class Coordinator:
    """Runs one search on a cluster; see `run`.

    Parameters
    ----------
    cluster : Cluster
        The workers; `run` closes it.
    request : FitRequest
        What the fit asks for.
    incumbent, open_part
        Those of earlier calls, by `load_search`.
    n_jobs : int or None
        The estimator's, for each worker.
    patience : float
        Seconds of silence after which a worker loses its task.
    """

    def __init__(
        self,
        cluster: Cluster,
        request: FitRequest,
        incumbent: Incumbent,
        open_part: Frontier | None,
        n_jobs: int | None,
        patience: float,
    ):
        self.incumbent = incumbent
        self.status: str | None = None
        self.counters: Counter[str] = Counter()
        self.kernels: set[str] = set()
        self.most_threads = 0
        self.seconds = 0.0
        self._cluster, self._request = cluster, request
        self._max_gap = request.search_input.options["max_gap"]
        self._start, self._time_limit = time.monotonic(), request.remaining_seconds()
        self._registry = WorkerRegistry(cluster, request.search_input, n_jobs, patience)
        self._tasks: dict[int, Task] = {}  # those whose answer is wanted
        self._pool = None if open_part is None else Pool(open_part)
        self._opening = 0.0  # the second at which the level was opened
        self._next_observation = 0.0
        self._observed: tuple[int, int] | None = None
        self._greatest_length = 0
        self._failures = 0

    @property
    def is_opened(self) -> bool:
        """Whether a worker, or a checkpoint, has opened a level."""
        return self._pool is not None

    def run(self) -> None:
        """Search until `status` says why the search has ended."""
        try:
            while self.status is None:
                self._handle_messages()
                self._check_workers()
                self._update_bound_and_status()
                if self.status is None:
                    self._deal()
                    self._save_and_observe()
        except KeyboardInterrupt:
            if not self._request.return_on_interrupt:
                raise
            self.status = "interrupted"
        finally:
            self._cluster.close()
            self.seconds = time.monotonic() - self._start
            self.incumbent.end(self.seconds)
            self._save(self.status or RUNNING)

    # Messages.

    def _handle_messages(self) -> None:
        """Wait for a message until the next poll is due, then handle all that have arrived."""
        anyone_waits = self._request.observe is not None or self._registry.anyone_waits
        remaining = self._start + self._time_limit - time.monotonic()
        pause = POLL_SECONDS if anyone_waits else IDLE_POLL_SECONDS
        messages = []
        try:
            messages.append(self._cluster.inbox.get(timeout=max(0.0, min(pause, remaining))))
            while True:
                messages.append(self._cluster.inbox.get_nowait())
        except queue.Empty:
            pass
        self.seconds = time.monotonic() - self._start
        for message in messages:
            match message:
                case WorkerList():
                    self._reopen_parts(self._registry.update(message.threads))
                case Report():
                    self._handle_report(message.content)
                case RowsSent():
                    self._registry.note_rows_sent(message)
                case TaskDone():
                    self._handle_done(message)

    def _handle_report(self, content: Message) -> None:
        worker = self._registry.note_report(content["worker"])
        if "objective" in content:
            self._offer_tree(content["objective"], content["tree"])
        if worker is None:
            return
        task = self._tasks.get(content["task"])
        if task is None:
            self._cluster.send(worker.address, drop=content["task"])
            return
        if content["bound"] is not None and self._is_of_last_level(task):
            task.bound = max(task.bound, content["bound"])
        known = NO_OBJECTIVE if content["cutoff"] is None else content["cutoff"]
        if self.incumbent.objective < known:
            self._cluster.send(worker.address, cutoff=self.incumbent.objective)

    def _is_of_last_level(self, task: Task) -> bool:
        """Return whether a task's bound holds for the depth that the request asks for."""
        return task.part is None or task.part.depth == self._request.search_input.last_level

    def _offer_tree(self, objective: int, tree: Nodes) -> None:
        if self.incumbent.offer_tree(objective, tree, self.seconds):
            self._cluster.send(None, cutoff=objective)

    def _handle_done(self, done: TaskDone) -> None:
        """Replace a task's part by the one that it returns."""
        worker = self._registry.end_task(done)
        if worker is None:
            return
        if done.error is not None or done.answer is None:
            self._reopen_parts([done.task])
            if done.error is None:  # the worker was restarted under its old address
                self._registry.open_session(worker)
            else:
                self._count_failure(done.error)
            return
        self._registry.count_success()
        answer = done.answer
        self._offer_tree(answer["objective"], answer["tree"])
        task = self._tasks.pop(done.task, None)
        if task is None:
            return  # the part was reopened
        self._add_counters(answer["counters"])
        rest = Frontier(*answer["frontier"])
        if task.part is None:
            self.incumbent.raise_bound(answer["lower_bound"], self.seconds)
            self._pool, self._opening = Pool(rest), self.seconds
        else:
            self._put_back(rest, worker.address)

    def _put_back(self, part: Frontier, owner: str | None = None) -> None:
        assert self._pool is not None  # which the part came from
        self._pool.put(part, owner)

    def _reopen_parts(self, numbers: list[int]) -> None:
        """Put the parts of lost tasks back into the pool."""
        for task in [self._tasks.pop(number) for number in numbers if number in self._tasks]:
            self.counters["tasks_lost"] += 1
            if task.part is not None:
                self._put_back(task.part)

    def _count_failure(self, error: BaseException) -> None:
        if is_loss(error):
            self._registry.count_loss()
            return
        self._failures += 1
        if self._failures > MAX_FAILURES:
            raise error

    def _add_counters(self, counters: dict[str, int]) -> None:
        self.counters["tasks"] += 1
        for name, count in counters.items():
            if name in GAUGES:
                self.counters[name] = max(self.counters[name], count)
            else:
                self.counters[name] += count

    # Time.

    def _check_workers(self) -> None:
        """Reopen the parts of workers that are silent for too long."""
        self._registry.advance(self.seconds)
        self._reopen_parts(self._registry.drop_silent(self._tasks))

    def _update_bound_and_status(self) -> None:
        self.most_threads = max(self.most_threads, self._registry.threads)
        pool, incumbent, tasks = self._pool, self.incumbent, self._tasks.values()
        if pool is not None and pool.depth == self._request.search_input.last_level:
            if incumbent.tree is not None:
                pool.close(incumbent.objective - self._max_gap)
            parts = [max(t.bound, 0 if t.part is None else t.part.bound) for t in tasks]
            incumbent.raise_bound(min([pool.frontier.bound, *parts]), self.seconds)
        else:  # only a task that starts the next level may have a bound for the last level
            incumbent.raise_bound(max((t.bound for t in tasks), default=0), self.seconds)
        gap = incumbent.objective - incumbent.lower_bound
        if incumbent.tree is not None and gap <= self._max_gap:
            self.status = "optimal" if gap == 0 else "gap_reached"
        elif self.seconds >= self._time_limit:
            self.status = "time_limit"

    # Tasks.

    def _deal(self) -> None:
        """Give each idle worker a task."""
        idle = self._registry.idle
        if not idle or not self._registry.have_rows():
            return
        for worker in idle:
            if self._pool is not None and len(self._pool):
                part = self._pool.deal(worker.threads, self._registry.threads, worker.address)
                self._assign(worker, part)
            elif not self._tasks:
                self._assign(worker, None)  # start the search, or the next level
            else:
                self._ask_back(len(idle))
                return

    def _assign(self, worker: Worker, part: Frontier | None) -> None:
        number = self._registry.start_task(worker)
        task = self._tasks[number] = Task(number, worker.address, part, self.seconds)
        self.kernels.add(worker.kernel)
        pool, incumbent = self._pool, self.incumbent
        if part is None:
            done = None if pool is None else tuple(pool.frontier)
            start: dict[str, Any] = {"frontier": done, "open_only": True, "slice_seconds": math.inf}
            start["least_parts"] = first_parts(self._registry.threads)
        else:
            seconds = slice_seconds(self.seconds - self._opening, len(self._tasks))
            start = {"frontier": tuple(part), "part": True, "slice_seconds": seconds}
            start["least_parts"] = 0
        task.improves_tree = part is None or not any(t.improves_tree for t in self._tasks.values())
        if task.improves_tree:
            own = incumbent.tree
            start["first"] = self._request.initial_tree if own is None else as_arrays(own)
        self._cluster.submit(
            number,
            worker.address,
            run_task,
            self._cluster.fit_id,
            number,
            self._registry.rows,
            n_jobs=worker.threads,
            cutoff=None if incumbent.tree is None else incumbent.objective,
            lower_bound=incumbent.lower_bound,
            time_limit=max(0.0, self._time_limit - self.seconds),
            **start,
        )

    def _ask_back(self, count: int) -> None:
        """Ask as many tasks as there are idle workers for their unstarted intervals."""
        latest_start = self.seconds - shortest_slice(len(self._tasks))
        able = [t for t in self._tasks.values() if t.start <= latest_start and not t.was_asked_back]
        able.sort(key=lambda task: -1 if task.part is None else -len(task.part.intervals))
        for task in able[:count]:
            task.was_asked_back = True
            self._cluster.send(task.worker, hand_back=task.number)

    # The checkpoint and the observer.

    def _save_and_observe(self) -> None:
        self._save(None)
        if self._request.observe is None or self.incumbent.tree is None:
            return
        bounds = (self.incumbent.objective, self.incumbent.lower_bound)
        if bounds == self._observed and self.seconds < self._next_observation:
            return
        self._observed, self._next_observation = bounds, self.seconds + OBSERVER_SECONDS
        seconds = self.incumbent.seconds_before + self.seconds
        if self._request.observe(seconds, *bounds, self.root_closed):
            self.status = "stopped"

    def _save(self, status: str | None) -> None:
        """Write the checkpoint if it is due, or if the search has ended with a status."""
        checkpoint = self._request.checkpoint
        if checkpoint is None or self.incumbent.tree is None:
            return
        if status is not None or checkpoint.is_due():
            save_search(checkpoint, status, self.incumbent, self._open_part(), self.seconds)

    def _open_part(self) -> Frontier | None:
        """Return the open intervals of the pool and of all tasks; None before a level is open."""
        if self._pool is None:
            return None
        whole = Pool(self._pool.frontier)
        for task in self._tasks.values():
            if task.part is not None:
                whole.put(task.part)
        return whole.frontier

    @property
    def root_closed(self) -> float:
        """The closed share of the root, by the length of the open intervals."""
        open_part = self._open_part()
        if open_part is None or open_part.depth != self._request.search_input.last_level:
            return 0.0
        length = open_part.length
        self._greatest_length = max(self._greatest_length, length)
        return 1 - length / self._greatest_length if self._greatest_length else 1.0
