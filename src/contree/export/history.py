"""The history of a search as a matplotlib picture: the best tree falls, the proved bound rises."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree._report import SearchReport
from contree.export.palette import FIRST, blend
from contree.export.wording import wording_of

BLUE, ORANGE = FIRST[:2]
INK, FAINT = "#111111", "#3a3a3a"
FIRST_MOMENT = 1e-4  # seconds; nothing is measured more finely


def plot_history(estimator: Any, ax: Any = None) -> Any:
    """Draw how the search of a fitted estimator went.

    One curve is the objective of the best tree, which falls.  The other is the proved lower bound,
    which rises.  Where they meet, the tree is proved to be optimal.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on.  None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> ax = clf.plot_history()
    >>> ax.figure.savefig("history.svg")
    """
    check_is_fitted(estimator, "search_report_")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plot_history() needs matplotlib, which comes with the extra: "
            "pip install 'contree[plot]'"
        ) from error
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
    seconds, objective, bound = _steps(estimator.search_report_)
    factor, unit = (1000, "ms") if seconds[-1] < 0.1 else (1, "s")
    time = factor * seconds
    _draw_steps(ax, time, objective, bound)
    _set_axes(ax, time, unit)
    _set_height(ax, objective.max(), estimator)
    _draw_ends(ax, time[-1], estimator.objective_, estimator.lower_bound_)
    ax.set_title(_title(estimator, f"{time[-1]:.3g} {unit}"), fontsize=10, color=INK)
    return ax


def _steps(report: SearchReport) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the moments of the history, the last one at the end of the search."""
    seconds, objective, bound = np.array(report.history, dtype=np.float64).T
    seconds = np.maximum(np.append(seconds, report.seconds), FIRST_MOMENT)
    return seconds, np.append(objective, objective[-1]), np.append(bound, bound[-1])


def _draw_steps(ax: Any, time: np.ndarray, objective: np.ndarray, bound: np.ndarray) -> None:
    ax.fill_between(time, bound, objective, step="post", color=blend(BLUE, 0.12), linewidth=0)
    style = {"where": "post", "linewidth": 1.6, "solid_capstyle": "butt", "clip_on": False}
    ax.step(time, objective, color=BLUE, label="best tree", **style)
    ax.step(time, bound, color=ORANGE, label="proved lower bound", **style)
    ax.legend(fontsize=8, labelcolor=FAINT, edgecolor="none", framealpha=0.85, loc="best")


def _draw_ends(ax: Any, end: float, objective: int | float, bound: int | float) -> None:
    """Write the last values beside the ends of the curves; one number where they have met."""
    if objective == bound:
        ax.plot(end, objective, "o", color=INK, markersize=4, clip_on=False, zorder=3)
    close = objective - bound < 0.06 * ax.get_ylim()[1]
    sides = {objective: (BLUE, "bottom"), bound: (ORANGE, "top")}
    for value, (colour, side) in sides.items():
        ax.annotate(
            _said(value),
            (end, value),
            xytext=(6, 0),
            textcoords="offset points",
            va=side if close and objective != bound else "center",
            fontsize=8,
            color=INK if objective == bound else colour,
            annotation_clip=False,
        )


def _set_axes(ax: Any, time: np.ndarray, unit: str) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    first, last = time[0], time[-1]
    log = last > 20 * first
    if log:  # most happens early: equal steps of time would hide it
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(first if log else 0, last)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda moment, _: f"{moment:g}"))
    ax.set_xlabel({"s": "seconds", "ms": "milliseconds"}[unit], fontsize=9, color=FAINT)
    ax.tick_params(labelsize=8, colors=FAINT)
    ax.spines[["top", "right"]].set_visible(False)


def _set_height(ax: Any, highest: float, estimator: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    whole = isinstance(estimator.objective_, int)
    least = 1.0 if whole else 1e-300  # an axis needs a height, though there be no error at all
    ax.set_ylim(0, max(least, 1.05 * highest))
    ax.yaxis.set_major_locator(MaxNLocator(integer=whole, nbins=6))
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda errors, _: f"{errors:,.0f}" if whole else f"{errors:.4g}")
    )
    said = wording_of(estimator).measure()
    if estimator.ccp_alpha > 0:
        said += " and cost of leaves"
    ax.set_ylabel(said, fontsize=9, color=FAINT)


def _said(value: int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _title(estimator: Any, duration: str) -> str:
    objective = estimator.objective_
    if estimator.ccp_alpha > 0:
        said = f"{estimator.status_}: objective {_said(objective)}"
    else:
        said = f"{estimator.status_}: {wording_of(estimator).amount(objective)}"
    if estimator.gap_ == 0:
        return f"{said}, proved in {duration}"
    return f"{said}, gap {_said(estimator.gap_)} after {duration}"
