"""The checkpoint file: its format, its checks, and how it is replaced.

A checkpoint holds the state of a search for one problem: the best tree, the proved bound and the
open intervals of the root.  (The core calls these intervals a `Frontier`.)  The file is text: one
line with the format and a checksum, then JSON.  contree never executes any of it.  contree
rejects a damaged file, or one of another problem, and leaves it unchanged.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from contree._draft import Draft, StrPath, remove_leftovers
from contree._problem import Problem
from contree._report import STATUSES
from contree._typing import Moment, Nodes, OpenPart

FORMAT = 1
SAVE_SECONDS = 5.0  # between two writes, at least
SAVE_DURATIONS = 20  # the same, in durations of the last write: a slow disk slows nothing else
RUNNING = "running"  # the status of a search that has not ended, or that was killed

ArrayType = type[np.int64 | np.uint64 | np.uint8 | np.float64]

TREE_ARRAYS: dict[str, ArrayType] = {
    "children_left": np.int64,
    "children_right": np.int64,
    "feature": np.int64,
    "threshold": np.float64,
    "missing_go_to_left": np.uint8,
}
SETS: dict[str, ArrayType] = {
    "category_offset": np.int64,
    "category_words": np.uint64,
}  # if features are categorical


@dataclass(frozen=True)
class State:
    """The state of a search, from which another call can continue.

    Attributes
    ----------
    status : str
        ``status_`` of the classifier, or "running".
    objective, lower_bound : int
        Of the best tree, and proved, in the core's integers.
    seconds : float
        Duration of all calls so far.
    history : list of (seconds, objective, lower_bound)
        Improvements of all calls so far.
    tree : dict of str to array
        The best tree's tests.  The file stores `TREE_ARRAYS` and `SETS` and ignores other arrays.
    frontier : (depth, floor, array of int64)
        The open part of the search, as the core returns and accepts it.
    """

    status: str
    objective: int
    lower_bound: int
    seconds: float
    history: list[Moment]
    tree: Nodes
    frontier: OpenPart


class Checkpoint:
    """A file for the state of one search.

    Parameters
    ----------
    path : str or path-like
        The file, which need not exist.
    problem : Problem
        The problem that the search solves.
    """

    def __init__(self, path: StrPath, problem: Problem) -> None:
        self.path = os.fspath(path)
        self.problem = problem
        self._last_save = time.monotonic()
        self._save_duration = 0.0
        self._warned = False

    def load(self) -> State | None:
        """Return the state in the file, or None if there is no file.

        Raise ValueError if the file is not a checkpoint, is damaged, or is of another problem.
        """
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(mode):
            raise ValueError(
                f"checkpoint: '{self.path}' is not a regular file. Name a file, or a path that "
                "does not exist yet."
            )
        problem, state = _read(self.path)
        differences = self.problem.differences(problem)
        if differences:
            raise ValueError(
                f"checkpoint: '{self.path}' belongs to another search: {'; '.join(differences)}. "
                "Name another file, or remove this one to start again."
            )
        return state

    def check_place(self) -> None:
        """Raise OSError now, not after hours of search, if the file cannot be written."""
        try:
            Draft(self.path).discard()
        except OSError as error:
            raise OSError(
                error.errno, f"checkpoint cannot be written: {error.strerror}", self.path
            ) from None
        remove_leftovers(self.path)

    def is_due(self) -> bool:
        """Return whether enough time has passed since the last write."""
        pause = max(SAVE_SECONDS, SAVE_DURATIONS * self._save_duration)
        return time.monotonic() - self._last_save >= pause

    def save(self, state: State) -> None:
        """Replace the file by a state; an OSError leaves the file as it was."""
        start = time.monotonic()
        try:
            with Draft(self.path) as draft:
                draft.commit(_encoded(self.problem, state))
        finally:
            self._last_save = time.monotonic()
            self._save_duration = self._last_save - start

    def save_or_warn(self, state: State) -> None:
        """Save; on an OSError keep the last saved state, and warn the first time."""
        try:
            self.save(state)
            self._warned = False
        except OSError as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"checkpoint: '{self.path}' cannot be written ({error.strerror}); the search "
                    "continues and tries again later.",
                    RuntimeWarning,
                    stacklevel=2,
                )


def damaged(path: str) -> ValueError:
    """Return the error for a file whose content makes no sense."""
    return ValueError(
        f"checkpoint: '{path}' is damaged and was left unchanged. Name another file, or remove "
        "this one to start again."
    )


def _encoded(problem: Problem, state: State) -> bytes:
    depth, floor, intervals = state.frontier
    threshold = [value.hex() for value in state.tree["threshold"].tolist()]  # exact, infinity too
    tree = {name: state.tree[name].tolist() for name in _arrays_of(state.tree)}
    body = {
        "problem": {
            "data": problem.data,
            "parameters": problem.parameters,
            "counted": problem.counted,
        },
        "state": {
            "status": state.status,
            "objective": state.objective,
            "lower_bound": state.lower_bound,
            "seconds": state.seconds,
            "history": state.history,
            "tree": tree | {"threshold": threshold},
            "frontier": [depth, floor, intervals.tolist()],
        },
    }
    text = json.dumps(body, separators=(",", ":")).encode()
    return f"contree checkpoint {FORMAT} {checksum(FORMAT, text)}\n".encode() + text


def _arrays_of(tree: Mapping[str, object]) -> dict[str, ArrayType]:
    """Return the types of the arrays that the file has of a tree."""
    return TREE_ARRAYS | {name: kind for name, kind in SETS.items() if name in tree}


def checksum(version: int, text: bytes) -> str:
    """Return the checksum of the format's version and the JSON text."""
    return hashlib.sha256(b"%d\n" % version + text).hexdigest()


