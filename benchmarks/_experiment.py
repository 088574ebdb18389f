"""An experiment: cells that are measured once and kept, and what is written from them.

A script says which cells it has and how each is measured, and what table and figures they give.
The rest is here: a cell that is in results/<name>.json is not measured again (--again: it is;
--renew: it is if another commit measured it), the file is whole after each run, every run names the
machine, the versions and the commit that it was made with, and tables and figures come from the
file alone (--report: without any run).

    {"experiment": ..., "seed": ..., "environments": [...],
     "cells": {key: {what the cell is, "time_limit": ..., "runs": [{..., "environment": 0}]}}}
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from _harness import ROOT, dataset_names, environment

RESULTS = ROOT / "benchmarks" / "results"
PAGES = ROOT / "docs" / "results"  # tables and figures of RESULTS
QUICK_RESULTS = ROOT / "build" / "bench"
# Packages that only some cells use: parts of the keys of those.
USED_BY = {
    "pycontree": ("pycontree",),
    "pytrees-rs": ("pytrees",),
    "pystreed": ("streed", "STreeD", "quantiles", "guessing"),
    "highspy": ("oct_mip",),
    "python-sat": ("sat_tree",),
}
SHORT = 5.0  # seconds; cells below it are repeated


@dataclass(frozen=True)
class Cell:
    """One figure of a table: its key, what it is, and how one run of it is made."""

    key: str  # unique in the experiment, such as "bean:4:pycontree"
    about: dict  # what the key says, for those who read the file
    time_limit: float  # seconds for each run
    measure: Callable[[], dict]  # returns at least "wall"; "proved": False if the limit cut it off


class Experiment:
    """The cells of one experiment that are measured, in a file."""

    def __init__(
        self,
        name: str,
        folder: Path = RESULTS,
        seed: int | None = None,
        short: float = SHORT,  # seconds; what takes longer is run once
    ):
        self.path = folder / f"{name}.json"
        self.short = short
        self.renewed: int | None = None  # the environment that all cells must be of, if one
        self.report = {"experiment": name, "seed": seed, "environments": [], "cells": {}}
        if self.path.exists():
            self.report = json.loads(self.path.read_text())

    def conduct(
        self,
        rows: Iterable[list[Cell]],
        repeat: int = 1,
        again: Iterable[str] = (),
        renew: bool = False,
    ):
        """Make the runs that are missing.

        The cells of a row take turns, so that what disturbs the machine for a while disturbs all
        of them.  Short cells are repeated; those whose key is like one of `again` are forgotten
        first, and so are those that an earlier, lower limit cut off.  With `renew`, a cell of
        another commit is replaced when its turn comes.
        """
        from tqdm import tqdm

        rows = [list(row) for row in rows]
        cells = self.report["cells"]
        for cell in (cell for row in rows for cell in row):
            if any(fnmatch.fnmatch(cell.key, pattern) for pattern in again):
                cells.pop(cell.key, None)
            if cut_off(cells.get(cell.key)) and cells[cell.key]["time_limit"] < cell.time_limit:
                del cells[cell.key]
        where = self._environment()
        self.renewed = where if renew else None
        waiting = [cell for row in rows for cell in row if not self.finished(cell, repeat)]
        left = sum(cell.time_limit for cell in waiting)
        with tqdm(total=len(waiting), unit="cell", disable=not waiting) as bar:
            for row in rows:
                for turn in range(repeat):
                    for cell in row:
                        if self.finished(cell, repeat) or self._runs(cell) > turn:
                            continue
                        bar.set_postfix_str(f"{cell.key}; at most {left / 60:.0f} min left")
                        self._measure(cell, where)
                        if self.finished(cell, repeat):
                            left -= cell.time_limit
                            bar.update()

    def finished(self, cell: Cell, repeat: int) -> bool:
        kept = self.report["cells"].get(cell.key)
        if not kept or not kept["runs"] or self._outdated(kept):
            return False
        wall = kept["runs"][-1].get("wall", math.inf)  # what does not say its time is not repeated
        if cut_off(kept) or wall >= self.short or kept["time_limit"] > cell.time_limit:
            return True  # a lower limit must not cut off what a higher one has proved
        return len(kept["runs"]) >= repeat

    def _runs(self, cell: Cell) -> int:
        kept = self.report["cells"].get(cell.key)
        return len(kept["runs"]) if kept and not self._outdated(kept) else 0

    def _outdated(self, kept: dict) -> bool:
        """Say whether a cell has runs of another commit than the one that all shall have."""
        if self.renewed is None:
            return False
        commit = [where["commit"] for where in self.report["environments"]]
        return any(commit[run["environment"]] != commit[self.renewed] for run in kept["runs"])

    def _measure(self, cell: Cell, where: int) -> None:
        started = {
            "environment": where,
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "load": round(os.getloadavg()[0], 1),
        }
        run = {**cell.measure(), **started}
        cells = self.report["cells"]
        if cell.key not in cells or self._outdated(cells[cell.key]):
            cells[cell.key] = {**cell.about, "time_limit": cell.time_limit, "runs": []}
        cells[cell.key]["runs"].append(run)
        self.save()

    def _environment(self) -> int:
        """Return the number of today's environment in the file; it is there once."""
        now, known = environment(), self.report["environments"]
        if now not in known:
            known.append(now)
        return known.index(now)

    def save(self) -> None:
        """Write the file in one step, so that an end at any moment leaves a whole one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A value a line, so that git shows what changed; indentation would be a third of the file.
        write(self.path, json.dumps(self.report, indent=0) + "\n")


def cut_off(kept: dict | None) -> bool:
    """Say whether a cell's last run failed or ended by its limit."""
    return bool(kept and kept["runs"]) and not kept["runs"][-1].get("proved", True)


