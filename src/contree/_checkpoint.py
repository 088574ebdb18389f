"""Searches that survive a reboot: what is left to search, as a file.

A checkpoint holds the best tree, what is proved, and the open intervals of the root (`Frontier` in
``core/include/contree/contree.hpp``), for one problem: these rows, labels, weights and parameters.
It is text: a line with the format and a checksum, then JSON.  Nothing in it is ever executed.  A
file that is not whole, or not of this problem, is refused and stays as it is.

`search_on` is a local search with a checkpoint; `Checkpoint` and `State` serve any other.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from contree._draft import Draft, remove_leftovers

FORMAT = 1
INTERVAL = 5.0  # seconds between two writings
SHARE = 20  # and so many times as long as the last one took: a slow disk slows nothing else
RUNNING = "running"  # the status of a search that has not ended, or was killed

# What a search is for.  Everything else changes when it ends, not where: see `docs/scaling.md`.
PARAMETERS = (
    "max_depth",
    "max_leaf_nodes",
    "ccp_alpha",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "class_weight",
    "max_gap",
    "feature_tolerance",
    "search",
)
TREE = {
    "children_left": np.int64,
    "children_right": np.int64,
    "feature": np.int64,
    "threshold": np.float64,
    "missing_go_to_left": np.uint8,
}


@dataclass(frozen=True)
class Problem:
    """What a search is for, as far as a checkpoint must be of the same.

    Attributes
    ----------
    data : dict of str to str
        Fingerprints of the rows, the labels and the weights.
    parameters : dict of str to object
        Those of the estimator that say which tree is best, as JSON can hold them.
    counted : dict of str to int
        How the core counts them: a bound of other units is no bound.
    """

    data: dict
    parameters: dict
    counted: dict

    @classmethod
    def of(cls, estimator, data: dict, options: dict) -> Problem:
        """Return a fit's problem: `data` by `fingerprints`, `options` as the core gets them."""
        of_road = ("n_jobs", "memory_limit", "seed")  # they change when a search ends, not where
        counted = {name: one for name, one in options.items() if isinstance(one, int)}
        counted = {name: one for name, one in counted.items() if name not in of_road}
        weights = options["weights"]
        counted["weight"] = 0 if weights is None else int(weights.sum())
        return cls(data, {name: _plain(getattr(estimator, name)) for name in PARAMETERS}, counted)

    def differences(self, there: Problem) -> list[str]:
        """Return what is not the same in a file, in words."""
        found = [f"{name} differs" for name in self.data if there.data.get(name) != self.data[name]]
        found += [
            f"{name} is {there.parameters.get(name)!r} there and {value!r} here"
            for name, value in self.parameters.items()
            if there.parameters.get(name) != value
        ]
        if not found and there.counted != self.counted:
            found = ["another version of contree counted in other units"]
        return found


@dataclass(frozen=True)
class State:
    """How far a search has come.

    Attributes
    ----------
    status : str
        As ``status_`` of the classifier, or "running".
    objective, lower_bound : int
        Of the best tree, and proved, as the core counts.
    seconds : float
        Of all calls so far.
    history : list of (seconds, objective, lower_bound)
        Of all calls so far.
    tree : dict of str to array
        The best tree's tests; more arrays than `TREE` names do not matter.
    frontier : (depth, floor, array of int64)
        What is open, as the core gives and takes it.
    """

    status: str
    objective: int
    lower_bound: int
    seconds: float
    history: list
    tree: dict
    frontier: tuple


