"""What out_of_sample.py writes from its cells: tables of accuracy and margins, and a figure."""

from __future__ import annotations

import math
import statistics
from collections import Counter

import numpy as np

from _experiment import markdown_table, provenance, pyplot
from paper import accuracy_margin

DEPTH, SPLITS = 3, 5
METHODS = {  # what a cell's run has of each solver: what the table calls it
    "cart": "CART",
    "quantiles": "STreeD, 10 quantiles",
    "guessing": "STreeD, guesses",
    "guessing-all": "contree, guesses of all classes",
    "untuned": "contree, depth 3",
    "depth": "contree, depth tuned",
    "size": "contree, depth and size tuned",
}
IN_PAPER = ("cart", "quantiles", "guessing")
RIVALS = (*IN_PAPER, "guessing-all")


def within(report: dict, splits: range) -> dict:
    """Return the report of these splits alone."""
    cells = {key: kept for key, kept in report["cells"].items() if kept["split"] in splits}
    return {**report, "cells": cells}


def gathered(report: dict) -> dict[str, dict[str, dict[int, dict]]]:
    """Return data set -> method -> split -> what the run saw."""
    found: dict[str, dict[str, dict[int, dict]]] = {}
    for kept in report["cells"].values():
        for method, figures in kept["runs"][-1].get("methods", {}).items():
            of_set = found.setdefault(kept["dataset"], {})
            of_set.setdefault(method, {})[kept["split"]] = figures
    return dict(sorted(found.items()))


def percent(splits: dict[int, dict]) -> list[float]:
    return [100 * figures["accuracy"] for figures in splits.values()]


def markdown(whole: dict) -> str:
    report = within(whole, range(SPLITS))
    table = gathered(report)
    parts = [
        "# Accuracy on unseen rows",
        f"Trees of depth {DEPTH} at most; mean and standard error, in percent, of the test "
        f"accuracy on {SPLITS} stratified splits, 80 % to fit and 20 % to test. Every method "
        "chooses the size of its tree on the same five inner splits. In brackets: the number of "
        "0/1 columns. **Bold**: the best of a row, as rounded. STreeD's depth and size are those "
        "that contree finds on its columns; it then fits the tree, with the same number of errors "
        f"in {compared(table)}. *Guesses* are those of gosdt, which reads the trees of the first "
        "class alone where there are more than two; the column beside it takes those of all "
        "classes.",
        provenance(whole),
        "Again: `python benchmarks/out_of_sample.py` (`--datasets`, `--solvers` for a part of it).",
        accuracy_table(table, report),
        "How many points of accuracy contree is better by, on average over the data sets that "
        "both have, with the standard error from the choice of splits. Then on how many sets it "
        "is better, equal and worse, and the two-sided p of Wilcoxon's signed-rank test over data "
        "sets. *Quoted*: the paper's table of accuracies, with depth tuned; "
        "its error is that of independent splits.",
        margin_table(table),
        "Ways of choosing depth and size from the same inner scores: mean accuracy over data sets "
        "on the unseen rows, and leaves. *In hindsight* is the best of all depths and sizes on "
        "the unseen rows themselves: no way of choosing can be better. *Smaller where better by a "
        "standard error* was chosen after looking at these very rows, as the best of eight that "
        "were tried (five of them thresholds of 0 to 2 standard errors: 88.13 to 88.25); its lead "
        "over depth alone, 0.02, is no evidence.",
        rules_table(report),
        "Leaves of the trees, in the mean over data sets and splits.",
        leaves_table(table),
        *further(whole),
        "![Points that contree is better by, for each data set](out-of-sample.svg)",
    ]
    missing = unfinished(report)
    if missing:
        parts.insert(4, f"Not finished, and in no figure: {', '.join(missing)}.")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def further(whole: dict) -> list[str]:
    """Return what further splits, for the methods that were run on them, say of the first."""
    splits = range(SPLITS, 1 + max((kept["split"] for kept in whole["cells"].values()), default=0))
    report = within(whole, splits)
    if not report["cells"]:
        return []
    run = {(kept["solver"], kept["split"]) for kept in report["cells"].values()}
    runs = Counter(solver for solver, _ in run)
    fewer = [f"{solver} {count}" for solver, count in runs.items() if count < len(splits)]
    return [
        f"## {len(splits)} further splits",
        "Is it the five splits? The same on those that follow them"
        + (f" (fewer of them were run: {', '.join(fewer)})" if fewer else "")
        + ", for the methods that were run on them. Nothing was chosen on these, so they also tell "
        "what the ways of choosing are worth.",
        margin_table(gathered(report)),
        rules_table(report),
    ]


