"""A tree as a matplotlib figure, for a paper.

Every text is measured before anything is drawn, so that boxes fit their words and do not touch.
One unit of the axes is one point of the figure that `plot` makes.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.layout import centres
from contree.export.names import JOINTS, LONGEST, shortened
from contree.export.wording import Wording, counted, wording_of

# All in units of the font's size.
PADDING, LINE, SMALL = 0.65, 1.3, 0.82
BOX_GAP, LEVEL_GAP, LEGEND_GAP, MARGIN = 0.9, 2.6, 1.6, 0.5
WRAP, MOST_LINES = 22, 4
INK, FAINT = "#111111", "#3a3a3a"


class Line(NamedTuple):
    """One line of text in a box."""

    text: str
    size: float
    bold: bool = False
    faint: bool = False


Legend = list[list[tuple[float, str, Line]]]  # rows of (left edge, colour, meaning)


@dataclass
class Picture:
    """What is to be drawn: the text and the box of every node, and how large it all is."""

    lines: list[list[Line]]
    x: np.ndarray  # middle of each box
    top: np.ndarray  # upper edge of each box, from the top of the picture downwards
    widths: np.ndarray
    heights: np.ndarray
    legend: Legend
    width: float
    height: float


def plot(
    estimator: Any,
    ax: Any = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
    font_size: float = 9.0,
    legend: bool = True,
) -> Any:
    """Draw the tree of a fitted estimator.

    For a classifier, a box has the colour of its class, stronger if its rows are purer.  The bar
    at its foot shows the classes of its rows.  For a regressor, a box has a stronger colour if its
    mean is larger.  At its foot is a histogram of the training targets.  A wider line to a child
    means that more rows take it.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on.  The tree and its text are scaled to fit.  None: a new figure, as large
        as the tree needs.
    feature_names, class_names, decimals
        As in :func:`contree.export_text`.
    font_size : float, default=9.0
        The size of the text in points, in a new figure.
    legend : bool, default=True
        Whether to show what the colours mean below the tree.

    Returns
    -------
    ax : matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> ax = clf.plot(feature_names=["dose"])
    >>> ax.figure.savefig("tree.svg")
    """
    check_is_fitted(estimator, "tree_")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plot() needs matplotlib, which comes with the extra: pip install 'contree[plot]'"
        ) from error
    if not isinstance(font_size, Real) or not 0 < float(font_size) < math.inf:
        raise ValueError(f"font_size must be a number of points above 0; got {font_size!r}.")
    wording = wording_of(estimator, feature_names, class_names, decimals)
    picture = _compose(wording, float(font_size), legend)
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(picture.width / 72, picture.height / 72))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    _draw(ax, wording, picture, float(font_size))
    return ax


def _compose(wording: Wording, size: float, legend: bool) -> Picture:
    tree = wording.tree
    lines = [_words(wording, node, size) for node in range(tree.node_count)]
    widths = np.array([max(map(_width, box)) + 2 * PADDING * size for box in lines])
    heights = np.array([sum(line.size for line in box) * LINE for box in lines])
    heights += (2 * PADDING + wording.foot) * size
    words = np.array([_branch_words(wording, node, size) for node in range(tree.node_count)])
    x = centres(tree, widths, BOX_GAP * size, words)
    top = _level_tops(tree, heights, LEVEL_GAP * size)

    margin = MARGIN * size
    width, height = float((x + widths / 2).max()), float((top + heights).max())
    entries = wording.legend()
    rows = _legend_rows(entries, size, width) if legend and len(entries) > 1 else []
    legend_width = max((row[-1][0] + _width(row[-1][2]) for row in rows), default=0.0)
    if legend_width > width:  # a narrow tree stands in the middle
        x, width = x + (legend_width - width) / 2, legend_width
    if rows:
        height += (LEGEND_GAP + LINE * SMALL * len(rows)) * size
    return Picture(
        lines, x + margin, top + margin, widths, heights, rows, width + 2 * margin,
        height + 2 * margin,
    )  # fmt: skip


def _branch_words(wording: Wording, node: int, size: float) -> float:
    """Return how wide the longer word on the branches of a node is, with a little room."""
    if wording.tree.feature[node] < 0:
        return 0.0
    return max(_width(_branch_word(word, size)) for word in ("yes", wording.no(node))) + 0.3 * size


def _branch_word(word: str, size: float) -> Line:
    return Line(word, 0.75 * size, faint=True)


def _words(wording: Wording, node: int, size: float) -> list[Line]:
    tree, small = wording.tree, SMALL * size
    rows = _small_lines(wording, node, small)
    if tree.feature[node] < 0:
        lines = [Line(text, size, bold=True) for text in _wrapped(wording.prediction(node))]
        return [*lines, *rows]
    *first, last = _wrapped(wording.feature(node))
    test = wording.short_relation(node, "≤")
    if not tree.tests_categories(node):
        test = test.replace("-", "\N{MINUS SIGN}")
    joined = f"{last} {test}"
    texts = [*first, joined] if len(joined) <= WRAP else [*first, last, *_wrapped(test)]
    return [*(Line(text, size) for text in texts), *rows]


def _small_lines(wording: Wording, node: int, size: float) -> list[Line]:
    """Return the rows of a node and what they weigh; of a leaf, how wrong it is too."""
    tree = wording.tree
    texts = [counted(int(tree.n_node_samples[node]), "row")]
    if tree.weighted:
        texts.append(wording.weight(node))
    if tree.feature[node] < 0:
        texts.append(wording.loss(node))
    return [Line(text, size, faint=True) for text in texts]


class NameWrapper(textwrap.TextWrapper):
    """Breaks names between words and after joints, else anywhere."""

    wordsep_re = re.compile(rf"(\s+|[^\s{JOINTS}]*[{JOINTS}]+)")


def _wrapped(text: str) -> list[str]:
    """Return a name in lines that are not too long, shortened where they are too many."""
    wrapper, most = NameWrapper(WRAP), LONGEST
    lines = [" "] * (MOST_LINES + 1)
    while len(lines) > MOST_LINES:
        parts = _drawable(shortened(text, most)).splitlines()
        lines = [line for part in parts for line in wrapper.wrap(part)] or [" "]
        most -= 1
    return lines


def _drawable(text: str) -> str:
    """Replace what no font has: NUL, and halves of characters, which matplotlib refuses."""
    return re.sub("[\0\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def _width(line: Line) -> float:
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(line.text, _font(line), False)
    return float(width)


def _font(line: Line) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(size=line.size, weight="bold" if line.bold else "normal")


def _level_tops(tree: FittedTree, heights: np.ndarray, gap: float) -> np.ndarray:
    tallest = np.zeros(tree.max_depth + 1)
    np.maximum.at(tallest, tree.node_depth, heights)
    starts = np.concatenate(([0.0], np.cumsum(tallest + gap)[:-1]))
    tops: np.ndarray = starts[tree.node_depth]
    return tops


def _legend_rows(entries: list[tuple[str, str]], size: float, width: float) -> Legend:
    """Return the colours and their meanings in rows no wider than the tree, each row centred."""
    rows: Legend = [[]]
    swatch, gap, at = 1.2 * size, 1.4 * size, 0.0
    for colour, name in entries:
        line = Line(_drawable(" ".join(shortened(name).split())), SMALL * size, faint=True)
        if rows[-1] and at + swatch + _width(line) > width:
            rows.append([])
            at = 0.0
        rows[-1].append((at + swatch, colour, line))
        at += swatch + _width(line) + gap
    widest = max(width, *(row[-1][0] + _width(row[-1][2]) for row in rows))
    shifted = []
    for row in rows:
        shift = (widest - row[-1][0] - _width(row[-1][2])) / 2
        shifted.append([(left + shift, colour, line) for left, colour, line in row])
    return shifted


def _draw(ax: Any, wording: Wording, picture: Picture, size: float) -> None:
    tree = wording.tree
    ax.set_xlim(0, picture.width)
    ax.set_ylim(picture.height, 0)
    ax.set_aspect("equal", anchor="C")
    ax.set_axis_off()
    points = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    scale = 72 * min(points.width / picture.width, points.height / picture.height)
    fill = wording.fills()
    for node in range(tree.node_count):
        if tree.feature[node] >= 0:
            _draw_branch(ax, tree, picture, node, wording.no(node), size, scale)
    for node in range(tree.node_count):
        _draw_box(ax, wording, picture, node, size, scale, fill[node])
    _draw_legend(ax, picture, size, scale)


def _text(ax: Any, x: float, y: float, line: Line, scale: float, **options: Any) -> None:
    ax.text(
        x,
        y,
        line.text,
        fontsize=line.size * scale,
        fontweight="bold" if line.bold else "normal",
        color=FAINT if line.faint else INK,
        parse_math=False,
        **options,
    )


def _draw_branch(
    ax: Any, tree: FittedTree, picture: Picture, node: int, no: str, size: float, scale: float
) -> None:
    start = picture.top[node] + picture.heights[node]
    for child, word, side in (
        (tree.children_left[node], "yes", "left"),
        (tree.children_right[node], no, "right"),
    ):
        end, x, to = picture.top[child], picture.x[node], picture.x[child]
        bend = end - LEVEL_GAP * size / 2
        share = tree.n_node_samples[child] / tree.n_node_samples[0]
        ax.plot(
            [x, x, to, to],
            [start, bend, bend, end],
            color="#9a9a9a",
            linewidth=(0.6 + 2.4 * share) * scale * size / 9,
            solid_joinstyle="round",
            zorder=1,
        )
        line = _branch_word(word, size)
        _text(ax, to, bend - 0.25 * size, line, scale, ha=side, va="bottom", zorder=2)


def _draw_box(
    ax: Any, wording: Wording, picture: Picture, node: int, size: float, scale: float, fill: str
) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    width, height = picture.widths[node], picture.heights[node]
    left, top = picture.x[node] - width / 2, picture.top[node]
    box = FancyBboxPatch(
        (left, top),
        width,
        height,
        boxstyle=f"round,pad=0,rounding_size={0.4 * size}",
        facecolor=fill,
        edgecolor="#4d4d4d",
        linewidth=(1.1 if wording.tree.feature[node] < 0 else 0.7) * scale * size / 9,
        zorder=3,
    )
    ax.add_patch(box)
    y = top + PADDING * size
    for line in picture.lines[node]:
        _text(ax, picture.x[node], y + line.size * LINE / 2, line, scale, ha="center",
              va="center_baseline", zorder=5)  # fmt: skip
        y += line.size * LINE
    foot = wording.foot * size
    for bar in wording.bars(node):
        part = Rectangle(
            (left + bar.left * width, top + height - bar.height * foot),
            bar.width * width,
            bar.height * foot,
            facecolor=bar.colour,
            linewidth=0,
            zorder=4,
        )
        ax.add_patch(part)
        part.set_clip_path(box)


def _draw_legend(ax: Any, picture: Picture, size: float, scale: float) -> None:
    from matplotlib.patches import Rectangle

    step, swatch = LINE * SMALL * size, 0.7 * size
    start = picture.height - MARGIN * size - step * len(picture.legend)
    for row, entries in enumerate(picture.legend):
        middle = start + (row + 0.5) * step
        for left, colour, line in entries:
            left = left + MARGIN * size
            corner = (left - 1.2 * size, middle - swatch / 2)
            ax.add_patch(Rectangle(corner, swatch, swatch, facecolor=colour, linewidth=0))
            _text(ax, left, middle, line, scale, ha="left", va="center_baseline")
