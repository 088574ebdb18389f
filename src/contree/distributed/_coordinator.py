"""One search over many workers: deals out what is open, keeps the best tree and the bound.

Everything happens in the caller's thread, in answer to what comes into the cluster's inbox.  The
invariant: each open interval is in the pool or in the part of exactly one task.  A task's part is
replaced by what it returns, once; a task that is lost gives its part back as it was.  So nothing is
lost and nothing counted twice, whatever workers do, and the least bound of all parts is proved.
"""

from __future__ import annotations

import math
import queue
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from distributed import Future, KilledWorker

from contree._checkpoint import RUNNING
from contree.distributed import _worker
from contree.distributed._cluster import Cluster, Done, Message, Scattered, Workers
from contree.distributed._pool import Frontier, Pool, shortest_slice, slice_seconds

TICK = 0.1  # seconds between two looks at the clock
LOOK = 1.0  # ... between two looks at who is there
WORD = 5.0  # ... after which workers hear that the caller is there
FIRST = 3.0  # ... that the first workers are waited for, so that the rows go to all at once
DROUGHT = 5.0  # ... without any worker, after which that is said
SHOW = 0.2  # ... between two calls of the callback
PAUSE = 0.05  # ... between two bounds in the history
MOST_FAILURES = 3  # errors of tasks that are tried again
MOST_LOSSES = 20  # losses of workers with no task done in between
GAUGES = ("cache_entries", "arena_bytes")  # counters that say how large something is
NO_OBJECTIVE = np.iinfo(np.int64).max

LOST = (KilledWorker, OSError, TimeoutError)  # and whatever Dask cancels


class Wishes(NamedTuple):
    """What the caller asks for, besides the problem."""

    depth: int  # of the last level
    max_gap: int
    time_limit: float
    n_jobs: int | None
    first: dict | None  # a tree to begin with
    patience: float  # seconds after which a worker that says nothing is given up
    keep_on_interrupt: bool


@dataclass
class Task:
    number: int
    worker: str
    part: Frontier | None  # None: the search from its beginning, or from a level that is done
    began: float
    bound: int = 0  # what it has said of its part
    searches_near: bool = False  # is it the one that looks for better trees beside the best?
    asked: bool = False  # to hand back what it has not begun


@dataclass
class Worker:
    address: str
    threads: int
    ready: bool = False  # has it a desk for this fit?
    busy_with: int | None = None  # a task, wanted or given up
    silence: float = 0.0  # seconds since it was last heard of
    given_up: bool = False  # gets nothing until it is heard again
    kernel: str = ""


@dataclass
class Best:
    """The best tree, and what is proved: both only get better."""

    objective: int = NO_OBJECTIVE
    tree: dict | None = None
    lower_bound: int = 0
    history: list[tuple[float, int, int]] = field(default_factory=list)
    seconds_before: float = 0.0  # of calls before this one

    def take(self, objective: int, tree: dict, seconds: float) -> bool:
        if objective >= self.objective:
            return False
        self.objective, self.tree = objective, tree
        self._note(seconds)
        return True

    def raise_bound(self, lower_bound: int, seconds: float) -> None:
        lower_bound = min(lower_bound, self.objective)
        if lower_bound <= self.lower_bound:
            return
        self.lower_bound = lower_bound
        last = self.history[-1][0] if self.history else 0.0
        if self.tree is not None and last + PAUSE <= self.seconds_before + seconds:
            self._note(seconds)

    def end(self, seconds: float) -> None:
        """Note the last state, if that is not done yet."""
        now = (self.objective, self.lower_bound)
        if self.tree is not None and (not self.history or self.history[-1][1:] != now):
            self._note(seconds)

    def _note(self, seconds: float) -> None:
        moment = self.seconds_before + seconds
        self.history.append((moment, self.objective, self.lower_bound))


