"""The trade-off between size and errors as a matplotlib picture, with CART's path beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from contree.export.certificate import permitted_depth
from contree.export.palette import FIRST, blend
from contree.export.wording import wording_of

BLUE, ORANGE = FIRST[:2]
INK, FAINT = "#111111", "#3a3a3a"


def plot_size_path(path: Any, ax: Any = None) -> Any:
    """Draw the least loss for each number of leaves, and CART's pruning path.

    A full circle is a proved optimum.  An empty circle is the best tree found, with a bar down to
    the proved bound.  The line joins the sizes that are optimal for some ``ccp_alpha``.

    Parameters
    ----------
    path : SizeErrorPath
        The result of :func:`contree.size_error_path`.  CART's path is left out if the path has lost
        its rows, as a pickled copy has, or if CART refuses them.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on.  None: a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.
    """
    try:
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise ImportError(
            "plot() needs matplotlib, which comes with the extra: pip install 'contree[plot]'"
        ) from error
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    _draw_cart(ax, path)
    _draw_path(ax, path)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("leaves", fontsize=9, color=FAINT)
    ax.set_ylabel(wording_of(path.trees[-1]).measure(), fontsize=9, color=FAINT)
    ax.tick_params(labelsize=8, colors=FAINT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, labelcolor=FAINT, edgecolor="none", framealpha=0.85, loc="best")
    ax.set_title(_title(path), fontsize=10, color=INK)
    return ax


def _draw_path(ax: Any, path: Any) -> None:
    at_corners = np.isin(path.leaves, path.ccp_leaves)
    ax.plot(path.leaves[at_corners], path.errors[at_corners], color=BLUE, linewidth=1.4, zorder=2)
    done = path.proved
    style = {"linestyle": "none", "color": BLUE, "markersize": 5, "zorder": 3, "clip_on": False}
    if done.any():
        label = "optimal, proved"
        ax.plot(path.leaves[done], path.errors[done], "o", label=label, **style)
    if not done.all():
        leaves, errors, bounds = path.leaves[~done], path.errors[~done], path.lower_bounds[~done]
        label = "best found, down to the proved bound"
        ax.vlines(leaves, bounds, errors, color=blend(BLUE, 0.4), linewidth=1.2, zorder=1)
        ax.plot(leaves, errors, "o", markerfacecolor="white", label=label, **style)


def _draw_cart(ax: Any, path: Any) -> None:
    try:
        leaves, errors = path.cart_path()
    except ValueError:  # no rows, or values beyond the float32 that CART compares in
        return
    label = "CART, pruned by cost complexity"
    ax.plot(leaves, errors, "s-", color=ORANGE, linewidth=1.2, markersize=4, label=label)


def _title(path: Any) -> str:
    trees = f"trees of {permitted_depth(path.trees[-1])}"
    if path.proved.all():
        return f"{trees}: all sizes proved in {path.seconds:.3g} s"
    done = int(path.proved.sum())
    said = f"{done} of {len(path.leaves)} sizes proved"
    return f"{trees}: {said} after {path.seconds:.3g} s"