def _read(path: str) -> tuple[Problem, State]:
    with open(path, "rb") as file:
        words = file.readline(200).split()
        if words[:2] != [b"contree", b"checkpoint"] or len(words) != 4 or not words[2].isdigit():
            raise ValueError(
                f"checkpoint: '{path}' is not a checkpoint of contree and was left unchanged. "
                "Name another file."
            )
        if int(words[2]) != FORMAT:
            raise ValueError(
                f"checkpoint: '{path}' has format {int(words[2])}; this version of contree reads "
                f"and writes format {FORMAT}. Name another file, or use the version that wrote it."
            )
        text = file.read()
    if checksum(FORMAT, text).encode() != words[3]:
        raise damaged(path)
    try:
        body = json.loads(text)
        problem = Problem(**body["problem"])
        if not all(isinstance(part, dict) for part in vars(problem).values()):
            raise damaged(path)
        return problem, _decoded(path, body["state"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise damaged(path) from error


def _is_moment(numbers: Any) -> bool:
    """Return whether these are seconds, an objective and a bound; True is no number."""
    return tuple(map(type, numbers)) == (float, int, int) and 0 <= numbers[0] < math.inf


def _decoded(path: str, state: dict[str, Any]) -> State:
    moments = [(state["seconds"], state["objective"], state["lower_bound"]), *state["history"]]
    if state["status"] not in (*STATUSES, RUNNING) or not all(map(_is_moment, moments)):
        raise damaged(path)
    depth, floor, intervals = state["frontier"]
    width = len(intervals[0]) if intervals else 10  # of no interval, any will do
    threshold = [float.fromhex(value) for value in state["tree"]["threshold"]]
    tree = state["tree"] | {"threshold": threshold}
    return replace(
        State(**state),
        history=[tuple(moment) for moment in state["history"]],
        tree={name: np.array(tree[name], dtype=kind) for name, kind in _arrays_of(tree).items()},
        frontier=(depth, floor, np.array(intervals, dtype=np.int64).reshape(-1, width)),
    )
