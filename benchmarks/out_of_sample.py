"""Accuracy on unseen rows, beside CART and STreeD: the paper's appendix.

Trees have depth three at most.

    python benchmarks/out_of_sample.py
    python benchmarks/out_of_sample.py --datasets bank raisin --solvers cart contree
    python benchmarks/out_of_sample.py --solvers cart contree --splits 25

Five stratified splits of the whole data sets, 80 % to fit and 20 % to test; with more, what the
five gave is looked at again on those that follow.  Every method chooses
the size of its tree on the same five inner splits of the rows to fit, again 80 % and 20 %:

    cart        scikit-learn's CART, the cost of complexity, of those on its pruning path
    quantiles   STreeD on 0/1 columns at ten quantiles of each feature, depth and size
    guessing    STreeD on 0/1 columns at guessed thresholds (thresholds.py), depth and size;
                and contree on the thresholds of all classes' trees
    contree     depth alone, as the paper did; depth and size (ConTreeClassifierCV); nothing

For STreeD, contree finds depth and size on the same columns, where the optimal trees of all sizes
take it seconds rather than minutes; STreeD fits the tree of that size, and its errors are compared.
"""

from __future__ import annotations

import gzip
import time
from functools import lru_cache

import numpy as np

from _accuracy import DEPTH, SPLITS, figures, markdown
from _experiment import Cell, Experiment, parse, parser, publish
from _harness import data_directory, dataset_names

EXPERIMENT = "out-of-sample"
TEST_SHARE, QUANTILES, SEED = 0.2, 10, 0
QUICK = ["bank", "raisin", "wilt"]


def main() -> None:
    made = parser(__doc__, time_limit=600.0)
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=dataset_names())
    made.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    made.add_argument("--splits", type=int, metavar="N", default=SPLITS)
    args = parse(made, datasets=QUICK, time_limit=60.0)
    experiment = Experiment(EXPERIMENT, args.output, SEED)
    if not args.report:
        rows = (  # an end before all is done leaves some of every data set
            [cell(name, split, solver, args.time_limit) for solver in args.solvers]
            for split in range(args.splits)
            for name in args.datasets
        )
        experiment.conduct(rows, args.repeat, args.again, args.renew)
    publish(experiment, markdown, figures)


def cell(name: str, split: int, solver: str, limit: float) -> Cell:
    about = {"dataset": name, "split": split, "solver": solver}
    task = {**about, "time_limit": limit}
    # In this process: times are not compared here, and a new one takes longer than a small cell.
    return Cell(f"{name}:{split}:{solver}", about, limit, lambda: test(task))


def test(task: dict) -> dict:
    """Tune and fit on the rows of a split that are to be fitted, and count hits on the others."""
    from sklearn.model_selection import StratifiedShuffleSplit
    from threadpoolctl import threadpool_limits

    X, y = whole(task["dataset"])
    # The first splits are the same, however many there are.
    outer = StratifiedShuffleSplit(task["split"] + 1, test_size=TEST_SHARE, random_state=SEED)
    *_, (fitted, unseen) = outer.split(X, y)
    inner = StratifiedShuffleSplit(
        SPLITS, test_size=TEST_SHARE, random_state=SEED + 1 + task["split"]
    )
    splits = list(inner.split(X[fitted], y[fitted]))
    start, user = time.perf_counter(), time.process_time()
    with threadpool_limits(1):
        found = SOLVERS[task["solver"]](
            X[fitted], y[fitted], X[unseen], y[unseen], splits, task["time_limit"]
        )
    return {
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - user,
        "rows": len(y),
        "features": X.shape[1],
        "classes": len(np.unique(y)),
        **found,
    }


