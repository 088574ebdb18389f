"""How good a tree and its bound are at every moment: the paper's Figure 3, and primal integrals.

    python benchmarks/anytime.py                              the paper's sets at depth 4, two at 6
    python benchmarks/anytime.py --cases bank:3 wilt:3 --time-limit 1

contree runs once and tells its own road.  pycontree keeps none: it runs once for each limit, and a
result counts from the moment at which it was there until a better one.  CART has one tree.  Moments
are CPU seconds: those of the wall clock times the share of a processor that the run had, so that
what else runs on the machine matters less.
"""

from __future__ import annotations

import math

from _experiment import (
    Cell,
    Experiment,
    markdown_table,
    number,
    parse,
    parser,
    provenance,
    publish,
    pyplot,
)
from _harness import known_optima, prepare, run

EXPERIMENT = "anytime"
# The paper's text names the first four; it proves nothing of the last two.
CASES = ["avila:4", "fault:4", "page:4", "rice:4", "bean:6", "magic:6"]
HORIZONS = (1.0, 3.0, 10.0, 30.0)  # CPU seconds at which the table looks, and the end
LIMITS = (0.3, 1.0, 3.0, 10.0, 30.0, 60.0)  # of the peer
SOLVERS = ("contree", "pycontree", "cart")
COLOURS = {"contree": "#0072B2", "bound": "#E69F00", "pycontree": "#D55E00", "cart": "#888888"}


