"""All results as pages, and README's comparison, from the files that the experiments keep.

    python benchmarks/report.py             docs/results.md, docs/results/, README.md
    python benchmarks/report.py --quick     build/bench/, from what `make bench` measured

Nothing is measured here and nothing typed: whoever runs an experiment again runs this afterwards.
A test fails where the pages are not what the files say.  A new experiment needs its name in
SCRIPTS, and in the Makefile's EXPERIMENTS.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from _comparison import comparison
from _experiment import (
    QUICK_RESULTS,
    RESULTS,
    Experiment,
    digest,
    pages_of,
    publish,
    save_figure,
    write,
)
from _harness import ROOT
from _headline import HEADLINES, Headline

# The scripts, in the order of the page.
SCRIPTS = ["peers", "deep", "anytime", "out_of_sample", "baselines", "pruning", "scaling"]
SCRIPTS += ["distributed", "sparse", "general", "categorical", "regression", "limits"]
FRONT = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks/report.py writes this -->", "<!-- up to here -->"

INTRODUCTION = """\
# Results

The experiments of the paper, run again beside its authors' program and others, and some of our own,
on the paper's 16 data sets. First the five results that matter most, then
[all tables](#all-tables), and [how it is measured](#how-it-is-measured).
"""
MEASURED = """\
## How it is measured

- Every fit has a fresh process, and one thread unless a table says otherwise. The solvers take
  turns on the same rows. Short fits are repeated; the table has the median.
- Times are CPU seconds of `fit`. Limits count wall time. Each process has fitted twenty rows
  before, so imports and first calls are charged to nobody.
- All solvers get the same dense ranks of the columns, because pycontree narrows features to
  float32.
- A solver has *proved* a tree if it says so itself: pycontree if it does not warn of its limit,
  pytrees-rs by `status_`. Where two proofs differ, or a proof is not the known optimum, the table
  says so below.
- `>`: the limit came first. No mean of ratios contains such a cell.
- *Not run*: it would take too long, by the paper's figure or by the depth before.
- *Quoted*: the paper's figure, in seconds on its machine, as printed (`<`, `>`; brackets: the gap
  at the time-out). `skin` there is another sample of the same size.
- Each page says on which machine, with which versions, commit and load its cells were measured.
  The commit is the last one that changed the package.
"""
AGAIN = """\
## Measure again

`make bench` runs a small set of every experiment in about ten minutes. The full sets want a machine
that does nothing else:

```
make .venv/.package .venv/.bench
.venv/bin/python benchmarks/all.py --plan         # what is to be measured, and how long it takes
.venv/bin/python benchmarks/all.py --minutes 60   # the most important first, then report.py
```

`all.py` measures what another commit measured, and continues where it was stopped. The raw runs are
in [benchmarks/results/](../benchmarks/results/).
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
    for headline, report in headlines(folder):
        path = pages_of(folder) / f"{headline.picture}.svg"
        save_figure(headline.draw(), path, report)
    front = folder / "results.md" if args.quick else FRONT
    write(front, front_page(folder))
    if not args.quick:
        write(README, with_comparison(README.read_text()))
    print(front)


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


def headlines(folder: Path = RESULTS) -> list[tuple[Headline, dict]]:
    """Return the headlines whose cells are there, each with the report that it is told from."""
    found = []
    for tell, experiment in HEADLINES.items():
        if (folder / f"{experiment}.json").exists():
            report = read(experiment, folder)
            headline = tell(report)
            found += [(headline, report)] if headline else []
    return found


def front_page(folder: Path = RESULTS) -> str:
    """Return docs/results.md: headlines, links to all tables, and how it is measured."""
    inside = "results/" if folder == RESULTS else ""
    parts = [INTRODUCTION]
    for number, (headline, report) in enumerate(headlines(folder), 1):
        parts.append(
            f"## {number}. {headline.title}\n\n{headline.sentence}\n\n"
            f"![{headline.title}]({inside}{headline.picture}.svg)\n\n"
            f"[The whole table]({inside}{report['experiment']}.md)\n"
        )
    reports = available(folder)
    pages = {report["experiment"]: load(script) for script, report in reports.items()}
    said = {e: module.__doc__.splitlines()[0].rstrip(".?") for e, module in pages.items()}
    lines = [f"- [{said[experiment]}]({inside}{experiment}.md)" for experiment in pages]
    parts += ["## All tables\n\n" + "\n".join(lines) + "\n", MEASURED.rstrip("\n")]
    mixed = [report["experiment"] for report in reports.values() if len(commits(report)) > 1]
    parts.append(f"- Cells of more than one commit stand in: {', '.join(mixed)}.\n" * bool(mixed))
    if folder == RESULTS:
        tree = "\n".join(f"results/{experiment}" for experiment in pages)
        parts += [AGAIN, f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n"]
    return "\n".join(parts)


def commits(report: dict) -> set[str]:
    runs = [run for kept in report["cells"].values() for run in kept["runs"]]
    return {report["environments"][run["environment"]]["commit"] for run in runs}


def with_comparison(readme: str) -> str:
    """Return README with the part between the marks written anew."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    written = comparison(read("peers"), read("out-of-sample"))
    return f"{before}{BEGIN}\n\n{written}\n{END}{after}"


def drawn_from(figure: Path, report: dict) -> bool:
    """Say whether a figure was drawn from this report."""
    return f"data {digest(report)}" in figure.read_text()


if __name__ == "__main__":
    main()
