"""The workers of a fit: who is there, who has a desk and the rows, and who can be given something.

A worker that comes is invited to take a desk, which is its first task.  One that leaves, or that is
silent for long, loses the task it was at; who is silent is invited again, and counts again once it
answers or is heard.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from distributed import Future, KilledWorker

from contree.distributed import _worker
from contree.distributed._cluster import Cluster, Done, Scattered

TICK = 0.1  # seconds between two looks at the clock, while somebody waits for something
NAP = 0.5  # ... and while nobody does
LOOK = 1.0  # ... between two looks at who is there
LONGEST_BEAT = 1.0  # ... between two signs of life of a worker
WORD = 5.0  # ... after which workers hear that the caller is there
FIRST = 3.0  # ... that the first workers are waited for, so that the rows go to all at once
DROUGHT = 5.0  # ... without any worker, after which that is said
MOST_LOSSES = 20  # losses of workers with no task done in between
LOST = (KilledWorker, OSError, TimeoutError)  # and whatever Dask cancels


@dataclass
class Worker:
    address: str
    threads: int
    ready: bool = False  # has it a desk for this fit?
    busy_with: int | None = None  # a task, wanted or given up
    silence: float = 0.0  # seconds since it was last heard of
    given_up: bool = False  # gets nothing until it is heard again
    kernel: str = ""


class Crew:
    """Who works on one fit."""

    def __init__(
        self, cluster: Cluster, fit: str, rows: _worker.Rows, n_jobs: int | None, patience: float
    ):
        self.workers: dict[str, Worker] = {}
        self.rows: Future | None = None  # where they are, once they are there
        self._cluster, self._fit, self._given_rows = cluster, fit, rows
        self._n_jobs, self._patience = n_jobs, patience
        self._owners: dict[int, str] = {}  # of all tasks that may still answer
        self._numbers = 0
        self._now = 0.0  # seconds since the search began
        self._next_look = self._next_word = 0.0
        self._scattering_since: float | None = None
        self._scatter_again = 0.0  # not before this
        self._alone_since: float | None = 0.0
        self._losses = 0

    @property
    def ready(self) -> list[Worker]:
        return [one for one in self.workers.values() if one.ready and not one.given_up]

    @property
    def idle(self) -> list[Worker]:
        """Those who wait for something to do, those with most threads first."""
        return sorted((w for w in self.ready if w.busy_with is None), key=lambda w: -w.threads)

    @property
    def waiting(self) -> bool:
        """Is there anybody without a task, or nobody at all?"""
        return not self.ready or any(w.busy_with is None for w in self.workers.values())

    @property
    def threads(self) -> int:
        return sum(worker.threads for worker in self.ready)

    # Tasks.

    def engage(self, worker: Worker) -> int:
        """Return the number of the task that a worker is at from now on."""
        self._numbers += 1
        self._owners[self._numbers] = worker.address
        worker.busy_with, worker.silence = self._numbers, 0.0
        return self._numbers

    def answered(self, done: Done) -> Worker | None:
        """Return who has ended a task; None if that is no news, or if it was to take a desk."""
        worker = self.workers.get(self._owners.get(done.task, ""))
        if worker is None or worker.busy_with != done.task:
            return None
        worker.busy_with, worker.silence, worker.given_up = None, 0.0, False
        self._forget(done.task)
        if worker.ready:
            return worker
        self._take_desk(worker, done)
        return None

    def _take_desk(self, worker: Worker, done: Done) -> None:
        if done.error is None:
            worker.ready, worker.kernel = True, done.answer["kernel"]
        elif is_loss(done.error):
            self.invite(worker)
        else:
            raise RuntimeError(
                f"the Dask worker {worker.address} cannot take part in a fit; is the same version "
                f"of contree[distributed] installed there?  {type(done.error).__name__}: "
                f"{done.error}"
            ) from done.error

    def _forget(self, task: int) -> None:
        self._owners.pop(task, None)
        self._cluster.release(task)

    # Who comes, goes, speaks and is silent.

    def greet(self, threads: dict[str, int]) -> list[int]:
        """Invite those who have come; return the tasks of those who have gone."""
        gone = [address for address in self.workers if address not in threads]
        left = [self.workers.pop(address).busy_with for address in gone]
        lost = [task for task in left if task is not None]
        for task in lost:
            self._forget(task)
        if gone:
            self.count_loss()
        for address in threads.keys() - self.workers.keys():
            worker = self.workers[address] = Worker(address, self._jobs(threads[address]))
            self.invite(worker)
        return lost

    def _jobs(self, threads: int) -> int:
        wanted = self._n_jobs
        if wanted is None:
            return threads
        return max(1, threads + 1 + wanted) if wanted < 0 else wanted

    def invite(self, worker: Worker) -> None:
        """Have a worker take a desk."""
        worker.ready = False
        task = self.engage(worker)
        beat = min(LONGEST_BEAT, self._patience / 8)
        arguments = (self._fit, self._cluster.home, beat)
        self._cluster.submit(task, worker.address, _worker.take_a_desk, *arguments)

    def hear(self, address: str) -> Worker | None:
        """Note that a worker has said something; return it, if it is one of ours."""
        worker = self.workers.get(address)
        if worker is not None:
            worker.silence, worker.given_up = 0.0, False
        return worker

    def watch(self, now: float) -> None:
        """Let time pass: look who is there, and say that the caller is."""
        # Silence is counted in looks: a caller that was itself asleep does not blame the workers.
        passed, self._now = min(now - self._now, 2 * NAP), now
        for worker in self.workers.values():
            worker.silence += passed
        if not self._cluster.alive:
            raise ConnectionError("the connection to the Dask scheduler is lost")
        if now >= self._next_look:
            self._next_look = now + LOOK
            self._cluster.look_around()
        if now >= self._next_word:
            self._next_word = now + WORD
            self._cluster.tell(None)
        self._watch_for_drought()

    def _watch_for_drought(self) -> None:
        if self.workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = self._now
        elif self._now - self._alone_since > DROUGHT:
            self._alone_since = float("inf")
            warnings.warn(
                "contree.distributed: there is no Dask worker to search on; waiting for one.",
                stacklevel=7,
            )

    def give_up_the_silent(self, tasks) -> list[int]:
        """Give up who is at one of some tasks and silent; return these tasks.

        Each is asked whether it is there at all.  Perhaps it only waits for the rows, from another
        one that hangs: they are scattered again.
        """
        silent = [
            worker
            for worker in self.workers.values()
            if worker.busy_with in tasks and worker.silence > self._patience
        ]
        lost = [worker.busy_with for worker in silent]
        for worker in silent:
            self._forget(worker.busy_with)
            worker.given_up = True
            self.rows = None
            self.invite(worker)
        return lost

    def count_loss(self) -> None:
        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise RuntimeError(
                f"Dask workers were lost {MOST_LOSSES} times, and no task was done in between. "
                "Perhaps they run out of memory: see memory_limit, and the workers' logs."
            )

    def count_success(self) -> None:
        self._losses = 0

    # The rows.

    def scattered(self, answer: Scattered) -> None:
        self._scattering_since = None
        if answer.error is None:
            self.rows = answer.rows
        else:  # to somebody who has just gone, perhaps: look first who is there
            self._scatter_again = self._now + LOOK
            self.count_loss()

    def have_rows(self) -> bool:
        """Are the rows on the cluster?  If not, and if they are not under way, they are sent."""
        if self.rows is not None and self.rows.status == "finished":
            return True
        ready = self.ready
        if self._scattering_since is None:
            enough = self._now > FIRST or len(ready) == len(self.workers)
            if enough and self._now >= self._scatter_again:
                self.rows, self._scattering_since = None, self._now
                self._cluster.scatter(self._given_rows, [worker.address for worker in ready])
        elif self._now - self._scattering_since > self._patience:
            self._scattering_since = None  # somebody hangs: once more to those who answer
            for worker in self.idle:  # who is at a task is heard of, or given up
                self.invite(worker)
        return False


def is_loss(error: BaseException) -> bool:
    """Was a task lost with its worker, rather than failed by itself?"""
    return isinstance(error, LOST) or "Cancelled" in type(error).__name__
