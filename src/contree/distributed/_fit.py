"""`fit` on a cluster: the fit of the estimator, with a search on many workers."""

from __future__ import annotations

import uuid
from numbers import Real
from typing import Any, TypeVar

from distributed import Client, get_client

from contree import _core
from contree._draft import StrPath
from contree._estimator import TreeEstimator
from contree._fit import fit_with
from contree._fit_request import FitRequest
from contree._progress import Callback
from contree._typing import Answer
from contree.distributed._cluster import Cluster
from contree.distributed._cluster_checkpoint import load_search
from contree.distributed._coordinator import Coordinator
from contree.distributed._incumbent import as_arrays

Estimator = TypeVar("Estimator", bound=TreeEstimator)

DEFAULT_PATIENCE = 10.0


def fit(
    clf: Estimator,
    X: Any,
    y: Any,
    *,
    client: Client | None = None,
    sample_weight: Any = None,
    checkpoint: StrPath | None = None,
    callback: Callback | None = None,
    initial_tree: Any = None,
    patience: float = DEFAULT_PATIENCE,
) -> Estimator:
    """Find an optimal tree on a Dask cluster.

    All workers of the cluster search together for the result of ``clf.fit(X, y, ...)``.  Workers
    may join, leave, crash and hang during the fit.  The estimator's `n_jobs` is the number of
    threads of each worker; None means as many as Dask gives it.  `memory_limit` is for each worker.

    Parameters
    ----------
    clf : ConTreeClassifier or ConTreeRegressor
        The estimator to fit, with ``search="best_first"``.
    X, y
        As in :meth:`contree.ConTreeClassifier.fit`.
    client : dask.distributed.Client, default=None
        The cluster.  None means the client that was started last.  The workers need the same
        version of contree.
    sample_weight, checkpoint, callback, initial_tree
        As in :meth:`contree.ConTreeClassifier.fit`.  A cluster can continue a checkpoint of one
        machine, and one machine can continue a checkpoint of a cluster.
    patience : float, default=10
        Seconds after which a silent worker loses its task to others.  It gets tasks again as soon
        as it reports.

    Returns
    -------
    clf : ConTreeClassifier or ConTreeRegressor
        The fitted estimator.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from contree import ConTreeClassifier, distributed
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(processes=False, n_workers=2, dashboard_address=":0") as client:
    ...     clf = distributed.fit(ConTreeClassifier(max_depth=2), X, y, client=client)
    >>> clf.status_, clf.errors_
    ('optimal', 6)
    """
    client = _check(clf, client, patience)
    clf._validate_params()

    def search(request: FitRequest) -> Answer:
        incumbent, open_part = load_search(request)
        cluster = Cluster(client, uuid.uuid4().hex[:12])
        coordinator = Coordinator(
            cluster, request, incumbent, open_part, clf.n_jobs, float(patience)
        )
        coordinator.run()
        if not coordinator.is_opened:  # no result is worse than CART's tree
            searcher = request.search_input.searcher(n_jobs=1)
            answer = searcher.run(first=request.initial_tree, time_limit=0.0)
            incumbent.offer_tree(answer["objective"], answer["tree"], coordinator.seconds)
        answer = _answer(coordinator, request)
        ended = answer["status"] in ("optimal", "gap_reached", "time_limit")
        if request.observe is not None and ended:  # show the final state
            closed = coordinator.root_closed if answer["status"] == "time_limit" else 1.0
            request.observe(answer["seconds"], incumbent.objective, incumbent.lower_bound, closed)
        return answer

    fit_with(search, clf, X, y, sample_weight, callback, initial_tree, checkpoint)
    return clf


def _check(clf: object, client: object, patience: object) -> Client:
    if not isinstance(clf, TreeEstimator):
        raise TypeError(
            f"clf must be a ConTreeClassifier or a ConTreeRegressor; got {type(clf).__name__}."
        )
    if clf.search != "best_first":
        raise ValueError(
            f"clf has search={clf.search!r}, which a cluster cannot run. Use search='best_first'."
        )
    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ValueError(
                "client is None, and no Dask client has been started. Start one first: "
                "client = dask.distributed.Client()."
            ) from error
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a dask.distributed.Client; got {type(client).__name__}: {client!r}."
        )
    if client.status != "running":
        raise ValueError(
            f"client has status {client.status!r}, so it has no cluster. Start another one with "
            "dask.distributed.Client."
        )
    if client.asynchronous:
        raise ValueError(
            "client must not be asynchronous, because fit blocks until the search has ended. "
            "Use Client(..., asynchronous=False)."
        )
    if not isinstance(patience, Real) or isinstance(patience, bool) or not float(patience) > 0:
        raise ValueError(f"patience must be a positive number of seconds; got {patience!r}.")
    return client


def _answer(coordinator: Coordinator, request: FitRequest) -> Answer:
    """Return the dictionary that the core's own search returns; recount the tree on the rows."""
    incumbent, options = coordinator.incumbent, request.search_input.options
    assert incumbent.tree is not None
    assert coordinator.status is not None
    tree = as_arrays(incumbent.tree)
    loss = request.target.recount(tree, request.search_input)
    leaves = (len(tree["feature"]) + 1) // 2
    objective = options["error_cost"] * loss + options["leaf_cost"] * leaves
    if objective != incumbent.objective:
        raise RuntimeError("contree: the objective of the tree is not the one that a worker found.")
    return {
        "tree": tree,
        "status": coordinator.status,
        "loss": loss,
        "objective": incumbent.objective,
        "lower_bound": incumbent.lower_bound,
        "seconds": incumbent.seconds_before + coordinator.seconds,
        "counters": dict(coordinator.counters),
        "history": incumbent.history,
        "kernel": "/".join(sorted(coordinator.kernels)) or _core.kernel(),
        "n_jobs": coordinator.most_threads,
    }
