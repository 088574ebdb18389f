"""The scores of a cross-validation as a matplotlib picture: a curve for each depth."""

from __future__ import annotations

from typing import Any

import numpy as np

from contree.export.palette import class_colours

INK, FAINT = "#111111", "#3a3a3a"


def plot_scores(search: Any, ax: Any = None) -> Any:
    """Draw the mean scores of a fitted cross-validation, with their standard errors.

    Parameters
    ----------
    search : ConTreeClassifierCV or ConTreeRegressorCV
        Fitted.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on.  None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plot_scores() needs matplotlib, which comes with the extra: "
            "pip install 'contree[plot]'"
        ) from error
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    results, best = search.cv_results_, search.best_index_
    depths, leaves = results["param_max_depth"], results["param_max_leaf_nodes"]
    errors = standard_errors(results, search.n_splits_)
    colours = class_colours(int(depths.max()) + 1)
    for depth in np.unique(depths):
        chosen = depths == depth
        ax.errorbar(
            leaves[chosen],
            results["mean_test_score"][chosen],
            errors[chosen],
            color=colours[depth],
            linewidth=1.4,
            elinewidth=0.7,
            capsize=2,
            marker="o",
            markersize=3,
            label=f"depth {depth}",
        )
    at = (leaves[best], results["mean_test_score"][best])
    ax.plot(*at, "o", markersize=11, fillstyle="none", color=INK, label="chosen")
    _set_axes(ax, search)
    return ax


def standard_errors(results: dict[str, Any], n_splits: int) -> np.ndarray:
    """Return the standard error of each candidate's mean score; 0 for a single fold."""
    if n_splits < 2:
        return np.zeros(len(results["params"]))
    scores = np.array([results[f"split{fold}_test_score"] for fold in range(n_splits)])
    counts = (~np.isnan(scores)).sum(axis=0)
    errors: np.ndarray = np.nanstd(scores, axis=0, ddof=1) / np.sqrt(counts)
    return errors


def _set_axes(ax: Any, search: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    chosen = search.best_params_
    scoring = search.scoring if isinstance(search.scoring, str) else None
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("leaves, at most", fontsize=9, color=FAINT)
    unnamed = search._default_score if search.scoring is None else "score"
    ax.set_ylabel(scoring or unnamed, fontsize=9)
    ax.tick_params(labelsize=8, colors=FAINT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, labelcolor=FAINT, edgecolor="none", framealpha=0.85, loc="lower right")
    ax.set_title(
        f"depth {chosen['max_depth']}, {chosen['max_leaf_nodes']} "
        f"lea{'f' if chosen['max_leaf_nodes'] == 1 else 'ves'}: {search.best_score_:.4f} "
        f"over {search.n_splits_} folds",
        fontsize=10,
        color=INK,
    )