def compared(table: dict) -> str:
    fits = [
        figures
        for row in table.values()
        for method in ("quantiles", "guessing")
        for figures in row.get(method, {}).values()
        if figures["proved"]
    ]
    same = sum(figures["errors"] == figures["errors_of_contree"] for figures in fits)
    return f"{same} of {len(fits)} fits"


def unfinished(report: dict) -> list[str]:
    return [key for key, kept in report["cells"].items() if "methods" not in kept["runs"][-1]]


def accuracy_table(table: dict, report: dict) -> str:
    sizes = {kept["dataset"]: kept["runs"][-1] for kept in report["cells"].values()}
    rows, wins = [], dict.fromkeys(METHODS, 0)
    for name, row in table.items():
        most = max(map(len, row.values()))  # only those with as many splits are compared
        means = {m: round(statistics.fmean(percent(row[m])), 1) for m in row if len(row[m]) == most}
        shown = [name, *(sizes[name].get(what, "") for what in ("rows", "features", "classes"))]
        for method in METHODS:
            won = means.get(method) == max(means.values())
            wins[method] += won
            shown.append(entry(row[method], won) if method in row else "*not run*")
        rows.append(shown)
    means = means_of_all(table)
    of_some = f" of the {len(means)} that all have" if len(means) < len(table) else ""
    if means:
        columns = zip(*means, strict=True)
        rows.append(
            [f"mean{of_some}", "", "", "", *(f"{statistics.fmean(c):.2f}" for c in columns)]
        )
    rows.append(["best in", "", "", "", *(wins[method] for method in METHODS)])
    return markdown_table(["data set", "rows", "p", "K", *METHODS.values()], rows)


def means_of_all(table: dict) -> list[list[float]]:
    """Return the mean of each method, over shared splits, for the data sets that all have."""
    found = []
    for row in table.values():
        shared = set.intersection(*(set(row.get(method, ())) for method in METHODS))
        if shared:
            of_splits = ({k: row[method][k] for k in shared} for method in METHODS)
            found.append([statistics.fmean(percent(splits)) for splits in of_splits])
    return found


def means(report: dict) -> dict[str, float]:
    """Return the mean accuracy of each method, in percent, as in the table's last line but one."""
    columns = zip(*means_of_all(gathered(within(report, range(SPLITS)))), strict=True)
    return dict(zip(METHODS, map(statistics.fmean, columns), strict=True))


def entry(splits: dict[int, dict], best: bool) -> str:
    values = percent(splits)
    text = f"{statistics.fmean(values):.1f}"
    text = f"**{text}**" if best else text
    if len(values) > 1:
        text += f" ± {statistics.stdev(values) / len(values) ** 0.5:.1f}"
    columns = [figures["columns"] for figures in splits.values() if "columns" in figures]
    if columns:
        partly = any(not figures.get("all_removed", True) for figures in splits.values())
        text += f" ({statistics.fmean(columns):.0f}{', more could go' * partly})"
    return text + (f"; {len(values)} of {SPLITS} splits" if len(values) < SPLITS else "")


def pairs(table: dict, ours: str, rival: str) -> dict[str, list[float]]:
    """Return for each data set how many points we are better by on each split that both have."""
    found = {}
    for name, row in table.items():
        common = row.get(ours, {}).keys() & row.get(rival, {}).keys()
        if common:
            found[name] = [
                100 * (row[ours][split]["accuracy"] - row[rival][split]["accuracy"])
                for split in sorted(common)
            ]
    return found


def margin_table(table: dict) -> str:
    rows = []
    for ours in ("untuned", "depth", "size"):
        for rival in (*RIVALS, *(("depth",) if ours == "size" else ())):
            found = pairs(table, ours, rival)
            if not found:
                continue
            means = [statistics.fmean(values) for values in found.values()]
            signs = [round(mean, 6) for mean in means]
            points = f"{statistics.fmean(means):+.2f} ± {error_of_mean(found.values()):.2f}"
            quoted = ours == "depth" and rival in IN_PAPER
            margin = "*{:.2f} ± {:.2f}*".format(*accuracy_margin(rival)) if quoted else ""
            rows.append(
                [
                    *(METHODS[ours], METHODS[rival], points, margin),
                    f"{sum(s > 0 for s in signs)} / {signs.count(0)} / {sum(s < 0 for s in signs)}",
                    signed_rank(means),
                ]
            )
    head = ["", "against", "points", "*quoted*", "better / equal / worse", "p"]
    return markdown_table(head, rows, "llrrrr")


