"""Columns cut at a few thresholds, for solvers that need 0/1 columns: quantiles, and guesses.

Thresholds are a sorted array for each feature.  A guess takes them from a boosted ensemble of
shallow trees (McTavish et al., "Fast sparse decision tree optimization via reference ensembles",
AAAI 2022, and their package gosdt): the thresholds that its trees split at, less the columns that
the ensemble can do without.
"""

from __future__ import annotations

import time

import numpy as np

LEARNING_RATE = 0.1  # of gosdt, as is the seed of the boosting there: any


def quantiles(X: np.ndarray, number: int) -> list[np.ndarray]:
    """Return `number` quantiles of each column, as pystreed cuts columns itself."""
    from pystreed.binarizer import KThresholdBinarizer

    found = KThresholdBinarizer("quantile", number).fit(X).thresholds_
    return [np.asarray(cuts, dtype=float) for cuts in found]


def boosted(X: np.ndarray, y: np.ndarray, seed: int):
    """Fit the paper's reference ensemble: ten trees of depth two for each feature (and class)."""
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(
        n_estimators=10 * X.shape[1], max_depth=2, learning_rate=LEARNING_RATE, random_state=seed
    ).fit(X, y)


def guesses(ensemble, first_class_only: bool) -> list[np.ndarray]:
    """Return the thresholds of the ensemble's trees.

    There is one sequence of trees for each class if there are more than two.  gosdt reads the first
    alone, and so did the paper by its numbers of columns; the others hold what the first lacks.
    """
    found: list[set[float]] = [set() for _ in range(ensemble.n_features_in_)]
    trees = ensemble.estimators_[:, 0] if first_class_only else ensemble.estimators_.ravel()
    for tree in (model.tree_ for model in trees):
        inner = tree.feature >= 0
        for feature, cut in zip(tree.feature[inner], tree.threshold[inner], strict=True):
            found[feature].add(float(cut))
    return [np.array(sorted(cuts)) for cuts in found]


def without_needless(
    cuts: list[np.ndarray], X: np.ndarray, y: np.ndarray, n_estimators: int, seed: int, end: float
) -> tuple[list[np.ndarray], bool]:
    """Take out the least important column while an ensemble on the rest holds its training score.

    gosdt fits again for every column.  Here those that no tree uses go in one step, because without
    them the ensemble is the same, and the ensembles are of histograms, which are exact on 0/1
    columns and many times faster.  Returns the thresholds left, and whether there was time, until
    `end` on the monotonic clock, to find that no more can go.
    """
    columns = binary(coarse(X, cuts), cuts)
    kept = np.arange(columns.shape[1])
    ensemble = _on_columns(columns, y, n_estimators, seed)
    floor = ensemble.score(columns, y)
    while len(kept) > 1:
        importances = _importances(ensemble, len(kept))
        used = importances > 0
        fewer = kept[used] if 0 < used.sum() < len(kept) else np.delete(kept, importances.argmin())
        if time.monotonic() > end:
            break
        ensemble = _on_columns(columns[:, fewer], y, n_estimators, seed)
        if ensemble.score(columns[:, fewer], y) < floor:
            return _only(cuts, kept), True
        kept = fewer
    return _only(cuts, kept), len(kept) == 1


def coarse(X: np.ndarray, cuts: list[np.ndarray]) -> np.ndarray:
    """Return for each value how many thresholds it is above: as much as the 0/1 columns tell."""
    return np.column_stack(
        [np.searchsorted(cut, column, side="left") for cut, column in zip(cuts, X.T, strict=True)]
    ).astype(float)


def binary(steps: np.ndarray, cuts: list[np.ndarray]) -> np.ndarray:
    """Return a 0/1 column for each threshold: is the value at most that?"""
    columns = [
        column <= number
        for column, cut in zip(steps.T, cuts, strict=True)
        for number in range(len(cut))
    ]
    return np.column_stack(columns).astype(np.intc)


def _only(cuts: list[np.ndarray], kept: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum([len(cut) for cut in cuts])
    mask = np.zeros(ends[-1], dtype=bool)
    mask[kept] = True
    return [cut[part] for cut, part in zip(cuts, np.split(mask, ends[:-1]), strict=True)]


def _on_columns(columns: np.ndarray, y: np.ndarray, n_estimators: int, seed: int):
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=n_estimators,
        max_depth=2,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=1,
        early_stopping=False,
        random_state=seed,
    ).fit(columns, y)


def _importances(ensemble, n_columns: int) -> np.ndarray:
    """Return what the splits on each column gain in all trees, which scikit-learn does not show."""
    total = np.zeros(n_columns)
    for trees in ensemble._predictors:
        for tree in trees:
            inner = tree.nodes[tree.nodes["is_leaf"] == 0]
            np.add.at(total, inner["feature_idx"], inner["gain"])
    return total
