"""What each pruning rule is worth: the paper's Figure 2, and the same for our own bounds.

    python benchmarks/pruning.py                              about ten minutes
    python benchmarks/pruning.py --parts paper --datasets bank rice
    python benchmarks/pruning.py --parts own --cases segment:4

paper: the paper's search at depth two with none of its three rules, each alone, and all.
own: the default search with all of its bounds, and with each of them off.  Counts of calls do not
depend on the machine; each run in a process of its own.
"""

from __future__ import annotations

import statistics

import numpy as np

from _experiment import (
    Cell,
    Experiment,
    cut_off,
    markdown_table,
    median,
    number,
    parse,
    parser,
    provenance,
    publish,
    pyplot,
    spread,
)
from _harness import dataset_names, prepare, run

EXPERIMENT = "pruning"
RULES = {"NB": "neighbourhood_pruning", "IS": "interval_shrinking", "SP": "subinterval_pruning"}
VARIANTS = {
    "none": dict.fromkeys(RULES.values(), 0),
    **{
        name: {rule: int(rule == RULES[name]) for rule in RULES.values()}
        for name in ("NB", "IS", "SP")
    },
    "all": {},
}
PUBLISHED = {"NB": 91.1, "IS": 97.5, "SP": 99.6}  # percent of the calls pruned, on average
COLOURS = {"none": "#999999", "NB": "#56B4E9", "IS": "#009E73", "SP": "#E69F00", "all": "#0072B2"}
# Each takes a tenth of a second or more; at depth four also what begins there is at work.
CASES = ["avila:3", "bean:3", "eeg:3", "fault:3", "htru:3", "magic:3", "rice:3", "skin:3"]
CASES += ["bidding:4", "occupancy:4", "raisin:4", "room:4", "segment:4", "wilt:4"]
# Switches that a plain fit does not use: they need a leaf size or a cost of leaves.
ELSEWHERE = {"wide_leaves", "split_pays", "affordable_splits"}