def write(path: Path, text: str) -> None:
    path.with_suffix(".tmp").write_text(text)
    path.with_suffix(".tmp").replace(path)


# The command line that all scripts share.


def parser(doc: str, time_limit: float, repeat: int = 1) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--time-limit", type=float, default=time_limit, help="seconds for each run")
    made.add_argument("--repeat", type=int, default=repeat, help="runs of a short cell")
    made.add_argument(
        *("--again",),
        nargs="*",
        metavar="KEY",
        help="measure cells again: all, or those with keys such as 'bean:4:*'",
    )
    made.add_argument("--renew", action="store_true", help="measure again what another commit did")
    made.add_argument("--report", action="store_true", help="only write tables and figures")
    made.add_argument("--quick", action="store_true", help="a small set, to build/bench/")
    made.add_argument("--output", type=Path, help="folder; default: benchmarks/results/")
    return made


def parse(made: argparse.ArgumentParser, also: Iterable[str] = (), **quick) -> argparse.Namespace:
    """Parse the command line; with --quick, `quick` are the defaults instead.

    --datasets may name the paper's sets, and those in `also`.
    """
    if made.parse_known_args()[0].quick:
        made.set_defaults(**quick)
    args = made.parse_args()
    args.output = args.output or (QUICK_RESULTS if args.quick else RESULTS)
    args.again = ["*"] if args.again == [] else args.again or []
    names = getattr(args, "datasets", None)
    if names and not args.report:
        known = [*also, *dataset_names()]
        unknown = sorted(set(names) - set(known))
        if unknown:
            made.error(
                f"no data set {', '.join(unknown)}; there are {' '.join(known)}; "
                "CONTREE_DATA is the folder that holds train/"
            )
    return args


# What is written from the cells.


def publish(
    experiment: Experiment, markdown: Callable, figures: Callable | None = None, say: bool = True
) -> None:
    """Write the page and the figures of an experiment."""
    folder, report = pages_of(experiment.path.parent), experiment.report
    folder.mkdir(parents=True, exist_ok=True)
    if not report["cells"]:
        raise SystemExit(f"{experiment.path} has no cells: nothing to report")
    text = markdown(report)
    write(folder / f"{report['experiment']}.md", text)
    for name, figure in (figures(report) if figures else {}).items():
        save_figure(figure, folder / f"{name}.svg", report)
    if say:
        print(text)
        if folder == PAGES:
            print("Next, docs/results.md and README.md: python benchmarks/report.py")


def pages_of(folder: Path) -> Path:
    """Return the folder of the pages and figures that are written from the results in another."""
    return PAGES if folder == RESULTS else folder


def digest(report: dict) -> str:
    """Return a short digest of a report; a figure carries that of the report it was drawn from."""
    return hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()[:16]


def pyplot():
    """Return pyplot for files alone, with the same bytes for the same figure."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "contree"
    import matplotlib.pyplot as plt

    return plt


def save_figure(figure, path: Path, report: dict) -> None:
    figure.savefig(path, metadata={"Date": None, "Source": f"data {digest(report)}"})
    pyplot().close(figure)


def provenance(report: dict, keys: Iterable[str] | None = None) -> str:
    """Say where the runs of a report, or of some of its cells, were made."""
    cells = report["cells"] if keys is None else {key: report["cells"][key] for key in keys}
    runs = [run for cell in cells.values() for run in cell["runs"]]
    used = [report["environments"][i] for i in sorted({run["environment"] for run in runs})]
    machines = dict.fromkeys(f"{where['cpu']}, {where['cores']} cores" for where in used)
    versions: dict[str, list[str]] = {}
    for where in used:
        for name, text in where["versions"].items():
            used_by = any(part in key for key in cells for part in USED_BY.get(name, ("",)))
            if used_by and text not in versions.setdefault(name, []):
                versions[name].append(text)
    commits = dict.fromkeys(
        where["commit"][:7] + "+changes" * where["uncommitted_changes"] for where in used
    )
    dates = sorted(run["date"][:10] for run in runs)
    days = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    loads = [run["load"] for run in runs]
    said = ", ".join(f"{name} {'/'.join(texts)}" for name, texts in versions.items())
    seed = "none: nothing is drawn" if report["seed"] is None else report["seed"]
    return (
        f"{'; '.join(machines)}; load {min(loads):.1f} to {max(loads):.1f} before a run; {said}; "
        f"commit {', '.join(commits)}; {days}; seed {seed}."
    )


def median(cell: dict, field: str) -> float:
    return statistics.median(run[field] for run in cell["runs"])


def markdown_table(head: list[str], rows: list[list], align: str | None = None) -> str:
    """Return a Markdown table; `align` has l or r for each column, default: l, then r."""
    align = align or "l" + "r" * (len(head) - 1)
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("|" + "|".join("---" if side == "l" else "---:" for side in align) + "|")
    lines += ["| " + " | ".join(str(item) for item in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def spread(ratios: list[float], of: str = "data sets") -> str:
    """Say the geometric mean of ratios and how far they lie apart."""
    logs = [math.log(ratio) for ratio in ratios]
    mean, low, high = math.exp(statistics.fmean(logs)), min(ratios), max(ratios)
    if len(ratios) == 1:
        return f"{number(mean)} (one of the {of})"
    deviation = math.exp(statistics.stdev(logs))
    return (
        f"{number(mean)} (geometric standard deviation {deviation:.1f}, "
        f"{number(low)} to {number(high)}, {len(ratios)} {of})"
    )


def number(value: float) -> str:
    """Write a positive figure with about three digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
