"""The colours of classes and nodes, the same in every picture of a tree."""

from __future__ import annotations

import colorsys

from contree._class_tree import ClassTree
from contree._number_tree import NumberTree

# Okabe and Ito's colours, which people with any kind of colour vision tell apart; blue and orange
# first, because most trees have two classes.
FIRST = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#888888")
NUMBER_COLOUR = "#4d4d4d"  # of histograms
GOLDEN = 0.618033988749895  # steps of this around the colour circle never come close again soon


def class_colours(n_classes: int) -> list[str]:
    """Return one colour, as #rrggbb, for each class."""
    more = range(max(0, n_classes - len(FIRST)))
    return [*FIRST[:n_classes], *(_on_the_circle(i * GOLDEN % 1.0) for i in more)]


def node_colours(tree: ClassTree) -> list[str]:
    """Return the colour of each node: that of its class, the paler the more mixed its rows.

    A node where all classes are equally frequent is white; a pure one is not quite at full
    strength, so that black text stays easy to read.
    """
    n_classes = tree.class_counts.shape[1]
    colours = class_colours(n_classes)
    shares = tree.value[:, 0, :].max(axis=1)
    even = 1.0 / n_classes
    return [
        blend(colours[tree.majority[node]], _strength(float(shares[node]), even))
        for node in range(tree.node_count)
    ]


def number_colours(tree: NumberTree) -> list[str]:
    """Return the colour of each node by its mean: the larger, the stronger."""
    means = tree.value[:, 0, 0]
    low, high = float(means.min()), float(means.max())
    half = high / 2 - low / 2  # halves, because the whole may overflow
    shares = [(mean / 2 - low / 2) / half if half > 0 else 0.5 for mean in means.tolist()]
    return [blend(FIRST[0], 0.05 + 0.47 * share) for share in shares]


def blend(colour: str, strength: float) -> str:
    """Return a colour mixed with white: strength 1 is the colour itself, 0 is white."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in parts)


def _strength(share: float, even: float) -> float:
    return 0.5 if even == 1.0 else 0.06 + 0.46 * (share - even) / (1.0 - even)


def _on_the_circle(hue: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, 0.5, 0.6))