@lru_cache(1)
def whole(name: str) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(data_directory() / "full" / f"{name}.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    return table[:, 1:], table[:, 0].astype(np.intc)


def cart(X, y, X_test, y_test, splits, limit) -> dict:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    plain = DecisionTreeClassifier(max_depth=DEPTH, random_state=SEED)
    path = np.unique(np.maximum(plain.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
    # Between two of the path the tree is the same; their geometric mean stands for all (Breiman).
    alphas = np.append(np.sqrt(path[:-1] * path[1:]), path[-1])
    search = GridSearchCV(plain, {"ccp_alpha": alphas}, cv=splits).fit(X, y)
    return {"methods": {"cart": seen(search.best_estimator_, X_test, y_test)}}


def quantiles(X, y, X_test, y_test, splits, limit) -> dict:
    import thresholds

    cuts = thresholds.quantiles(X, QUANTILES)
    return {"methods": {"quantiles": on_columns(cuts, X, y, X_test, y_test, splits, limit)}}


def guessing(X, y, X_test, y_test, splits, limit) -> dict:
    import thresholds

    ensemble = thresholds.boosted(X, y, SEED)
    cuts = thresholds.guesses(ensemble, first_class_only=True)
    cuts, finished = thresholds.without_needless(
        cuts, X, y, len(ensemble.estimators_), SEED, time.monotonic() + limit / 4
    )
    few = on_columns(cuts, X, y, X_test, y_test, splits, limit)
    cuts = thresholds.guesses(ensemble, first_class_only=False)
    search = tuned(thresholds.coarse(X, cuts), y, splits)
    every = seen(search.best_estimator_, thresholds.coarse(X_test, cuts), y_test)
    every["columns"] = sum(map(len, cuts))
    return {"methods": {"guessing": {**few, "all_removed": finished}, "guessing-all": every}}


def contree(X, y, X_test, y_test, splits, limit) -> dict:
    from contree import ConTreeClassifier, size_error_path

    search = tuned(X, y, splits)
    results = search.cv_results_
    candidates = [tuple(params.values()) for params in results["params"]]
    full = [number for number, (depth, leaves) in enumerate(candidates) if leaves == 2**depth]
    best = max(full, key=lambda number: results["mean_test_score"][number])  # the least of equals
    untuned = ConTreeClassifier(DEPTH).fit(X, y)
    depth = candidates[best][0]
    by_depth = untuned if depth == DEPTH else ConTreeClassifier(depth).fit(X, y)
    paths = {depth: size_error_path(X, y, depth) for depth in range(DEPTH + 1)}
    hits = [np.mean(paths[d].tree(k).predict(X_test) == y_test) for d, k in candidates]
    return {
        "methods": {
            "untuned": seen(untuned, X_test, y_test),
            "depth": seen(by_depth, X_test, y_test),
            "size": seen(search.best_estimator_, X_test, y_test),
        },
        # For other rules of choosing: each candidate on each inner split, and on the unseen rows.
        "candidates": candidates,
        "inner": [[round(x, 6) for x in results[f"split{k}_test_score"]] for k in range(SPLITS)],
        "outer": [round(float(x), 6) for x in hits],
    }


SOLVERS = {solver.__name__: solver for solver in (cart, quantiles, guessing, contree)}


def tuned(X, y, splits):
    """Return contree with depth and size chosen on the inner splits."""
    from contree import ConTreeClassifierCV

    return ConTreeClassifierCV(DEPTH, cv=splits).fit(X, y)


def on_columns(cuts, X, y, X_test, y_test, splits, limit) -> dict:
    """Return how STreeD does on 0/1 columns, with the depth and size that contree finds on them."""
    from pystreed import STreeDClassifier

    import thresholds

    steps, unseen = thresholds.coarse(X, cuts), thresholds.coarse(X_test, cuts)
    search = tuned(steps, y, splits)
    depth, leaves = search.best_params_.values()
    model = STreeDClassifier(max_depth=depth, max_num_nodes=leaves - 1, time_limit=limit)
    columns = thresholds.binary(steps, cuts)
    model.fit(columns, y)
    errors = int(np.count_nonzero(model.predict(columns) != y))
    return {
        **seen(model, thresholds.binary(unseen, cuts), y_test),
        "columns": columns.shape[1],
        "proved": bool(model.fit_result.is_optimal()),
        "errors": errors,
        "errors_of_contree": int(np.count_nonzero(search.predict(steps) != y)),
    }


def seen(model, X_test, y_test) -> dict:
    return {
        "accuracy": float(np.mean(model.predict(X_test) == y_test)),
        "leaves": int(model.get_n_leaves()),
        "depth": int(model.get_depth()),
    }


if __name__ == "__main__":
    main()
