"""The five headline results: for each a sentence and a picture, drawn from the experiments' cells.

Each function takes a report and returns them, or None while the cells are not there.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import _accuracy
import anytime
import deep
import peers
from _experiment import median, number, pyplot
from _harness import dataset_names
from paper import at_least, quoted

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#888888"
SOLVERS = {"contree": BLUE, "pycontree": ORANGE, "pytrees": GREEN}
LEAST = 1e-3  # CPU seconds at which axes begin


@dataclass(frozen=True)
class Headline:
    """One result: what the reader learns, and its picture."""

    title: str
    sentence: str
    picture: str  # the name of the figure
    draw: Callable


def depth_three(report: dict) -> Headline | None:
    table, ours = proved_at(report, 3)
    if not ours:
        return None
    longer = [times_longer(table, peer) for peer in ("pycontree", "pytrees")]
    said = [
        f"{peers.COLUMNS[peer][2]} takes {number(statistics.geometric_mean(ratios))} times as long "
        f"(geometric mean of {len(ratios)} sets that both proved)"
        for peer, ratios in zip(("pycontree", "pytrees"), longer, strict=True)
        if ratios
    ]
    return Headline(
        "Depth 3: proofs within a second" if max(ours.values()) < 1 else "Depth 3",
        f"contree proves the optimum of {len(ours)} of {len(table)} data sets in at most "
        f"{number(max(ours.values()))} s each; {', and '.join(said)}.",
        "headline-depth-3",
        lambda: dots(table, list(ours)),
    )


def depth_four(report: dict) -> Headline | None:
    table, ours = proved_at(report, 4)
    if not ours:
        return None
    left_open = [name for name in ours if quoted(name, "ConTree", 4).startswith(">")]
    return Headline(
        "Depth 4: what the paper left open",
        f"contree proves {len(ours)} of {len(table)} data sets, each in at most "
        f"{number(max(ours.values()))} s; {len(left_open)} of them were open in the paper after "
        f"four hours ({', '.join(left_open)}).",
        "headline-depth-4",
        lambda: chart(report),
    )


def depth_five(report: dict) -> Headline | None:
    runs = deep.runs_at(report, 5)
    if not runs:
        return None
    done = {name: run["cpu"] for name, run in runs.items() if run["proved"]}
    paper = [name for name in runs if not deep.open_in_paper(name, 5)]
    new = [name for name in done if name not in paper]
    hours = max(done.values()) / 3600
    longest = f"{hours:.1f} CPU hours" if hours >= 1 else f"{60 * hours:.0f} CPU minutes"
    return Headline(
        "Depth 5: deep proofs",
        f"contree proves {len(done)} of {len(dataset_names())} data sets on one thread, "
        f"the longest in {longest}; the paper proved {len(paper)} of them in four hours each. "
        f"New: {', '.join(new) or 'none'}.",
        "headline-depth-5",
        lambda: deep.bars(report, 5),
    )


def any_time(report: dict) -> Headline | None:
    cases = anytime.panels_of(report)
    if not cases:
        return None
    gaps = {name: anytime.mean_gap(cases, name, 1.0) for name in anytime.SOLVERS}
    others = [
        f"for {anytime.NAMES[name]} {100 * gap:.0f} %"
        for name, gap in gaps.items()
        if name != "contree" and gap is not None
    ]
    return Headline(
        "Anytime: good trees in the first second",
        f"After one CPU second the gap to the best known tree is {100 * gaps['contree']:.1f} % for "
        f"contree, {', '.join(others)} (mean of {len(cases)} searches at depths 4 to 6).",
        "headline-anytime",
        lambda: anytime.mean_gaps(cases),
    )


def unseen_rows(report: dict) -> Headline | None:
    seen = _accuracy.means(report)
    table = _accuracy.gathered(_accuracy.within(report, range(_accuracy.SPLITS)))
    better = [name for name, row in table.items() if mean_of(row, "depth") > mean_of(row, "cart")]
    return Headline(
        "Accuracy on unseen rows",
        f"With depth chosen by cross-validation, at most {_accuracy.DEPTH}, contree's trees are "
        f"right on {seen['depth']:.1f} % of the rows that they have not seen, CART's on "
        f"{seen['cart']:.1f} % (mean of {len(table)} data sets); contree is ahead on "
        f"{len(better)}.",
        "headline-accuracy",
        lambda: dumbbells(table),
    )


# The experiment of each, and how it is told.
HEADLINES = {
    depth_three: "peers",
    depth_four: "peers",
    depth_five: "deep",
    any_time: "anytime",
    unseen_rows: "out-of-sample",
}


def proved_at(report: dict, depth: int) -> tuple[dict, dict[str, float]]:
    """Return the cells of a depth, and the CPU seconds of each of contree's proofs, least first."""
    table = peers.of_kind(report["cells"], depth, 0.0)
    cells = {name: row["contree"] for name, row in table.items() if "contree" in row}
    times = {name: median(cell, "cpu") for name, cell in cells.items() if peers.proved(cell)}
    return table, dict(sorted(times.items(), key=lambda item: item[1]))


