"""`fit` on a cluster: the estimator's own fit, with another search inside."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from numbers import Real

import numpy as np
from distributed import Client, get_client

from contree import _core
from contree._check_parameters import resolve_time_limit
from contree._checkpoint import better_tree
from contree._checkpoint_file import RUNNING, Checkpoint, State
from contree._classifier import ConTreeClassifier
from contree._fit import core_options, fit_with
from contree._fitted_tree import FittedTree
from contree._problem import Problem
from contree.distributed._best import Best, as_arrays
from contree.distributed._cluster import Cluster
from contree.distributed._coordinator import Coordinator, Wishes
from contree.distributed._pool import BOUND, Frontier
from contree.distributed._worker import Rows

PATIENCE = 10.0


def fit(
    clf,
    X,
    y,
    *,
    client=None,
    sample_weight=None,
    checkpoint=None,
    callback=None,
    initial_tree=None,
    patience=PATIENCE,
):
    """Find an optimal tree on a Dask cluster.

    The same as ``clf.fit(X, y, ...)``, with the same result, but searched by all workers of a
    cluster together.  Workers may come, go, die and hang while it runs.  `n_jobs` counts the
    threads of each worker; None: as many as Dask gives it.  `memory_limit` is for each worker.

    Parameters
    ----------
    clf : ConTreeClassifier
        The estimator to fit, with ``search="best_first"``.
    X, y, sample_weight, callback, initial_tree, checkpoint
        As in :meth:`contree.ConTreeClassifier.fit`.  A checkpoint of a fit on one machine can be
        taken up here, and the other way round.
    client : dask.distributed.Client, default=None
        The cluster.  None: the client that was started last.  Its workers need contree, of the same
        version.
    patience : float, default=10
        Seconds after which a worker of which nothing is heard is given up, and what it was at is
        given to others.  If it is heard again, it gets work again.

    Returns
    -------
    clf : ConTreeClassifier
        The fitted estimator.
    """
    client = _check(clf, client, patience)
    clf._validate_params()

    def search(X, codes, n_classes: int, weights, cost, first, observe, began, kept) -> dict:
        options = core_options(clf, len(codes), weights, cost)
        wishes = Wishes(
            depth=min(options["max_depth"], options["max_leaves"] - 1),
            max_gap=options["max_gap"],
            time_limit=resolve_time_limit(clf.time_limit, began),
            n_jobs=clf.n_jobs,
            first=first,
            patience=float(patience),
            keep_on_interrupt=clf.on_interrupt == "return",
        )
        rows = Rows(X, codes, n_classes, options)
        best, open_part, save = Best(), None, None
        if kept is not None:
            path, data = kept
            file = Checkpoint(path, Problem.of(clf, data, options))
            best, open_part = _resume(file, rows, first)
            save = _saver(file)
        name = uuid.uuid4().hex[:12]
        coordinator = Coordinator(
            Cluster(client, name), name, rows, wishes, observe, best, open_part, save
        )
        coordinator.run()
        if not coordinator.opened:  # whatever ends a search, its tree is no worse than CART's
            answer = rows.searcher(n_jobs=1).run(first=first, time_limit=0.0)
            best.take(answer["objective"], answer["tree"], coordinator.seconds)
        answer = _answer(coordinator, rows)
        if observe is not None and answer["status"] in ("optimal", "gap_reached", "time_limit"):
            closed = coordinator.closed if answer["status"] == "time_limit" else 1.0
            observe(answer["seconds"], best.objective, best.lower_bound, closed)  # a last look
        return answer

    return fit_with(search, clf, X, y, sample_weight, callback, initial_tree, checkpoint)


def _check(clf, client, patience) -> Client:
    if not isinstance(clf, ConTreeClassifier):
        raise TypeError(f"clf must be a ConTreeClassifier; got {type(clf).__name__}.")
    if clf.search != "best_first":
        raise ValueError(
            f"search={clf.search!r} cannot be shared between workers; a fit on a cluster needs "
            "search='best_first'."
        )
    if client is None:
        client = get_client()
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a dask.distributed.Client; got {type(client).__name__}: {client!r}."
        )
    if client.asynchronous:
        raise ValueError("client must not be asynchronous: fit returns when the search has ended.")
    if not isinstance(patience, Real) or isinstance(patience, bool) or not patience > 0:
        raise ValueError(f"patience must be a positive number of seconds; got {patience!r}.")
    return client


def _resume(file: Checkpoint, rows: Rows, first: dict | None) -> tuple[Best, Frontier | None]:
    """Return what a checkpoint holds, with its tree recounted, or a better one that is given."""
    state = file.load()
    file.check_place()
    if state is None:
        return Best(), None
    searcher = rows.searcher(n_jobs=1)
    start = {"frontier": state.frontier, "lower_bound": state.lower_bound}
    tree = better_tree(searcher, file.path, state, start, first)
    counted = searcher.run(**start, first=tree, time_limit=0.0)
    best = Best(counted["objective"], counted["tree"], state.lower_bound, list(state.history))
    best.seconds_before = state.seconds
    depth, floor, intervals = state.frontier
    return best, Frontier(depth, floor, intervals) if depth else None


def _saver(file: Checkpoint):
    """Return what writes the state of a search: when it is time, or at its end."""

    def save(status: str | None, best: Best, look: Callable, seconds: float) -> None:
        if best.tree is None or (status is None and not file.is_due()):
            return
        open_part = look()
        frontier = (0, 0, np.empty((0, BOUND + 1), np.int64)) if open_part is None else open_part
        state = State(
            status or RUNNING,
            best.objective,
            best.lower_bound,
            seconds,
            best.history,
            as_arrays(best.tree),
            tuple(frontier),
        )
        with suppress(RuntimeWarning):  # a warning that is made an error must not end the search
            file.save_or_warn(state)

    return save


def _answer(coordinator: Coordinator, rows: Rows) -> dict:
    """Return what the core's own search would, with the best tree recounted on the rows."""
    best = coordinator.best
    tree = as_arrays(best.tree)
    errors = _recount(tree, rows)
    options = rows.options
    leaves = (len(tree["feature"]) + 1) // 2
    objective = options["error_cost"] * errors + options["leaf_cost"] * leaves
    if objective != best.objective:
        raise RuntimeError("contree: the tree's objective is not what the search found")
    return {
        "tree": tree,
        "status": coordinator.status,
        "errors": errors,
        "objective": best.objective,
        "lower_bound": best.lower_bound,
        "seconds": best.seconds_before + coordinator.seconds,
        "counters": dict(coordinator.counters),
        "history": best.history,
        "kernel": "/".join(sorted(coordinator.kernels)) or _core.kernel(),
        "n_jobs": coordinator.most_threads,
    }


def _recount(tree: dict, rows: Rows) -> int:
    """Send the rows down a tree; return what those weigh that it gets wrong.

    It is an error if the class counts of its leaves are not what arrives there.
    """
    nodes, weights = dict(tree), rows.options["weights"]
    gap = np.column_stack((nodes.pop("gap_below"), nodes.pop("gap_above")))
    leaves = FittedTree(threshold_gap=gap, **nodes).apply(rows.values)
    counts = np.zeros_like(tree["class_counts"])
    np.add.at(counts, (leaves, rows.labels), 1)
    mass = np.zeros_like(tree["class_weights"])
    np.add.at(mass, (leaves, rows.labels), 1 if weights is None else weights)
    leaf = tree["feature"] < 0
    found = np.stack((counts, mass))[:, leaf]
    if (found != np.stack((tree["class_counts"], tree["class_weights"]))[:, leaf]).any():
        raise RuntimeError("contree: rows do not go where the search has sent them")
    return int(mass.sum() - mass.max(axis=1).sum())
