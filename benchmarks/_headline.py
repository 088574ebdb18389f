"""What stands first: README's comparison and chart, and the overview of docs/results.md."""

from __future__ import annotations

import statistics

import _accuracy
import peers
from _experiment import markdown_table, median, number, pyplot
from paper import at_least, quoted

DEPTH = 4  # of the chart and of the comparison
NOTES = """\
¹ CPU time of the proof on the paper's 16 data sets: median; geometric mean of the ratios.
² Percent on unseen rows: mean of the 16 data sets; depth chosen by cross-validation, 3 at most.
³ With ten quantiles of each feature. ⁴ Its `ConTreeClassifier`.
Empty cells are not measured here, or not documented. All runs: [results](docs/results.md).
"""


def comparison(runs: dict, accuracies: dict) -> str:
    """Return README's part: one row for each solver, and the chart."""
    table = peers.of_kind(runs["cells"], DEPTH, 0.0)
    assert len(table) == len(_accuracy.gathered(accuracies)) == 16, "the notes say 16"
    cells = [row["contree"] for row in table.values() if peers.proved(row.get("contree"))]
    times = sorted(median(cell, "cpu") for cell in cells)
    ours = f"{statistics.median(times):.1f} s; {len(times)} of {len(table)} in {times[-1]:.0f} s"
    longer = [peers.ratio(row, "pycontree", "contree") for row in table.values()]
    longer = [ratio for ratio in longer if ratio]
    theirs = f"{statistics.geometric_mean(longer):.0f} times ours, on {len(longer)} sets"
    seen = _accuracy.means(accuracies)
    rows = [
        ["**contree**", "every value", "yes", "yes", ours, f"{seen['depth']:.1f}"],
        ["CART (scikit-learn)", "every value", "no: greedy", "", "", f"{seen['cart']:.1f}"],
        ["pycontree 1.0.8", "every value", "yes", "no", theirs, ""],
        ["STreeD (pystreed 1.4)", "0/1 columns", "yes", "", "", f"{seen['quantiles']:.1f} ³"],
        ["pytrees-rs 2.1", "every value ⁴", "yes", "", "", ""],
        ["OptimalTrees, commercial", "", "no: local search", "", "", ""],
    ]
    head = ["", "thresholds", "proves the optimum", "bound if stopped", "depth 4 ¹", "accuracy ²"]
    image = f"![Seconds to a proved optimum at depth {DEPTH}](docs/figures/speed.svg)\n"
    return "\n".join([markdown_table(head, rows, "l" * len(head)), NOTES, image])


def overview(report: dict) -> str:
    """Return the table of run times: one row for each depth."""
    cells = report["cells"]
    lines = [
        "| depth | proved | CPU seconds of `fit` | `pycontree` 1.0.8 takes | open after 4 hours in "
        "the paper, proved here |",
        "|---|---|---|---|---|",
    ]
    for depth, gap in sorted({(cell["depth"], cell["gap"]) for cell in cells.values()}):
        table = peers.of_kind(cells, depth, gap)
        ours = {n: row["contree"] for n, row in table.items() if peers.proved(row.get("contree"))}
        if not ours:
            continue
        times = {name: median(cell, "cpu") for name, cell in ours.items()}
        fast, slow = min(times.values()), max(times.values())
        open_ones = [
            f"{name} in {peers.exact(seconds)} s"
            for name, seconds in times.items()
            if quoted(name, "ConTree", depth, round(100 * gap)).startswith(">")
        ]
        lines.append(
            f"| {depth}{', within 1 %' * bool(gap)} | {len(ours)} of {len(table)} sets "
            f"| {peers.exact(fast)} to {peers.exact(slow)} | {times_longer(table)} "
            f"| {', '.join(open_ones)} |"
        )
    return "\n".join(
        [
            "## Overview",
            "",
            "CPU time of one thread on the paper's 16 data sets. Both solvers had the same rows "
            "and machine.",
            "",
            *lines,
            "",
        ]
    )


def times_longer(table: dict) -> str:
    found = [peers.ratio(row, "pycontree", "contree") for row in table.values()]
    found = [times for times in found if times]
    if not found:
        return ""
    few = f"{number(min(found))} to {number(max(found))} times as long"
    mean = number(statistics.geometric_mean(found))
    return f"{few}, geometric mean {mean} ({len(found)} sets that both proved)"


def chart(report: dict, depth: int = DEPTH):
    """Draw seconds to the proof for each data set: contree, and pycontree here or in the paper."""
    plt = pyplot()
    table = peers.of_kind(report["cells"], depth, 0.0)
    table = {name: row for name, row in table.items() if peers.proved(row.get("contree"))}
    order = sorted(table, key=lambda name: median(table[name]["contree"], "cpu"))
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(order) + 1.2), layout="constrained")
    least = 1e-3
    shown = set()
    for at, name in enumerate(order):
        row = table[name]
        peer, published = row.get("pycontree"), quoted(name, "ConTree", depth)
        if peers.proved(peer):
            seconds, label, style = median(peer, "cpu"), "pycontree, here", {"color": "#D55E00"}
        else:
            seconds, label = at_least(published), "pycontree, as the paper says"
            style = {"facecolor": "none", "edgecolor": "#D55E00", "hatch": "////"}
        if seconds:
            new = label if label not in shown else None
            axes.barh(at - 0.2, seconds - least, 0.38, left=least, label=new, **style)
            shown.add(label)
        ours = median(row["contree"], "cpu")
        new = "contree" if "contree" not in shown else None
        axes.barh(at + 0.2, ours - least, 0.38, left=least, color="#0072B2", label=new)
        shown.add("contree")
        if published.startswith(">") and not peers.proved(peer):
            axes.annotate(" not within 4 hours", (seconds, at - 0.2), va="center", fontsize=7)
    axes.set_xscale("log")
    axes.set_xlim(least, 3e5)
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.set_xlabel(f"CPU seconds to a proved optimum, depth {depth}, one thread")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
