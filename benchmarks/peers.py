"""Run time and memory: the paper's Tables 1 and 2, depths 5 and 6, and the memory table.

    python benchmarks/peers.py                                  all of it, hours
    python benchmarks/peers.py --depth 3 --columns contree pycontree
    python benchmarks/peers.py --depth 4 --gap --datasets rice --time-limit 60

Each fit in a process of its own, the solvers in turn on the same rows.  A peer that by the paper
would take more than twice the limit is not started; what others have published is quoted.
"""

from __future__ import annotations

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
from _harness import dataset_names, known_optima, prepare, run
from paper import METHODS, at_least, in_table, quoted

EXPERIMENT = "peers"
DEPTHS = [2, 3, 4, 5, 6]
GAP = 0.01  # the paper's: 1 % of all rows
QUICK = ["bank", "bidding", "occupancy", "raisin", "room", "segment", "wilt"]

COLUMNS = {  # name: what is run, the paper's name for it, what the table calls it
    "contree": ({"solver": "contree"}, None, "contree"),
    "contree-2": ({"solver": "contree", "threads": 2}, None, "contree, 2 threads (wall)"),
    "paper-search": ({"solver": "contree", "search": "paper"}, None, 'contree, `search="paper"`'),
    "no-d2": (
        {"solver": "contree", "search": "paper", "search_options": {"depth_two": 0}},
        "ConTree (No D2)",
        'contree, `search="paper"`, `depth_two=0`',
    ),
    "pycontree": ({"solver": "pycontree"}, "ConTree", "pycontree"),
}
COLOURS = ("#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#E69F00")  # of the depths
SHALLOW = {"paper-search": 3, "no-d2": 3}  # the deepest that a column is run at unless asked for


