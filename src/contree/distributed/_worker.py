"""What runs on a worker: one searcher for each fit, kept between tasks, and the exchange of news.

Upwards a worker tells the caller which task it is at, its bound, and each better tree as soon as it
has it.  Downwards it hears the score of the best tree anywhere, that others wait for work, that a
task is not wanted any more, or that the fit is over.  Both are Dask's events: the scheduler passes
them on and waits for nobody.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version

import dask
import numpy as np
from dask.utils import parse_timedelta
from distributed import Client, get_client, get_worker
from distributed import Worker as DaskWorker

from contree import _core

PAUSE = 0.1  # the least time between two messages
FORSAKEN = 60.0  # seconds without a word from the caller after which a task ends
DESERTED = 12.0  # ... and after which a desk is left where there is no task
RARELY = 0.5  # seconds between two looks of Dask at a worker's clock while it searches
TO_ALL = "contree"  # the topic that all workers listen to; each has one of its own besides


def topic_of(address: str) -> str:
    """Return the topic of what one worker alone shall hear."""
    return f"{TO_ALL}-{address}"


@dataclass(frozen=True)
class Rows:
    """What a searcher is made of; scattered once."""

    values: np.ndarray
    labels: np.ndarray
    n_classes: int
    options: dict  # of the core, with the weights

    def searcher(self, n_jobs: int) -> _core.Searcher:
        options = self.options | {"n_jobs": n_jobs}
        return _core.Searcher(self.values, self.labels, self.n_classes, **options)


@dataclass
class Desk:
    """What a worker keeps for one fit."""

    fit: str
    home: str  # the topic that the caller listens to
    beat: float  # seconds between two signs of life
    worker: DaskWorker
    client: Client  # the worker's own
    searcher: _core.Searcher | None = None
    task: int | None = None  # that is being worked on
    cutoff: int | None = None  # the best objective that is known of, here or elsewhere
    unwanted: int | None = None  # a task whose answer nobody waits for
    hands_back: bool = False  # do others wait for what the task has not begun?
    over: bool = False
    seat: threading.Lock = field(default_factory=threading.Lock)  # one task at a time
    heard: float = field(default_factory=time.monotonic)

    @property
    def address(self) -> str:
        return self.worker.address

    def hear(self, message: dict) -> None:
        """Take a message of the caller; called in the worker's event loop."""
        self.heard = time.monotonic()
        self.lower_cutoff(message.get("cutoff"))
        if message.get("over"):
            self.over = True
        if self.task is not None and message.get("drop") == self.task:
            self.unwanted = self.task
        if self.task is not None and message.get("hand_back") == self.task:
            self.hands_back = True
            if self.searcher is not None:
                self.searcher.hand_back()

    def lower_cutoff(self, objective: int | None) -> None:
        if objective is None or (self.cutoff is not None and self.cutoff <= objective):
            return
        self.cutoff = objective
        if self.searcher is not None:
            self.searcher.lower_cutoff(objective)

    @property
    def deserted(self) -> bool:
        """Does nobody want what is being done?"""
        forsaken = time.monotonic() - self.heard > FORSAKEN
        return self.over or forsaken or (self.task is not None and self.unwanted == self.task)


_desks: dict[tuple[str, str], Desk] = {}  # by fit and worker: a process may hold several workers


