"""All results as one document, and README's headline, from the files that the experiments keep.

    python benchmarks/report.py             docs/results.md, README.md, docs/figures/speed.svg
    python benchmarks/report.py --quick     build/bench/results.md, from what `make bench` measured

Nothing is measured here and nothing typed: whoever runs an experiment again runs this afterwards.
A test fails where the documents are not what the files say.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import statistics
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import peers
from _experiment import (
    QUICK_RESULTS,
    RESULTS,
    Experiment,
    digest,
    median,
    number,
    publish,
    pyplot,
    save_figure,
    write,
)
from _harness import ROOT
from paper import at_least, quoted

# The scripts, in the order of the document.
SCRIPTS = ["peers", "baselines", "pruning", "anytime", "first_seconds", "limits"]
SCRIPTS += ["out_of_sample", "scaling", "distributed", "sparse", "general"]
DOCUMENT = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
CHART = ROOT / "docs" / "figures" / "speed.svg"
BEGIN, END = "<!-- benchmarks/report.py writes this -->", "<!-- up to here -->"

INTRODUCTION = """\
# Results

The experiments of the paper, run again beside its authors' program and others, and some of our own.
`benchmarks/report.py` writes this page from the raw runs in
[benchmarks/results/](../benchmarks/results/); each part says how to repeat it. What is not finished
says so in its cell.

How it is measured: every fit in a fresh process, the solvers in turn, on the same rows and as many
threads, the median of several runs where they are short. Cells that were run again stand beside
earlier ones (the JSON has each run's date, commit and load). All solvers get the same dense ranks
of the columns, because pycontree narrows features to float32. The limits count wall time. CPU times
of commits before 3d7c304 are user time alone, and without the fit of twenty rows that now comes
first; on fits of milliseconds that matters (Wilt at depth 3: 22.8 times faster than pycontree the
old way, 27.0 the new and with a better order of search), on longer ones hardly.

`make bench` runs a small set of all experiments. The commands below run the full sets, in `.venv`
after `make bench` has made it, on a machine that does nothing else. They take up where they were
ended: a finished cell is not run again (`--again` forgets it), and what a limit cut off is run
again with a higher `--time-limit`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="of what `make bench` measured")
    args = parser.parse_args()
    folder = QUICK_RESULTS if args.quick else RESULTS
    for script, report in available(folder).items():
        module = load(script)
        experiment = Experiment(report["experiment"], folder)
        publish(experiment, module.markdown, getattr(module, "figures", None), say=False)
    if args.quick:
        write(folder / "results.md", document(folder))
        print(folder / "results.md")
        return
    write(DOCUMENT, document(folder))
    report = read("peers", folder)
    save_figure(chart(report), CHART, report)
    write(README, with_headline(README.read_text(), report))
    print(f"{DOCUMENT}\n{README}\n{CHART}")


@cache
def load(script: str) -> ModuleType:
    """Import a script of this folder, also one that has the name of somebody's package."""
    path = Path(__file__).with_name(f"{script}.py")
    spec = importlib.util.spec_from_file_location(f"benchmarks.{script}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


def read(experiment: str, folder: Path = RESULTS) -> dict:
    return json.loads((folder / f"{experiment}.json").read_text())


def available(folder: Path = RESULTS) -> dict[str, dict]:
    """Return the scripts that have results, each with its report."""
    found = {}
    for script in SCRIPTS:
        if Path(__file__).with_name(f"{script}.py").exists():
            experiment = load(script).EXPERIMENT
            if (folder / f"{experiment}.json").exists():
                found[script] = read(experiment, folder)
    return found


def document(folder: Path = RESULTS) -> str:
    """Return docs/results.md."""
    parts = [INTRODUCTION]
    for script, report in available(folder).items():
        parts.append(load(script).markdown(report))
    text = "\n".join(parts)
    if folder == RESULTS:
        text = re.sub(r"\]\(([\w-]+\.svg)\)", r"](../benchmarks/results/\1)", text)
    return text


def with_headline(readme: str, report: dict) -> str:
    """Return README with the part between the marks written anew."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{headline(report)}{END}{after}"


def headline(report: dict) -> str:
    """Return README's table of run times: one row for each depth."""
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
            "One thread, the paper's 16 data sets, both solvers on the same rows and machine:",
            "",
            *lines,
            "",
            "![Seconds to a proved optimum at depth 4](docs/figures/speed.svg)",
            "",
            "All tables and figures, with memory, threads, the paper's rivals, pruning, anytime "
            "curves and what is not finished: [docs/results.md](docs/results.md).",
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


def chart(report: dict, depth: int = 4):
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


def drawn_from(figure: Path, report: dict) -> bool:
    """Say whether a figure was drawn from this report."""
    return f"data {digest(report)}" in figure.read_text()


if __name__ == "__main__":
    main()
