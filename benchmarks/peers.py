"""Run time and memory beside others, depths two to four: the paper's Tables 1 and 2.

    python benchmarks/peers.py                                  all of it, hours
    python benchmarks/peers.py --depth 3 --columns contree pycontree
    python benchmarks/peers.py --depth 4 --gap --datasets rice --time-limit 60

Each fit in a process of its own, the solvers in turn on the same rows.  A peer is not started where
it would take more than twice the limit by the paper, nor where one level less reached the limit.
"""

from __future__ import annotations

from collections.abc import Callable

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
DEPTHS = [2, 3, 4]
GAP = 0.01  # the paper's: 1 % of all rows
QUICK = ["bank", "bidding", "occupancy", "raisin", "room", "segment", "wilt"]

COLUMNS = {  # name: what is run, the paper's name for it, what the table calls it
    "contree": ({"solver": "contree"}, None, "contree"),
    "contree-2": ({"solver": "contree", "threads": 2}, None, "contree, 2 threads (wall)"),
    "pycontree": ({"solver": "pycontree"}, "ConTree", "pycontree"),
    "pytrees": ({"solver": "pytrees"}, None, "pytrees-rs"),
    "pytrees-lds": ({"solver": "pytrees", "lds": True}, None, "pytrees-rs, `use_lds`"),
    "cart": ({"solver": "cart"}, None, "CART"),
    "paper-search": ({"solver": "contree", "search": "paper"}, None, 'contree, `search="paper"`'),
    "no-d2": (
        {"solver": "contree", "search": "paper", "search_options": {"depth_two": 0}},
        "ConTree (No D2)",
        'contree, `search="paper"`, `depth_two=0`',
    ),
}
PEERS = ("pycontree", "pytrees", "pytrees-lds")
IN_GAP = ("contree", "pycontree")
COLOURS = {2: "#56B4E9", 3: "#009E73", 4: "#D55E00"}  # of the depths
SHALLOW = {"paper-search": 2, "no-d2": 2}  # the deepest that a column is run at unless asked for