def main() -> None:
    made = parser(__doc__, time_limit=30.0, repeat=3)
    made.add_argument("--parts", nargs="+", choices=["paper", "own"], default=["paper", "own"])
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=dataset_names())
    made.add_argument("--cases", nargs="+", metavar="SET:DEPTH", default=CASES)
    quick = {"datasets": ["bank", "raisin", "segment"], "cases": ["raisin:4"], "repeat": 1}
    args = parse(made, **quick, time_limit=5.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        experiment.conduct(rows(args), args.repeat, args.again, args.renew)
    publish(experiment, markdown, figures)


def rows(args):
    for name in args.datasets if "paper" in args.parts else []:
        yield [
            cell(name, 2, "paper", variant, switches, args.time_limit)
            for variant, switches in VARIANTS.items()
        ]
    for case in args.cases if "own" in args.parts else []:
        name, depth = case.split(":")
        yield [
            cell(name, int(depth), "best_first", off, {off: 0} if off else {}, args.time_limit)
            for off in ["", *own_switches()]
        ]


def own_switches() -> list[str]:
    """Return the switches of the default search that are on or off, and at work in a plain fit."""
    from contree import _core

    return [
        row["name"]
        for row in _core.switches()
        if (row["low"], row["high"]) == (0, 1)
        and row["name"] not in ELSEWHERE
        and row["meaning"].startswith(("best_first", "both"))
    ]


def cell(name: str, depth: int, search: str, variant: str, switches: dict, limit: float) -> Cell:
    def measure() -> dict:
        data = prepare(name)
        more = {"search": search, "search_options": switches, "counters": True}
        with np.load(data) as file:  # dense ranks: the highest is the number of thresholds
            thresholds = int(file["X"].max(axis=0).sum())
        return {**run("contree", data, depth, limit, **more), "thresholds": thresholds}

    about = {"dataset": name, "depth": depth, "search": search, "variant": variant}
    shown = variant if search == "paper" else f"without {variant}" if variant else "all on"
    return Cell(f"{name}:{depth}:{search}:{shown}", about, limit, measure)


# What is written from the cells.


def markdown(report: dict) -> str:
    parts = [
        "# What each pruning rule is worth (Figure 2)",
        provenance(report),
        "Again: `python benchmarks/pruning.py`.",
        *paper_part(table_of(report, "paper")),
        *own_part(table_of(report, "best_first")),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def table_of(report: dict, search: str) -> dict[tuple, dict[str, dict]]:
    """Return (data set, depth) -> variant -> cell."""
    table: dict[tuple, dict] = {}
    for kept in report["cells"].values():
        if kept["search"] == search and "failed" not in kept["runs"][-1]:
            row = table.setdefault((kept["dataset"], kept["depth"]), {})
            row[kept["variant"]] = kept
    return dict(sorted(table.items(), key=lambda item: (item[0][1], item[0][0])))


def calls(kept: dict) -> int:
    """Return the D2Split calls; where there is no pruning, one for each threshold."""
    last = kept["runs"][-1]
    return last["thresholds"] if counted(kept) else last["counters"]["d2split_calls"]


def counted(kept: dict) -> bool:
    return kept["variant"] == "none" and "thresholds" in kept["runs"][-1]


def known(kept: dict | None) -> bool:
    """Say whether the number of calls is that of a whole search."""
    return bool(kept) and (not cut_off(kept) or counted(kept))


def paper_part(table: dict) -> list[str]:
    if not table:
        return []
    lines = []
    for (name, _), row in table.items():
        line = [name]
        for variant in VARIANTS:
            kept = row.get(variant)
            line.append(f"{'> ' * (not known(kept))}{calls(kept):,}" if kept else "")
        for variant in VARIANTS:
            kept = row.get(variant)
            cpu = f"{median(kept, 'cpu'):.3f}" if kept else ""
            line.append(f"> {kept['time_limit']:g}" if cut_off(kept) else cpu)
        lines.append(line)
    head = ["data set", *(f"calls: {name}" for name in VARIANTS), *(f"s: {n}" for n in VARIANTS)]
    said = []
    for variant in [*RULES, "all"]:
        pairs = [(row.get(variant), row.get("none")) for row in table.values()]
        pruned = [
            100 * (1 - calls(kept) / calls(none))
            for kept, none in pairs
            if kept and not cut_off(kept) and known(none)
        ]
        if pruned:
            quoted = f" (*quoted: {PUBLISHED[variant]} %*)" if variant in PUBLISHED else ""
            said.append(
                f"- {variant} prunes {statistics.fmean(pruned):.1f} % of the calls on average"
                f"{quoted}, {min(pruned):.1f} to {max(pruned):.1f} %, {len(pruned)} data sets."
            )
    return [
        "## The paper's rules, depth two",
        'D2Split calls and CPU seconds of `search="paper"`: no pruning, neighbourhood pruning '
        "(NB), interval shrinking (IS), sub-interval pruning (SP), and all three. `>`: the "
        "limit came first.",
        markdown_table(head, lines),
        "\n".join(said),
        "![D2Split calls by pruning rule](pruning.svg)",
    ]


def own_part(table: dict) -> list[str]:
    if not table:
        return []
    cases = [f"{name} {depth}" for name, depth in table]
    lines = [
        ["all on: CPU s", *(f"{median(row[''], 'cpu'):.3f}" for row in table.values()), "", ""],
        ["all on: visits", *(f"{visits(row['']):,}" for row in table.values()), "", ""],
    ]
    for variant, shown, of_visits, of_time in own_ratios(table):
        line = [f"`{variant}`", *(shown.get(case, "") for case in table)]
        lines.append([*line, spread(of_visits, "cases"), spread(of_time, "cases")])
    return [
        "## Our own bounds, each off",
        "One switch is off, the rest on. The cells say how many times as many row visits the "
        "search then makes. A row visit is one row of one feature in one run of the depth-two "
        "kernel. It does not depend on the machine. Below 1, the bound does not pay on these "
        "rows. If the limit came first, the cell has `>` and counts what was done until then. "
        "`docs/options.md` says what each switch does.",
        markdown_table(["switch off", *cases, "visits: mean", "CPU time: mean"], lines),
        "![Row visits with each bound off](bounds.svg)",
    ]


def visits(kept: dict) -> int:
    return kept["runs"][-1]["counters"]["row_visits"]


def own_ratios(table: dict):
    """Yield, for each switch: its name, case -> text, and the ratios of visits and of time."""
    variants = dict.fromkeys(variant for row in table.values() for variant in row if variant)
    for variant in variants:
        shown, of_visits, of_time = {}, [], []
        for case, row in table.items():
            if variant not in row or cut_off(row[""]):
                continue
            off, on = row[variant], row[""]
            of_visits.append(visits(off) / visits(on))
            of_time.append(median(off, "cpu") / median(on, "cpu"))
            shown[case] = "> " * cut_off(off) + number(of_visits[-1])
        if shown:
            yield variant, shown, of_visits, of_time


def figures(report: dict) -> dict:
    plt = pyplot()
    made = {}
    table = table_of(report, "paper")
    if table:
        figure, axes = plt.subplots(figsize=(10, 3.6), layout="constrained")
        for number_of, (variant, colour) in enumerate(COLOURS.items()):
            at = [x + (number_of - 2) * 0.16 for x in range(len(table))]
            heights = [calls(row[variant]) if variant in row else 0 for row in table.values()]
            axes.bar(at, heights, 0.15, color=colour, label=variant)
        axes.set_yscale("log")
        axes.set_xticks(range(len(table)), [name for name, _ in table], rotation=45, ha="right")
        axes.set_ylabel("D2Split calls, depth two")
        figure.legend(frameon=False, ncols=5, fontsize=8, loc="outside upper center")
        axes.spines[["top", "right"]].set_visible(False)
        made["pruning"] = figure
    found = list(own_ratios(table_of(report, "best_first")))
    if found:
        found.sort(key=lambda item: statistics.geometric_mean(item[2]))
        figure, axes = plt.subplots(figsize=(8, 0.32 * len(found) + 1), layout="constrained")
        for at, (_, _, times, _) in enumerate(found):
            mean = statistics.geometric_mean(times)
            axes.barh(at, mean - 1, left=1, color="#0072B2")
            axes.plot([min(times), max(times)], [at, at], color="#111111", linewidth=0.8)
            axes.annotate(f" {number(mean)}", (max(*times, 1), at), va="center", fontsize=8)
        axes.axvline(1, color="#111111", linewidth=0.6)
        axes.set_xscale("log")
        axes.set_yticks(range(len(found)), [variant for variant, *_ in found], fontsize=8)
        axes.set_xlabel("times as many row visits without it: geometric mean; line: least and most")
        axes.spines[["top", "right"]].set_visible(False)
        made["bounds"] = figure
    return made


if __name__ == "__main__":
    main()