def main() -> None:
    made = parser(__doc__, time_limit=100.0)
    made.add_argument("--cases", nargs="+", metavar="SET:DEPTH", default=CASES)
    args = parse(made, cases=["rice:4", "segment:5"], time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        experiment.conduct((row(case, args.time_limit) for case in args.cases), 1, args.again)
    publish(experiment, markdown, figures)


def row(case: str, end: float) -> list[Cell]:
    name, depth = case.split(":")
    limits = [limit for limit in LIMITS if limit <= end]
    wanted = [("contree", end), ("cart", end), *(("pycontree", limit) for limit in limits)]
    return [cell(name, int(depth), solver, limit) for solver, limit in wanted]


def cell(name: str, depth: int, solver: str, limit: float) -> Cell:
    about = {"dataset": name, "depth": depth, "solver": solver, "limit": limit}
    about["known_optimum"] = known_optima().get((name, depth))
    at = f"@{limit:g}" if solver == "pycontree" else ""
    return Cell(
        f"{name}:{depth}:{solver}{at}",
        about,
        limit,
        lambda: run(solver, prepare(name), depth, limit, history=solver == "contree"),
    )


# What is written from the cells.


def panels_of(report: dict) -> list[dict]:
    """Return, for each case that contree has run on, its data set, depth, runs and optimum."""
    found: dict[tuple, dict] = {}
    for kept in report["cells"].values():
        case = found.setdefault(
            (kept["dataset"], kept["depth"]),
            {key: kept[key] for key in ("dataset", "depth", "known_optimum")} | {"runs": []},
        )
        seen = kept["runs"][-1]
        if "failed" not in seen:
            case["runs"].append((kept["solver"], kept["limit"], seen))
    cases = [case for case in found.values() if road(case, "contree")]
    return sorted(cases, key=lambda case: (case["depth"], case["dataset"]))


def road(cell: dict, solver: str) -> list[tuple[float, int]]:
    """Return the moments (seconds, errors) at which a solver had a better tree than before.

    What comes a little after a limit because the limit ended the search counts as of the limit.
    """
    points = []
    for ran, limit, seen in cell["runs"]:
        if ran != solver:
            continue
        moments = own_road(seen) or [(seen["cpu"], seen["errors"], 0)]
        most = limit * pace(seen)
        points += [(min(seconds, most), errors) for seconds, errors, _ in moments]
    kept = []
    for seconds, errors in sorted(points):
        if not kept or errors < kept[-1][1]:
            kept.append((seconds, errors))
    return kept


def own_road(seen: dict) -> list[tuple[float, int, int]]:
    """Return contree's history in CPU seconds of the whole fit, checks of the input included."""
    before = seen["wall"] - seen.get("search_seconds", 0.0)
    share = pace(seen)
    return [(share * (at + before), errors, bound) for at, errors, bound in seen.get("history", ())]


def pace(seen: dict) -> float:
    """Return the share of a processor that a run had."""
    return min(1.0, seen["cpu"] / seen["wall"])


def our_run(cell: dict) -> dict:
    return next(seen for solver, _, seen in cell["runs"] if solver == "contree")


def end_of(cell: dict) -> float:
    """Return the CPU seconds at which contree's run ended."""
    return our_run(cell)["cpu"]


def best_known(cell: dict) -> int:
    """Return the optimum if it is known, else the fewest errors that any solver has found."""
    if cell["known_optimum"] is not None:
        return cell["known_optimum"]
    return min(errors for solver in SOLVERS for _, errors in road(cell, solver))


def primal_gap(errors: int, best: int) -> float:
    """Return Berthold's gap (2013), from 0 at the best known tree to 1."""
    return 0.0 if errors == best else (errors - best) / max(errors, best)


def primal_integral(points: list[tuple[float, int]], best: int, horizon: float) -> float:
    """Return the primal gap summed over time, in seconds; it is 1 while there is no tree."""
    total, since, gap = 0.0, 0.0, 1.0
    for seconds, errors in points:
        if seconds >= horizon:
            break
        total += gap * (seconds - since)
        since, gap = seconds, primal_gap(errors, best)
    return total + gap * (horizon - since)


def errors_at(points: list[tuple[float, int]], horizon: float) -> str:
    reached = [errors for seconds, errors in points if seconds <= horizon]
    return str(reached[-1]) if reached else "none"


def bound_at(cell: dict, horizon: float, last: bool) -> str:
    """Return what contree had proved by then; by the last horizon, all that it has proved."""
    bounds = [bound for at, _, bound in own_road(our_run(cell)) if last or at <= horizon]
    return str(bounds[-1]) if bounds else "0"


def markdown(report: dict) -> str:
    lines = []
    for case in panels_of(report):
        best, end = best_known(case), end_of(case)
        roads = {solver: road(case, solver) for solver in SOLVERS}
        for horizon in [*(horizon for horizon in HORIZONS if horizon < end), end]:
            line = [case["dataset"], case["depth"], best, f"{number(horizon)} s"]
            if horizon == end:
                line[-1] += ", proved" if our_run(case)["proved"] else ", its limit"
            for solver, points in roads.items():
                line.append(errors_at(points, horizon))
                if solver == "contree":
                    line.append(bound_at(case, horizon, horizon == end))
                line.append(f"{primal_integral(points, best, horizon):.3f}")
            lines.append(line)
    head = ["data set", "depth", "best known", "horizon", "contree: errors", "bound", "integral"]
    head += ["pycontree: errors", "integral", "CART: errors", "integral"]
    parts = [
        "## Anytime: errors and bound over time (Figure 3)",
        "At each horizon: training errors of the best tree so far, contree's proved bound, and the "
        "primal integral in seconds (the gap to the best known tree, from 0 to 1, summed over the "
        "time up to there; less is better). CPU seconds, one thread: wall time times the share of "
        "a processor that the run had. The last horizon is the end of contree's run. pycontree "
        "runs once for each of its limits "
        f"({', '.join(f'{limit:g}' for limit in LIMITS)} s of wall time at most); what it has "
        "between them is not seen. A cross: the proof.",
        provenance(report),
        "Again: `python benchmarks/anytime.py`.",
        markdown_table(head, lines),
        "![Errors and bound over time](anytime.svg)",
    ]
    parts += [
        f"- {key}: failed: {kept['runs'][-1]['failed'].splitlines()[-1]}"
        for key, kept in report["cells"].items()
        if "failed" in kept["runs"][-1]
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def figures(report: dict) -> dict:
    """Draw one panel for each case: errors and bound over time."""
    plt = pyplot()
    cases = panels_of(report)
    if not cases:
        return {}
    columns = min(2, len(cases))
    rows = math.ceil(len(cases) / columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(5 * columns, 3 * rows), layout="constrained", squeeze=False
    )
    for panel, case in zip(panels.flat, cases, strict=False):
        draw_cell(panel, case)
    for panel in panels.flat[len(cases) :]:
        panel.set_axis_off()
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return {EXPERIMENT: figure}


def draw_cell(panel, cell: dict) -> None:
    ours = our_run(cell)
    seconds, errors, bounds = map(list, zip(*own_road(ours), strict=True))
    for values, label, colour in (
        (errors, "contree", "contree"),
        (bounds, "contree: proved bound", "bound"),
    ):
        line = [*values, values[-1]]
        at = [*seconds, end_of(cell)]
        panel.step(at, line, where="post", color=COLOURS[colour], label=label)
    if ours["proved"]:  # the end of the search, as in the paper
        panel.plot(seconds[-1], errors[-1], "x", color="#111111", markersize=7, zorder=4)
    peer = road(cell, "pycontree")
    if peer:
        last = max(seen["cpu"] for solver, _, seen in cell["runs"] if solver == "pycontree")
        panel.step(
            [*(at for at, _ in peer), last],
            [*(errors for _, errors in peer), peer[-1][1]],
            where="post",
            marker="o",
            markersize=3,
            linewidth=1,
            color=COLOURS["pycontree"],
            label="pycontree at its limits",
        )
    for _, errors in road(cell, "cart"):
        panel.axhline(errors, color=COLOURS["cart"], linestyle=":", linewidth=1, label="CART")
    panel.axhline(best_known(cell), color="#111111", linewidth=0.6, label="best known", zorder=0)
    panel.set_xscale("log")
    panel.set_ylim(bottom=0)
    panel.set_title(f"{cell['dataset']}, depth {cell['depth']}", fontsize=10)
    panel.set_xlabel("CPU seconds", fontsize=9)
    panel.set_ylabel("training errors", fontsize=9)
    panel.tick_params(labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