def main() -> None:
    made = parser(__doc__, time_limit=600.0, repeat=5)
    made.add_argument("--depth", type=int, nargs="+", choices=DEPTHS)
    made.add_argument("--gap", action="store_true", help="only the table with a gap of 1 %%")
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=dataset_names())
    made.add_argument("--columns", nargs="+", choices=COLUMNS)
    args = parse(made, datasets=QUICK, depth=[2, 3], repeat=1, time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        experiment.conduct(rows(experiment, args), args.repeat, args.again, args.renew)
    publish(experiment, markdown, figures)


def rows(experiment: Experiment, args):
    """Yield the cells of each row: a data set at a depth, without a gap or with one."""
    kinds = [] if args.gap else [(depth, 0.0) for depth in args.depth or DEPTHS]
    if args.gap or not args.depth:
        kinds += [(depth, GAP) for depth in args.depth or [4]]
    for depth, gap in kinds:
        for name in args.datasets:
            yield [
                cell(experiment, name, depth, gap, column, args.time_limit)
                for column in args.columns or (IN_GAP if gap else COLUMNS)
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


def cell(experiment, name: str, depth: int, gap: float, column: str, limit: float) -> Cell:
    def measure() -> dict:
        shallower = experiment.report["cells"].get(key(name, depth - 1, gap, column))
        if column in PEERS and cut_off(shallower):
            return {"failed": f"not started: depth {depth - 1} took too long", "proved": False}
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
        "# Run time and memory",
        "CPU seconds of `fit` on one thread; wall seconds for two. *Times* is how many times "
        "longer the solver to its left took than contree, where both proved their trees. A peer "
        "is *not run* where the paper's figure is more than twice the limit, or where one level "
        "less reached it.",
        provenance(report),
        "Again: `python benchmarks/peers.py` (`--depth 3`, `--gap`, `--columns`, `--datasets` "
        "for a part of it).",
    ]
    for depth, gap in kinds:
        parts += section(cells, depth, gap)
    if any(cell["column"] == "pycontree" for cell in cells.values()):
        parts.append("![Seconds of pycontree against seconds of contree](peers.svg)\n")
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def of_kind(cells: dict, depth: int, gap: float) -> dict[str, dict[str, dict]]:
    """Return data set -> column -> cell."""
    found: dict[str, dict[str, dict]] = {}
    for cell in cells.values():
        if (cell["depth"], cell["gap"]) == (depth, gap):
            found.setdefault(cell["dataset"], {})[cell["column"]] = cell
    return dict(sorted(found.items()))


def section(cells: dict, depth: int, gap: float) -> list[str]:
    """Return the tables of one depth: run times, the paper's figures, memory."""
    table = of_kind(cells, depth, gap)
    said = [
        *(means(table, peer, "contree", f"{COLUMNS[peer][2]} against contree") for peer in PEERS),
        means(table, "contree", "contree-2", "one thread against two", "wall"),
        means(table, "no-d2", "paper-search", "without the depth-two subroutine against with it"),
        means(table, "paper-search", "contree", '`search="paper"` against the default'),
        *remarks(table),
    ]
    return [
        f"## Depth {depth}{', at most 1 % of the rows from the optimum' * bool(gap)}",
        times_table(table),
        "\n".join(f"- {text}" for text in said if text),
        quoted_table(table, depth, gap),
        memory_table(table, depth, gap),
    ]


def times_table(table: dict) -> str:
    shown = [name for name in COLUMNS if any(name in row for row in table.values())]
    head = ["data set", "errors"]
    for column in shown:
        head += ["CART: errors"] if column == "cart" else [COLUMNS[column][2]]
        head += ["times"] * (column in PEERS)
    lines = []
    for name, row in table.items():
        line = [name, errors(row.get("contree"))]
        for column in shown:
            if column == "cart":
                line.append(row[column]["runs"][-1].get("errors", "") if column in row else "")
                continue
            line.append(seconds(row.get(column)))
            if column in PEERS:
                times = ratio(row, column, "contree")
                line.append(number(times) if times else "")
        lines.append(line)
    return markdown_table(head, lines)


def quoted_table(table: dict, depth: int, gap: float) -> str:
    head, columns = printed(table, depth, gap, "seconds")
    lines = [[name, *columns(name)] for name in table]
    text = markdown_table(["data set", *head], lines)
    return f"As the paper printed, in seconds:\n\n{text}" if head else ""


def printed(table: dict, depth: int, gap: float, what: str) -> tuple[list[str], Callable]:
    """Return the heads of the columns that the paper has, and their cells for a data set."""
    methods = [m for m in METHODS if any(quote(name, m, depth, gap, what) for name in table)]
    return (
        [f"*quoted: {method}*" for method in methods],
        lambda name: [in_table(name, m, depth, round(100 * gap), what) for m in methods],
    )


def seconds(cell: dict | None) -> str:
    if cell is None or not cell["runs"]:
        return "not run"
    if "failed" in cell["runs"][-1]:
        return "failed" if failure(cell) else "not run"
    if cut_off(cell):
        return f"> {cell['time_limit']:g}"
    return exact(median(cell, clock(cell)))


def failure(cell: dict) -> str:
    """Return why a run failed; not to be started is no failure."""
    said = cell["runs"][-1].get("failed", "")
    return "" if said.startswith("not started") else said


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
    if slow not in PEERS and len(made_with) > 1:
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
            if failure(cell):
                said.append(f"{name}, {column}: {failure(cell).splitlines()[-1]}")
            elif proved(cell) and not cell["gap"] and known not in (None, last["errors"]):
                said.append(f"{name}, {column}: {last['errors']} errors, known: {known}")
        found = {row[c]["runs"][-1]["errors"] for c in row if proved(row[c]) and not row[c]["gap"]}
        if len(found) > 1:
            said.append(f"{name}: the proved optima differ: {sorted(found)}")
    return said


def memory_table(table: dict, depth: int, gap: float) -> str:
    columns = [column for column in ("contree", *PEERS) if any(column in r for r in table.values())]
    head, quotes = printed(table, depth, gap, "memory_mb")
    lines = [
        [name, *(memory(row.get(column)) for column in columns), *quotes(name)]
        for name, row in table.items()
    ]
    head = ["data set", *(COLUMNS[column][2] for column in columns), *head]
    return (
        "Peak memory in MB during `fit`, less what the interpreter, the imports and the rows take "
        "before; `*`: until the limit. The quoted figures are of the whole process.\n\n"
        f"{markdown_table(head, lines)}"
    )


def memory(cell: dict | None) -> str:
    if cell is None or not cell["runs"] or "failed" in cell["runs"][-1]:
        return ""
    return f"{median(cell, 'peak_mb'):.1f}" + "*" * cut_off(cell)


def figures(report: dict) -> dict:
    """Draw pycontree's seconds against contree's, each data set and depth a point."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    cells = report["cells"]
    for depth, colour in COLOURS.items():
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
