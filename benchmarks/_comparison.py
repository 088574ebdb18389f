"""README's comparison: one row for each solver."""

from __future__ import annotations

import statistics

import _accuracy
from _experiment import markdown_table, number
from _headline import proved_at, times_longer

DEPTH = 4
NOTES = """\
¹ CPU time of the proof on the paper's 16 data sets: median; geometric mean of the ratios.
² Percent on unseen rows: mean of the 16 data sets; depth chosen by cross-validation, 3 at most.
³ With ten quantiles of each feature.
Empty cells are not measured here, or not documented. All runs: [results](docs/results.md).
"""


def comparison(runs: dict, accuracies: dict) -> str:
    """Return README's part: the table, its notes and the chart."""
    table, proofs = proved_at(runs, DEPTH)
    assert len(table) == len(_accuracy.gathered(accuracies)) == 16, "the notes say 16"
    times = list(proofs.values())
    ours = f"{statistics.median(times):.1f} s; {len(times)} of {len(table)} in {times[-1]:.0f} s"
    seen = _accuracy.means(accuracies)
    version = {k: v for where in runs["environments"] for k, v in where["versions"].items()}
    rows = [
        ["**contree**", "every value", "yes", "yes", ours, f"{seen['depth']:.1f}"],
        ["CART (scikit-learn)", "every value", "no: greedy", "", "", f"{seen['cart']:.1f}"],
        [f"pycontree {version['pycontree']}", "every value", "yes", "no"],
        [f"pytrees-rs {version.get('pytrees-rs', '')}".strip(), "every value", "yes", "no"],
        [f"STreeD (pystreed {version['pystreed']})", "0/1 columns", "yes", "", ""],
        ["OptimalTrees, commercial", "", "no: local search", "", "", ""],
    ]
    rows[2] += [longer(table, "pycontree"), ""]
    rows[3] += [longer(table, "pytrees"), ""]
    rows[4].append(f"{seen['quantiles']:.1f} ³")
    head = ["", "thresholds", "proves the optimum", "bound if stopped", "depth 4 ¹", "accuracy ²"]
    image = f"![Seconds to a proved optimum at depth {DEPTH}](docs/results/headline-depth-4.svg)\n"
    return "\n".join([markdown_table(head, rows, "l" * len(head)), NOTES, image])


def longer(table: dict, peer: str) -> str:
    found = times_longer(table, peer)
    mean = number(statistics.geometric_mean(found)) if found else ""
    return f"{mean} times ours, on {len(found)} sets" if found else ""
