"""The open part of a search that nobody works on, and how it is dealt out.

Knows intervals and bounds, nothing of Dask and nothing of clocks: the simulation in
``benchmarks/distributed.py`` deals by the same rules as a cluster.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

LEFT_END, RIGHT_END, BOUND = 2, 6, 9  # columns of the core's intervals
CLOSED = np.iinfo(np.int64).max  # the floor of what holds no tree at all

SHORTEST, LONGEST = 0.3, 20.0  # seconds of a slice
OF_ONE = 0.01  # seconds by which each task makes slices longer: one caller deals all of them
SHARE_OF_PAST = 0.5


def shortest_slice(tasks: int) -> float:
    """Return how long a worker keeps what it was dealt, at the least, if so many are at work.

    With many that is longer, so that the caller can follow.
    """
    return max(SHORTEST, OF_ONE * tasks)


def first_parts(threads: int) -> int:
    """Return into how many intervals, at the least, the last level is cut where it opens.

    Fewer than there are threads: each threshold that is solved leaves two more, and each cut means
    a threshold to solve that its neighbours might have closed.  (Raisin at depth five, simulated: 8
    workers take 2.4 s with its 7 features as they are, 2.9 s cut in 16; 64 workers 1.7 s, cut in 16
    or 32 1.5 s, in 128 1.6 s.)
    """
    return threads // 4


def slice_seconds(since_opening: float, tasks: int) -> float:
    """Return how long a worker keeps what it was dealt before it hands the rest back.

    A part of the time that the search has taken already: short searches are shared soon, and in
    long ones the tasks are few.
    """
    shortest = shortest_slice(tasks)
    return min(max(LONGEST, shortest), max(shortest, SHARE_OF_PAST * since_opening))


class Frontier(NamedTuple):
    """What a search has left open, as the core gives and takes it.

    Any part of the intervals is a search of its own, and parts together are the whole.
    """

    depth: int  # of the level; without intervals it is done
    floor: int  # no tree with any other threshold at its root has a smaller objective
    intervals: np.ndarray  # int64, one row each

    @property
    def bound(self) -> int:
        """No tree of this level has a smaller objective."""
        return min(self.floor, int(self.intervals[:, BOUND].min(initial=CLOSED)))

    @property
    def length(self) -> int:
        """The mass between the ends of all intervals."""
        return int((self.intervals[:, RIGHT_END] - self.intervals[:, LEFT_END]).sum())


class Pool:
    """Open intervals of one level, least bound first; of equal bounds the longest."""

    def __init__(self, frontier: Frontier):
        self.depth = frontier.depth
        self.floor = frontier.floor  # the least bound of what is closed
        self._intervals = frontier.intervals[:0]
        self._owners = np.empty(0, dtype=object)  # who had an interval last, and remembers it
        self.put(frontier)

    def __len__(self) -> int:
        return len(self._intervals)

    @property
    def frontier(self) -> Frontier:
        return Frontier(self.depth, self.floor, self._intervals)

    def put(self, frontier: Frontier, owner=None) -> None:
        """Take intervals in, or back from somebody."""
        self.floor = min(self.floor, frontier.floor)
        both = np.concatenate([self._intervals, frontier.intervals])
        owners = np.empty(len(both), dtype=object)
        owners[: len(self)], owners[len(self) :] = self._owners, owner
        length = both[:, RIGHT_END] - both[:, LEFT_END]
        order = np.lexsort((-length, both[:, BOUND]))
        self._intervals, self._owners = both[order], owners[order]

    def close(self, limit: int) -> None:
        """Close what holds nothing below `limit`."""
        first = int(np.searchsorted(self._intervals[:, BOUND], limit))
        if first < len(self):
            self.floor = min(self.floor, int(self._intervals[first, BOUND]))
            self._intervals, self._owners = self._intervals[:first], self._owners[:first]

    def deal(self, threads: int, all_threads: int, owner=None) -> Frontier:
        """Take out what a worker with so many of all threads shall do next.

        Guided self-scheduling (Polychronopoulos and Kuck, 1987): half of a fair share of what is
        left, so that the pool does not run dry while anybody works; at least one interval for each
        thread, and all for a worker that is alone.  Those of least bound, because they hold the
        bound of the whole down; of twice as many rather what the worker had before than what others
        had, because it remembers what lies next to it.
        """
        half = 1 if threads >= all_threads else 2
        size = max(threads, math.ceil(len(self) * threads / (half * all_threads)))
        size = min(size, len(self))
        near = np.argsort(self._owners[: 2 * size] != owner, kind="stable")
        dealt = np.sort(near[:size])
        kept = np.ones(len(self), dtype=bool)
        kept[dealt] = False
        bundle = self._intervals[dealt]
        self._intervals, self._owners = self._intervals[kept], self._owners[kept]
        return Frontier(self.depth, CLOSED, bundle)
