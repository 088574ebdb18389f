"""All results as one document, and README's comparison, from the files that the experiments keep.

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
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from _experiment import (
    QUICK_RESULTS,
    RESULTS,
    Experiment,
    digest,
    publish,
    save_figure,
    write,
)
from _harness import ROOT
from _headline import chart, comparison, overview

# The scripts, in the order of the document.
SCRIPTS = ["peers", "baselines", "pruning", "anytime", "first_seconds", "limits"]
SCRIPTS += ["out_of_sample", "scaling", "distributed", "sparse", "general", "regression"]
DOCUMENT = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
CHART = ROOT / "docs" / "figures" / "speed.svg"
BEGIN, END = "<!-- benchmarks/report.py writes this -->", "<!-- up to here -->"

INTRODUCTION = """\
# Results

The experiments of the paper, run again beside its authors' program and others, and some of our own.
`benchmarks/report.py` writes this page from the raw runs in
[benchmarks/results/](../benchmarks/results/).

How the runs are made:

- Every fit has a fresh process. The solvers take turns, on the same rows and with as many threads.
  Short fits are repeated; the table has the median.
- All solvers get the same dense ranks of the columns, because pycontree narrows features to
  float32.
- Limits count wall time. A line below each heading says on which machine, with which versions,
  commits and load. Cells of different commits stand side by side; the JSON has the commit of each.
- CPU times of commits before 3d7c304 lack system time, and the fit of twenty rows that now comes
  first. This matters for fits of milliseconds only.

How to read the tables:

- `>`: the limit came first, and nothing is proved unless a bound stands beside it. No mean contains
  such a cell unless its caption says so.
- *Not run*: not finished for lack of time.
- *Quoted*: the paper's figure, in seconds on its machine, as printed (`<`, `>`; brackets: the gap
  at the time-out).

`make bench` runs a small set of all experiments. The commands below run the full sets, in `.venv`
after `make bench` has made it, on a machine that does nothing else. They continue where they were
stopped. `--again` repeats a finished cell. A higher `--time-limit` repeats what a limit cut off.
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
    report = read("peers")
    save_figure(chart(report), CHART, report)
    write(README, with_comparison(README.read_text()))
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
    if folder == RESULTS:
        parts.append(overview(read("peers")))
    for script, report in available(folder).items():
        parts.append(load(script).markdown(report))
    text = "\n".join(parts)
    if folder == RESULTS:
        text = re.sub(r"\]\(([\w-]+\.svg)\)", r"](../benchmarks/results/\1)", text)
    return text


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
