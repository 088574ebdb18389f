"""The open intervals that no worker has, and the rules by which they are dealt to workers.

This file knows intervals and bounds, but neither Dask nor a clock.  So the simulation in
``benchmarks/distributed.py`` deals by the same rules as a cluster.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

LEFT_END, RIGHT_END, BOUND = 2, 6, 9  # columns of the core's intervals
CLOSED = np.iinfo(np.int64).max  # the bound of an interval without any tree

# A slice is the time after which a worker hands unstarted intervals back.
SHORTEST_SLICE_SECONDS, LONGEST_SLICE_SECONDS = 0.3, 20.0
SLICE_SECONDS_PER_TASK = 0.01  # one caller deals all tasks: with many, slices must be longer
SLICE_SHARE_OF_ELAPSED = 0.5


def shortest_slice(tasks: int) -> float:
    """Return the least seconds of a slice for a number of tasks in progress."""
    return max(SHORTEST_SLICE_SECONDS, SLICE_SECONDS_PER_TASK * tasks)


def first_parts(threads: int) -> int:
    """Return the least number of intervals into which the last level is cut at its start.

    There are fewer parts than threads, because each solved threshold leaves two more intervals.
    Each cut costs a solved threshold that its neighbours might have closed.  (Raisin at depth five,
    simulated: 8 workers take 2.4 s without cuts, 2.9 s with 16 parts.  64 workers take 1.7 s
    without cuts, 1.5 s with 16 or 32 parts, 1.6 s with 128.)
    """
    return threads // 4


def slice_seconds(since_opening: float, tasks: int) -> float:
    """Return the seconds of a slice: a share of the time since the last level was opened.

    So workers soon share a short search, and a long search has few tasks.
    """
    shortest = shortest_slice(tasks)
    longest = max(LONGEST_SLICE_SECONDS, shortest)
    return min(longest, max(shortest, SLICE_SHARE_OF_ELAPSED * since_opening))


class Frontier(NamedTuple):
    """The open part of a search, as the core returns and accepts it.

    Any subset of the intervals is a search of its own; all subsets together are the whole search.
    """

    depth: int  # of the level; without intervals the level is done
    floor: int  # no tree with any other threshold at its root has a smaller objective
    intervals: np.ndarray  # int64, one row each

    @property
    def bound(self) -> int:
        """No tree of this level has a smaller objective."""
        return min(self.floor, int(self.intervals[:, BOUND].min(initial=CLOSED)))

    @property
    def length(self) -> int:
        """The sum of the lengths of all intervals."""
        return int((self.intervals[:, RIGHT_END] - self.intervals[:, LEFT_END]).sum())


class Pool:
    """Open intervals of one level, ordered by bound, then from long to short."""

    def __init__(self, frontier: Frontier) -> None:
        self.depth = frontier.depth
        self.floor = frontier.floor  # the least bound of all closed intervals
        self._intervals = frontier.intervals[:0]
        self._owners = np.empty(0, dtype=object)  # the worker that had an interval last
        self.put(frontier)

    def __len__(self) -> int:
        return len(self._intervals)

    @property
    def frontier(self) -> Frontier:
        return Frontier(self.depth, self.floor, self._intervals)

    def put(self, frontier: Frontier, owner: str | None = None) -> None:
        """Add intervals; `owner` is the worker that hands them back."""
        self.floor = min(self.floor, frontier.floor)
        both = np.concatenate([self._intervals, frontier.intervals])
        owners = np.empty(len(both), dtype=object)
        owners[: len(self)], owners[len(self) :] = self._owners, owner
        length = both[:, RIGHT_END] - both[:, LEFT_END]
        order = np.lexsort((-length, both[:, BOUND]))
        self._intervals, self._owners = both[order], owners[order]

    def close(self, limit: int) -> None:
        """Close the intervals whose bound is `limit` or more."""
        end = int(np.searchsorted(self._intervals[:, BOUND], limit))
        if end < len(self):
            self.floor = min(self.floor, int(self._intervals[end, BOUND]))
            self._intervals, self._owners = self._intervals[:end], self._owners[:end]

    def deal(self, threads: int, all_threads: int, owner: str | None = None) -> Frontier:
        """Remove and return the next intervals for a worker with some of all threads.

        Guided self-scheduling (Polychronopoulos and Kuck, 1987): the worker gets half of its fair
        share, so that the pool does not run dry while anybody works.  It gets at least one interval
        for each thread, and all of them if it is alone.  Intervals of least bound come first,
        because they hold down the bound of the whole search.  Among the first twice as many, the
        worker prefers those that it had before, because its cache knows their neighbourhood.
        """
        half = 1 if threads >= all_threads else 2
        size = max(threads, math.ceil(len(self) * threads / (half * all_threads)))
        size = min(size, len(self))
        preferred = np.argsort(self._owners[: 2 * size] != owner, kind="stable")
        dealt = np.sort(preferred[:size])
        stays = np.ones(len(self), dtype=bool)
        stays[dealt] = False
        bundle = self._intervals[dealt]
        self._intervals, self._owners = self._intervals[stays], self._owners[stays]
        return Frontier(self.depth, CLOSED, bundle)