class News:
    """Tells the caller how a task goes, from a thread of its own."""

    def __init__(self, desk: Desk, task: int, seconds: float):
        self._desk, self._task = desk, task
        self._slice_end = time.monotonic() + seconds
        self._bound: int | None = None
        self._objective: int | None = None
        self._better = threading.Event()
        self._done = threading.Event()

    def look(self, seconds: float, objective: int, lower_bound: int, root_closed: float) -> bool:
        """Note how the search stands; the core calls it.  True: nobody wants the answer."""
        self._objective, self._bound = objective, lower_bound
        if self._desk.cutoff is None or objective < self._desk.cutoff:
            self._better.set()
        return self._desk.deserted

    @contextmanager
    def told(self) -> Iterator[None]:
        teller = threading.Thread(target=self._tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            self._done.set()
            self._better.set()
            teller.join()

    def _tell(self) -> None:
        while not self._done.is_set():
            self._better.clear()
            self._desk.worker.log_event(self._desk.home, self._message())
            left = self._slice_end - time.monotonic()
            beat = self._desk.beat
            self._better.wait(min(beat, left) if left > 0 else beat)
            self._done.wait(PAUSE)
            self._remind()

    def _message(self) -> dict:
        desk = self._desk
        message = {"contree": desk.fit, "worker": desk.address, "task": self._task}
        message |= {"bound": self._bound, "cutoff": desk.cutoff}
        best = self._objective
        if best is not None and (desk.cutoff is None or best < desk.cutoff):
            now = desk.searcher.snapshot()
            if now is not None:
                desk.lower_cutoff(now["objective"])
                message |= {"objective": now["objective"], "tree": _plain(now["tree"])}
        return message

    def _remind(self) -> None:
        """Tell the searcher again: what it was told before it ran it has not heard."""
        searcher = self._desk.searcher
        if searcher is None:
            return
        if self._desk.cutoff is not None:
            searcher.lower_cutoff(self._desk.cutoff)
        if self._desk.hands_back or time.monotonic() >= self._slice_end:
            searcher.hand_back()


def _plain(tree: dict) -> dict:
    """Return a tree without NumPy, as events want it."""
    return {name: array.tolist() for name, array in tree.items()}


def _listener(address: str | None):
    def hear(event) -> None:
        _, message = event
        for (fit, place), desk in list(_desks.items()):
            if fit == message["contree"] and address in (None, place):
                desk.hear(message)
                if desk.over:
                    _leave(desk)

    return hear


def take_a_desk(fit: str, home: str, beat: float) -> dict:
    """Get ready for a fit: the first task that a worker gets."""
    worker, client = get_worker(), get_client()
    desk = _desks.get((fit, worker.address))
    if desk is None:
        desk = _desks[fit, worker.address] = Desk(fit, home, beat, worker, client)
        worker.loop.add_callback(_watch, desk)
    desk.unwanted, desk.heard = desk.task, time.monotonic()  # whoever asks again wants no answer
    client.subscribe_topic(TO_ALL, _listener(None))
    client.subscribe_topic(topic_of(worker.address), _listener(worker.address))
    _attend(worker, closely=False)
    return {"kernel": _core.kernel(), "version": version("contree")}


def _watch(desk: Desk) -> None:
    """Leave a desk that nobody speaks to: of a caller that was killed, or done before it was taken.

    Runs in the worker's event loop, now and then as long as there is the desk.
    """
    if _desks.get((desk.fit, desk.address)) is not desk:
        return
    if desk.task is None and time.monotonic() - desk.heard > DESERTED:
        _leave(desk)
    else:
        desk.worker.loop.call_later(DESERTED / 4, _watch, desk)


def _leave(desk: Desk) -> None:
    """Drop what was kept for a fit, and stop listening where nothing else is going on."""
    _desks.pop((desk.fit, desk.address), None)
    if not any(place == desk.address for _, place in _desks):
        desk.client.unsubscribe_topic(topic_of(desk.address))
        _attend(desk.worker, closely=True)
    if not _desks:
        desk.client.unsubscribe_topic(TO_ALL)


def _attend(worker: DaskWorker, closely: bool) -> None:
    """Let Dask look at a worker as often as it is set to, or rarely, while there is a search.

    It looks at the Python stacks a hundred times a second, of which it would see one line, and at
    the clock fifty times: together three percent of a core, which the search would lack where each
    worker has but one.
    """
    often = parse_timedelta(dask.config.get("distributed.admin.tick.interval"), default="ms")
    profiler, clock = (worker.periodic_callbacks.get(name) for name in ("profile", "tick"))

    def attend() -> None:
        if profiler is not None:
            (profiler.start if closely else profiler.stop)()
        if clock is not None:
            clock.callback_time = 1000 * (often if closely else max(often, RARELY))

    worker.loop.add_callback(attend)


def work(fit, task, rows, *, n_jobs, cutoff, seconds, parts, **run) -> dict | None:
    """Search some intervals, or begin the search, and return what came of it.

    After so many seconds no further interval is begun.  `run` is handed to the searcher.  Where
    fewer intervals than `parts` are open in the end, they are cut.  None: this worker knows nothing
    of the fit, since it was started anew or the fit is over.
    """
    desk = _desks.get((fit, get_worker().address))
    if desk is None:
        return None
    with desk.seat:
        desk.task, desk.hands_back, desk.heard = task, False, time.monotonic()
        news = News(desk, task, seconds)
        try:
            with news.told():
                if desk.searcher is None:
                    desk.searcher = rows.searcher(n_jobs)
                desk.lower_cutoff(cutoff)
                answer = desk.searcher.run(
                    cutoff=desk.cutoff, resumable=True, poll=news.look, **run
                )
                if parts:
                    answer["frontier"] = desk.searcher.split(answer["frontier"], parts)
                return answer
        finally:
            desk.task = None