class Checkpoint:
    """A file for the state of one search.

    Parameters
    ----------
    path : str or path-like
        Where it is, or will be.
    problem : Problem
        What the search is for.
    """

    def __init__(self, path, problem: Problem):
        self.path = os.fspath(path)
        self.problem = problem
        self._last = time.monotonic()
        self._took = 0.0
        self._failed = False

    def load(self) -> State | None:
        """Return the state in the file, None where there is no file.

        What is no checkpoint, is damaged or belongs to another problem is a ValueError.
        """
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(mode):
            raise ValueError(f"checkpoint: '{self.path}' is not a regular file.")
        problem, state = _read(self.path)
        found = self.problem.differences(problem)
        if found:
            raise ValueError(
                f"checkpoint: '{self.path}' belongs to another search: {'; '.join(found)}. "
                "Name another file, or remove this one to begin anew."
            )
        return state

    def check_place(self) -> None:
        """Find out now, and not after hours, whether the file can be written."""
        Draft(self.path).discard()
        remove_leftovers(self.path)

    def due(self) -> bool:
        """Is it time to write?"""
        return time.monotonic() - self._last >= max(INTERVAL, SHARE * self._took)

    def save(self, state: State) -> None:
        """Put a state into the file, whole; an OSError leaves the file as it was."""
        start = time.monotonic()
        try:
            with Draft(self.path) as draft:
                draft.commit(_written(self.problem, state))
        finally:
            self._last = time.monotonic()
            self._took = self._last - start

    def save_or_warn(self, state: State) -> None:
        """Save; where that fails, warn the first time, and leave the last state that was saved."""
        try:
            self.save(state)
            self._failed = False
        except OSError as error:
            if not self._failed:
                self._failed = True
                warnings.warn(
                    f"checkpoint: '{self.path}' cannot be written ({error.strerror}); the search "
                    "goes on without.",
                    RuntimeWarning,
                    stacklevel=2,
                )


def search_on(
    searcher,
    checkpoint: Checkpoint,
    *,
    first: dict | None,
    time_limit: float,
    poll: Callable | None,
    past: float,
    keep_on_interrupt: bool,
) -> dict:
    """Search from where a checkpoint ended, or from the beginning, and keep it up to date.

    Parameters
    ----------
    searcher : contree._core.Searcher
        Of the checkpoint's problem.
    checkpoint : Checkpoint
        Where the state is kept.
    first : dict of arrays, or None
        A tree to begin with.
    time_limit : float
        Seconds of this call.
    poll : function, or None
        What the core shall call.
    past : float
        Seconds of this call before the search.
    keep_on_interrupt : bool
        Does Ctrl-C return the best tree?  Else it is raised, once the state is written.

    Returns
    -------
    answer : dict
        The core's, with the seconds and the history of all calls.
    """
    before = checkpoint.load()
    checkpoint.check_place()
    start = {}
    if before is None:
        before = State(RUNNING, 0, 0, 0.0, [], {}, (0, 0, None))
    else:
        start = {"frontier": before.frontier, "lower_bound": before.lower_bound}
        first = better_tree(searcher, checkpoint.path, before, start, first)
    past += before.seconds
    road = list(before.history)

    def save_snapshot(seconds: float) -> None:
        now = searcher.snapshot()
        if now is None:
            return
        moment = (seconds, now["objective"], now["lower_bound"])
        # A warning that is made an error must not end the search.
        with suppress(RuntimeWarning):
            checkpoint.save_or_warn(
                State(RUNNING, *moment[1:], seconds, [*road, moment], now["tree"], now["frontier"])
            )

    def look(seconds, objective, lower_bound, root_closed) -> bool:
        seconds += past
        if not road or road[-1][1:] != (objective, lower_bound):
            road.append((seconds, objective, lower_bound))
        if checkpoint.due():
            save_snapshot(seconds)
        if poll is None:
            return False
        try:
            return poll(seconds, objective, lower_bound, root_closed)
        except KeyboardInterrupt:
            raise  # the core ends the search and returns what there is
        except BaseException:
            save_snapshot(seconds)
            raise

    answer = searcher.run(
        **start,
        first=first,
        time_limit=time_limit,
        resumable=True,
        poll=look,
        keep_on_interrupt=True,
    )
    answer["seconds"] += past
    answer["history"] = _joined(before.history, past, answer["history"])
    state = {name: answer[name] for name in ("status", "objective", "lower_bound", "seconds")}
    checkpoint.save_or_warn(
        State(**state, history=answer["history"], tree=answer["tree"], frontier=answer["frontier"])
    )
    if answer["interrupted"] and not keep_on_interrupt:
        raise KeyboardInterrupt
    return answer


