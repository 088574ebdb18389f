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
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from contree._checkpoint_file import RUNNING
from contree.distributed import _worker
from contree.distributed._best import NO_OBJECTIVE, Best, as_arrays
from contree.distributed._cluster import Cluster, Done, Message, Scattered, Workers
from contree.distributed._crew import NAP, TICK, Crew, Worker, is_loss
from contree.distributed._pool import Frontier, Pool, first_parts, shortest_slice, slice_seconds

SHOW = 0.2  # seconds between two calls of the callback
MOST_FAILURES = 3  # errors of tasks that are tried again
GAUGES = ("cache_entries", "arena_bytes")  # counters that say how large something is


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
        save: Callable | None,  # takes a status, the best, a look at what is open, and the seconds
    ):
        self.best = best
        self.status: str | None = None
        self.counters: Counter = Counter()
        self.kernels: set[str] = set()
        self.most_threads = 0
        self._cluster, self._fit, self._wishes = cluster, fit, wishes
        self._observe, self._save = observe, save
        self._start = time.monotonic()
        self.seconds = 0.0
        self._crew = Crew(cluster, fit, rows, wishes.n_jobs, wishes.patience)
        self._tasks: dict[int, Task] = {}  # wanted ones
        self._pool = None if open_part is None else Pool(open_part)
        self._opened_at = 0.0
        self._next_show = 0.0
        self._shown: tuple | None = None
        self._whole = 0
        self._failures = 0

    @property
    def opened(self) -> bool:
        """Has the search got beyond its first trees?"""
        return self._pool is not None

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
            self.seconds = time.monotonic() - self._start
            self.best.end(self.seconds)
            self._keep(self.status or RUNNING)

    # What comes in.

    def _listen(self) -> None:
        """Wait a moment, then take all that has come."""
        waiting = self._observe is not None or self._crew.waiting
        left = self._start + self._wishes.time_limit - time.monotonic()
        due = max(0.0, min(TICK if waiting else NAP, left))
        news = []
        try:
            news.append(self._cluster.inbox.get(timeout=due))
            while True:
                news.append(self._cluster.inbox.get_nowait())
        except queue.Empty:
            pass
        self.seconds = time.monotonic() - self._start
        for one in news:
            match one:
                case Workers():
                    self._take_back(self._crew.greet(one.threads))
                case Message():
                    self._hear(one.content)
                case Scattered():
                    self._crew.scattered(one)
                case Done():
                    self._have_answer(one)

    def _hear(self, content: dict) -> None:
        worker = self._crew.hear(content["worker"])
        if "objective" in content:
            self._take_tree(content["objective"], content["tree"])
        if worker is None:
            return
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

    def _have_answer(self, done: Done) -> None:
        """Put what a task returns in the place of its part."""
        worker = self._crew.answered(done)
        if worker is None:
            return
        if done.error is not None or done.answer is None:
            self._take_back([done.task])
            if done.error is None:  # started anew under its old address
                self._crew.invite(worker)
            else:
                self._fail(done.error)
            return
        self._crew.count_success()
        answer = done.answer
        self._take_tree(answer["objective"], answer["tree"])
        task = self._tasks.pop(done.task, None)
        if task is None:
            return  # given up: its part is in other hands
        self._count(answer["counters"])
        rest = Frontier(*answer["frontier"])
        if task.part is None:
            self.best.raise_bound(answer["lower_bound"], self.seconds)
            self._pool, self._opened_at = Pool(rest), self.seconds
        else:
            self._pool.put(rest, worker.address)

    def _take_back(self, numbers: list[int]) -> None:
        """Open the parts of tasks again that nobody will answer for."""
        for task in [self._tasks.pop(number) for number in numbers if number in self._tasks]:
            self.counters["tasks_lost"] += 1
            if task.part is not None:
                self._pool.put(task.part)

    def _fail(self, error: BaseException) -> None:
        if is_loss(error):
            self._crew.count_loss()
            return
        self._failures += 1
        if self._failures > MOST_FAILURES:
            raise error

    def _count(self, counters: dict[str, int]) -> None:
        self.counters["tasks"] += 1
        for name, count in counters.items():
            if name in GAUGES:
                self.counters[name] = max(self.counters[name], count)
            else:
                self.counters[name] += count

    # What time brings.

    def _watch(self) -> None:
        """Look who is there, and take back the tasks of those who have said nothing for long."""
        self._crew.watch(self.seconds)
        self._take_back(self._crew.give_up_the_silent(self._tasks))

    def _settle(self) -> None:
        """Raise the bound, and see whether the search has ended."""
        self.most_threads = max(self.most_threads, self._crew.threads)
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

    # What goes out.

    def _deal(self) -> None:
        """Give each idle worker something to do."""
        idle = self._crew.idle
        if not idle or not self._crew.have_rows():
            return
        for worker in idle:
            if self._pool is not None and len(self._pool):
                part = self._pool.deal(worker.threads, self._crew.threads, worker.address)
                self._assign(worker, part)
            elif not self._tasks:
                self._assign(worker, None)  # the search, or the level after the last one
            else:
                self._ask_back(len(idle))
                return

    def _assign(self, worker: Worker, part: Frontier | None) -> None:
        number = self._crew.engage(worker)
        task = self._tasks[number] = Task(number, worker.address, part, self.seconds)
        self.kernels.add(worker.kernel)
        pool, best = self._pool, self.best
        begins = part is None
        if begins:
            done = None if pool is None else tuple(pool.frontier)
            start = {"frontier": done, "open_only": True, "seconds": math.inf}
        else:
            start = {"frontier": tuple(part), "part": True}
            since_opening = self.seconds - self._opened_at
            start["seconds"] = slice_seconds(since_opening, len(self._tasks))
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
            self._crew.rows,
            n_jobs=worker.threads,
            cutoff=None if best.tree is None else best.objective,
            parts=first_parts(self._crew.threads) if begins else 0,
            lower_bound=best.lower_bound,
            time_limit=max(0.0, self._wishes.time_limit - self.seconds),
            **start,
        )

    def _ask_back(self, count: int) -> None:
        """Ask as many tasks as there are idle workers for what they have not begun."""
        began_by = self.seconds - shortest_slice(len(self._tasks))
        able = [t for t in self._tasks.values() if t.began <= began_by and not t.asked]
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
        if state == self._shown and self.seconds < self._next_show:
            return
        self._shown, self._next_show = state, self.seconds + SHOW
        if self._observe(self.best.seconds_before + self.seconds, *state, self.closed):
            self.status = "stopped"

    def _keep(self, status: str | None) -> None:
        if self._save is not None:
            seconds = self.best.seconds_before + self.seconds
            self._save(status, self.best, self._open_part, seconds)

    def _open_part(self) -> Frontier | None:
        """Return all that is open, as one frontier; None before there is one."""
        if self._pool is None:
            return None
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