def times_longer(table: dict, peer: str) -> list[float]:
    """Return how many times longer a peer took, for each data set that both proved."""
    found = [peers.ratio(row, peer, "contree") for row in table.values()]
    return [ratio for ratio in found if ratio]


def mean_of(row: dict, method: str) -> float:
    return statistics.fmean(_accuracy.percent(row[method]))


# The pictures.


def dots(table: dict, order: list[str]):
    """Draw seconds to the proof of each solver, a line for each data set."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 0.26 * len(order) + 1.2), layout="constrained")
    for solver, colour in SOLVERS.items():
        proofs = {n: table[n][solver] for n in order if peers.proved(table[n].get(solver))}
        if proofs:
            at = [order.index(name) for name in proofs]
            seconds = [max(median(cell, "cpu"), LEAST) for cell in proofs.values()]
            axes.plot(seconds, at, "o", color=colour, label=peers.COLUMNS[solver][2])
        cells = {n: table[n].get(solver) for n in order if n not in proofs}
        late = [n for n, cell in cells.items() if cell and "failed" not in cell["runs"][-1]]
        if late:
            limits = [cells[name]["time_limit"] for name in late]
            label = f"{peers.COLUMNS[solver][2]}: not within its limit"
            at = [order.index(name) for name in late]
            axes.plot(limits, at, ">", color=colour, fillstyle="none", label=label)
    axes.set_xscale("log")
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.grid(axis="y", linewidth=0.4, color="#DDDDDD")
    axes.set_axisbelow(True)
    axes.set_xlabel("CPU seconds to a proved optimum, depth 3, one thread")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def chart(report: dict, depth: int = 4):
    """Draw seconds to the proof for each data set: contree, and pycontree here or in the paper."""
    plt = pyplot()
    table, ours = proved_at(report, depth)
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(ours) + 1.2), layout="constrained")
    shown = set()

    def bar(at: float, seconds: float, label: str, **style) -> None:
        new = None if label in shown else label
        axes.barh(at, max(seconds - LEAST, LEAST), 0.38, left=LEAST, label=new, **style)
        shown.add(label)

    for at, (name, seconds) in enumerate(ours.items()):
        peer, published = table[name].get("pycontree"), quoted(name, "ConTree", depth)
        if peers.proved(peer):
            bar(at - 0.2, median(peer, "cpu"), "pycontree, here", color=ORANGE)
        elif at_least(published):
            style = {"facecolor": "none", "edgecolor": ORANGE, "hatch": "////"}
            bar(at - 0.2, at_least(published), "ConTree, as the paper says", **style)
            if published.startswith(">"):
                place = (at_least(published), at - 0.2)
                axes.annotate(" not within 4 hours", place, va="center", fontsize=7)
        bar(at + 0.2, seconds, "contree", color=BLUE)
    axes.set_xscale("log")
    axes.set_xlim(LEAST, 3e5)
    axes.set_yticks(range(len(ours)), list(ours), fontsize=8)
    axes.set_xlabel(f"CPU seconds to a proved optimum, depth {depth}, one thread")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def dumbbells(table: dict):
    """Draw the accuracy of CART and of contree on unseen rows, a line for each data set."""
    plt = pyplot()
    order = sorted(table, key=lambda n: mean_of(table[n], "depth") - mean_of(table[n], "cart"))
    figure, axes = plt.subplots(figsize=(7, 0.26 * len(order) + 1.2), layout="constrained")
    ends = [[mean_of(table[name], method) for name in order] for method in ("cart", "depth")]
    axes.hlines(range(len(order)), *ends, color="#BBBBBB", zorder=0)
    for values, colour, label in zip(ends, (GREY, BLUE), ("CART", "contree"), strict=True):
        axes.plot(values, range(len(order)), "o", color=colour, label=label)
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.set_xlabel("percent of unseen rows that the tree is right on")
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