def better_tree(searcher, path: str, before: State, start: dict, first):
    """Return the tree to go on with, counted on the rows: the file's, or a better one."""
    try:
        checked = searcher.run(**start, first=before.tree, time_limit=0, resumable=True)
    except (ValueError, TypeError) as error:
        raise _damaged(path) from error
    counted = checked["objective"]
    if counted > before.objective:
        raise _damaged(path)
    if first is not None:
        other = searcher.run(first=first, time_limit=0, resumable=True)
        if other["objective"] < counted:
            return other["tree"]
    return before.tree


def _joined(before: list, past: float, history: list) -> list:
    """Return one history of all calls, with the improvements alone."""
    joined = list(before)
    for seconds, *bounds in history:
        if not joined or tuple(bounds) != tuple(joined[-1][1:]):
            joined.append((seconds + past, *bounds))
    return joined


def check_checkpoint(estimator, checkpoint) -> None:
    """Refuse a checkpoint that is no path, or that the search cannot have."""
    if checkpoint is None:
        return
    if not isinstance(checkpoint, (str, os.PathLike)) or not os.fspath(checkpoint):
        raise TypeError(f"checkpoint must be None or the path of a file; got {checkpoint!r}.")
    if estimator.search != "best_first":
        raise ValueError(
            f"checkpoint goes with search='best_first'; got search={estimator.search!r}."
        )


def fingerprints(X, codes, classes, sample_weight) -> dict[str, str]:
    """Return hashes of the rows, the labels and the weights, as they were checked."""

    def hashed(array, besides: bytes = b"") -> str:
        mark = hashlib.sha256(besides)
        if array.size:
            mark.update(np.ascontiguousarray(array).data.cast("B"))
        return mark.hexdigest()

    labels = json.dumps([repr(label) for label in classes.tolist()]).encode()
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return {
        "X": hashed(X.T, str(X.shape).encode()),
        "y": hashed(codes, labels),
        "sample_weight": "none" if weights is None else hashed(weights),
    }


def _plain(value):
    """Return a parameter as JSON can hold it, equal where the parameters are."""
    if isinstance(value, dict):
        return sorted([repr(_plain(label)), float(weight)] for label, weight in value.items())
    return value.item() if isinstance(value, np.generic) else value


def _written(problem: Problem, state: State) -> bytes:
    depth, floor, intervals = state.frontier
    threshold = [one.hex() for one in state.tree["threshold"].tolist()]  # exact, infinity too
    tree = {name: state.tree[name].tolist() for name in TREE if name != "threshold"}
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
    return f"contree checkpoint {FORMAT} {_checksum(FORMAT, text)}\n".encode() + text


def _checksum(form: int, text: bytes) -> str:
    return hashlib.sha256(b"%d\n" % form + text).hexdigest()


def _damaged(path: str) -> ValueError:
    return ValueError(
        f"checkpoint: '{path}' is damaged, and was left as it is. Name another file, or remove "
        "this one to begin anew."
    )


def _read(path: str) -> tuple[Problem, State]:
    with open(path, "rb") as file:
        words = file.readline(200).split()
        if words[:2] != [b"contree", b"checkpoint"] or len(words) != 4 or not words[2].isdigit():
            raise ValueError(f"checkpoint: '{path}' is not a checkpoint of contree.")
        if int(words[2]) != FORMAT:
            raise ValueError(
                f"checkpoint: '{path}' has format {int(words[2])}; this version of contree reads "
                f"and writes format {FORMAT}."
            )
        text = file.read()
    if _checksum(FORMAT, text).encode() != words[3]:
        raise _damaged(path)
    try:
        body = json.loads(text)
        state = body["state"]
        kinds = {"status": str, "objective": int, "lower_bound": int, "seconds": float}
        if not all(isinstance(state[name], kind) for name, kind in kinds.items()):
            raise _damaged(path)
        depth, floor, intervals = state["frontier"]
        threshold = [float.fromhex(one) for one in state["tree"]["threshold"]]
        tree = state["tree"] | {"threshold": threshold}
        return Problem(**body["problem"]), replace(
            State(**state),
            history=[tuple(moment) for moment in state["history"]],
            tree={name: np.array(tree[name], dtype=kind) for name, kind in TREE.items()},
            frontier=(depth, floor, np.array(intervals, dtype=np.int64).reshape(-1, 10)),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise _damaged(path) from error
