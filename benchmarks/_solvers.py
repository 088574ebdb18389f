"""The solvers that are measured, each behind the same two steps: SOLVERS[name](task)(X, y).

The first step imports and prepares and is charged to nobody; for the exact solvers it fits a few
rows too, because what a library does once in a process is no part of a fit.  The second fits and
returns a model with `predict` and with `said`, what the solver claims of its result.  `proved` is
among it.
"""

from __future__ import annotations

import atexit
import importlib
import time
import warnings

import numpy as np


def contree(task: dict):
    """Options: node_cost, max_gap, search, search_options, history, counters."""
    from contree import ConTreeClassifier, _core

    def fit(X, y):
        clf = ConTreeClassifier(
            task["depth"],
            ccp_alpha=task.get("node_cost", 0.0),
            max_gap=task.get("max_gap", 0),
            time_limit=task["time_limit"],
            n_jobs=task["threads"],
            search=task.get("search", "best_first"),
            search_options=task.get("search_options"),
        ).fit(X, y)
        report = clf.search_report_
        clf.said = {
            "proved": clf.status_ in ("optimal", "gap_reached"),
            "status": clf.status_,
            "leaves": clf.get_n_leaves(),
            "lower_bound": clf.lower_bound_,
            "search_seconds": report.seconds,
            "kernel": _core.kernel(),
        }
        if task.get("history"):
            clf.said["history"] = report.history
        if task.get("counters"):
            clf.said["counters"] = dict(report.counters)
        return clf

    return _warm(fit)


def _warm(fit):
    X = np.arange(20.0)[:, np.newaxis]
    fit(X, (X[:, 0] > 12).astype(np.intc))
    return fit


def cluster(task: dict):
    """One worker of one thread for each of the threads; their time counts with the caller's."""
    from distributed import Client, LocalCluster

    from contree import ConTreeClassifier, distributed

    cluster = LocalCluster(
        n_workers=task["threads"], threads_per_worker=1, processes=True, dashboard_address=None
    )
    client = Client(cluster)
    atexit.register(cluster.close)  # which is no part of the fit
    atexit.register(client.close)
    client.wait_for_workers(task["threads"])
    client.run(importlib.import_module, "contree.distributed")  # imports are charged to nobody

    def fit(X, y):
        workers, own = client.run(time.process_time), time.process_time()
        clf = ConTreeClassifier(task["depth"], time_limit=task["time_limit"])
        distributed.fit(clf, X, y, client=client)
        own = time.process_time() - own
        after = client.run(time.process_time)
        counters = clf.search_report_.counters
        clf.said = {
            "cpu": own + sum(after.values()) - sum(workers.values()),
            "cpu_of_caller": own,
            "counters": dict(counters),
            "proved": clf.status_ == "optimal",
            "lower_bound": clf.lower_bound_,
            "search_seconds": clf.search_report_.seconds,
            "kernel": clf.search_report_.kernel,
        }
        return clf

    return fit


def pycontree(task: dict):
    """Options: node_cost, of branching nodes, one fewer than leaves; max_gap, a share."""
    from pycontree import ConTree

    def fit(X, y):
        model = ConTree(
            max_depth=task["depth"],
            complexity_cost=task.get("node_cost", 0.0),
            time_limit=task["time_limit"],
            verbose=False,
        )
        if task.get("max_gap"):
            _let_gap_through(model, int(task["max_gap"] * len(y)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        # Its only word on a search that its limit cut off; the limit counts wall time.
        cut_off = any("exceeds time limit" in str(warning.message) for warning in caught)
        model.said = {"proved": not cut_off, "leaves": model.get_num_leaf_nodes()}
        return model

    return _warm(fit)


def _let_gap_through(model, errors: int) -> None:
    """Hand a gap to pycontree's core, in errors.

    Its own parameter wants a share of at most 1, and its core (1.0.8) takes a whole number only.
    """
    configure = model._initialize_config

    def with_gap() -> None:
        configure()
        model._config.max_gap = errors

    model._initialize_config = with_gap


def pytrees(task: dict):
    """ConTree in Rust, by the authors of CA-ConTree.

    Options: lds, their anytime search; max_gap, a share; history, which implies lds.
    """
    from pytrees import ConTreeClassifier

    def fit(X, y):
        model = ConTreeClassifier(
            max_depth=task["depth"],
            max_time=task["time_limit"],
            max_gap=int(task.get("max_gap", 0) * len(y)),
            use_lds=bool(task.get("lds")),
        )
        if task.get("history"):
            history = []
            model.fit_anytime(X, y, lambda errors, seconds, _: history.append((seconds, errors)))
        else:
            model.fit(X, y)
        model.said = {"proved": model.status_ == "optimal", "status": model.status_}
        model.said["leaves"] = int(model.tree_.n_leaves)
        if task.get("history"):
            model.said["history"] = [(seconds, int(errors), 0) for seconds, errors in history]
        return model

    return _warm(fit)


def cart(task: dict):
    from sklearn.tree import DecisionTreeClassifier

    def fit(X, y):
        model = DecisionTreeClassifier(max_depth=task["depth"], random_state=0).fit(X, y)
        model.said = {"proved": False}
        return model

    return fit


def oct_mip(task: dict):
    import highspy  # noqa: F401
    import scipy.sparse  # noqa: F401

    from oct_mip import fit

    return lambda X, y: _complete(fit, X, y, task)


def sat_tree(task: dict):
    import pysat.card
    import pysat.solvers  # noqa: F401

    from sat_tree import fit

    return lambda X, y: _complete(fit, X, y, task)


def quant_bnb(task: dict):
    from quant_bnb import fit

    return lambda X, y: _complete(fit, X, y, task)


def streed(task: dict):
    """STreeD on a 0/1 column for each threshold: the same problem, in many more columns."""
    from pystreed import STreeDClassifier

    class Model:
        def fit(self, X, y):
            self.model = STreeDClassifier(max_depth=task["depth"], time_limit=task["time_limit"])
            self.highest = X.max(axis=0)
            self.model.fit(self._columns(X), y)
            self.said = {
                "proved": bool(self.model.fit_result.is_optimal()),
                "leaves": int(self.model.get_n_leaves()),
            }
            return self

        def predict(self, X):
            return self.model.predict(self._columns(X))

        def _columns(self, X):
            steps = [np.arange(highest) for highest in self.highest]
            return np.hstack([X[:, [f]] <= cuts for f, cuts in enumerate(steps)])

    return _warm(lambda X, y: Model().fit(X, y))


def _complete(fit, X, y, task: dict):
    tree, bound = fit(X, y, task["depth"], task["time_limit"])
    errors = tree.errors(X, y)
    tree.said = {"proved": bound == errors, "lower_bound": bound, "leaves": len(tree.label)}
    return tree


SOLVERS = {
    solver.__name__: solver
    for solver in (contree, cluster, pycontree, pytrees, cart, oct_mip, sat_tree, quant_bnb, streed)
}