def main() -> None:
    made = parser(__doc__, time_limit=600.0, repeat=5)
    made.add_argument("--depth", type=int, nargs="+", choices=DEPTHS)
    made.add_argument("--gap", action="store_true", help="only the tables with a gap of 1 %%")
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=dataset_names())
    made.add_argument("--columns", nargs="+", choices=COLUMNS)
    args = parse(made, datasets=QUICK, depth=[2, 3], repeat=1, time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        experiment.conduct(rows(args), args.repeat, args.again)
    publish(experiment, markdown, figures)


def rows(args):
    """Yield the cells of each row: a data set at a depth, without a gap or with one."""
    if args.gap:
        kinds = [(depth, GAP) for depth in args.depth or [4]]
    elif args.depth:
        kinds = [(depth, 0.0) for depth in args.depth]
    else:
        kinds = [(2, 0.0), (3, 0.0), (4, 0.0), (4, GAP), (5, 0.0), (6, 0.0)]
    for depth, gap in kinds:
        for name in args.datasets:
            yield [
                cell(name, depth, gap, column, args.time_limit)
                for column in args.columns or COLUMNS
                if worth_it(name, depth, gap, column, args)
            ]


def worth_it(name: str, depth: int, gap: float, column: str, args) -> bool:
    if not args.columns and depth > SHALLOW.get(column, depth):
        return False
    method = COLUMNS[column][1]
    return method is None or at_least(quote(name, method, depth, gap)) <= 2 * args.time_limit


def quote(name: str, method: str, depth: int, gap: float, what: str = "seconds") -> str:
    return quoted(name, method, depth, round(100 * gap), what)


def key(name: str, depth: int, gap: float, column: str) -> str:
    return f"{name}:{depth}{'-gap' * bool(gap)}:{column}"


def cell(name: str, depth: int, gap: float, column: str, limit: float) -> Cell:
    def measure() -> dict:
        task = {"data": prepare(name), "depth": depth, "time_limit": limit}
        return run(**task, **COLUMNS[column][0], **({"max_gap": gap} if gap else {}))

    about = {"dataset": name, "depth": depth, "gap": gap, "column": column}
    about["known_optimum"] = known_optima().get((name, depth))
    return Cell(key(name, depth, gap, column), about, limit, measure)


# What is written from the cells.


def markdown(report: dict) -> str:
    cells = report["cells"]
    kinds = sorted({(cell["depth"], cell["gap"]) for cell in cells.values()})
    parts = [
        "## Run time and memory",
        "CPU seconds of `fit`, and wall time for two threads. Each process has fitted twenty rows "
        "before. A peer is *not run* where it would take more than twice the limit by the paper's "
        "figure. A ratio is how many times longer a solver took than contree with one thread; "
        "only data sets that both proved count.",
        provenance(report),
        "Again: `python benchmarks/peers.py` (`--depth 3`, `--gap`, `--columns`, `--datasets` "
        "for a part of it).",
    ]
    parts += [runtime_section(cells, depth, gap) for depth, gap in kinds]
    parts.append(memory_section(cells))
    if any(cell["column"] == "pycontree" for cell in cells.values()):
        parts.append("![Seconds of pycontree against seconds of contree](peers.svg)\n")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def of_kind(cells: dict, depth: int, gap: float) -> dict[str, dict[str, dict]]:
    """Return data set -> column -> cell."""
    found: dict[str, dict[str, dict]] = {}
    for cell in cells.values():
        if (cell["depth"], cell["gap"]) == (depth, gap):
            found.setdefault(cell["dataset"], {})[cell["column"]] = cell
    return dict(sorted(found.items()))


def runtime_section(cells: dict, depth: int, gap: float) -> str:
    table = of_kind(cells, depth, gap)
    shown = [name for name in COLUMNS if any(name in row for row in table.values())]
    methods = [m for m in METHODS if any(quote(name, m, depth, gap) for name in table)]
    head = ["data set", "errors", *(COLUMNS[name][2] for name in shown)]
    head += ["pycontree / contree"] * ("pycontree" in shown)
    head += [f"*quoted: {method}*" for method in methods]
    lines = []
    for name, row in table.items():
        line = [name, errors(row.get("contree")), *(seconds(row.get(column)) for column in shown)]
        if "pycontree" in shown:
            times = ratio(row, "pycontree", "contree")
            line.append(number(times) if times else "")
        lines.append(line + [in_table(name, method, depth, round(100 * gap)) for method in methods])
    title = f"### Depth {depth}{', at most 1 % of the rows from the optimum' * bool(gap)}"
    said = [
        means(table, "pycontree", "contree", "pycontree against contree"),
        means(table, "contree", "contree-2", "one thread against two", "wall"),
        means(table, "no-d2", "paper-search", "without the depth-two subroutine against with it"),
        means(table, "paper-search", "contree", '`search="paper"` against the default'),
        *remarks(table),
    ]
    text = markdown_table(head, lines)
    return "\n\n".join([title, text.rstrip("\n"), "\n".join(f"- {s}" for s in said if s)])


def seconds(cell: dict | None) -> str:
    if cell is None or not cell["runs"]:
        return "not run"
    if "failed" in cell["runs"][-1]:
        return "failed"
    if cut_off(cell):
        return f"> {cell['time_limit']:g}"
    return exact(median(cell, clock(cell)))


def clock(cell: dict) -> str:
    return "wall" if cell["column"] == "contree-2" else "cpu"


def exact(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def errors(cell: dict | None) -> str:
    """Return the errors of contree's tree, and the bound where they are not proved."""
    if cell is None or not cell["runs"] or "failed" in cell["runs"][-1]:
        return ""
    last = cell["runs"][-1]
    if last["errors"] == last["lower_bound"]:
        return str(last["errors"])
    return f"{last['errors']} (bound {last['lower_bound']})"


def proved(cell: dict | None) -> bool:
    return bool(cell and cell["runs"]) and not cut_off(cell)


def ratio(row: dict[str, dict], slow: str, fast: str, by: str = "cpu") -> float | None:
    """Return how many times longer `slow` took, if both have proved their trees.

    Two columns of contree are compared only if they were made with the same commit.
    """
    if not (proved(row.get(slow)) and proved(row.get(fast))):
        return None
    made_with = {row[column]["runs"][-1]["environment"] for column in (slow, fast)}
    if slow != "pycontree" and len(made_with) > 1:
        return None
    return median(row[slow], by) / max(median(row[fast], by), 1e-4)  # the clock may not have ticked


def means(table: dict, slow: str, fast: str, what: str, by: str = "cpu") -> str:
    found = [ratio(row, slow, fast, by) for row in table.values()]
    found = [times for times in found if times]
    return f"Geometric mean of the ratios, {what}: {spread(found)}." if found else ""


def remarks(table: dict) -> list[str]:
    """Say what a reader must know before believing the figures."""
    said = []
    for name, row in table.items():
        for column, cell in row.items():
            last, known = cell["runs"][-1], cell["known_optimum"]
            if "failed" in last:
                said.append(f"{name}, {column}: {last['failed'].splitlines()[-1]}")
            elif proved(cell) and not cell["gap"] and known not in (None, last["errors"]):
                said.append(f"{name}, {column}: {last['errors']} errors, known: {known}")
        found = {row[c]["runs"][-1]["errors"] for c in row if proved(row[c]) and not row[c]["gap"]}
        if len(found) > 1:
            said.append(f"{name}: the proved optima differ: {sorted(found)}")
    return said


def memory_section(cells: dict) -> str:
    depths = sorted({cell["depth"] for cell in cells.values()})
    names = sorted({cell["dataset"] for cell in cells.values()})
    own = [(column, depth) for depth in depths for column in ("contree", "pycontree")]
    others = [
        (method, depth)
        for depth in depths
        for method in METHODS
        if any(quote(name, method, depth, 0.0, "memory_mb") for name in names)
    ]
    head = ["data set", *(f"{column}, depth {depth}" for column, depth in own)]
    head += [f"*quoted: {method}, depth {depth}*" for method, depth in others]
    lines = []
    for name in names:
        line = [name]
        for column, depth in own:
            cell = cells.get(key(name, depth, 0.0, column))
            line.append(memory(cell))
        for method, depth in others:
            line.append(in_table(name, method, depth, what="memory_mb"))
        lines.append(line)
    said = [
        "### Memory",
        "Peak resident memory in MB during `fit`, less what the interpreter, the imports and the "
        f"loaded rows take before ({baseline(cells)}). `*`: the limit came first. The quoted "
        "figures are of the whole process.",
        markdown_table(head, lines).rstrip("\n"),
    ]
    for depth in depths:
        found = []
        for name in names:
            pair = [cells.get(key(name, depth, 0.0, c)) for c in ("pycontree", "contree")]
            if all(proved(cell) for cell in pair):
                peer, ours = (median(cell, "peak_mb") for cell in pair)
                found.append(max(peer, 0.1) / max(ours, 0.1))
        if found:
            said.append(f"- Depth {depth}, pycontree's memory against contree's: {spread(found)}.")
    return "\n\n".join(said)


def memory(cell: dict | None) -> str:
    if cell is None or not cell["runs"] or "failed" in cell["runs"][-1]:
        return ""
    return f"{median(cell, 'peak_mb'):.1f}" + "*" * cut_off(cell)


def baseline(cells: dict) -> str:
    runs = [run for cell in cells.values() for run in cell["runs"]]
    found = [run["baseline_mb"] for run in runs if "baseline_mb" in run]
    return f"{min(found):.0f} to {max(found):.0f} MB" if found else "not kept"


def figures(report: dict) -> dict:
    """Draw pycontree's seconds against contree's, each data set and depth a point."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    cells = report["cells"]
    for depth, colour in zip(DEPTHS, COLOURS, strict=True):
        for open_ended in (False, True):
            points = list(pairs(cells, depth, open_ended))
            if points:
                label = None if open_ended else f"depth {depth}"
                face = "none" if open_ended else colour
                ours, peer = zip(*points, strict=True)
                axes.scatter(ours, peer, s=28, edgecolors=colour, facecolors=face, label=label)
    ends = (1e-3, 2e4)
    for times in (1, 10, 100, 1000):
        axes.plot(ends, [times * end for end in ends], color="#BBBBBB", linewidth=0.7, zorder=0)
        axes.annotate(f"{times} times", (ends[0] * 1.2, ends[0] * 1.35 * times), fontsize=7)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set_xlabel("contree, one thread: CPU seconds to the proof")
    axes.set_ylabel("pycontree (hollow: at least; its limit, or the paper's figure)")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return {"peers": figure}


def pairs(cells: dict, depth: int, open_ended: bool):
    """Yield (contree, pycontree) in seconds; open-ended: pycontree has not proved it here.

    Then it took longer than the limit, or, where the paper's run was longer, as long as that one.
    """
    for name, row in of_kind(cells, depth, 0.0).items():
        ours, peer = row.get("contree"), row.get("pycontree")
        if not proved(ours) or proved(peer) == open_ended:
            continue
        if open_ended:
            limit = peer["time_limit"] if peer else 0.0
            theirs = max(limit, at_least(quote(name, "ConTree", depth, 0.0)))
        else:
            theirs = median(peer, "cpu")
        if theirs:
            yield max(median(ours, "cpu"), 1e-3), max(theirs, 1e-3)


if __name__ == "__main__":
    main()