def error_of_mean(sets) -> float:
    """Return the standard error of the mean over data sets, of the values of each on its splits."""
    errors = [statistics.stdev(v) / len(v) ** 0.5 if len(v) > 1 else 0.0 for v in sets]
    return math.hypot(*errors) / len(errors)


def signed_rank(differences: list[float]) -> str:
    """Return the p of Wilcoxon's test that differences are symmetric about zero."""
    from scipy.stats import wilcoxon

    differences = np.round(differences, 6)  # equal accuracies are ties, whatever the last bits say
    if np.count_nonzero(differences) < 2:
        return ""
    return f"{wilcoxon(differences).pvalue:.2g}"


def rules_table(report: dict) -> str:
    found: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for kept in report["cells"].values():
        run = kept["runs"][-1]
        if "inner" not in run:
            continue
        candidates, unseen = [tuple(pair) for pair in run["candidates"]], run["outer"]
        for rule, number in rules(candidates, np.array(run["inner"]), unseen).items():
            seen_of = found.setdefault(rule, {}).setdefault(kept["dataset"], [])
            seen_of.append((100 * unseen[number], candidates[number][1]))
    rows = []
    for rule, sets in found.items():
        accuracy, leaves = (
            statistics.fmean(
                statistics.fmean(pair[k] for pair in of_set) for of_set in sets.values()
            )
            for k in (0, 1)
        )
        rows.append([rule, f"{accuracy:.2f}", f"{leaves:.1f}"])
    return markdown_table(["", "accuracy", "leaves"], rows)


def rules(candidates: list[tuple[int, int]], inner: np.ndarray, unseen: list[float]) -> dict:
    """Return the candidate, a depth and a number of leaves, that each way of choosing takes."""
    from contree._cross_validation import choose

    full = [k for k, (depth, leaves) in enumerate(candidates) if leaves == 2**depth]
    of_depth = choose([candidates[k] for k in full], inner[:, full], False)
    return {
        "none: depth 3": candidates.index((DEPTH, 2**DEPTH)),
        "depth, best mean": full[of_depth],
        "depth and size, best mean": choose(candidates, inner, False),
        "depth and size, one standard error": choose(candidates, inner, True),
        "depth and size, smaller where better by a standard error": surely_better(inner),
        "depth and size, *in hindsight*": int(np.argmax(unseen)),
    }


def surely_better(inner: np.ndarray) -> int:
    """Return the best of those that beat the full tree, the last, by a standard error, or that."""
    gains = inner - inner[:, -1:]
    sure = gains.mean(axis=0) > gains.std(axis=0, ddof=1) / len(inner) ** 0.5
    scores = np.where(sure, inner.mean(axis=0), -1.0)
    return int(np.argmax(scores)) if sure.any() else inner.shape[1] - 1


def leaves_table(table: dict) -> str:
    means = []
    for method in METHODS:
        values = [f["leaves"] for row in table.values() for f in row.get(method, {}).values()]
        means.append(f"{statistics.fmean(values):.1f}" if values else "")
    return markdown_table(["", *METHODS.values()], [["leaves", *means]])


def figures(report: dict) -> dict:
    """Draw for each data set how many points contree is better by."""
    plt = pyplot()
    table = gathered(within(report, range(SPLITS)))
    figure, panels = plt.subplots(
        1, 3, figsize=(9, 0.25 * len(table) + 1.4), sharey=True, layout="constrained"
    )
    names = list(table)[::-1]
    for axes, rival in zip(panels, ("cart", "quantiles", "guessing"), strict=True):
        for ours, colour, shift in (("depth", "#E69F00", 0.15), ("size", "#0072B2", -0.15)):
            found = pairs(table, ours, rival)
            for at, name in enumerate(names):
                if name in found:
                    values = found[name]
                    error = statistics.stdev(values) / len(values) ** 0.5 if values[1:] else 0.0
                    label = METHODS[ours] if at == 0 else None
                    axes.errorbar(
                        statistics.fmean(values),
                        at + shift,
                        xerr=error,
                        fmt="o",
                        markersize=4,
                        color=colour,
                        label=label,
                    )
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_title(f"against {METHODS[rival]}", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    panels[0].set_yticks(range(len(names)), names)
    figure.supxlabel("points of test accuracy that contree is better by", fontsize=9)
    panels[-1].legend(frameon=False, fontsize=7, loc="best")
    return {"out-of-sample": figure}
