"""What a search would take on more workers than there are: its recorded parts, dealt out on paper.

`record` runs a search threshold by threshold of the root, and notes what each took and which
intervals it left: that is the work, and what must be done before what.  `simulate` has any number
of workers do that work.  They get it from the very pool that deals on a cluster, for slices of the
same length; every message takes `delay` seconds, and the caller handles one task at a time, for
`handling` seconds each.

The work is what was recorded, in whatever order it is done.  That is fair where the best tree is
found before or early in the last level, as it nearly always is: what is proved with a given score
to beat does not depend on the order.  What is left out: workers that forget what neighbours have
learnt at the end of a slice do a little more than the recorded work, and a recording forgets after
each threshold, which is a little too much.
"""

from __future__ import annotations

import heapq
import itertools
import time
from dataclasses import dataclass, field

import numpy as np

from contree import ConTreeClassifier, _core
from contree._fit import fit_with
from contree.distributed._pool import (
    BOUND,
    CLOSED,
    LEFT_END,
    RIGHT_END,
    Frontier,
    Pool,
    first_parts,
    shortest_slice,
    slice_seconds,
)
from contree.distributed._worker_registry import POLL_SECONDS


def predict(task: dict) -> dict:
    """Record a search as each number of workers would begin it, and have them do it."""
    began = time.perf_counter()
    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    recorded, by_workers = None, {}
    for workers in sorted(task["workers"]):
        if recorded is None or first_parts(workers) > len(recorded["roots"]):
            recorded = record(X, y, task["depth"], first_parts(workers))
        by_workers[workers] = {
            "intervals": len(recorded["roots"]),
            "thresholds": sum(node["seconds"] > 0 for node in recorded["nodes"]),
            "opening": recorded["opening"],
            "work": work_of(recorded),
            "longest_chain": longest_chain(recorded),
            "took": {
                delay: simulate(recorded, workers, float(delay), task["handling"])
                for delay in task["delays"]
            },
        }
    wall = time.perf_counter() - began
    return {"wall": wall, "errors": recorded["objective"], "by_workers": by_workers}


def record(X, y, depth: int, parts: int) -> dict:
    """Return what a search consists of if it begins with so many intervals, in CPU seconds."""
    searcher = _searcher(X, y, depth)
    began = time.process_time()
    opened = searcher.run(open_only=True, resumable=True)
    frontier = searcher.split(opened["frontier"], parts)
    nodes: list[dict] = []
    rows: list[np.ndarray] = []
    queue: list[tuple[int, int]] = []

    def add(intervals: np.ndarray) -> list[int]:
        numbers = []
        for row in intervals:
            numbers.append(len(nodes))
            heapq.heappush(queue, (int(row[BOUND]), len(nodes)))
            length = int(row[RIGHT_END] - row[LEFT_END])
            nodes.append({"bound": int(row[BOUND]), "length": length, "seconds": 0.0})
            rows.append(row)
        return numbers

    best = opened["objective"]
    roots = add(frontier[2])
    opening = time.process_time() - began
    while queue:
        bound, number = heapq.heappop(queue)
        nodes[number]["children"] = []
        if bound >= best:
            continue
        began = time.process_time()
        part = (depth, CLOSED, rows[number][None, :])
        done = searcher.run(frontier=part, part=True, splits=1, cutoff=best, resumable=True)
        nodes[number]["seconds"] = time.process_time() - began
        best = min(best, done["objective"])
        rest = done["frontier"][2]
        nodes[number]["children"] = add(rest[rest[:, BOUND] < best])
        rows[number] = None
    return {"opening": opening, "roots": roots, "nodes": nodes, "objective": best}


def _searcher(X, y, depth: int) -> _core.Searcher:
    """Return the core's searcher that a fit with defaults would use."""
    made = []

    def search(request):
        made.append(request.search_input.searcher())
        return made[0].run(time_limit=0.0) | {"kernel": "", "n_jobs": 1}

    clf = ConTreeClassifier(depth)
    fit_with(search, clf, X, y)
    return made[0]


def work_of(recorded: dict) -> float:
    return recorded["opening"] + sum(node["seconds"] for node in recorded["nodes"])


def longest_chain(recorded: dict) -> float:
    """Return what must be done one after the other: no number of workers takes less."""
    nodes, chain = recorded["nodes"], {}
    for number in range(len(nodes) - 1, -1, -1):  # children come after their parents
        below = max((chain[child] for child in nodes[number]["children"]), default=0.0)
        chain[number] = nodes[number]["seconds"] + below
    return recorded["opening"] + max((chain[root] for root in recorded["roots"]), default=0.0)


@dataclass
class Bundle:
    """What a worker is at."""

    began: float
    until: float  # the end of its slice
    queue: list = field(default_factory=list)
    asked: bool = False


def simulate(recorded: dict, workers: int, delay: float, handling: float) -> float:
    """Return the seconds that a search would take, from its beginning to its proof."""
    nodes = recorded["nodes"]
    clock = itertools.count()
    events: list[tuple] = []  # (time, order, what, worker)

    def at(moment: float, what: str, worker: int | None = None) -> None:
        heapq.heappush(events, (moment, next(clock), what, worker))

    def frontier(numbers) -> Frontier:
        table = np.zeros((len(numbers), BOUND + 2), dtype=np.int64)
        table[:, -1] = numbers
        table[:, BOUND] = [nodes[number]["bound"] for number in numbers]
        table[:, RIGHT_END] = [nodes[number]["length"] for number in numbers]
        return Frontier(0, CLOSED, table)

    opened = free = recorded["opening"]
    pool = Pool(frontier(recorded["roots"]))
    idle = list(range(workers))
    bundles: dict[int, Bundle] = {}
    ended = opened

    def deal(now: float) -> None:
        nonlocal free
        while idle and len(pool):
            worker = idle.pop()
            part = pool.deal(1, workers)
            free = max(free, now) + handling
            start = free + delay
            slice_end = start + slice_seconds(now - opened, len(bundles) + 1)
            bundle = bundles[worker] = Bundle(now, slice_end)
            bundle.queue = [(int(row[BOUND]), int(row[-1])) for row in part.intervals]
            heapq.heapify(bundle.queue)
            at(start + nodes[bundle.queue[0][1]]["seconds"], "split", worker)
        if idle and bundles:
            shortest = shortest_slice(len(bundles))
            able = [w for w, b in bundles.items() if now - b.began >= shortest and not b.asked]
            able.sort(key=lambda one: -len(bundles[one].queue))
            for worker in able[: len(idle)]:
                bundles[worker].asked = True
                at(now + delay, "ask", worker)

    deal(opened)
    at(opened, "tick")
    while bundles or len(pool):
        now, _, what, worker = heapq.heappop(events)
        if what == "tick":
            deal(now)
            at(now + POLL_SECONDS, "tick")
        elif what == "ask":
            if worker in bundles:
                bundles[worker].until = min(bundles[worker].until, now)
        elif what == "split":
            bundle = bundles[worker]
            _, number = heapq.heappop(bundle.queue)
            for child in nodes[number]["children"]:
                heapq.heappush(bundle.queue, (nodes[child]["bound"], child))
            if bundle.queue and now < bundle.until:
                at(now + nodes[bundle.queue[0][1]]["seconds"], "split", worker)
            else:
                at(now + delay, "answer", worker)
        else:
            bundle = bundles.pop(worker)
            pool.put(frontier([number for _, number in bundle.queue]))
            idle.append(worker)
            ended = now
            deal(now)
    return ended