class Coordinator:
    """Runs one search on a cluster; see `run`."""

    def __init__(
        self,
        cluster: Cluster,
        fit: str,
        rows: _worker.Rows,
        wishes: Wishes,
        observe: Callable[[float, int, int, float], bool] | None,
        best: Best,
        open_part: Frontier | None,
        save: Callable | None,  # takes a status, the best, what is open, and the seconds so far
    ):
        self.best = best
        self.status: str | None = None
        self.counters: Counter = Counter()
        self.kernels: set[str] = set()
        self.most_threads = 0
        self._cluster, self._fit, self._given_rows, self._wishes = cluster, fit, rows, wishes
        self._observe, self._save = observe, save
        self._start = self._now = time.monotonic()
        self._workers: dict[str, Worker] = {}
        self._tasks: dict[int, Task] = {}  # wanted ones
        self._owners: dict[int, str] = {}  # of all tasks that may still answer
        self._numbers = 0
        self._pool = None if open_part is None else Pool(open_part)
        self._opened_at = self._start
        self._rows: Future | None = None
        self._scattering_since: float | None = None
        self._scatter_again = 0.0  # not before this
        self._next_look = self._next_word = self._next_show = 0.0
        self._shown: tuple | None = None
        self._whole = 0
        self._alone_since: float | None = self._start
        self._failures = self._losses = 0

    @property
    def opened(self) -> bool:
        """Has the search got beyond its first trees?"""
        return self._pool is not None

    @property
    def seconds(self) -> float:
        return self._now - self._start

    def run(self) -> None:
        """Search until `status` says why it has ended."""
        try:
            while self.status is None:
                self._listen()
                self._watch()
                self._settle()
                if self.status is None:
                    self._deal()
                    self._show()
        except KeyboardInterrupt:
            if not self._wishes.keep_on_interrupt:
                raise
            self.status = "interrupted"
        finally:
            self._cluster.close()
            self._now = time.monotonic()
            self.best.end(self.seconds)
            self._keep(self.status or RUNNING)

    # What comes in.

    def _listen(self) -> None:
        """Wait a moment, then take all that has come."""
        due = min(TICK, max(0.0, self._start + self._wishes.time_limit - time.monotonic()))
        news = []
        try:
            news.append(self._cluster.inbox.get(timeout=due))
            while True:
                news.append(self._cluster.inbox.get_nowait())
        except queue.Empty:
            pass
        # Silence is counted in looks: a caller that was itself asleep does not blame the workers.
        before, self._now = self._now, time.monotonic()
        for worker in self._workers.values():
            worker.silence += min(self._now - before, 2 * TICK)
        for one in news:
            match one:
                case Workers():
                    self._greet(one.threads)
                case Message():
                    self._hear(one.content)
                case Scattered():
                    self._have_rows(one)
                case Done():
                    self._have_answer(one)

    def _greet(self, threads: dict[str, int]) -> None:
        """Give those who have come a desk, and take back the tasks of those who have gone."""
        gone = [address for address in self._workers if address not in threads]
        for address in gone:
            worker = self._workers.pop(address)
            if worker.busy_with is not None:
                self._take_back(worker.busy_with)
                self._forget(worker.busy_with)
        if gone:
            self._count_loss()
        for address in threads.keys() - self._workers.keys():
            worker = self._workers[address] = Worker(address, self._jobs(threads[address]))
            self._invite(worker)

    def _jobs(self, threads: int) -> int:
        wanted = self._wishes.n_jobs
        if wanted is None:
            return threads
        return max(1, threads + 1 + wanted) if wanted < 0 else wanted

    def _invite(self, worker: Worker) -> None:
        worker.ready = False
        task = self._number(worker)
        arguments = (self._fit, self._cluster.home)
        self._cluster.submit(task, worker.address, _worker.take_a_desk, *arguments)

    def _number(self, worker: Worker) -> int:
        self._numbers += 1
        self._owners[self._numbers] = worker.address
        worker.busy_with, worker.silence = self._numbers, 0.0
        return self._numbers

    def _hear(self, content: dict) -> None:
        worker = self._workers.get(content["worker"])
        if "objective" in content:
            self._take_tree(content["objective"], content["tree"])
        if worker is None:
            return
        worker.silence, worker.given_up = 0.0, False
        task = self._tasks.get(content["task"])
        if task is None:
            self._cluster.tell(worker.address, drop=content["task"])
            return
        if content["bound"] is not None and self._at_last(task):
            task.bound = max(task.bound, content["bound"])
        known = NO_OBJECTIVE if content["cutoff"] is None else content["cutoff"]
        if self.best.objective < known:
            self._cluster.tell(worker.address, cutoff=self.best.objective)

    def _at_last(self, task: Task) -> bool:
        """Does what a task proves hold for the depth asked for?"""
        return task.part is None or task.part.depth == self._wishes.depth

    def _take_tree(self, objective: int, tree: dict) -> None:
        if self.best.take(objective, tree, self.seconds):
            self._cluster.tell(None, cutoff=objective)

    def _have_rows(self, scattered: Scattered) -> None:
        self._scattering_since = None
        if scattered.error is None:
            self._rows = scattered.rows
        else:  # to somebody who has just gone, perhaps: look first who is there
            self._scatter_again = self._now + LOOK
            self._count_loss()

    def _have_answer(self, done: Done) -> None:
        """Put what a task returns in the place of its part."""
        worker = self._workers.get(self._owners.get(done.task, ""))
        if worker is None or worker.busy_with != done.task:
            return
        worker.busy_with, worker.silence, worker.given_up = None, 0.0, False
        if not worker.ready:
            self._have_desk(worker, done)
            return
        self._forget(done.task)
        if done.error is not None or done.answer is None:
            self._take_back(done.task)
            if done.error is None:  # started anew under its old address
                self._invite(worker)
            else:
                self._fail(done.error)
            return
        self._losses = 0
        answer = done.answer
        self._take_tree(answer["objective"], answer["tree"])
        task = self._tasks.pop(done.task, None)
        if task is None:
            return  # given up: its part is in other hands
        self._count(answer["counters"])
        rest = Frontier(*answer["frontier"])
        if task.part is None:
            self.best.raise_bound(answer["lower_bound"], self.seconds)
            self._pool, self._opened_at = Pool(rest), self._now
        else:
            self._pool.put(rest, worker.address)

    def _have_desk(self, worker: Worker, done: Done) -> None:
        self._forget(done.task)
        if done.error is None:
            worker.ready, worker.kernel = True, done.answer["kernel"]
            self._alone_since = None
        elif _is_loss(done.error):
            self._invite(worker)
        else:
            raise RuntimeError(
                f"the Dask worker {worker.address} cannot take part in a fit; is the same version "
                f"of contree[distributed] installed there?  {type(done.error).__name__}: "
                f"{done.error}"
            ) from done.error

    def _take_back(self, number: int) -> None:
        """Open the part of a task again that nobody will answer for."""
        task = self._tasks.pop(number, None)
        if task is None:
            return
        self.counters["tasks_lost"] += 1
        if task.part is not None:
            self._pool.put(task.part)

    def _forget(self, number: int) -> None:
        self._owners.pop(number, None)
        self._cluster.release(number)

    def _fail(self, error: BaseException) -> None:
        if _is_loss(error):
            self._count_loss()
            return
        self._failures += 1
        if self._failures > MOST_FAILURES:
            raise error

    def _count_loss(self) -> None:
        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise RuntimeError(
                f"Dask workers were lost {MOST_LOSSES} times, and no task was done in between. "
                "Perhaps they run out of memory: see memory_limit, and the workers' logs."
            )

    def _count(self, counters: dict[str, int]) -> None:
        self.counters["tasks"] += 1
        for name, count in counters.items():
            if name in GAUGES:
                self.counters[name] = max(self.counters[name], count)
            else:
                self.counters[name] += count

    # What time brings.

    def _watch(self) -> None:
        """Look who is there, and give up who has not been heard of for long."""
        if not self._cluster.alive:
            raise ConnectionError("the connection to the Dask scheduler is lost")
        if self._now >= self._next_look:
            self._next_look = self._now + LOOK
            self._cluster.look_around()
        if self._now >= self._next_word:
            self._next_word = self._now + WORD
            self._cluster.tell(None)
        for worker in self._workers.values():
            if worker.busy_with in self._tasks and worker.silence > self._wishes.patience:
                self._give_up(worker)
        if self._workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = self._now
        elif self._now - self._alone_since > DROUGHT:
            self._alone_since = float("inf")
            warnings.warn(
                "contree.distributed: there is no Dask worker to search on; waiting for one.",
                stacklevel=5,
            )

    def _give_up(self, worker: Worker) -> None:
        """Take back the task of a worker that is silent, and ask whether it is there at all.

        Perhaps it only waits for the rows, from another one that hangs: they are scattered again.
        """
        number = worker.busy_with
        self._take_back(number)
        self._forget(number)
        worker.given_up = True
        self._rows = None
        self._invite(worker)

    def _settle(self) -> None:
        """Raise the bound, and see whether the search has ended."""
        self.most_threads = max(self.most_threads, self._ready_threads())
        pool, best, tasks = self._pool, self.best, self._tasks.values()
        if pool is not None and pool.depth == self._wishes.depth:
            if best.tree is not None:
                pool.close(best.objective - self._wishes.max_gap)
            parts = [max(t.bound, 0 if t.part is None else t.part.bound) for t in tasks]
            best.raise_bound(min([pool.frontier.bound, *parts]), self.seconds)
        else:  # a shallower level proves nothing, but who begins may know something
            best.raise_bound(max((t.bound for t in tasks), default=0), self.seconds)
        if best.tree is not None and best.objective - self._wishes.max_gap <= best.lower_bound:
            self.status = "optimal" if best.objective == best.lower_bound else "gap_reached"
        elif self.seconds >= self._wishes.time_limit:
            self.status = "time_limit"

    def _ready_threads(self) -> int:
        return sum(w.threads for w in self._workers.values() if w.ready and not w.given_up)

    # What goes out.

    def _deal(self) -> None:
        """Give each idle worker something to do."""
        idle = [
            worker
            for worker in self._workers.values()
            if worker.ready and worker.busy_with is None and not worker.given_up
        ]
        if not idle or not self._rows_are_there():
            return
        for worker in sorted(idle, key=lambda one: -one.threads):
            if self._pool is not None and len(self._pool):
                part = self._pool.deal(
                    worker.threads, max(1, self._ready_threads()), worker.address
                )
                self._assign(worker, part)
            elif not self._tasks:
                self._assign(worker, None)  # the search, or the level after the last one
            else:
                self._ask_back(len(idle))
                return

    def _rows_are_there(self) -> bool:
        if self._rows is not None and self._rows.status == "finished":
            return True
        ready = [w for w in self._workers.values() if w.ready and not w.given_up]
        if self._scattering_since is None:
            enough = self.seconds > FIRST or len(ready) == len(self._workers)
            if enough and self._now >= self._scatter_again:
                self._rows, self._scattering_since = None, self._now
                self._cluster.scatter(self._given_rows, [worker.address for worker in ready])
        elif self._now - self._scattering_since > self._wishes.patience:
            self._scattering_since = None  # somebody hangs: once more to those who answer
            for worker in ready:
                self._invite(worker)
        return False

    def _assign(self, worker: Worker, part: Frontier | None) -> None:
        number = self._number(worker)
        task = self._tasks[number] = Task(number, worker.address, part, self._now)
        self.kernels.add(worker.kernel)
        pool, best = self._pool, self.best
        begins = part is None
        if begins:
            done = None if pool is None else tuple(pool.frontier)
            start = {"frontier": done, "open_only": True, "seconds": math.inf}
        else:
            start = {"frontier": tuple(part), "part": True}
            start["seconds"] = slice_seconds(self._now - self._opened_at, len(self._workers))
        # One at a time goes on looking for better trees, beside the best one.
        task.searches_near = begins or not any(t.searches_near for t in self._tasks.values())
        if task.searches_near:
            start["first"] = self._wishes.first if best.tree is None else as_arrays(best.tree)
        self._cluster.submit(
            number,
            worker.address,
            _worker.work,
            self._fit,
            number,
            self._rows,
            n_jobs=worker.threads,
            cutoff=None if best.tree is None else best.objective,
            parts=2 * self._ready_threads() if begins else 0,
            lower_bound=best.lower_bound,
            time_limit=max(0.0, self._wishes.time_limit - self.seconds),
            **start,
        )

    def _ask_back(self, count: int) -> None:
        """Ask as many tasks as there are idle workers for what they have not begun."""
        shortest = shortest_slice(len(self._workers))
        able = [t for t in self._tasks.values() if self._now - t.began >= shortest and not t.asked]
        able.sort(key=lambda task: -1 if task.part is None else -len(task.part.intervals))
        for task in able[:count]:
            task.asked = True
            self._cluster.tell(task.worker, hand_back=task.number)

    def _show(self) -> None:
        """Tell the callback, and write what a later call can go on from."""
        self._keep(None)
        if self._observe is None or self.best.tree is None:
            return
        state = (self.best.objective, self.best.lower_bound)
        if state == self._shown and self._now < self._next_show:
            return
        self._shown, self._next_show = state, self._now + SHOW
        if self._observe(self.best.seconds_before + self.seconds, *state, self.closed):
            self.status = "stopped"

    def _keep(self, status: str | None) -> None:
        if self._save is not None:
            open_part = None if self._pool is None else self._open_part()
            self._save(status, self.best, open_part, self.best.seconds_before + self.seconds)

    def _open_part(self) -> Frontier:
        """Return all that is open, as one frontier."""
        whole = Pool(self._pool.frontier)
        for task in self._tasks.values():
            if task.part is not None:
                whole.put(task.part)
        return whole.frontier

    @property
    def closed(self) -> float:
        """The share of the root that holds no better tree, by the length of what is open."""
        if self._pool is None or self._pool.depth != self._wishes.depth:
            return 0.0
        length = self._open_part().length
        self._whole = max(self._whole, length)
        return 1 - length / self._whole if self._whole else 1.0


def _is_loss(error: BaseException) -> bool:
    """Was a task lost with its worker, rather than failed by itself?"""
    return isinstance(error, LOST) or "Cancelled" in type(error).__name__


def as_arrays(tree: dict) -> dict:
    """Return a tree as the core takes it, also if it came as plain lists."""
    floats = ("threshold", "gap_below", "gap_above")
    kinds = {"missing_go_to_left": np.uint8} | dict.fromkeys(floats, np.float64)
    return {
        name: np.ascontiguousarray(values, dtype=kinds.get(name, np.int64))
        for name, values in tree.items()
    }
