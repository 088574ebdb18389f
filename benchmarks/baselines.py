"""MIP and SAT beside contree at depth two: the first columns of the paper's Table 1, run here.

    python benchmarks/baselines.py                            about twenty minutes
    python benchmarks/baselines.py --datasets iris wine --time-limit 10

oct_mip.py and sat_tree.py are small versions of our own, on HiGHS and python-sat, so that anybody
can repeat the comparison without licences; they are not the programs that the paper ran.  iris and
wine are scikit-learn's, small enough to see all three end.
"""

from __future__ import annotations

from pathlib import Path

from _experiment import (
    Cell,
    Experiment,
    cut_off,
    markdown_table,
    median,
    parse,
    parser,
    provenance,
    publish,
)
from _harness import PREPARED, dense_ranks, prepare, run, store
from paper import in_table

EXPERIMENT = "baselines"
DEPTH = 2
TOYS = ("iris", "wine")
DATASETS = [*TOYS, "bank", "bidding", "occupancy", "raisin", "rice", "segment", "wilt"]
COLUMNS = {
    "contree": "contree",
    "oct_mip": "OCT on HiGHS",
    "sat_tree": "SAT on Glucose",
}
PUBLISHED = {"oct_mip": "OCT", "sat_tree": "SAT-Shati"}


def main() -> None:
    made = parser(__doc__, time_limit=60.0)
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=DATASETS)
    made.add_argument("--columns", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    args = parse(made, TOYS, datasets=["iris", "wine", "bank"], time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        rows = [[cell(name, c, args.time_limit) for c in args.columns] for name in args.datasets]
        experiment.conduct(rows, args.repeat, args.again)
    publish(experiment, markdown)


def rows_of(name: str) -> Path:
    if name not in TOYS:
        return prepare(name)
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return store(PREPARED / f"{name}.npz", dense_ranks(X), y)


def cell(name: str, column: str, limit: float) -> Cell:
    about = {"dataset": name, "depth": DEPTH, "column": column}
    return Cell(
        f"{name}:{DEPTH}:{column}", about, limit, lambda: run(column, rows_of(name), DEPTH, limit)
    )


# What is written from the cells.


def markdown(report: dict) -> str:
    table: dict[str, dict] = {}
    for kept in report["cells"].values():
        table.setdefault(kept["dataset"], {})[kept["column"]] = kept
    head = ["data set", "optimum", *(f"{name}, s" for name in COLUMNS.values())]
    for column in PUBLISHED:
        head += [f"{COLUMNS[column]}: errors", "bound"]
    head += [f"*quoted: {method}*" for method in PUBLISHED.values()]
    lines = []
    for name, row in table.items():
        ours = row.get("contree")
        optimum = ours["runs"][-1]["errors"] if ours and not cut_off(ours) else ""
        line = [name, optimum, *(seconds(row.get(column)) for column in COLUMNS)]
        for column in PUBLISHED:
            seen = row[column]["runs"][-1] if column in row else {}
            line += [seen.get("errors", ""), seen.get("lower_bound", "")]
        line += [in_table(name, method, DEPTH) for method in PUBLISHED.values()]
        lines.append(line)
    parts = [
        "## MIP and SAT, depth 2 (Table 1)",
        "CPU seconds of `fit`, one thread, models built in Python included; `>`: the limit "
        "came first, then the errors are of the best tree and the bound is what was proved by "
        "then (the SAT search proves none before its end). Both begin with CART's tree. The "
        "encodings are Bertsimas and Dunn's and Shati, Cohen and McIlraith's, in small versions "
        "of our own on HiGHS and Glucose; the quoted columns are the paper's runs of Gurobi with "
        "eight threads and of the authors' SAT program, four hours at most, the gap at the end in "
        "brackets.",
        provenance(report),
        "Again: `python benchmarks/baselines.py`.",
        markdown_table(head, lines),
    ]
    failures = [
        f"- {key}: failed: {kept['runs'][-1]['failed'].splitlines()[-1]}"
        for key, kept in report["cells"].items()
        if "failed" in kept["runs"][-1]
    ]
    return "\n\n".join(part.rstrip("\n") for part in [*parts, *failures]) + "\n"


def seconds(kept: dict | None) -> str:
    if kept is None:
        return ""
    if "failed" in kept["runs"][-1]:
        return "failed"
    return f"> {kept['time_limit']:g}" if cut_off(kept) else f"{median(kept, 'cpu'):.3f}"


if __name__ == "__main__":
    main()
